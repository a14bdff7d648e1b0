//! How far an environment is from the one in which the suite ran.

use std::fmt;

use serde::{Deserialize, Serialize};

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
