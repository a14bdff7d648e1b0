//! Why a failure is called what it is called.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Isolation, Stage};

/// What a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The code did not cause it, and the evidence shows it.
    Flaky,
    /// It fails every time in a fresh environment and touches the change, or may not be rerun.
    Real,
    /// Neither could be shown.
    Unknown,
}

impl Verdict {
    /// The verdict as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Flaky => "flaky",
            Self::Real => "real",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How a flaky test fails, named by the first stage in which it passed (thesis, chapter 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It passed when run again at once: each run has its own chance.
    NotBursty,
    /// It failed again at once and passed later: the cause lasts for a while.
    Bursty,
    /// It passed only in a fresh environment: state that other tests left makes it fail.
    StateDependent,
}

impl Kind {
    /// The kind as its stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotBursty => "not-bursty",
            Self::Bursty => "bursty",
            Self::StateDependent => "state-dependent",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBursty => "not bursty",
            Self::Bursty => "bursty",
            Self::StateDependent => "state-dependent",
        })
    }
}

/// One fact that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Evidence {
    /// It passed when it was run again.
    Passed {
        /// The stage that passed.
        stage: Stage,
        /// The environment it passed in.
        isolation: Isolation,
    },
    /// It failed in every fresh environment it was run in.
    FailedFresh {
        /// How many fresh environments.
        attempts: u32,
        /// A test that passes more often than this would have passed once, with 95 %.
        pass_rate_not_ruled_out: f64,
    },
    /// What it touches and what changed do not meet.
    Disjoint {
        /// The changed files.
        changed: Vec<String>,
        /// How many files the test depends on.
        dependencies: usize,
        /// The revision the change is measured from.
        base: String,
        /// Whether the test is known to have passed there; without that it proves nothing.
        passed_at_base: bool,
    },
    /// It touches the change.
    Intersects {
        /// The changed files that it depends on.
        files: Vec<String>,
        /// The revision the change is measured from.
        base: String,
    },
    /// Whether it touches the change cannot be said.
    Silent {
        /// Why, with the name of the file or variable that stands in the way.
        reason: String,
    },
    /// It was not run again, or not in every way.
    NotRerun {
        /// The rule that forbids it, or what came in between.
        reason: String,
    },
    /// So many tests failed that reruns were not tried.
    TooManyFailures {
        /// How many tests failed.
        failed: usize,
        /// How many may fail before reruns stop.
        limit: usize,
    },
    /// It failed together with others, in the same way, and only one of them was rerun.
    LikeAnother {
        /// The test that stands for the group.
        test: String,
    },
}
