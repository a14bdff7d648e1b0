//! What iDFlakies' classification of a test costs (CANNIER, Equation 7).
//!
//! A test is classified after its first failure in a shuffled order, and again after a share of all
//! others. Each time two truncated orders are run, of half the suite on average: together, one run
//! of the suite.

use flakeproof_core::Tally;

/// The share of additional failures that are classified again (`γ`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recheck(f64);

impl Recheck {
    /// What the authors of iDFlakies recommend.
    pub const RECOMMENDED: Self = Self(0.2);

    /// A share; `None` unless it lies from 0 to 1.
    #[must_use]
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// The share.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// How often a test with these outcomes in shuffled orders is classified (`Γ_t` in the
    /// ambiguous region).
    #[must_use]
    pub fn classifications(self, shuffled: Tally) -> f64 {
        1.0 + self.0 * f64::from(shuffled.failures.saturating_sub(1))
    }

    /// What that costs, when one run of its suite costs so many seconds.
    #[must_use]
    pub fn seconds(self, shuffled: Tally, suite_seconds: f64) -> f64 {
        self.classifications(shuffled) * suite_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_7_by_hand() {
        let failing = |failures| Tally { runs: 2500, failures };
        for (failures, times) in [(1, 1.0), (2, 1.2), (6, 2.0), (2500, 500.8)] {
            let classified = Recheck::RECOMMENDED.classifications(failing(failures));
            assert!((classified - times).abs() < 1e-9, "{failures}: {classified}");
        }
        // Two tests that failed 1 and 6 times, in a suite of 40 s: (1 + 2) · 40 s.
        let recheck = Recheck::RECOMMENDED;
        let both = recheck.seconds(failing(1), 40.0) + recheck.seconds(failing(6), 40.0);
        assert!((both - 120.0).abs() < 1e-9);
    }

    #[test]
    fn a_share_lies_between_nothing_and_all() {
        assert!(Recheck::new(0.0).is_some() && Recheck::new(1.0).is_some());
        assert!(Recheck::new(-0.1).is_none() && Recheck::new(1.1).is_none());
        assert!(Recheck::new(f64::NAN).is_none());
    }
}
