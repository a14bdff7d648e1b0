//! How often flaky tests fail: a distribution over failure rates.
//!
//! Most flaky tests fail rarely, some often, and no simple formula fits both ends, so the distribution
//! is a histogram over the odds of failing. It is learned from tests whose rate is known; where none
//! are, [`FailureRates::known`] holds what 10,000 runs of 808 flaky tests of 24 projects have shown.

use std::collections::HashMap;

use flakeproof_core::Tally;
use serde::{Deserialize, Serialize};

/// A distribution over the failure rates of flaky tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureRates {
    bins: Vec<Bin>,
}

/// Rates that are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Bin {
    rate: f64,
    share: f64,
    /// The logarithms of failing and of passing.
    ln_fail: f64,
    ln_pass: f64,
}

/// Of the 808 flaky tests of the FlakeFlagger data so many fall into each bin. The bins reach from
/// 1 failure in 20,000 runs to 1 pass in 20,000 runs.
const KNOWN: [u16; 40] = [
    0, 101, 18, 50, 59, 29, 29, 8, 6, 99, 43, 115, 23, 10, 3, 11, 6, 77, 1, 2, 116, 0, 0, 1, 1, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];
const BINS: f64 = KNOWN.len() as f64;
const LARGEST_LOGIT: f64 = 9.9;
/// So many tests, spread over all bins, are mixed with those that were seen: no rate is impossible.
const SPREAD: f64 = 2.0;

impl FailureRates {
    /// What is known of flaky tests in general.
    #[must_use]
    pub fn known() -> Self {
        Self::of_counts(KNOWN.map(f64::from))
    }

    /// In what share of random orders a test fails whose outcome depends on them: of 49 such tests of
    /// 11 real suites, 40 orders each.
    #[must_use]
    pub fn of_orders() -> Self {
        let seen = [
            (0.03, 5),
            (0.07, 2),
            (0.15, 5),
            (0.2, 3),
            (0.25, 1),
            (0.3, 1),
            (0.4, 4),
            (0.45, 5),
            (0.5, 6),
            (0.55, 5),
            (0.6, 6),
            (0.7, 2),
            (0.8, 4),
            (0.95, 1),
        ];
        let each = seen.iter().flat_map(|(rate, tests)| std::iter::repeat_n(*rate, *tests));
        Self::learned(each)
    }

    /// The distribution of tests whose rate is known.
    #[must_use]
    pub fn learned(rates: impl IntoIterator<Item = f64>) -> Self {
        let mut counts = [0.0; KNOWN.len()];
        for rate in rates {
            counts[bin_of(rate)] += 1.0;
        }
        Self::of_counts(counts)
    }

    fn of_counts(counts: [f64; KNOWN.len()]) -> Self {
        let sum: f64 = counts.iter().sum::<f64>() + SPREAD;
        let bins = counts.into_iter().enumerate();
        let bins = bins.map(|(bin, count)| {
            let (rate, share) = (middle_of(bin), (count + SPREAD / BINS) / sum);
            Bin { rate, share, ln_fail: rate.ln(), ln_pass: (-rate).ln_1p() }
        });
        Self { bins: bins.collect() }
    }

    /// The chance that a flaky test gives exactly these outcomes, in some fixed order.
    #[must_use]
    pub fn chance_of(&self, seen: Tally) -> f64 {
        self.chance_of_failing(0.0, seen)
    }

    /// The same, together with failing at least this often.
    #[must_use]
    pub fn chance_of_failing(&self, at_least: f64, seen: Tally) -> f64 {
        let (failures, passes) = (f64::from(seen.failures), f64::from(seen.runs - seen.failures));
        let chance = |bin: &Bin| bin.share * (failures * bin.ln_fail + passes * bin.ln_pass).exp();
        self.bins.iter().filter(|bin| bin.rate >= at_least).map(chance).sum()
    }

    /// The chance that a flaky test passes and fails within so many runs.
    #[must_use]
    pub fn shown_within(&self, runs: u32) -> f64 {
        if runs < 2 {
            return 0.0;
        }
        let all = |failures| self.chance_of(Tally { runs, failures });
        1.0 - all(0) - all(runs)
    }
}

fn bin_of(rate: f64) -> usize {
    let logit = (rate / (1.0 - rate)).ln().clamp(-LARGEST_LOGIT, LARGEST_LOGIT);
    let place = (logit + LARGEST_LOGIT) / (2.0 * LARGEST_LOGIT) * BINS;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 up to BINS")]
    let bin = place as usize;
    bin.min(KNOWN.len() - 1)
}

#[expect(clippy::cast_precision_loss, reason = "there are 40 bins")]
fn middle_of(bin: usize) -> f64 {
    let logit = (bin as f64 + 0.5) / BINS * 2.0 * LARGEST_LOGIT - LARGEST_LOGIT;
    1.0 / (1.0 + (-logit).exp())
}

/// A distribution over failure rates with the answers that it gave: a planner asks the same few
/// questions of all tests.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_known_agrees_with_the_data_it_comes_from() {
        // Of the 808 tests, uniform runs show 12 %, 29 %, 52 % and 74 %.
        for (runs, share) in [(2, 0.12), (10, 0.29), (100, 0.52), (1000, 0.74)] {
            let shown = FailureRates::known().shown_within(runs);
            assert!((shown - share).abs() < 0.02, "{runs} runs show {shown}");
        }
    }

    #[test]
    fn who_learned_from_frequent_failures_expects_them() {
        let often = FailureRates::learned(vec![0.5; 50]);
        let seldom = FailureRates::learned(vec![0.001; 50]);
        assert!(often.shown_within(5) > 0.85);
        assert!(seldom.shown_within(5) < 0.1);
    }

    proptest! {
        #[test]
        fn every_rate_falls_into_a_bin_near_it(rate in 0.0005f64..0.9995) {
            let middle = middle_of(bin_of(rate));
            let logit = |rate: f64| (rate / (1.0 - rate)).ln();
            prop_assert!((logit(rate) - logit(middle)).abs() <= LARGEST_LOGIT / BINS + 1e-9);
        }

        #[test]
        fn all_outcomes_together_are_certain(runs in 1u32..12) {
            let rates = FailureRates::known();
            let mut orders = 1.0; // The number of orders of so many failures: binomial coefficients.
            let mut sum = 0.0;
            for failures in 0..=runs {
                sum += orders * rates.chance_of(Tally { runs, failures });
                orders *= f64::from(runs - failures) / f64::from(failures + 1);
            }
            prop_assert!((sum - 1.0).abs() < 1e-9);
        }
    }
}
