//! Deciding between "fails" and "does not" from as few runs as the chance of an error allows.

/// The failure rate at which an order of tests still counts as one in which a test passes: who is said
/// to fail in an order fails there more often.
pub const PASSING_RATE: f64 = 0.2;

/// Wald's sequential test (1945) between two failure rates.
///
/// ```
/// use flakeproof_core::{Decision, SequentialTest};
///
/// let mut test = SequentialTest::new(0.2, 0.8, 0.02);
/// test.observe(true);
/// test.observe(true);
/// assert_eq!(test.decision(), None);
/// test.observe(true);
/// assert_eq!(test.decision(), Some(Decision::High));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialTest {
    /// What a failure, and a pass, say for the high rate: logarithms of likelihood ratios.
    failure: f64,
    pass: f64,
    /// Where the sum must arrive, on either side.
    bound: f64,
    sum: f64,
}

/// Which of two rates a sequential test decided for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The lower one.
    Low,
    /// The higher one.
    High,
}

impl SequentialTest {
    /// A test between a low and a high rate; `error` is the chance to be wrong, either way.
    ///
    /// Rates are kept away from 0 and 1, where a single surprise would decide everything.
    #[must_use]
    pub fn new(low: f64, high: f64, error: f64) -> Self {
        let high = high.clamp(0.05, 0.98);
        let low = low.clamp(0.02, high * 0.9);
        Self {
            failure: (high / low).ln(),
            pass: ((1.0 - high) / (1.0 - low)).ln(),
            bound: ((1.0 - error) / error).ln(),
            sum: 0.0,
        }
    }

    /// Take in the outcome of one run.
    pub fn observe(&mut self, has_failed: bool) {
        self.sum += if has_failed { self.failure } else { self.pass };
    }

    /// The rate that is decided for, once one is.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        if self.sum >= self.bound {
            Some(Decision::High)
        } else if self.sum <= -self.bound {
            Some(Decision::Low)
        } else {
            None
        }
    }

    /// The likelier rate, decided or not; the lower one when both are equally likely.
    #[must_use]
    pub fn leaning(&self) -> Decision {
        if self.sum > 0.0 { Decision::High } else { Decision::Low }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    #[test]
    fn passes_decide_for_the_low_rate() {
        let mut test = SequentialTest::new(0.2, 0.8, 0.02);
        (0..3).for_each(|_| test.observe(false));
        assert_eq!(test.decision(), Some(Decision::Low));
    }

    #[test]
    fn one_surprise_is_made_up_for() {
        let mut test = SequentialTest::new(0.2, 0.8, 0.02);
        [true, false, true, true, true].into_iter().for_each(|failed| test.observe(failed));
        assert_eq!(test.decision(), Some(Decision::High));
    }

    #[test]
    fn errors_are_as_rare_as_promised() {
        let mut wrong = 0;
        for trial in 0..2000 {
            let mut test = SequentialTest::new(0.1, 0.7, 0.02);
            for run in 0.. {
                let chance = Seed(trial).split(&format!("{run}")).0 % 1000;
                test.observe(chance < 100);
                match test.decision() {
                    Some(Decision::High) => wrong += 1,
                    Some(Decision::Low) => {}
                    None => continue,
                }
                break;
            }
        }
        assert!(wrong <= 40, "{wrong} of 2000");
    }

    proptest! {
        #[test]
        fn any_two_rates_can_be_decided(low in 0.0f64..1.0, high in 0.0f64..1.0) {
            let mut test = SequentialTest::new(low, high, 0.01);
            (0..200).for_each(|_| test.observe(true));
            prop_assert_eq!(test.decision(), Some(Decision::High));
        }
    }
}
