//! Whether one thing that is changed changes how often a test fails, asked after every pair of runs.
//!
//! Runs come in pairs, one plain and one with the change, and the look at the result after each pair
//! may decide whether there is another one. A p-value does not allow that; an e-process does: if the
//! change does nothing, it ever exceeds `1/α` with a chance of at most `α`, whatever the rule that stops
//! it (Ville's inequality).
//!
//! The e-process is the one for two Bernoulli samples of Turner, Ly and Grünwald, "Generic E-variables
//! for exact sequential k-sample tests that allow for optional stopping" (JSPI 2024, section 3): a pair
//! is worth `p_a(y_a) p_b(y_b) / (p_0(y_a) p_0(y_b))`, where the rates `a` and `b` were fixed before the
//! pair and `p_0` is their mean. Their rates are the smoothed ones of the pairs so far (0.18 of a failure
//! and of a pass on each side). We differ in one thing: a quarter of the stake each is on "always fails
//! with the change, never without" and on its opposite from the very first pair, because most levers
//! that matter do just that, and an average of e-processes is one.
//!
//! It rests on runs that are independent. Who draws by lot which run of a pair comes first needs no such
//! assumption: if the change does nothing, a pair in which one run failed fails on either side with the
//! chance one half, whatever the test remembers, and however the machine drifts.
//! [`lot_evidence`](TwoSamples::lot_evidence) is the e-process of that lot alone.

use serde::{Deserialize, Serialize};

use crate::Tally;

/// What the paper adds to failures and passes on each side before it estimates a rate.
const SMOOTHING: f64 = 0.18;
/// How sure the fixed stakes are.
const NEVER: f64 = 0.02;
/// The stakes of the lot: the share of pairs that fail on the side that fails more often.
const LOTS: [f64; 2] = [0.9, 0.7];

/// Pairs of runs, one plain and one with a change.
///
/// ```
/// use flakeproof_core::TwoSamples;
///
/// let mut pairs = TwoSamples::default();
/// (0..6).for_each(|_| pairs.observe(false, true));
/// assert!(pairs.evidence() > 800.0, "forty hypotheses at 5 %");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TwoSamples {
    plain: Tally,
    with: Tally,
    /// Pairs that failed with the change only, and those that failed without it only.
    with_only: u32,
    plain_only: u32,
    /// Logarithms of the three e-processes.
    learned: f64,
    raises: f64,
    lowers: f64,
}

impl TwoSamples {
    /// Take in one pair of runs.
    pub fn observe(&mut self, plain_failed: bool, with_failed: bool) {
        let (a, b) = (smoothed(self.plain), smoothed(self.with));
        self.learned += worth(a, b, plain_failed, with_failed);
        self.raises += worth(NEVER, 1.0 - NEVER, plain_failed, with_failed);
        self.lowers += worth(1.0 - NEVER, NEVER, plain_failed, with_failed);
        self.plain.count(plain_failed);
        self.with.count(with_failed);
        self.with_only += u32::from(with_failed && !plain_failed);
        self.plain_only += u32::from(plain_failed && !with_failed);
    }

    /// The evidence that the rates differ: at most `1/α` with the chance `1 - α` if they do not.
    #[must_use]
    pub fn evidence(&self) -> f64 {
        0.5 * self.learned.exp() + 0.25 * self.raises.exp() + 0.25 * self.lowers.exp()
    }

    /// The same from the lot alone that drew which run of a pair came first, for whoever draws one.
    #[must_use]
    pub fn lot_evidence(&self) -> f64 {
        let (more, less) =
            (self.with_only.max(self.plain_only), self.with_only.min(self.plain_only));
        let stake = |share: f64| {
            f64::from(more) * (2.0 * share).ln() + f64::from(less) * (2.0 * (1.0 - share)).ln()
        };
        // Half of the stake is on either side; the other half is as good as lost.
        let sum: f64 = LOTS.iter().map(|share| stake(*share).exp()).sum();
        0.5 * sum / 2.0
    }

    /// The plain runs.
    #[must_use]
    pub fn plain(&self) -> Tally {
        self.plain
    }

    /// The runs with the change.
    #[must_use]
    pub fn with(&self) -> Tally {
        self.with
    }

    /// How much more often it fails with the change, in failures per run.
    #[must_use]
    pub fn difference(&self) -> f64 {
        rate(self.with) - rate(self.plain)
    }
}

/// Failures per run; 0 before the first.
fn rate(tally: Tally) -> f64 {
    f64::from(tally.failures) / f64::from(tally.runs.max(1))
}

fn smoothed(tally: Tally) -> f64 {
    (f64::from(tally.failures) + SMOOTHING) / (f64::from(tally.runs) + 2.0 * SMOOTHING)
}

/// The logarithm of what a pair is worth to who expected these two rates.
fn worth(a: f64, b: f64, plain_failed: bool, with_failed: bool) -> f64 {
    let null = f64::midpoint(a, b);
    let chance = |rate: f64, failed: bool| if failed { rate } else { 1.0 - rate };
    (chance(a, plain_failed) / chance(null, plain_failed)).ln()
        + (chance(b, with_failed) / chance(null, with_failed)).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    const ALPHA: f64 = 0.05;

    fn has_failed(seed: Seed, item: &str, rate: f64) -> bool {
        let chance = u32::try_from(seed.split(item).0 >> 32).unwrap_or(u32::MAX);
        f64::from(chance) < rate * f64::from(u32::MAX)
    }

    /// How many of `streams` ever exceed the bound within `pairs` pairs.
    fn exceeding(streams: u64, pairs: u32, a: f64, b: f64, bound: f64) -> u32 {
        let mut exceeded = 0;
        for stream in 0..streams {
            let seed = Seed(stream).split(&format!("{a} {b}"));
            let mut samples = TwoSamples::default();
            for pair in 0..pairs {
                samples.observe(
                    has_failed(seed, &format!("a{pair}"), a),
                    has_failed(seed, &format!("b{pair}"), b),
                );
                if samples.evidence() >= bound {
                    exceeded += 1;
                    break;
                }
            }
        }
        exceeded
    }

    #[test]
    fn a_change_that_does_nothing_is_hardly_ever_blamed_however_often_one_looks() {
        for rate in [0.0, 0.03, 0.1, 0.3, 0.5, 0.8, 1.0] {
            let wrong = exceeding(1000, 60, rate, rate, 1.0 / ALPHA);
            assert!(wrong <= 50, "{wrong} of 1000 at {rate}");
        }
    }

    #[test]
    fn forty_changes_that_do_nothing_are_hardly_ever_blamed_together() {
        let wrong = exceeding(4000, 60, 0.3, 0.3, 40.0 / ALPHA);
        assert!(wrong <= 5, "{wrong} of 4000, which is 100 tests with 40 levers each");
    }

    #[test]
    fn a_change_that_matters_is_found_in_few_pairs() {
        assert_eq!(exceeding(100, 6, 0.0, 1.0, 40.0 / ALPHA), 100, "always and never: six pairs");
        let found = exceeding(200, 40, 0.05, 0.7, 40.0 / ALPHA);
        assert!(found >= 180, "{found} of 200 raised from 5 % to 70 % in forty pairs");
        let found = exceeding(200, 60, 0.4, 0.0, 40.0 / ALPHA);
        assert!(found >= 150, "{found} of 200 lowered from 40 % to never in sixty pairs");
    }

    #[test]
    fn the_first_pair_of_the_learned_rates_is_worth_nothing_as_in_the_paper() {
        let mut pairs = TwoSamples::default();
        pairs.observe(false, true);
        assert!(pairs.learned.abs() < 1e-12, "both rates are one half before it");
        pairs.observe(false, true);
        let (a, b): (f64, f64) = (0.18 / 1.36, 1.18 / 1.36);
        let expected = ((1.0 - a) * b / 0.25).ln();
        assert!((pairs.learned - expected).abs() < 1e-12);
    }

    #[test]
    fn a_test_that_fails_every_other_time_is_not_blamed_on_what_was_drawn_by_lot() {
        let mut wrong = 0;
        for stream in 0..1000_u64 {
            let mut samples = TwoSamples::default();
            for pair in 0..40 {
                // The second run of every pair fails; the lot says which of them had the change.
                let with_is_second = has_failed(Seed(stream), &format!("{pair}"), 0.5);
                samples.observe(!with_is_second, with_is_second);
                if samples.lot_evidence() >= 1.0 / ALPHA {
                    wrong += 1;
                    break;
                }
            }
        }
        assert!(wrong <= 50, "{wrong} of 1000");
    }

    proptest! {
        #[test]
        fn the_mean_worth_of_a_pair_is_one_if_the_rates_are_equal(
            a in 0.01f64..0.99, b in 0.01f64..0.99, rate in 0.0f64..=1.0,
        ) {
            let both = [(false, false), (false, true), (true, false), (true, true)];
            let chance = |failed: bool| if failed { rate } else { 1.0 - rate };
            let mean: f64 = both
                .iter()
                .map(|(one, two)| chance(*one) * chance(*two) * worth(a, b, *one, *two).exp())
                .sum();
            prop_assert!(mean <= 1.0 + 1e-9, "{}", mean);
        }

        #[test]
        fn what_speaks_for_the_change_only_ever_adds(pairs in 1u32..40) {
            let mut samples = TwoSamples::default();
            let mut before = samples.evidence();
            for _ in 0..pairs {
                samples.observe(false, true);
                prop_assert!(samples.evidence() >= before - 1e-12);
                before = samples.evidence();
            }
        }
    }
}
