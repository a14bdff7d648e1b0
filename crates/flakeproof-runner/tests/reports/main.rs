//! Reports as runners write them, and as they should not.

mod formats;
mod junit;
mod properties;

use flakeproof_core::Outcome;
use flakeproof_runner::reports::{Reported, ReportedTest, Severity, read_each};

/// Read a report whose format the content tells.
fn read(text: &str) -> Reported {
    let mut tests = Vec::new();
    let issues = read_each(text.as_bytes(), None, &mut |test| tests.push(test));
    Reported { tests, issues: issues.expect("memory can be read") }
}

/// Each test in one line: `class name outcome`.
fn lines(reported: &Reported) -> Vec<String> {
    let line = |test: &ReportedTest| {
        let words = [&*test.class, &*test.name, test.outcome.word()];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" | ")
    };
    reported.tests.iter().map(line).collect()
}

/// The message of a test's failure.
fn message(test: &ReportedTest) -> &str {
    test.failure.as_ref().map_or("", |failure| &failure.message)
}

fn has_serious_issue(reported: &Reported) -> bool {
    reported.issues.iter().any(|issue| issue.severity == Severity::Serious)
}

fn outcomes(reported: &Reported) -> Vec<Outcome> {
    reported.tests.iter().map(|test| test.outcome).collect()
}
