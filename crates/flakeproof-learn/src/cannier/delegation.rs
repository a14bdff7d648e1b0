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

use flakeproof_core::{Region, Thresholds};

use super::answers::{Answers, Asked};
use super::class_cost::Recheck;
use super::front::{GridPoint, Setting};
use super::grid::{LAST, UNREACHED, step_of, threshold};
use super::reruns::MaxReruns;
use super::suites::{CostedTest, Suites};
use super::trade::{Found, ProjectTrade, mean, mean_if_all};
use crate::evaluate::Confusion;

/// A technique to which tests are delegated, and what the model says about each test.
#[derive(Debug, Clone)]
pub struct Delegation<'a> {
    answers: &'a Answers,
    /// What it costs to delegate each test.
    prices: Vec<f64>,
    /// The number of the project of each test.
    projects: Vec<usize>,
    names: &'a [String],
    /// What one run of each suite costs, 0 where no test is asked about.
    suite_seconds: Vec<f64>,
}

impl<'a> Delegation<'a> {
    /// RERUN: an ambiguous test is run until its outcome changes, or so many times (Equation 6).
    #[must_use]
    pub fn to_rerun(suites: &'a Suites, answers: &'a Answers, most: MaxReruns) -> Self {
        let price = |test: &CostedTest| test.seconds * most.expected(test.outcomes.baseline);
        Self::of(suites, answers, price)
    }

    /// iDFlakies: an ambiguous test is classified after its failures (Equation 7).
    #[must_use]
    pub fn to_classification(suites: &'a Suites, answers: &'a Answers, recheck: Recheck) -> Self {
        let suite_seconds = suites.seconds();
        let price = |test: &CostedTest| {
            let shuffled = test.outcomes.shuffled.unwrap_or_default();
            recheck.seconds(shuffled, suite_seconds[test.project])
        };
        Self::of(suites, answers, price)
    }

    fn of(suites: &'a Suites, answers: &'a Answers, price: impl Fn(&CostedTest) -> f64) -> Self {
        let tests = || answers.asked.iter().map(|it| &suites.tests[it.at]);
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
        for (runs, repeats) in &self.answers.by_runs {
            let sums: Vec<Sums> = repeats.iter().map(|it| self.sums(it)).collect();
            let collecting = f64::from(*runs) * suites;
            for (lower, upper) in steps() {
                let Ok(thresholds) = Thresholds::new(threshold(lower), threshold(upper)) else {
                    continue;
                };
                let of = |measure: &dyn Fn(&Sums) -> f64| {
                    sums.iter().map(measure).sum::<f64>() / crate::real(sums.len())
                };
                points.push(GridPoint {
                    setting: Setting::Between(thresholds),
                    runs: *runs,
                    performance: of(&|it| it.confusion(lower, upper).mcc()),
                    cost: collecting + of(&|it| it.price[upper] - it.price[lower]),
                });
            }
        }
        points
    }

    fn sums(&self, probabilities: &[f64]) -> Sums {
        let mut sums = Sums::default();
        let tests = self.answers.asked.iter().zip(&self.prices).zip(probabilities);
        for ((asked, price), probability) in tests {
            // What is counted above a step is summed up below the next one.
            let above = step_of(*probability) + 1;
            let kind = if asked.is_positive { &mut sums.positive } else { &mut sums.negative };
            kind[above] += 1;
            sums.price[above] += price;
        }
        for step in 1..=UNREACHED {
            sums.positive[step] += sums.positive[step - 1];
            sums.negative[step] += sums.negative[step - 1];
            sums.price[step] += sums.price[step - 1];
        }
        sums
    }

    /// Each project with a test to ask about, then all of them as `all`, at a point.
    #[must_use]
    pub fn by_project(&self, thresholds: Thresholds, runs: u32) -> Vec<ProjectTrade> {
        let mut lines: Vec<ProjectTrade> = (0..self.names.len())
            .filter(|project| self.projects.binary_search(project).is_ok())
            .map(|project| {
                let counts = |row: usize| self.projects[row] == project;
                let collecting = f64::from(runs) * self.suite_seconds[project];
                self.line(&self.names[project], &counts, collecting, (thresholds, runs))
            })
            .collect();
        let collecting = f64::from(runs) * self.suite_seconds.iter().sum::<f64>();
        let all = self.line("all", &|_| true, collecting, (thresholds, runs));
        // As on the grid, so that the line says what the point says.
        let performance = all.performance.or_else(|| Some(self.mcc_of_all(thresholds, runs)));
        lines.push(ProjectTrade { performance, ..all });
        lines
    }

    fn line(
        &self,
        name: &str,
        counts: &dyn Fn(usize) -> bool,
        collecting: f64,
        (thresholds, runs): (Thresholds, u32),
    ) -> ProjectTrade {
        let rows: Vec<usize> = (0..self.prices.len()).filter(|row| counts(*row)).collect();
        let certain = [vec![0.0; self.prices.len()]];
        // Without a model, whatever it says lies in the ambiguous region.
        let repeats = self.answers.by_runs.get(&runs).map_or(&certain[..], Vec::as_slice);
        let ends: Vec<(Confusion, f64)> =
            repeats.iter().map(|it| self.decide(&rows, it, thresholds)).collect();
        let of = |count: fn(&Confusion) -> usize| {
            mean(&ends.iter().map(|(it, _)| crate::real(count(it))).collect::<Vec<_>>())
        };
        let mcc: Vec<Option<f64>> = ends.iter().map(|(it, _)| it.defined_mcc()).collect();
        ProjectTrade {
            project: name.to_owned(),
            found: Found::Tests {
                true_negatives: of(|it| it.true_negatives),
                false_negatives: of(|it| it.false_negatives),
                false_positives: of(|it| it.false_positives),
                true_positives: of(|it| it.true_positives),
            },
            performance: mean_if_all(&mcc),
            cost: collecting + mean(&ends.iter().map(|(_, cost)| *cost).collect::<Vec<_>>()),
            original: rows.iter().map(|row| self.prices[*row]).sum(),
        }
    }

    /// The mean MCC over all tests, 0 in a repetition where it is not defined.
    fn mcc_of_all(&self, thresholds: Thresholds, runs: u32) -> f64 {
        let rows: Vec<usize> = (0..self.prices.len()).collect();
        let repeats = self.answers.by_runs.get(&runs).map_or(&[][..], Vec::as_slice);
        let of = |said: &Vec<f64>| self.decide(&rows, said, thresholds).0.mcc();
        mean(&repeats.iter().map(of).collect::<Vec<_>>())
    }

    /// What is said of some tests, and what the ambiguous ones among them cost.
    fn decide(&self, rows: &[usize], said: &[f64], at: Thresholds) -> (Confusion, f64) {
        let (mut confusion, mut cost) = (Confusion::default(), 0.0);
        for row in rows {
            let Asked { is_positive, .. } = self.answers.asked[*row];
            let predicted = match at.region(said[*row]) {
                Region::Below => false,
                Region::Above => true,
                Region::Ambiguous => {
                    cost += self.prices[*row];
                    is_positive
                }
            };
            confusion.count(predicted, is_positive);
        }
        (confusion, cost)
    }
}

/// The pairs of steps of the grid: the lower from 0 to 1, the upper from there to 1.01, but for the
/// one at which the model is redundant.
fn steps() -> impl Iterator<Item = (usize, usize)> {
    let pairs = (0..=LAST).flat_map(|lower| (lower..=UNREACHED).map(move |upper| (lower, upper)));
    pairs.filter(|pair| *pair != (0, UNREACHED))
}

/// How many tests of each kind lie below each step, and what it costs to delegate them.
struct Sums {
    positive: [usize; UNREACHED + 1],
    negative: [usize; UNREACHED + 1],
    price: [f64; UNREACHED + 1],
}

impl Default for Sums {
    fn default() -> Self {
        let (none, nothing) = ([0; UNREACHED + 1], [0.0; UNREACHED + 1]);
        Self { positive: none, negative: none, price: nothing }
    }
}

impl Sums {
    /// What is said (Equation 4) and what is true (Equation 5).
    fn confusion(&self, lower: usize, upper: usize) -> Confusion {
        Confusion {
            true_positives: self.positive[UNREACHED] - self.positive[lower],
            false_negatives: self.positive[lower],
            true_negatives: self.negative[upper],
            false_positives: self.negative[UNREACHED] - self.negative[upper],
        }
    }
}
