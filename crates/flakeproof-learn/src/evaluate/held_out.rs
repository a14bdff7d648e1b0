//! Scores of tests that were held out, from which thresholds and probabilities are learned.

use super::{Confusion, average_precision};

/// Held-out scores with the truth. All flaky tests are there; of the others, each may stand for
/// several, because asking about a sample of them says as much and takes less time.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// The scores, each with whether the test is flaky, by descending score.
    scored: Vec<(f64, bool)>,
    /// For how many tests that are not flaky each of them stands.
    stands_for: f64,
}

impl HeldOut {
    /// Scores of flaky tests and of a sample of `others` tests that are not flaky.
    #[must_use]
    pub fn new(mut scored: Vec<(f64, bool)>, others: usize) -> Self {
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let sampled = scored.iter().filter(|(_, flaky)| !flaky).count();
        let stands_for =
            if sampled == 0 { 1.0 } else { crate::real(others) / crate::real(sampled) };
        Self { scored, stands_for }
    }

    /// The scores, each with whether the test is flaky, by descending score.
    #[must_use]
    pub fn scored(&self) -> &[(f64, bool)] {
        &self.scored
    }

    /// For how many tests a scored one stands.
    #[must_use]
    pub fn weight(&self, flaky: bool) -> f64 {
        if flaky { 1.0 } else { self.stands_for }
    }

    /// Every score that tells tests apart, half way to the next lower one, with what calling all
    /// tests from there on flaky gives.
    #[must_use]
    pub fn steps(&self) -> Vec<(f64, Confusion)> {
        let flaky = self.scored.iter().filter(|(_, flaky)| *flaky).count();
        let others = self.scored.len() - flaky;
        let mut steps = Vec::new();
        let (mut right, mut wrong) = (0, 0);
        for (at, (score, is_flaky)) in self.scored.iter().enumerate() {
            right += usize::from(*is_flaky);
            wrong += usize::from(!*is_flaky);
            let next = self.scored.get(at + 1).map_or(0.0, |(next, _)| *next);
            if next < *score {
                let confusion = Confusion {
                    true_positives: right,
                    false_positives: self.all(wrong),
                    false_negatives: flaky - right,
                    true_negatives: self.all(others - wrong),
                };
                steps.push((f64::midpoint(*score, next), confusion));
            }
        }
        steps
    }

    /// What calling all tests from a score on flaky gives.
    #[must_use]
    pub fn confusion(&self, from: f64) -> Confusion {
        let mut sampled = Confusion::default();
        self.scored.iter().for_each(|(score, flaky)| sampled.count(*score >= from, *flaky));
        Confusion {
            false_positives: self.all(sampled.false_positives),
            true_negatives: self.all(sampled.true_negatives),
            ..sampled
        }
    }

    /// The area under the precision-recall curve.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        average_precision(&self.scored, self.stands_for)
    }

    /// How many tests a number of sampled ones stands for.
    fn all(&self, sampled: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let all = (crate::real(sampled) * self.stands_for).round() as usize;
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_tests_stand_for_all() {
        let held_out = HeldOut::new(vec![(0.9, true), (0.5, false), (0.7, true), (0.1, false)], 20);
        let from_half = held_out.confusion(0.5);
        assert_eq!((from_half.true_positives, from_half.false_positives), (2, 10));
        assert_eq!(from_half.true_negatives, 10);
        let steps = held_out.steps();
        assert_eq!(steps.len(), 4);
        assert_eq!(steps[2], (0.3, from_half));
    }
}
