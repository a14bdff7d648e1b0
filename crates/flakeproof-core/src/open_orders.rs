//! Orders that a language leaves open, such as that of a hash table, and tests that rely on one.
//!
//! Such a test is implementation-dependent: it passes as long as the runtime keeps to an order that
//! nobody promised, and fails with the next version of it, or on another machine.

use serde::{Deserialize, Serialize};

use crate::Tally;

/// What decides the orders that a language leaves open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shuffle {
    /// The seed of all orders. It has 32 bits, as a hash seed of Python has.
    pub seed: u32,
    /// The only calls that get a shuffled order; `None` for all of them.
    #[serde(default)]
    pub only: Option<Vec<String>>,
}

impl Shuffle {
    /// Every call gets the order of this seed.
    #[must_use]
    pub fn all(seed: u32) -> Self {
        Self { seed, only: None }
    }

    /// Only these calls get it.
    #[must_use]
    pub fn only(seed: u32, calls: Vec<String>) -> Self {
        Self { seed, only: Some(calls) }
    }
}

/// How a test was seen to rely on an order that the language leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImplementationDependence {
    /// With this seed it fails.
    pub fails_with: u32,
    /// With this one it passes; `None` where it passes in the runtime's usual orders.
    pub passes_with: Option<u32>,
    /// How it fared with the seed that it fails with, in new processes.
    pub failing: Tally,
    /// How it fared in turns with that where it passes, in new processes.
    pub passing: Tally,
    /// The smallest set of calls that was found whose order it relies on. Empty where calls cannot be
    /// told apart, or were not.
    pub calls: Vec<String>,
}

impl ImplementationDependence {
    /// What shows the failure.
    #[must_use]
    pub fn shuffle(&self) -> Shuffle {
        Shuffle::all(self.fails_with)
    }
}
