//! The three techniques that CANNIER makes cheaper.

use super::problem::Problem;

/// A way to find flaky tests by running them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Technique {
    /// Run a test until its outcome changes.
    Rerun,
    /// Classify a test that failed in some order, as iDFlakies does.
    Classification,
    /// Run each test before each other.
    Pairwise,
}

impl Technique {
    /// Every technique, in the order of the paper.
    pub const ALL: [Self; 3] = [Self::Rerun, Self::Classification, Self::Pairwise];

    /// The technique as it is typed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Rerun => "rerun",
            Self::Classification => "idfclass",
            Self::Pairwise => "pairwise",
        }
    }

    /// The technique as the paper calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rerun => "RERUN",
            Self::Classification => "iDFClass",
            Self::Pairwise => "PAIRWISE",
        }
    }

    /// How its performance is measured: by correlation, or by the share of pairs that are found.
    #[must_use]
    pub fn measure(self) -> &'static str {
        match self {
            Self::Rerun | Self::Classification => "MCC",
            Self::Pairwise => "TPR",
        }
    }

    /// The problems whose models it needs.
    #[must_use]
    pub fn problems(self) -> &'static [Problem] {
        match self {
            Self::Rerun => &[Problem::Nod],
            Self::Classification => &[Problem::NodVsVictim],
            Self::Pairwise => &[Problem::Victim, Problem::Polluter],
        }
    }
}
