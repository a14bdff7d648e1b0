//! Suites as the cost model sees them: what each test costs, and how it fared.

use std::collections::{BTreeMap, HashMap};

use flakeproof_core::Feature;

use super::problem::TestOutcomes;
use super::tables::{KnownTest, MeasuredTest};

/// The tests of some projects, by project and id.
#[derive(Debug, Clone)]
pub struct Suites {
    /// The names of the projects.
    pub projects: Vec<String>,
    /// The tests.
    pub tests: Vec<CostedTest>,
    /// Where their costs come from.
    pub costs: CostSource,
    /// How many of them have no cost of their own, and count as the mean of all others.
    pub without_cost: usize,
    /// Where each project begins in `tests`, and where the last one ends.
    begins: Vec<usize>,
}

/// A test with what one run of it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct CostedTest {
    /// The number of its project.
    pub project: usize,
    /// Its id.
    pub test: String,
    /// The mean time of a run, in seconds (`C_t`).
    pub seconds: f64,
    /// How it fared; nothing where that is not known.
    pub outcomes: TestOutcomes,
}

/// Where costs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSource {
    /// The feature `run_time`.
    RunTime,
    /// The column `seconds` of a table.
    Given,
    /// Nothing: each run counts 1.
    One,
}

/// A test and how long it took once, where that is known.
#[derive(Debug, Clone, Copy)]
pub struct TimedTest<'a> {
    /// The project it belongs to.
    pub project: &'a str,
    /// Its id.
    pub test: &'a str,
    /// How long it took.
    pub seconds: Option<f64>,
}

impl Suites {
    /// The measured tests, each run at the cost of its mean `run_time`.
    #[must_use]
    pub fn of_features(measured: &[MeasuredTest], known: &[KnownTest]) -> Self {
        let timed = measured.iter().map(|it| TimedTest {
            project: &it.project,
            test: &it.test,
            seconds: it.features.get(Feature::RunTime),
        });
        Self::new(timed, known, CostSource::RunTime)
    }

    /// All tests that were timed, and what is known of them.
    #[must_use]
    pub fn new<'a>(
        timed: impl Iterator<Item = TimedTest<'a>>,
        known: &[KnownTest],
        costs: CostSource,
    ) -> Self {
        let times = times(timed);
        let fared: HashMap<(&str, &str), TestOutcomes> =
            known.iter().map(|it| ((it.project.as_str(), it.test.as_str()), it.outcomes)).collect();
        let mean = |(sum, count): &(f64, u32)| (*count > 0).then(|| sum / f64::from(*count));
        let seconds: Vec<f64> = times.values().filter_map(mean).collect();
        let (all, is_known) = (seconds.iter().sum::<f64>(), !seconds.is_empty());
        // Where nothing took any time, nothing was measured.
        let (usual, costs) = if is_known && all > 0.0 {
            (all / crate::real(seconds.len()), costs)
        } else {
            (1.0, CostSource::One)
        };
        let cost = |time: &(f64, u32)| match costs {
            CostSource::One => 1.0,
            CostSource::RunTime | CostSource::Given => mean(time).unwrap_or(usual),
        };
        let mut suites = Self {
            projects: Vec::new(),
            without_cost: times.len() - seconds.len(),
            tests: Vec::new(),
            costs,
            begins: Vec::new(),
        };
        for ((project, test), time) in &times {
            let outcomes = fared.get(&(*project, *test)).copied().unwrap_or_default();
            suites.push(project, test, cost(time), outcomes);
        }
        suites.begins.push(suites.tests.len());
        suites
    }

    /// Take in the next test, in the order of projects and ids.
    fn push(&mut self, project: &str, test: &str, seconds: f64, outcomes: TestOutcomes) {
        if self.projects.last().map(String::as_str) != Some(project) {
            self.projects.push(project.to_owned());
            self.begins.push(self.tests.len());
        }
        let project = self.projects.len() - 1;
        self.tests.push(CostedTest { project, test: test.to_owned(), seconds, outcomes });
    }

    /// Where a test stands in `tests`.
    #[must_use]
    pub fn find(&self, project: &str, test: &str) -> Option<usize> {
        let project = self.projects.binary_search_by(|it| it.as_str().cmp(project)).ok()?;
        let begin = self.begins[project];
        let of_project = &self.tests[begin..self.begins[project + 1]];
        let at = of_project.binary_search_by(|it| it.test.as_str().cmp(test)).ok()?;
        Some(begin + at)
    }

    /// What one run of each project's suite costs (`Σ C_t`).
    #[must_use]
    pub fn seconds(&self) -> Vec<f64> {
        let sum = |ends: &[usize]| self.tests[ends[0]..ends[1]].iter().map(|it| it.seconds).sum();
        self.begins.windows(2).map(sum).collect()
    }

    /// The most runs of any test in the suite's own order (`N_B`).
    #[must_use]
    pub fn baseline_runs(&self) -> u32 {
        self.tests.iter().map(|it| it.outcomes.baseline.runs).max().unwrap_or_default()
    }
}

/// How long each test took together, and in how many runs.
fn times<'a>(
    timed: impl Iterator<Item = TimedTest<'a>>,
) -> BTreeMap<(&'a str, &'a str), (f64, u32)> {
    let mut times: BTreeMap<(&str, &str), (f64, u32)> = BTreeMap::new();
    for it in timed {
        let (sum, count) = times.entry((it.project, it.test)).or_default();
        // A clock that went backwards says nothing.
        if let Some(seconds) = it.seconds.filter(|seconds| *seconds >= 0.0) {
            *sum += seconds;
            *count += 1;
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suites(timed: &[(&str, &str, Option<f64>)]) -> Suites {
        let timed = timed.iter().map(|(project, test, seconds)| TimedTest {
            project,
            test,
            seconds: *seconds,
        });
        Suites::new(timed, &[], CostSource::Given)
    }

    #[test]
    fn a_cost_is_the_mean_of_all_runs() {
        let two = suites(&[("p", "b", Some(1.0)), ("p", "a", Some(2.0)), ("p", "b", Some(5.0))]);
        assert_eq!(two.tests.iter().map(|it| it.seconds).collect::<Vec<_>>(), [2.0, 3.0]);
        assert_eq!(two.seconds(), [5.0]);
        assert_eq!((two.costs, two.without_cost), (CostSource::Given, 0));
    }

    #[test]
    fn a_test_without_a_cost_counts_as_the_mean_and_is_counted() {
        let three = suites(&[("p", "a", Some(2.0)), ("p", "b", None), ("q", "a", Some(4.0))]);
        assert_eq!(three.seconds(), [5.0, 4.0]);
        assert_eq!(three.without_cost, 1);
    }

    #[test]
    fn without_any_cost_each_run_counts_one() {
        for seconds in [None, Some(0.0)] {
            let two = suites(&[("p", "a", seconds), ("p", "b", seconds)]);
            assert_eq!((two.seconds(), two.costs), (vec![2.0], CostSource::One));
        }
    }

    #[test]
    fn tests_are_found_by_project_and_id() {
        let three = suites(&[("p", "a", None), ("q", "a", None), ("p", "b", None)]);
        assert_eq!(three.find("q", "a"), Some(2));
        assert_eq!((three.find("q", "b"), three.find("r", "a")), (None, None));
    }
}
