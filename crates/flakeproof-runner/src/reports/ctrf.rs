//! A test of the Common Test Report Format.

use flakeproof_core::Outcome;
use serde::Deserialize;

use super::json::{Number, Texts};
use super::reported::{
    self, LONGEST_NAME, LONGEST_TEXT, MOST_PARTS, ReportedAttempt, ReportedFailure, ReportedTest,
    milliseconds,
};

/// A test as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CtrfTest {
    name: Texts,
    status: Texts,
    duration: Number,
    suite: Texts,
    #[serde(alias = "filepath")]
    file_path: Texts,
    line: Number,
    message: Texts,
    trace: Texts,
    raw_status: Texts,
    stdout: Texts,
    stderr: Texts,
    #[serde(rename = "type")]
    kind: Texts,
    retry_attempts: Vec<CtrfAttempt>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CtrfAttempt {
    status: Texts,
    duration: Number,
    message: Texts,
    trace: Texts,
    stdout: Texts,
}

impl CtrfTest {
    /// The test as reports tell of it.
    pub(super) fn reported(self) -> ReportedTest {
        let outcome = outcome_of(&self.status.joined(""));
        let groups = self.suite.joined(" > ");
        let mut test = ReportedTest {
            suite: groups.clone(),
            class: groups,
            file: self.file_path.some(),
            line: self.line.line(),
            outcome,
            duration: self.duration.0.and_then(milliseconds),
            failure: failure_of(outcome, self.message, self.trace, self.raw_status),
            reruns: self.retry_attempts.into_iter().filter_map(CtrfAttempt::repeated).collect(),
            output: self.stdout.joined("\n") + &self.stderr.joined("\n"),
            ..ReportedTest::named(self.name.joined(" "))
        };
        test.reruns.truncate(MOST_PARTS);
        if let Some(kind) = self.kind.some() {
            test.properties.push(("type".to_owned(), kind));
        }
        cut(&mut test);
        test
    }
}

impl CtrfAttempt {
    /// An attempt that failed and was repeated; the one that decided is the test itself.
    fn repeated(self) -> Option<ReportedAttempt> {
        let outcome = outcome_of(&self.status.joined(""));
        let failure = failure_of(outcome, self.message, self.trace, Texts::default());
        outcome.is_failure().then(|| ReportedAttempt {
            outcome,
            duration: self.duration.0.and_then(milliseconds),
            failure: failure.unwrap_or_default(),
            output: self.stdout.joined("\n"),
        })
    }
}

fn failure_of(
    outcome: Outcome,
    message: Texts,
    trace: Texts,
    kind: Texts,
) -> Option<ReportedFailure> {
    let failure = ReportedFailure {
        message: message.joined("\n"),
        kind: kind.joined(" "),
        text: trace.joined("\n"),
    };
    let says_something = !failure.message.is_empty() || !failure.text.is_empty();
    (outcome.is_failure() || (outcome == Outcome::Skipped && says_something)).then_some(failure)
}

/// What is neither passed nor skipped is no pass.
fn outcome_of(status: &str) -> Outcome {
    match status {
        "passed" => Outcome::Passed,
        "failed" => Outcome::Failed,
        "skipped" | "pending" => Outcome::Skipped,
        _ => Outcome::Errored,
    }
}

/// Shorten what is too long.
pub(super) fn cut(test: &mut ReportedTest) {
    for name in [&mut test.suite, &mut test.class, &mut test.name] {
        reported::cut(name, LONGEST_NAME);
    }
    reported::cut(&mut test.output, LONGEST_TEXT);
    if let Some(failure) = &mut test.failure {
        reported::cut(&mut failure.message, LONGEST_TEXT);
        reported::cut(&mut failure.text, LONGEST_TEXT);
    }
}
