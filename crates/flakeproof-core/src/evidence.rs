//! Why a failure is called what it is called.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Conditions, Isolation, Stage};

/// What a failure is. Only [`Flaky`](Self::Flaky) ends green by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It passed and failed on the same code under the same conditions, and did so before the
    /// change, or does not touch it.
    Flaky,
    /// It passed and failed on the same code under the same conditions, touches the change, and
    /// never failed like this before, or not as often.
    NewlyFlaky,
    /// The change makes it fail, or it may not be rerun.
    Real,
    /// It fails every time, and not because of the change: an outage, a date, a machine.
    Unrelated,
    /// Nothing of this could be shown.
    Unknown,
}

impl Verdict {
    /// Every verdict, the worst first.
    pub const ALL: [Self; 5] =
        [Self::Real, Self::Unknown, Self::NewlyFlaky, Self::Unrelated, Self::Flaky];

    /// The verdict as one lower-case word, as it is stored and exported.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Flaky => "flaky",
            Self::NewlyFlaky => "newly_flaky",
            Self::Real => "real",
            Self::Unrelated => "unrelated",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the test was seen to pass and to fail under the same conditions.
    #[must_use]
    pub fn is_shown_flaky(self) -> bool {
        match self {
            Self::Flaky | Self::NewlyFlaky => true,
            Self::Real | Self::Unrelated | Self::Unknown => false,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NewlyFlaky => "flaky, new with this change",
            Self::Flaky | Self::Real | Self::Unrelated | Self::Unknown => self.word(),
        })
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

/// Which runs from before the change a failure rate is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ComparedWith {
    /// The base, in turns with the code as it is.
    Base,
    /// The runs on record.
    Record,
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
        /// Whether the test is known to have passed there; without that it proves nothing of one that fails each time.
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
    /// How it fared in new processes of its own, where it did not always fare alike.
    Alone {
        /// How often it passed.
        passed: u32,
        /// How often it failed as it did in the suite.
        failed: u32,
    },
    /// How it fared in the suite's order, the suite's own run included.
    InOrder {
        /// How often it passed.
        passed: u32,
        /// How often it failed.
        failed: u32,
    },
    /// How it fared on the code before the change, checked out beside the project and run in turns
    /// with it.
    OnBase {
        /// The revision.
        revision: String,
        /// Under which conditions it was run there.
        conditions: Conditions,
        /// How often it passed there.
        passed: u32,
        /// How often it failed there as it does here.
        failed: u32,
        /// How often it failed there in another way.
        #[serde(default, skip_serializing_if = "is_zero")]
        failed_otherwise: u32,
    },
    /// How it fared before the change, as far as the history knows.
    OnRecord {
        /// Runs in which it passed.
        passes: u32,
        /// Runs in which it failed like this and was shown to be flaky.
        failures: u32,
    },
    /// It fails more often than before the change, by more than chance would have it.
    MoreOften {
        /// The conditions under which both were counted.
        conditions: Conditions,
        /// What the change is compared with.
        compared_with: ComparedWith,
        /// How often it failed like this, on the code as it is.
        failed: u32,
        /// In how many runs.
        runs: u32,
        /// How often it failed like this before the change.
        failed_before: u32,
        /// In how many runs.
        runs_before: u32,
    },
    /// What would decide, and why it was not done.
    Undecided {
        /// One sentence.
        reason: String,
    },
    /// It failed in the same way as another test, whose failure is real.
    AlikeReal {
        /// The other test.
        test: String,
    },
    /// It failed together with others, in the same way, and only one of them was rerun.
    LikeAnother {
        /// The test that stands for the group.
        test: String,
    },
}
