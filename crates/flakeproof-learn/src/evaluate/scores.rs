//! How good predictions are, and what is learned from the scores of tests that were held out:
//! thresholds, and probabilities, by isotonic regression that pools adjacent violators.

use serde::{Deserialize, Serialize};

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

/// From which score on at most this share of the scores lies, and at least one where one is the highest.
/// Equal scores are judged alike: where more of them are highest than fit, it is infinite.
#[must_use]
pub fn lowest_of_top(scores: &[f64], share: f64) -> f64 {
    let mut ordered = scores.to_vec();
    ordered.sort_by(|a, b| b.total_cmp(a));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let most = ((share * crate::real(ordered.len())) as usize).max(1);
    let Some(next) = ordered.get(most).copied() else { return f64::NEG_INFINITY };
    ordered[..most].iter().rev().copied().find(|score| *score > next).unwrap_or(f64::INFINITY)
}

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

/// A rising step function from scores to probabilities, learned on held-out scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Isotonic {
    /// The lowest score of each step, ascending.
    from: Vec<f64>,
    /// The probability on each step, ascending.
    probability: Vec<f64>,
}

impl Isotonic {
    /// The rising steps nearest to the truth. `None` without a score.
    ///
    /// Each step is drawn towards the share of flaky tests by one pseudo test, so that a step that
    /// rests on few tests never says "certain".
    #[must_use]
    pub fn fit(held_out: &HeldOut) -> Option<Self> {
        let mut steps: Vec<Step> = Vec::new();
        let (mut all_flaky, mut all_tests) = (0.0, 0.0);
        for equal in held_out.scored().chunk_by(|a, b| a.0 == b.0).rev() {
            let weigh = |counted: bool| -> f64 {
                let counts = equal.iter().filter(|(_, flaky)| *flaky || !counted);
                counts.map(|(_, flaky)| held_out.weight(*flaky)).sum()
            };
            let mut step = Step { from: equal[0].0, flaky: weigh(true), tests: weigh(false) };
            all_flaky += step.flaky;
            all_tests += step.tests;
            while let Some(last) = steps.pop_if(|last| last.share() >= step.share()) {
                step = Step {
                    from: last.from,
                    flaky: last.flaky + step.flaky,
                    tests: last.tests + step.tests,
                };
            }
            steps.push(step);
        }
        let prior = all_flaky / all_tests;
        let smooth = |step: &Step| (step.flaky + prior) / (step.tests + 1.0);
        // Smoothing may turn two small steps over; the running maximum keeps the function rising.
        let mut highest = 0f64;
        let probability = steps
            .iter()
            .map(|step| {
                highest = highest.max(smooth(step));
                highest
            })
            .collect();
        (!steps.is_empty())
            .then(|| Self { from: steps.iter().map(|step| step.from).collect(), probability })
    }

    /// The probability for a score.
    #[must_use]
    pub fn probability(&self, score: f64) -> f64 {
        let step = self.from.partition_point(|from| *from <= score).saturating_sub(1);
        self.probability.get(step).copied().unwrap_or(0.0)
    }
}

struct Step {
    from: f64,
    flaky: f64,
    tests: f64,
}

impl Step {
    fn share(&self) -> f64 {
        self.flaky / self.tests
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIXED: Confusion =
        Confusion { true_positives: 6, false_positives: 2, false_negatives: 4, true_negatives: 88 };

    #[test]
    fn the_top_is_never_larger_than_its_share() {
        let scores: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(lowest_of_top(&scores, 0.04), 96.0);
        assert_eq!(lowest_of_top(&scores[..10], 0.04), 9.0);
        assert_eq!(lowest_of_top(&scores, 1.0), f64::NEG_INFINITY);
        assert_eq!(lowest_of_top(&[], 0.04), f64::NEG_INFINITY);
    }

    #[test]
    fn equal_scores_are_judged_alike() {
        let two_lead = [[1.0; 2].as_slice(), &[0.5; 6], &[0.0; 92]].concat();
        assert_eq!(lowest_of_top(&two_lead, 0.04), 1.0);
        assert_eq!(lowest_of_top(&[0.5; 100], 0.04), f64::INFINITY);
    }

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

    #[test]
    fn scores_that_disagree_with_the_truth_are_pooled() {
        let scored = vec![(0.1, false), (0.2, true), (0.3, false), (0.4, true), (0.9, true)];
        let isotonic = Isotonic::fit(&HeldOut::new(scored, 2)).expect("five scores");
        assert!(isotonic.probability(0.2) == isotonic.probability(0.3));
        assert!(isotonic.probability(0.05) < isotonic.probability(0.2));
        assert!(isotonic.probability(0.95) < 1.0, "five tests are no certainty");
    }

    proptest! {
        #[test]
        fn probabilities_rise_and_stay_between_zero_and_one(
            scored in proptest::collection::vec((0f64..1.0, any::<bool>()), 1..200),
        ) {
            let isotonic = Isotonic::fit(&HeldOut::new(scored, 500)).expect("at least one score");
            let on_grid: Vec<f64> =
                (0..=20).map(|at| isotonic.probability(f64::from(at) / 20.0)).collect();
            prop_assert!(on_grid.is_sorted());
            prop_assert!(on_grid.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }
}
