//! From which flaky share on a test is called flaky (the paper's sigma, chosen as section 6 says).

use serde::{Deserialize, Serialize};

use crate::evaluate::HeldOut;

/// What a threshold is to achieve on tests that training has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// This threshold and no other.
    Fixed(f64),
    /// The best balance of precision and recall (F1).
    Balance,
    /// As many flaky tests as possible while this share of the predicted ones is flaky.
    Precision(f64),
}

/// A precision that fewer predictions than this support is chance.
const FEWEST_PREDICTIONS: usize = 5;

impl Aim {
    /// The threshold for this aim, given held-out shares. A test is called flaky when its share is
    /// at least the threshold. `None` when no threshold achieves the aim.
    #[must_use]
    pub fn threshold(self, held_out: &HeldOut) -> Option<f64> {
        match self {
            Self::Fixed(threshold) => Some(threshold),
            Self::Balance => held_out
                .steps()
                .into_iter()
                .max_by(|a, b| a.1.f1().total_cmp(&b.1.f1()).then(a.0.total_cmp(&b.0)))
                .filter(|(_, confusion)| confusion.true_positives > 0)
                .map(|(threshold, _)| threshold),
            Self::Precision(target) => held_out
                .steps()
                .into_iter()
                .filter(|(_, confusion)| {
                    let predicted = confusion.true_positives + confusion.false_positives;
                    predicted >= FEWEST_PREDICTIONS
                        && confusion.precision().is_some_and(|precision| precision >= target)
                })
                .max_by(|a, b| {
                    a.1.true_positives.cmp(&b.1.true_positives).then(a.0.total_cmp(&b.0))
                })
                .map(|(threshold, _)| threshold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD_OUT: [(f64, bool); 8] = [
        (0.9, true),
        (0.8, true),
        (0.7, true),
        (0.6, true),
        (0.5, false),
        (0.4, true),
        (0.3, false),
        (0.0, false),
    ];

    fn threshold(aim: Aim) -> Option<f64> {
        aim.threshold(&HeldOut::new(HELD_OUT.to_vec(), 3))
            .map(|threshold| (threshold * 100.0).round() / 100.0)
    }

    #[test]
    fn balance_takes_the_best_f1() {
        // Down to 0.4: five of five found, one wrong. Down to 0.6: four of five, none wrong.
        assert_eq!(threshold(Aim::Balance), Some(0.35));
    }

    #[test]
    fn a_precision_target_finds_as_many_as_it_allows() {
        assert_eq!(threshold(Aim::Precision(0.8)), Some(0.35));
        assert_eq!(threshold(Aim::Precision(0.9)), None, "4 of 4 are too few to tell");
    }

    #[test]
    fn without_a_flaky_test_there_is_no_balance() {
        let without = HeldOut::new(vec![(0.4, false)], 1);
        assert_eq!(Aim::Balance.threshold(&without), None);
        assert_eq!(Aim::Fixed(0.5).threshold(&without), Some(0.5));
    }
}
