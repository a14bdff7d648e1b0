//! Which variant of FLAST is at work.

use serde::{Deserialize, Serialize};

use super::cut::Cut;
use super::threshold::Aim;
use super::vote::Vote;

/// Everything that turns known tests into a predictor, apart from the tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What people call it.
    pub name: String,
    /// How source becomes terms.
    pub cut: Cut,
    /// How terms become vectors.
    pub weighting: Weighting,
    /// How many neighbours vote (the paper's k).
    pub neighbours: usize,
    /// How many of them may come from one class.
    pub of_a_class: usize,
    /// How much each of them weighs.
    pub vote: Vote,
    /// What the threshold is to achieve (the paper's sigma).
    pub aim: Aim,
}

/// How terms become vectors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// Counts, projected at random onto few dimensions; distances change by `1 ± epsilon` at most.
    /// With `epsilon` 0 the counts stay as they are.
    Counts {
        /// How much distances may change.
        epsilon: f64,
    },
    /// Whether a term occurs, weighted by the square root of the logarithm of how rare it is.
    Rarity {
        /// Terms in a larger share of the tests (and in more than a hundred) say nothing.
        most_common: f64,
        /// Terms in fewer tests say nothing.
        fewest: u32,
        /// The length of the class name's part, where the source's part has length one.
        class: f32,
        /// The length of the package's part.
        package: f32,
    },
}

impl Recipe {
    /// FLAST as the paper measured it: with the words that its authors' program takes.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            name: "paper".to_owned(),
            cut: Cut::Runs,
            weighting: Weighting::Counts { epsilon: 0.33 },
            neighbours: 7,
            of_a_class: 7,
            vote: Vote::InverseDistance,
            aim: Aim::Fixed(0.5),
        }
    }

    /// FLAST with the words that the paper's text names: what stands between white space.
    #[must_use]
    pub fn white_space() -> Self {
        Self { name: "white-space".to_owned(), cut: Cut::WhiteSpace, ..Self::paper() }
    }

    /// The variant that was best on real data (`evaluation/flast`).
    #[must_use]
    pub fn rarity() -> Self {
        Self {
            name: "rarity".to_owned(),
            cut: Cut::Parts,
            weighting: Weighting::Rarity { most_common: 0.1, fewest: 2, class: 0.4, package: 0.5 },
            neighbours: 30,
            of_a_class: 3,
            vote: Vote::Power(4.0),
            aim: Aim::Balance,
        }
    }
}
