//! What tests cost: suites as the cost model sees them, with the time of each test and how it fared,
//! and what a technique pays for one test (CANNIER, Equations 6 and 7).
//!
//! RERUN executes a test that is not NOD flaky as often as allowed, since nothing ends it earlier. A
//! NOD flaky one ends at the first outcome that differs from those before it. Its expected number of
//! runs is the sum of the chances that it goes on: 1 + Σ (p^k + q^k) for k = 1 … `R_max` − 1, where p is
//! its failure rate and q = 1 − p; the two geometric sums have closed forms.
//!
//! iDFlakies classifies a test after its first failure in a shuffled order, and again after a share of
//! all others. Each time two truncated orders are run, of half the suite on average: together, one run
//! of the suite.

use std::collections::{BTreeMap, HashMap};

use flakeproof_core::{Feature, Tally};

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

/// The most runs of one test without an inconsistent outcome (`R_max`), at least 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxReruns(u32);

impl MaxReruns {
    /// So many runs; `None` for fewer than 2, which can show no inconsistency.
    #[must_use]
    pub fn new(runs: u32) -> Option<Self> {
        (runs >= 2).then_some(Self(runs))
    }

    /// How many.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    /// How often RERUN is expected to execute a test with these outcomes in the suite's own order
    /// (`R_t` in the ambiguous region).
    #[must_use]
    pub fn expected(self, baseline: Tally) -> f64 {
        let most = f64::from(self.0);
        if !baseline.is_inconsistent() {
            return most;
        }
        let (failures, passes) = shares(baseline);
        // Rounding must not promise a run more than there can be.
        (1.0 + goes_on(failures, passes, most) + goes_on(passes, failures, most)).clamp(2.0, most)
    }

    /// The chance that RERUN ends a NOD flaky test after exactly so many runs, `P(r_t = x)`.
    #[must_use]
    pub fn ends_after(self, baseline: Tally, runs: u32) -> f64 {
        match runs {
            0 | 1 => 0.0,
            runs if runs < self.0 => exact(baseline, runs),
            runs if runs == self.0 => {
                let earlier: f64 = (2..self.0).map(|before| exact(baseline, before)).sum();
                1.0 - earlier
            }
            _ => 0.0,
        }
    }
}

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

/// The chance that the first inconsistent outcome comes with exactly this run, `Exact(t, x)`.
#[must_use]
pub fn exact(baseline: Tally, runs: u32) -> f64 {
    let (failures, passes) = shares(baseline);
    let before = f64::from(runs.saturating_sub(1));
    failures.powf(before) * passes + passes.powf(before) * failures
}

/// How often it fails and how often it passes.
fn shares(baseline: Tally) -> (f64, f64) {
    let runs = f64::from(baseline.runs.max(1));
    (f64::from(baseline.failures) / runs, f64::from(baseline.runs - baseline.failures) / runs)
}

/// Σ share^k for k = 1 … most − 1. The other share is given as well: for a share close to 1 it
/// cannot be had from the first without loss.
fn goes_on(share: f64, other: f64, most: f64) -> f64 {
    if share == 0.0 {
        return 0.0;
    }
    let power = (most - 1.0) * (-other).ln_1p();
    share * -power.exp_m1() / other
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;
    use proptest::prelude::*;

    use super::*;
    use crate::chance::Chance;

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

    fn failing(failures: u32, runs: u32) -> Tally {
        Tally { runs, failures }
    }

    fn most(runs: u32) -> MaxReruns {
        MaxReruns::new(runs).expect("at least two")
    }

    #[test]
    fn equation_6_by_hand() {
        // p = 1/4: Exact(2) = 2 · 3/16; Exact(3) = 3/64 + 9/64; Exact(4) = 3/256 + 27/256.
        let quarter = failing(1, 4);
        for (runs, chance) in [(2, 6.0 / 16.0), (3, 12.0 / 64.0), (4, 30.0 / 256.0)] {
            assert!((exact(quarter, runs) - chance).abs() < 1e-15, "{runs}");
        }
        // With at most three runs: 2 with 6/16, else 3. With four: 3 with 12/64, else 4.
        assert!((most(3).ends_after(quarter, 3) - 10.0 / 16.0).abs() < 1e-15);
        assert!((most(3).expected(quarter) - (2.0 * 6.0 + 3.0 * 10.0) / 16.0).abs() < 1e-12);
        let four = 2.0 * 24.0 / 64.0 + 3.0 * 12.0 / 64.0 + 4.0 * 28.0 / 64.0;
        assert!((most(4).expected(quarter) - four).abs() < 1e-12);
        // A coin: 2 + 1/2 + 1/4 + … ends at 3.
        assert!((most(10_000).expected(failing(5, 10)) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_flaky_is_run_as_often_as_allowed() {
        assert!((most(2500).expected(failing(0, 2500)) - 2500.0).abs() < 1e-12);
        assert!((most(2500).expected(failing(2500, 2500)) - 2500.0).abs() < 1e-12);
        assert_eq!(MaxReruns::new(1), None);
    }

    #[test]
    fn a_thousand_runs_of_a_test_come_to_the_expected_mean() {
        let (tally, most) = (failing(3, 20), most(12));
        let mut chance = Chance::new(Seed(5));
        let rounds = 40_000;
        let mut executed = 0u32;
        for _ in 0..rounds {
            let first = chance.below(20) < 3;
            let mut runs = 1;
            while runs < most.get() {
                runs += 1;
                if (chance.below(20) < 3) != first {
                    break;
                }
            }
            executed += runs;
        }
        let mean = f64::from(executed) / f64::from(rounds);
        assert!((mean - most.expected(tally)).abs() < 0.05, "{mean} {}", most.expected(tally));
    }

    proptest! {
        #[test]
        fn expected_reruns_lie_between_two_and_the_most(
            runs in 2u32..20_000, failures in 1u32..20_000, limit in 2u32..10_001,
        ) {
            let tally = failing(failures % runs, runs);
            let expected = most(limit).expected(tally);
            prop_assert!((2.0..=f64::from(limit)).contains(&expected), "{expected}");
        }

        #[test]
        fn the_closed_form_is_the_mean_of_the_distribution(
            runs in 2u32..3000, failures in 1u32..3000, limit in 2u32..400,
        ) {
            let tally = failing(1 + failures % (runs - 1).max(1), runs);
            prop_assume!(tally.is_inconsistent());
            let most = most(limit);
            let ends = (2..=limit).map(|at| (f64::from(at), most.ends_after(tally, at)));
            let (mut mean, mut sum) = (0.0, 0.0);
            for (at, chance) in ends {
                mean += at * chance;
                sum += chance;
            }
            prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            prop_assert!((mean - most.expected(tally)).abs() < 1e-6, "{mean}");
        }
    }

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
