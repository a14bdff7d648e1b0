//! From scores to probabilities: isotonic regression by pooling adjacent violators.

use serde::{Deserialize, Serialize};

use super::HeldOut;

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
