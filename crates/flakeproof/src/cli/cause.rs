//! `flakeproof cause`: what was typed.

use std::str::FromStr;

use clap::Args;
use flakeproof_core::{LeverName, LeverValue, Seed};

use crate::settings::{HumanDuration, Reporter, StoreName};

/// Find out what makes a test fail: change one thing at a time, and prove it.
///
/// The test runs in new processes, with and without each lever in turns: another time zone, another
/// locale, a seed of hashes, other tests before it, one core, a share of one, no network, another
/// date. What makes a difference is proven by its opposite before it is named. Exits with 1 if a
/// lever is found, or if the test fails every time; with 5 if none of those tried matters; with 4 if
/// there is no such test.
#[derive(Debug, Args)]
pub(crate) struct CauseArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// Stop after this time, with what can be said so far; 0 is never.
    #[arg(long, value_name = "TIME", default_value = "10m", env = "FLAKEPROOF_BUDGET")]
    pub(crate) budget: HumanDuration,
    /// The levers to try, such as `zone,quota`, or single values: `zone=Asia/Kolkata` [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) levers: Vec<LeverChoice>,
    /// Go on with what an interrupted experiment with this test has learned.
    #[arg(long)]
    pub(crate) resume: bool,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this; 0 is never.
    #[arg(long, value_name = "TIME", default_value = "60s", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: HumanDuration,
    /// Write a report: `json=FILE`; `-` is stdout. Repeatable.
    #[arg(long, value_name = "TYPE=PATH")]
    pub(crate) reporter: Vec<Reporter>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed of the lots that are drawn [default: another one each time].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,

    /// The command that runs your tests [default: that of the last hunt, else pytest].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// A lever to try, or one value of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeverChoice {
    pub(crate) name: LeverName,
    pub(crate) value: Option<String>,
}

impl FromStr for LeverChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let found = LeverName::from_word(name.trim());
        found.map(|name| Self { name, value }).ok_or_else(|| {
            let all: Vec<&str> = LeverName::ALL.into_iter().map(LeverName::word).collect();
            format!("there is no lever `{name}`; these are: {}", all.join(", "))
        })
    }
}

/// What to pull when a test is run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeverToPull {
    /// None, whatever is known.
    None,
    /// This one.
    This(LeverValue),
}

impl FromStr for LeverToPull {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        match text.parse()? {
            LeverChoice { name, value: Some(value) } => Ok(Self::This(LeverValue { name, value })),
            LeverChoice { name, value: None } => {
                Err(format!("which value? write it behind the lever: `{name}=VALUE`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lever_is_named_with_or_without_a_value() {
        let zone = LeverChoice { name: LeverName::Zone, value: None };
        assert_eq!("zone".parse(), Ok(zone.clone()));
        let value = Some("Asia/Kolkata".to_owned());
        assert_eq!("zone=Asia/Kolkata".parse(), Ok(LeverChoice { value, ..zone }));
        let refused = "moon".parse::<LeverChoice>().expect_err("there is none");
        assert!(refused.contains("these are: zone, locale"), "{refused}");
    }

    #[test]
    fn a_lever_to_pull_has_a_value() {
        let value = LeverValue { name: LeverName::Quota, value: "10 ms of every 100 ms".into() };
        assert_eq!(value.to_string().parse(), Ok(LeverToPull::This(value)));
        assert_eq!("none".parse(), Ok(LeverToPull::None));
        assert!("zone".parse::<LeverToPull>().is_err());
    }
}
