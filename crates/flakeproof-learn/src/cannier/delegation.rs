//! CANNIER with one model (Figure 1a): what the model is not sure about is left to RERUN, or to
//! iDFlakies' classification.
//!
//! Each test has a price that is paid when it is ambiguous (Equations 6 and 7); all else is the
//! same for both techniques. Tests are counted once by the step of their probability; every point
//! of the grid is then a difference of running sums (5,252 pairs of thresholds for each number of
//! runs, and no look at a test for any of them).
//!
//! Performance is the mean over the repetitions of the MCC over all tests, 0 where it is not
//! defined. Features are collected in every project that has a test to ask about.

use flakeproof_core::Thresholds;

use super::answers::Answers;
use super::front::{GridPoint, LAST_STEP, Setting, UNREACHED_STEP, step_of, threshold_of};
use super::prices::{MaxReruns, Recheck};
use super::suites::{CostedTest, Suites};
use crate::evaluate::Confusion;

/// A technique to which tests are delegated, and what the model says about each test.
#[derive(Debug, Clone)]
pub struct Delegation<'a> {
    /// What the model says.
    pub answers: &'a Answers,
    /// What it costs to delegate each test that was asked about.
    pub prices: Vec<f64>,
    /// The number of the project of each of them, ascending.
    pub projects: Vec<usize>,
    /// The names of all projects.
    pub names: &'a [String],
    /// What one run of each suite costs, 0 where no test is asked about.
    pub suite_seconds: Vec<f64>,
}

impl<'a> Delegation<'a> {
    /// RERUN: an ambiguous test is run until its outcome changes, or so many times (Equation 6).
    #[must_use]
    pub fn to_rerun(suites: &'a Suites, answers: &'a Answers, most: MaxReruns) -> Self {
        let price = |test: &CostedTest| test.seconds * most.expected(test.outcomes.baseline);
        Self::with_prices(suites, answers, price)
    }

    /// iDFlakies: an ambiguous test is classified after its failures (Equation 7).
    #[must_use]
    pub fn to_classification(suites: &'a Suites, answers: &'a Answers, recheck: Recheck) -> Self {
        let suite_seconds = suites.seconds();
        let price = |test: &CostedTest| {
            let shuffled = test.outcomes.shuffled.unwrap_or_default();
            recheck.seconds(shuffled, suite_seconds[test.project])
        };
        Self::with_prices(suites, answers, price)
    }

    fn with_prices(
        suites: &'a Suites,
        answers: &'a Answers,
        price: impl Fn(&CostedTest) -> f64,
    ) -> Self {
        let tests = || answers.asked().iter().map(|it| &suites.tests[it.at]);
        let projects: Vec<usize> = tests().map(|test| test.project).collect();
        let mut suite_seconds = suites.seconds();
        for (project, seconds) in suite_seconds.iter_mut().enumerate() {
            if projects.binary_search(&project).is_err() {
                *seconds = 0.0;
            }
        }
        let prices = tests().map(price).collect();
        Self { answers, prices, projects, names: &suites.projects, suite_seconds }
    }

    /// The technique without a model: every test is delegated, and the truth comes out.
    #[must_use]
    pub fn original(&self) -> GridPoint {
        GridPoint {
            setting: Setting::Between(Thresholds::RERUN_ALL),
            runs: 0,
            performance: 1.0,
            cost: self.prices.iter().sum(),
        }
    }

    /// Every point of the grid but the original.
    #[must_use]
    pub fn grid(&self) -> Vec<GridPoint> {
        let suites: f64 = self.suite_seconds.iter().sum();
        let mut points = Vec::new();
        for runs in self.answers.runs() {
            let sums: Vec<Sums> =
                self.answers.repeats_of(runs).iter().map(|it| self.sums(it)).collect();
            let collecting = f64::from(runs) * suites;
            for (lower, upper) in steps() {
                let Ok(thresholds) = Thresholds::new(threshold_of(lower), threshold_of(upper))
                else {
                    continue;
                };
                let mean = |measure: &dyn Fn(&Sums) -> f64| {
                    sums.iter().map(measure).sum::<f64>() / crate::real(sums.len())
                };
                points.push(GridPoint {
                    setting: Setting::Between(thresholds),
                    runs,
                    performance: mean(&|it| it.confusion(lower, upper).mcc()),
                    cost: collecting + mean(&|it| it.price[upper] - it.price[lower]),
                });
            }
        }
        points
    }

    fn sums(&self, probabilities: &[f64]) -> Sums {
        let mut sums = Sums::default();
        let tests = self.answers.asked().iter().zip(&self.prices).zip(probabilities);
        for ((asked, price), probability) in tests {
            // What is counted above a step is summed up below the next one.
            let above = step_of(*probability) + 1;
            let kind = if asked.is_positive { &mut sums.positive } else { &mut sums.negative };
            kind[above] += 1;
            sums.price[above] += price;
        }
        for step in 1..=UNREACHED_STEP {
            sums.positive[step] += sums.positive[step - 1];
            sums.negative[step] += sums.negative[step - 1];
            sums.price[step] += sums.price[step - 1];
        }
        sums
    }
}

/// The pairs of steps of the grid: the lower from 0 to 1, the upper from there to 1.01, but for the
/// one at which the model is redundant.
fn steps() -> impl Iterator<Item = (usize, usize)> {
    let pairs =
        (0..=LAST_STEP).flat_map(|lower| (lower..=UNREACHED_STEP).map(move |upper| (lower, upper)));
    pairs.filter(|pair| *pair != (0, UNREACHED_STEP))
}

/// How many tests of each kind lie below each step, and what it costs to delegate them.
struct Sums {
    positive: [usize; UNREACHED_STEP + 1],
    negative: [usize; UNREACHED_STEP + 1],
    price: [f64; UNREACHED_STEP + 1],
}

impl Default for Sums {
    fn default() -> Self {
        let (none, nothing) = ([0; UNREACHED_STEP + 1], [0.0; UNREACHED_STEP + 1]);
        Self { positive: none, negative: none, price: nothing }
    }
}

impl Sums {
    /// What is said (Equation 4) and what is true (Equation 5).
    fn confusion(&self, lower: usize, upper: usize) -> Confusion {
        Confusion {
            true_positives: self.positive[UNREACHED_STEP] - self.positive[lower],
            false_negatives: self.positive[lower],
            true_negatives: self.negative[upper],
            false_positives: self.negative[UNREACHED_STEP] - self.negative[upper],
        }
    }
}
