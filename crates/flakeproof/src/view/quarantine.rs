//! The quarantine, for people and for programs.

use std::fmt::Write as _;
use std::path::Path;

use flakeproof_core::foreign_text::on_one_line;
use flakeproof_core::{QuarantineEntry, Tally, TestId};
use serde_json::json;

use super::terminal::{self, BAD, DIM, GOOD, OPEN, STRONG, count};

/// An entry and what is to be said about it.
pub(crate) struct Checked<'a> {
    pub(crate) entry: &'a QuarantineEntry,
    pub(crate) is_expired: bool,
    /// What the history says; `None` where there is none.
    pub(crate) release: Option<Release>,
}

/// Runs since an entry was made, and how many clean ones would end it.
pub(crate) struct Release {
    pub(crate) now: Tally,
    pub(crate) needed: u32,
}

impl Release {
    fn is_due(&self) -> bool {
        self.now.failures == 0 && self.now.runs >= self.needed
    }
}

/// Print all entries for people.
pub(crate) fn quarantine(entries: &[QuarantineEntry], today: &str) {
    let mut text = String::new();
    for entry in entries {
        let is_expired = entry.is_expired(today);
        line_of(&mut text, entry, is_expired);
    }
    let _ = match entries.len() {
        0 => writeln!(text, "no test is in quarantine"),
        many => writeln!(text, "\n{} in quarantine", count(many, "test")),
    };
    let _ = terminal::out(&text);
}

/// Print all entries for programs.
pub(crate) fn quarantine_json(entries: &[QuarantineEntry], today: &str) {
    let tests: Vec<_> = entries
        .iter()
        .map(|entry| json!({ "entry": entry, "expired": entry.is_expired(today) }))
        .collect();
    super::verbatim(&format!("{:#}\n", json!({ "schema": 1, "tests": tests })));
}

/// Say that an entry was made.
pub(crate) fn quarantined(entry: &QuarantineEntry, path: &Path) {
    let text = format!(
        "{STRONG}{}{STRONG:#} is in quarantine until {}\n{DIM}written to {}; commit it{DIM:#}\n",
        on_one_line(&entry.id),
        entry.expires,
        path.display()
    );
    let _ = terminal::out(&text);
}

/// Say that a test has no entry any more.
pub(crate) fn unquarantined(test: &TestId, path: &Path) {
    let text = format!(
        "{STRONG}{}{STRONG:#} is no longer in quarantine\n{DIM}removed from {}; commit it{DIM:#}\n",
        test.shown(),
        path.display()
    );
    let _ = terminal::out(&text);
}

/// Print what a check came to.
pub(crate) fn quarantine_check(checked: &[Checked<'_>], path: &Path) {
    let _ = terminal::out(&told(checked, path));
}

fn told(checked: &[Checked<'_>], path: &Path) -> String {
    let mut text = String::new();
    for it in checked {
        line_of(&mut text, it.entry, it.is_expired);
        let Some(release) = &it.release else { continue };
        let Tally { runs, failures } = release.now;
        let since = format!("since {}", it.entry.added);
        let _ = match failures {
            _ if release.is_due() => writeln!(
                text,
                "    {GOOD}mended{GOOD:#}: passed {runs} of {runs} runs {since}; remove its entry"
            ),
            0 => writeln!(
                text,
                "    {DIM}passed {runs} of {runs} runs {since}; {} would say it is mended{DIM:#}",
                release.needed
            ),
            _ => writeln!(text, "    {DIM}failed {failures} of {runs} runs {since}{DIM:#}"),
        };
    }
    let expired = checked.iter().filter(|it| it.is_expired).count();
    let due = checked.iter().filter(|it| it.release.as_ref().is_some_and(Release::is_due)).count();
    if !checked.is_empty() {
        text.push('\n');
    }
    let _ = write!(text, "{} in quarantine", count(checked.len(), "test"));
    if due > 0 {
        let _ = write!(text, ", {GOOD}{due} mended{GOOD:#}");
    }
    if expired > 0 {
        let _ = write!(
            text,
            ", {BAD}{expired} expired{BAD:#}\nmend each expired test, or give its entry in {} a later \
             day and say why",
            path.display()
        );
    }
    text.push('\n');
    text
}

fn line_of(text: &mut String, entry: &QuarantineEntry, is_expired: bool) {
    let style = if is_expired { BAD } else { OPEN };
    let word = if is_expired { "expired" } else { "until" };
    let issue = entry.issue.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let branch = entry.branch.as_ref().map(|it| format!(", on {it}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "{style}{word:<7} {}{style:#}  {STRONG}{}{STRONG:#}\n    {} {DIM}({}{branch}){issue}{DIM:#}",
        entry.expires,
        on_one_line(&entry.id),
        on_one_line(&entry.reason),
        on_one_line(&entry.owner)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_names_what_is_over_and_what_is_mended() {
        let entry = |id: &str, expires: &str| QuarantineEntry {
            id: id.into(),
            owner: "payments".into(),
            reason: "port 8080 is taken by the backup job".into(),
            issue: Some("https://tracker.example/17".into()),
            branch: None,
            added: "2026-10-15".into(),
            expires: expires.into(),
        };
        let entries = [entry("a::old", "2026-11-01"), entry("b::well[*]", "2026-12-01")];
        let checked = [
            Checked { entry: &entries[0], is_expired: true, release: None },
            Checked {
                entry: &entries[1],
                is_expired: false,
                release: Some(Release { now: Tally { runs: 80, failures: 0 }, needed: 59 }),
            },
        ];
        let text = told(&checked, Path::new("flakeproof-quarantine.toml"));
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
