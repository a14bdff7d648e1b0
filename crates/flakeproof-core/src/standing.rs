//! What a test's history comes to, in one word, and since when.

use serde::{Deserialize, Serialize};

/// What a test's history comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It passed and failed on the same code.
    Flaky,
    /// Its latest run failed on code on which it never passed, and a run found that to be real, or
    /// the run before failed too.
    Broken,
    /// It failed, and nobody knows whether that was the code.
    Unexplained,
    /// It was broken and passes since; or it was flaky, and has passed so often since that it would
    /// have failed again, with 95 %.
    Mended,
    /// It never failed, outages left out.
    Steady,
}

impl Standing {
    /// Every standing, the most urgent first.
    pub const ALL: [Self; 5] =
        [Self::Broken, Self::Flaky, Self::Unexplained, Self::Mended, Self::Steady];

    /// The standing as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Flaky => "flaky",
            Self::Broken => "broken",
            Self::Unexplained => "unexplained",
            Self::Mended => "mended",
            Self::Steady => "steady",
        }
    }
}

/// A test's latest runs, all with the same outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Streak {
    /// The revision of the first of them.
    pub revision: Option<String>,
    /// When the first of them started, as an RFC 3339 time stamp.
    pub started: String,
    /// How many they are.
    pub runs: u32,
}
