//! One flaky test, as a person reads it: how often it fails, who makes it fail, and how to see
//! that.

use std::fmt::Write as _;

use flakeproof_core::{FlakyKind, HuntedTest, TestId};
use flakeproof_report::words;

use super::styles::{DIM, STRONG};

/// One flaky test, with what was found out about it, at most so many things of a kind.
pub(super) fn flaky(text: &mut String, test: &HuntedTest, is_cause_sought: bool, most: usize) {
    let _ = writeln!(text, "  {STRONG}{}{STRONG:#}", test.id.shown());
    if test.all().runs > 0 {
        line(text, &words::fared(test));
    }
    let sets = |sets: &[Vec<TestId>]| sets.iter().map(|set| words::together(set)).collect();
    let cleaners: Vec<String> = test.cleaners.iter().map(ToString::to_string).collect();
    let causes: Vec<String> = match test.kind {
        Some(FlakyKind::Brittle) => sets(&test.setters),
        Some(FlakyKind::Victim | FlakyKind::Nod) | None => sets(&test.polluters),
    };
    match test.kind {
        Some(FlakyKind::Victim) if causes.is_empty() && is_cause_sought => {
            line(text, "no test was found that makes it fail each time");
        }
        Some(FlakyKind::Brittle) if causes.is_empty() && is_cause_sought => {
            line(text, "no test was found that makes it pass each time");
        }
        Some(FlakyKind::Brittle) => named(text, "passes after", &causes, most),
        Some(FlakyKind::Victim | FlakyKind::Nod) | None => {
            named(text, "fails after", &causes, most);
        }
    }
    named(text, "healed by", &cleaners, most);
    let left: Vec<String> = test.left_behind.iter().map(|it| shortened(&it.to_string())).collect();
    named(text, "left behind", &left, most);
    if let Some(failure) = &test.failure {
        line(text, &format!("{DIM}{}{DIM:#}", shortened(&failure.message)));
    }
    if let Some(reproduction) = &test.reproduction {
        let command = typeable(&reproduction.command, &test.id);
        line(text, &format!("reproduce: {STRONG}{command}{STRONG:#}"));
    }
}

/// A command that a person would type: the replay where the framework's own is long.
pub(super) fn typeable(command: &str, test: &TestId) -> String {
    const LONGEST: usize = 200;
    if command.chars().count() <= LONGEST {
        return command.to_owned();
    }
    words::command(&["flakeproof".to_owned(), "repro".to_owned(), test.to_string()])
}

/// A few of many, below each other.
fn named(text: &mut String, what: &str, all: &[String], most: usize) {
    let width = what.chars().count() + 2;
    for (at, one) in all.iter().take(most).enumerate() {
        let head = if at == 0 { format!("{what}: ") } else { " ".repeat(width) };
        line(text, &format!("{DIM}{head}{DIM:#}{one}"));
    }
    if all.len() > most {
        let more = all.len() - most;
        line(text, &format!("{}{DIM}and {more} more{DIM:#}", " ".repeat(width)));
    }
}

fn line(text: &mut String, words: &str) {
    let _ = writeln!(text, "      {words}");
}

pub(super) fn shortened(message: &str) -> String {
    const LONGEST: usize = 160;
    let message = message.lines().next().unwrap_or_default();
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_nobody_types_becomes_a_replay() {
        let test = "t.py::test_a[1]".into();
        assert_eq!(typeable("pytest t.py", &test), "pytest t.py");
        let long = "pytest ".repeat(40);
        assert_eq!(typeable(&long, &test), "flakeproof repro 't.py::test_a[1]'");
    }
}
