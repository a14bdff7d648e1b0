//! Failure rates whose answers are remembered: a planner asks the same few questions of all tests.

use std::collections::HashMap;

use flakeproof_core::Tally;

use super::rates::FailureRates;

/// A distribution over failure rates, with the answers that it gave.
#[derive(Debug, Clone)]
pub(super) struct RememberedRates {
    rates: FailureRates,
    known: HashMap<Tally, f64>,
    shown_by_two: f64,
}

impl RememberedRates {
    pub(super) fn new(rates: FailureRates) -> Self {
        Self { shown_by_two: rates.shown_within(2), rates, known: HashMap::new() }
    }

    /// The distribution itself.
    pub(super) fn rates(&self) -> &FailureRates {
        &self.rates
    }

    /// The chance that a flaky test gives exactly these outcomes.
    pub(super) fn chance_of(&mut self, seen: Tally) -> f64 {
        *self.known.entry(seen).or_insert_with(|| self.rates.chance_of(seen))
    }

    /// The chance that a flaky test passes and fails within so many runs.
    pub(super) fn shown_within(&mut self, runs: u32) -> f64 {
        if runs < 2 {
            return 0.0;
        }
        let (passes, failures) = (Tally { runs, failures: 0 }, Tally { runs, failures: runs });
        1.0 - self.chance_of(passes) - self.chance_of(failures)
    }

    /// The same within two runs.
    pub(super) fn shown_by_two(&self) -> f64 {
        self.shown_by_two
    }
}
