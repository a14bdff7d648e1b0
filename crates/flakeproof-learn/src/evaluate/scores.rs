//! How good predictions are.

use serde::Serialize;

/// What was predicted against what is true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Flaky, and predicted so.
    #[serde(rename = "tp")]
    pub true_positives: usize,
    /// Not flaky, but predicted so.
    #[serde(rename = "fp")]
    pub false_positives: usize,
    /// Flaky, but not predicted so.
    #[serde(rename = "fn")]
    pub false_negatives: usize,
    /// Not flaky, and not predicted so.
    #[serde(rename = "tn")]
    pub true_negatives: usize,
}

impl FromIterator<(bool, bool)> for Confusion {
    /// Count what was predicted and what is true.
    fn from_iter<I: IntoIterator<Item = (bool, bool)>>(both: I) -> Self {
        let mut confusion = Self::default();
        both.into_iter().for_each(|(predicted, flaky)| confusion.count(predicted, flaky));
        confusion
    }
}

impl Confusion {
    /// Count one prediction.
    pub fn count(&mut self, predicted: bool, flaky: bool) {
        let cell = match (predicted, flaky) {
            (true, true) => &mut self.true_positives,
            (true, false) => &mut self.false_positives,
            (false, true) => &mut self.false_negatives,
            (false, false) => &mut self.true_negatives,
        };
        *cell += 1;
    }

    /// The share of predicted tests that are flaky; `None` when nothing was predicted.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The share of flaky tests that were predicted; `None` when there is none.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// The harmonic mean of precision and recall, 0 when nothing was predicted right.
    #[must_use]
    pub fn f1(&self) -> f64 {
        let wrong = self.false_positives + self.false_negatives;
        share(2 * self.true_positives, 2 * self.true_positives + wrong).unwrap_or(0.0)
    }

    /// Matthews' correlation coefficient, 0 where it is not defined.
    #[must_use]
    pub fn mcc(&self) -> f64 {
        self.defined_mcc().unwrap_or(0.0)
    }

    /// Matthews' correlation coefficient; `None` when all are, or all are said to be, the same.
    #[must_use]
    pub fn defined_mcc(&self) -> Option<f64> {
        let [tp, fp, fn_, tn] =
            [self.true_positives, self.false_positives, self.false_negatives, self.true_negatives]
                .map(crate::real);
        let product = (tp + fp) * (tp + fn_) * (tn + fp) * (tn + fn_);
        (product != 0.0).then(|| (tp * tn - fp * fn_) / product.sqrt())
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            true_positives: self.true_positives + other.true_positives,
            false_positives: self.false_positives + other.false_positives,
            false_negatives: self.false_negatives + other.false_negatives,
            true_negatives: self.true_negatives + other.true_negatives,
        }
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| crate::real(part) / crate::real(whole))
}

/// The area under the steps of the precision-recall curve: the mean precision at each flaky test
/// when tests are taken by descending score. Equal scores are taken together. Each test that is not
/// flaky stands for `stands_for` of them. `None` without a flaky test.
#[must_use]
pub fn average_precision(scored: &[(f64, bool)], stands_for: f64) -> Option<f64> {
    let flaky = scored.iter().filter(|(_, flaky)| *flaky).count();
    if flaky == 0 {
        return None;
    }
    let mut ordered: Vec<&(f64, bool)> = scored.iter().collect();
    ordered.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut hits, mut misses, mut sum) = (0, 0, 0.0);
    for equal in ordered.chunk_by(|a, b| a.0 == b.0) {
        let new = equal.iter().filter(|(_, flaky)| *flaky).count();
        hits += new;
        misses += equal.len() - new;
        let precision = crate::real(hits) / (crate::real(hits) + stands_for * crate::real(misses));
        sum += crate::real(new) * if hits == 0 { 0.0 } else { precision };
    }
    Some(sum / crate::real(flaky))
}

/// The area under the ROC curve: how often a flaky test has a higher score than one that is not,
/// where equal scores count half. `None` unless both kinds are there.
#[must_use]
pub fn roc_auc(scored: &[(f64, bool)]) -> Option<f64> {
    let mut ordered: Vec<&(f64, bool)> = scored.iter().collect();
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut won) = (0, 0.0);
    for equal in ordered.chunk_by(|a, b| a.0 == b.0) {
        let flaky = equal.iter().filter(|(_, flaky)| *flaky).count();
        let others = equal.len() - flaky;
        won += crate::real(flaky) * (crate::real(below) + crate::real(others) / 2.0);
        below += others;
    }
    let flaky = scored.len() - below;
    (flaky > 0 && below > 0).then(|| won / (crate::real(flaky) * crate::real(below)))
}

/// The Brier score: the mean squared distance of probabilities from the truth. `None` without any.
#[must_use]
pub fn brier(scored: &[(f64, bool)]) -> Option<f64> {
    let off = |(probability, flaky): &(f64, bool)| {
        let truth = if *flaky { 1.0 } else { 0.0 };
        (probability - truth).powi(2)
    };
    let sum: f64 = scored.iter().map(off).sum();
    (!scored.is_empty()).then(|| sum / crate::real(scored.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXED: Confusion =
        Confusion { true_positives: 6, false_positives: 2, false_negatives: 4, true_negatives: 88 };

    #[test]
    fn scores_are_what_their_formulas_say() {
        assert_eq!(MIXED.precision(), Some(0.75));
        assert_eq!(MIXED.recall(), Some(0.6));
        assert!((MIXED.f1() - 2.0 * 0.75 * 0.6 / 1.35).abs() < 1e-12);
        // (6·88 − 2·4) / √(8·10·90·92)
        assert!((MIXED.mcc() - 520.0 / 662_400f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn nothing_predicted_has_no_precision() {
        let none = Confusion { true_negatives: 9, false_negatives: 1, ..Confusion::default() };
        assert_eq!(none.precision(), None);
        assert!(none.f1() == 0.0 && none.mcc() == 0.0);
    }

    #[test]
    fn average_precision_counts_equal_scores_together() {
        let scored = [(0.9, true), (0.8, false), (0.7, true), (0.7, false), (0.1, false)];
        // 1/2 · 1/1 + 1/2 · 2/4
        assert_eq!(average_precision(&scored, 1.0), Some(0.75));
        assert_eq!(average_precision(&[(0.4, false)], 1.0), None);
    }
    #[test]
    fn the_area_under_the_curve_counts_equal_scores_half() {
        let scored = [(0.9, true), (0.8, false), (0.7, true), (0.7, false), (0.1, false)];
        // Of six pairs, four are won and one is even.
        assert_eq!(roc_auc(&scored), Some(4.5 / 6.0));
        assert_eq!(roc_auc(&[(0.4, true)]), None);
    }

    #[test]
    fn certainty_about_the_truth_scores_zero() {
        assert_eq!(brier(&[(1.0, true), (0.0, false)]), Some(0.0));
        assert_eq!(brier(&[(0.5, true), (0.0, false)]), Some(0.125));
        assert_eq!(brier(&[]), None);
    }
}
