//! A file of tests in the JSON of jest, which vitest writes too.

use flakeproof_core::Outcome;
use serde::Deserialize;

use super::ctrf::cut;
use super::json::{Number, Texts};
use super::reported::{ReportedFailure, ReportedTest, milliseconds};

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
