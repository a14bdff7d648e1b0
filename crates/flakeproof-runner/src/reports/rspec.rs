//! An example in the JSON of RSpec.

use flakeproof_core::Outcome;
use serde::Deserialize;

use super::ctrf::cut;
use super::json::{Number, Texts};
use super::reported::{ReportedFailure, ReportedTest, milliseconds};

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
