//! How one execution of a test ended.

use std::fmt;

use serde::{Deserialize, Serialize};

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
