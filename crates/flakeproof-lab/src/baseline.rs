//! CANNIER+RERUN on tests whose failure rate is known: what each pair of thresholds finds and costs.
//!
//! Section 5.2.4 and Equations 4 to 6 of the paper, for a model that reads source only, so that
//! collecting features costs no run.

use flakeproof_core::Thresholds;
use flakeproof_learn::cannier::{LAST_STEP, MaxReruns, UNREACHED_STEP, threshold_of};
use flakeproof_learn::evaluate::Confusion;

use crate::planner_benchmark::BenchmarkSubject;
use crate::real;

/// CANNIER with two thresholds, and what it comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CannierPoint {
    /// The thresholds.
    pub thresholds: Thresholds,
    /// How often an ambiguous test is run, at most.
    pub max_reruns: MaxReruns,
    /// What the reruns are expected to cost.
    pub cost: f64,
    /// Flaky tests that the reruns are expected to show.
    pub shown: f64,
    /// Flaky tests that are called so without a run.
    pub claimed: usize,
    /// Tests that are called flaky without a run, and are not.
    pub wrongly_claimed: usize,
    /// Its accuracy, where reruns always tell the truth (Equation 5).
    pub mcc: f64,
}

impl CannierPoint {
    /// All flaky tests that it names.
    #[must_use]
    pub fn found(&self) -> f64 {
        self.shown + real(self.claimed)
    }
}

/// Tests by falling probability, summed up to each place.
#[derive(Debug)]
pub struct Baseline {
    /// Falling.
    probabilities: Vec<f64>,
    /// How many of the first tests are flaky, what reruns of them cost and show.
    sums: Vec<Sum>,
    max_reruns: MaxReruns,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    flaky: usize,
    cost: f64,
    shown: f64,
}

impl Baseline {
    /// Measure with these tests, and the probability that a model gave to each.
    #[must_use]
    pub fn new(
        subjects: &[BenchmarkSubject],
        probabilities: &[f64],
        max_reruns: MaxReruns,
    ) -> Self {
        let mut order: Vec<(f64, BenchmarkSubject)> =
            probabilities.iter().copied().zip(subjects.iter().copied()).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut sum = Sum::default();
        let mut sums = vec![sum];
        for (_, subject) in &order {
            sum.cost += subject.cost * max_reruns.expected(subject.outcomes);
            if subject.outcomes.is_inconsistent() {
                sum.flaky += 1;
                sum.shown += shown_within(subject.rate(), max_reruns);
            }
            sums.push(sum);
        }
        let probabilities = order.into_iter().map(|(probability, _)| probability).collect();
        Self { probabilities, sums, max_reruns }
    }

    /// The paper's grid of thresholds.
    #[must_use]
    pub fn grid(&self) -> Vec<CannierPoint> {
        let pairs = (0..=LAST_STEP)
            .flat_map(|lower| (lower..=UNREACHED_STEP).map(move |upper| (lower, upper)));
        pairs.filter_map(|(lower, upper)| self.point(lower, upper)).collect()
    }

    /// The points without an upper threshold: all that is called flaky was seen to be.
    #[must_use]
    pub fn shown_only(&self) -> Vec<CannierPoint> {
        (0..=LAST_STEP).filter_map(|lower| self.point(lower, UNREACHED_STEP)).collect()
    }

    /// What comes out with the thresholds of two steps.
    fn point(&self, lower: usize, upper: usize) -> Option<CannierPoint> {
        let thresholds = Thresholds::new(threshold_of(lower), threshold_of(upper)).ok()?;
        let from = |least: f64| self.probabilities.partition_point(|it| *it >= least);
        let (claims, asked) = (from(thresholds.upper()), from(thresholds.lower()));
        let (above, down_to) = (self.sums[claims], self.sums[asked]);
        let all = self.sums.last().copied().unwrap_or_default();
        let confusion = Confusion {
            true_positives: down_to.flaky,
            false_positives: claims - above.flaky,
            false_negatives: all.flaky - down_to.flaky,
            true_negatives: self.probabilities.len() - all.flaky - (claims - above.flaky),
        };
        Some(CannierPoint {
            thresholds,
            max_reruns: self.max_reruns,
            cost: down_to.cost - above.cost,
            shown: down_to.shown - above.shown,
            claimed: above.flaky,
            wrongly_claimed: claims - above.flaky,
            mcc: confusion.mcc(),
        })
    }
}

/// The points that no other one beats in accuracy and cost, the cheapest first.
#[must_use]
pub fn unbeaten_points(mut points: Vec<CannierPoint>) -> Vec<CannierPoint> {
    points.sort_by(|a, b| {
        let both = |it: &CannierPoint| (it.thresholds.lower(), it.thresholds.upper());
        let ((lower, upper), (other_lower, other_upper)) = (both(a), both(b));
        a.cost
            .total_cmp(&b.cost)
            .then(b.mcc.total_cmp(&a.mcc))
            .then(lower.total_cmp(&other_lower))
            .then(upper.total_cmp(&other_upper))
    });
    let mut best = f64::NEG_INFINITY;
    points.retain(|point| {
        let is_better = point.mcc > best;
        best = best.max(point.mcc);
        is_better
    });
    points
}

/// The chance that a test passes and fails within so many runs.
fn shown_within(rate: f64, max_reruns: MaxReruns) -> f64 {
    let runs = f64::from(max_reruns.get());
    1.0 - (1.0 - rate).powf(runs) - rate.powf(runs)
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Tally;

    use super::*;

    fn baseline() -> Baseline {
        let subject =
            |failures| BenchmarkSubject { outcomes: Tally { runs: 10, failures }, cost: 1.0 };
        let subjects = [subject(5), subject(0), subject(5), subject(0)];
        let probabilities = [0.9, 0.6, 0.3, 0.0];
        Baseline::new(&subjects, &probabilities, MaxReruns::new(3).expect("more than one"))
    }

    fn at(lower: usize, upper: usize) -> CannierPoint {
        baseline().point(lower, upper).expect("in order")
    }

    #[test]
    fn everything_ambiguous_is_plain_rerun() {
        // Coins end after 2 with 1/2, else 3; the others take all 3 runs. A coin shows with 3/4.
        let all = at(0, 101);
        assert!((all.cost - (2.0 * 2.5 + 2.0 * 3.0)).abs() < 1e-12);
        assert!((all.found() - 1.5).abs() < 1e-12);
        assert!((all.mcc - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_above_costs_nothing_and_may_be_wrong() {
        let point = at(20, 50);
        assert!((point.cost - 2.5).abs() < 1e-12);
        assert_eq!((point.claimed, point.wrongly_claimed), (1, 1));
        assert!((point.found() - 1.75).abs() < 1e-12);
    }

    #[test]
    fn no_point_of_the_front_is_beaten() {
        let grid = baseline().grid();
        let front = unbeaten_points(grid.clone());
        assert!(front.is_sorted_by(|a, b| a.cost < b.cost && a.mcc < b.mcc));
        let beaten = |point: &CannierPoint| {
            front.iter().any(|it| it.cost <= point.cost && it.mcc >= point.mcc)
        };
        assert!(grid.iter().all(beaten));
    }
}
