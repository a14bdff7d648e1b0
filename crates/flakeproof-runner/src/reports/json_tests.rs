//! A test in each of the JSON formats, as it is written: in the Common Test Report Format (CTRF),
//! in a file of jest, which vitest writes too, and as an example of RSpec.

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

/// One file, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct JestFile {
    #[serde(alias = "testFilePath")]
    name: Texts,
    status: Texts,
    message: Texts,
    #[serde(alias = "testResults")]
    assertion_results: Vec<JestTest>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JestTest {
    ancestor_titles: Texts,
    title: Texts,
    status: Texts,
    duration: Number,
    failure_messages: Texts,
    location: Option<JestLocation>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JestLocation {
    line: Number,
}

impl JestFile {
    /// The tests of the file, and what made the file fail where no test did.
    pub(super) fn reported(self) -> (Vec<ReportedTest>, Option<String>) {
        let file = self.name.joined("");
        let tests: Vec<ReportedTest> =
            self.assertion_results.into_iter().map(|test| test.reported(&file)).collect();
        let message = self.message.joined("\n");
        let mut failing = tests.iter().filter(|test| test.outcome.is_failure()).peekable();
        // jest repeats here what its tests say, vitest says only what is the file's own.
        let is_explained = match message.trim().is_empty() {
            true => failing.peek().is_some(),
            false => failing.any(|test| message.contains(&test.name)),
        };
        let trouble = (self.status.joined("") == "failed" && !is_explained)
            .then(|| format!("{file} fails outside of its tests: {message}"));
        (tests, trouble)
    }
}

impl JestTest {
    fn reported(self, file: &str) -> ReportedTest {
        let outcome = match &*self.status.joined("") {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            "pending" | "skipped" | "todo" | "disabled" => Outcome::Skipped,
            _ => Outcome::Errored,
        };
        let text = self.failure_messages.joined("\n");
        let mut test = ReportedTest {
            class: self.ancestor_titles.joined(" > "),
            file: Some(file.to_owned()),
            line: self.location.and_then(|location| location.line.line()),
            outcome,
            duration: self.duration.0.and_then(milliseconds),
            failure: outcome.is_failure().then(|| ReportedFailure {
                message: text.lines().next().unwrap_or_default().to_owned(),
                kind: String::new(),
                text,
            }),
            ..ReportedTest::named(self.title.joined(" "))
        };
        cut(&mut test);
        test
    }
}

/// One example, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RspecExample {
    id: Texts,
    full_description: Texts,
    status: Texts,
    file_path: Texts,
    line_number: Number,
    run_time: Number,
    pending_message: Texts,
    exception: Option<RspecException>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RspecException {
    class: Texts,
    message: Texts,
    backtrace: Texts,
}

impl RspecExample {
    /// The example as reports tell of it.
    pub(super) fn reported(self) -> ReportedTest {
        let outcome = match &*self.status.joined("") {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            "pending" => Outcome::Skipped,
            _ => Outcome::Errored,
        };
        let failure = match self.exception {
            Some(exception) if outcome.is_failure() => Some(exception.failure()),
            _ if outcome.is_failure() => Some(ReportedFailure::default()),
            _ => self
                .pending_message
                .some()
                .map(|message| ReportedFailure { message, ..ReportedFailure::default() }),
        };
        let mut test = ReportedTest {
            id: self.id.some(),
            file: self.file_path.some(),
            line: self.line_number.line(),
            outcome,
            duration: self.run_time.0.map(|time| time * 1_000.0).and_then(milliseconds),
            failure,
            ..ReportedTest::named(self.full_description.joined(" "))
        };
        cut(&mut test);
        test
    }
}

impl RspecException {
    fn failure(self) -> ReportedFailure {
        let message = self.message.joined("\n");
        ReportedFailure {
            text: format!("{message}\n{}", self.backtrace.joined("\n")),
            kind: self.class.joined(""),
            message: message.trim_start().to_owned(),
        }
    }
}
