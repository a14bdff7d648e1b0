//! One run of one test in one environment.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Dependencies, Isolation, Measured, Outcome, Signature, TestId};

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
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setup => "setup",
            Self::Call => "call",
            Self::Teardown => "teardown",
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
