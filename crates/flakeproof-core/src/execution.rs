//! One run of one test in one environment: how it ended, and how far the environment is from the one
//! in which the suite ran.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Dependencies, Measured, Signature, TestId};

/// One run of one test in one environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The test that ran.
    pub test: TestId,
    /// How it ended.
    pub outcome: Outcome,
    /// How long set-up, test and teardown took together.
    pub duration: Duration,
    /// What went wrong, if anything did.
    pub failure: Option<Failure>,
    /// What the runner remarks: a skip's reason, "expected failure", a subtest's name.
    pub note: Option<String>,
    /// What the test wrote to stdout, stderr and the log, up to a cap.
    pub output: String,
    /// What it touched, if that was measured.
    pub dependencies: Option<Dependencies>,
    /// What it used and covered, if that was measured.
    pub measured: Option<Box<Measured>>,
}

impl Execution {
    /// One of which nothing is told but how it ended.
    pub fn new(test: impl Into<TestId>, outcome: Outcome, duration: Duration) -> Self {
        Self {
            test: test.into(),
            outcome,
            duration,
            failure: None,
            note: None,
            output: String::new(),
            dependencies: None,
            measured: None,
        }
    }
}

/// What went wrong in an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Where in the test's life it happened.
    pub phase: Phase,
    /// The failure in one line: `ValueError: no such key`.
    pub message: String,
    /// The whole text, traceback included.
    pub text: String,
    /// The innermost place that the runner names.
    pub location: Option<Location>,
    /// What makes two failures the same failure.
    pub signature: Signature,
}

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Location {
    /// The file, relative to the project's root where it lies inside it.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<u32>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// A part of a test's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Fixtures and set-up methods before the test.
    Setup,
    /// The test itself.
    Call,
    /// What cleans up after it.
    Teardown,
    /// Beside all tests: the runner blames none, and it is told with the last one.
    Besides,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setup => "setup",
            Self::Call => "call",
            Self::Teardown => "teardown",
            Self::Besides => "besides",
        })
    }
}

/// An execution, and why it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The step of the triage that asked for it.
    pub stage: Stage,
    /// The environment it ran in.
    pub isolation: Isolation,
    /// Counts this test's attempts from 1.
    pub number: u32,
    /// The place of the test in its environment's order, counted from 0, in the first run.
    pub position: Option<u32>,
    /// What happened.
    pub execution: Execution,
}

impl Attempt {
    /// The first of a test, in the suite's own run.
    #[must_use]
    pub fn first(execution: Execution) -> Self {
        Self {
            stage: Stage::First,
            isolation: Isolation::Same,
            number: 1,
            position: None,
            execution,
        }
    }
}

/// A step of the triage (thesis, Figure 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The suite's own run.
    First,
    /// Again at once, in the same environment (RERUN).
    Immediate,
    /// Again after the last test, in the same environment (POSTPONE).
    Postponed,
    /// Again in a fresh environment (FORK).
    Fresh,
    /// Again in the suite's order, in new processes.
    Order,
}

impl Stage {
    /// The stage as one lower-case word, as it is stored and exported.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Immediate => "immediate",
            Self::Postponed => "postponed",
            Self::Fresh => "fresh",
            Self::Order => "order",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What surrounds an execution. Only executions under the same conditions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Conditions {
    /// In a new process in which no other test ran.
    Alone,
    /// After the tests that come before it in the suite, in new processes.
    InOrder,
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alone => "alone",
            Self::InOrder => "in the suite's order",
        })
    }
}

/// How one execution of a test ended. A crash and a timeout are outcomes of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran to its end and nothing was wrong.
    Passed,
    /// The test itself failed.
    Failed,
    /// Its set-up or teardown failed.
    Errored,
    /// It was not run, or failed as it was expected to.
    Skipped,
    /// The process that ran it died.
    Crashed,
    /// It was still running at its deadline and was killed.
    TimedOut,
}

impl Outcome {
    /// Every outcome, in the order in which reports list them.
    pub const ALL: [Self; 6] =
        [Self::Passed, Self::Failed, Self::Errored, Self::Crashed, Self::TimedOut, Self::Skipped];

    /// Whether this outcome turns a build red.
    #[must_use]
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failed | Self::Errored | Self::Crashed | Self::TimedOut => true,
            Self::Passed | Self::Skipped => false,
        }
    }

    /// Whether the environment is gone after this outcome, so that the next test needs another.
    #[must_use]
    pub fn ends_environment(self) -> bool {
        matches!(self, Self::Crashed | Self::TimedOut)
    }

    /// The outcome as one lower-case word, as it is stored and exported.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Errored => "errored",
            Self::Skipped => "skipped",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed_out",
        }
    }

    /// The outcome that [`word`](Self::word) names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "timed out",
            other => other.word(),
        })
    }
}

/// How an environment comes to be, and so how much state it shares with the suite's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// The environment that the user's own command makes: all state of earlier tests is there.
    Same,
    /// A copy of the runtime from before the first test: modules imported, no test run.
    Fork,
    /// A new process from its very start.
    Spawn,
}

impl Isolation {
    /// The isolation as one lower-case word, as it is stored and exported.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Fork => "fork",
            Self::Spawn => "spawn",
        }
    }

    /// Whether no test has run in such an environment before it is handed out.
    #[must_use]
    pub fn is_fresh(self) -> bool {
        match self {
            Self::Same => false,
            Self::Fork | Self::Spawn => true,
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_found_again_by_its_word() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::from_word(outcome.word()), Some(outcome));
        }
    }
}
