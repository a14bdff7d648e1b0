//! `flakeproof notify`, as it is typed.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use crate::settings::{HumanDuration, StoreName};

/// Tell a webhook what is new: new flaky tests, broken tests, quarantines that are over.
///
/// What was told is not told again. The request is signed with the secret in `FLAKEPROOF_WEBHOOK_SECRET`, as
/// Standard Webhooks say. A webhook that does not answer is said and tried again the next time; it fails
/// no build unless you say so.
#[derive(Debug, Args)]
pub(crate) struct NotifyArguments {
    /// Where to send it [default: `FLAKEPROOF_WEBHOOK`].
    #[arg(long, value_name = "URL", env = "FLAKEPROOF_WEBHOOK", hide_env_values = true)]
    pub(crate) webhook: Option<String>,
    /// Send it without a signature, to a chat whose address is the secret.
    #[arg(long)]
    pub(crate) unsigned: bool,
    /// Only what happened since: a time ago such as `7d` or `12h`, or a day [default: the first time `1d`, then
    /// whatever was not told].
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Since>,
    /// Only about tests that this user or team owns by `CODEOWNERS`.
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// The file that remembers what was told [default: beside the project's own history].
    #[arg(long, value_name = "FILE")]
    pub(crate) memory: Option<PathBuf>,
    /// Print what would be sent, and send nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// End with exit code 6 if it cannot be delivered.
    #[arg(long)]
    pub(crate) strict: bool,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
}

/// The beginning of a time that ends now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// So long ago.
    Ago(SignedDuration),
    /// The beginning of a day, in UTC.
    Day(Date),
}

impl Since {
    /// The moment, as a time stamp to compare others with.
    pub(crate) fn moment(self, now: Timestamp) -> String {
        let moment = match self {
            Self::Ago(time) => now.checked_sub(time).unwrap_or(Timestamp::MIN),
            Self::Day(day) => return format!("{day}T00:00:00Z"),
        };
        moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(days) = text.strip_suffix('d').and_then(|days| days.trim().parse::<i64>().ok())
        {
            let hours = days.checked_mul(24).filter(|hours| (0..=24 * 36_500).contains(hours));
            let time = hours.map(SignedDuration::from_hours);
            return time.map(Self::Ago).ok_or_else(|| format!("`{text}` is longer than all time"));
        }
        if let Ok(day) = text.parse() {
            return Ok(Self::Day(day));
        }
        let HumanDuration(time) = text
            .parse()
            .map_err(|_| format!("`{text}` is no time: write for example 7d, 12h or 2026-11-15"))?;
        SignedDuration::try_from(time).map(Self::Ago).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_ago_and_a_day_are_moments() {
        let now: Timestamp = "2026-11-16T12:30:00Z".parse().unwrap();
        let moment = |text: &str| text.parse::<Since>().map(|since| since.moment(now));
        assert_eq!(moment("7d").as_deref(), Ok("2026-11-09T12:30:00Z"));
        assert_eq!(moment("90m").as_deref(), Ok("2026-11-16T11:00:00Z"));
        assert_eq!(moment("2026-11-15").as_deref(), Ok("2026-11-15T00:00:00Z"));
        for wrong in ["", "soon", "-7d", "99999999999999d", "2026-13-01"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }
}
