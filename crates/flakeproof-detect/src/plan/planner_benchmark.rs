//! A planner against its baselines, on tests whose failure rate is known.
//!
//! A model that has not seen a test says how likely it is flaky; how often flaky tests fail is learned
//! from the other folds only. All strategies meet the same tests with the same tests.

use flakeproof_core::Seed;

use super::group_prior::GroupPrior;
use super::planner::{Candidate, Planner};
use super::rates::FailureRates;
use super::simulation::{Subject, simulate};

/// A test of the benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkCase {
    /// Its groups, the outermost first.
    pub kin: Vec<String>,
    /// The fold in which the model was asked about it.
    pub fold: usize,
    /// What the model said.
    pub probability: f64,
    /// How it fares.
    pub subject: Subject,
}

/// Whether a planner learns from the kin of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kin {
    /// It does.
    Heard,
    /// Every test stands for itself.
    Ignored,
}

/// Tests, and what each fold may know of failure rates.
pub struct PlannerBenchmark {
    cases: Vec<BenchmarkCase>,
    rates: Vec<FailureRates>,
}

impl PlannerBenchmark {
    /// A benchmark between these.
    #[must_use]
    pub fn new(cases: Vec<BenchmarkCase>) -> Self {
        let folds = cases.iter().map(|it| it.fold + 1).max().unwrap_or(0);
        let rates = (0..folds).map(|fold| {
            let others = cases.iter().filter(|it| it.fold != fold);
            let flaky = others.filter(|it| it.subject.outcomes.is_inconsistent());
            FailureRates::learned(flaky.map(|it| it.subject.rate()))
        });
        Self { rates: rates.collect(), cases }
    }

    /// The tests.
    #[must_use]
    pub fn cases(&self) -> &[BenchmarkCase] {
        &self.cases
    }

    /// What the planner finds for each budget, in rising order. Tests from an upper threshold on are
    /// left out: there the model's word is taken.
    pub fn plan(
        &self,
        kin: Kin,
        below: f64,
        budgets: &[f64],
        seed: Seed,
        look: &mut dyn FnMut(usize, &Planner),
    ) {
        let chosen = self.cases.iter().filter(|it| it.probability < below);
        self.run(chosen.map(|it| (it, it.probability)), kin, budgets, seed, look);
    }

    /// What a planner finds that knows which tests are flaky, but not how often they fail.
    #[must_use]
    pub fn oracle(&self, budgets: &[f64], seed: Seed) -> Vec<usize> {
        let knows =
            |it: &BenchmarkCase| if it.subject.outcomes.is_inconsistent() { 1.0 } else { 0.0 };
        let mut found = Vec::new();
        let all = self.cases.iter().map(|it| (it, knows(it)));
        self.run(all, Kin::Ignored, budgets, seed, &mut |so_far, _| found.push(so_far));
        found
    }

    fn run<'a>(
        &'a self,
        chosen: impl Iterator<Item = (&'a BenchmarkCase, f64)>,
        kin: Kin,
        budgets: &[f64],
        seed: Seed,
        look: &mut dyn FnMut(usize, &Planner),
    ) {
        let mut prior = GroupPrior::default();
        let (candidates, subjects): (Vec<Candidate>, Vec<Subject>) = chosen
            .map(|(case, probability)| {
                let group = match kin {
                    Kin::Heard => prior.group_of(&case.kin),
                    Kin::Ignored => prior.group_of::<String>(&[]),
                };
                let (cost, rates) = (case.subject.cost, case.fold);
                (Candidate { probability, cost, group, rates }, case.subject)
            })
            .unzip();
        let planner = Planner::new(candidates, self.rates.clone(), prior);
        simulate(planner, &subjects, budgets, seed, look);
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Tally;

    use super::*;

    /// Ten classes of ten tests; all tests of the first one are flaky, and the model knows nothing.
    fn benchmark() -> PlannerBenchmark {
        let case = |number: u32| BenchmarkCase {
            kin: vec!["project".into(), format!("class {}", number / 10)],
            fold: number as usize % 2,
            probability: 0.1,
            subject: Subject {
                outcomes: Tally { runs: 100, failures: if number < 10 { 20 } else { 0 } },
                cost: 1.0,
            },
        };
        PlannerBenchmark::new((0..100).map(case).collect())
    }

    fn found(kin: Kin, seed: u64) -> usize {
        let mut found = 0;
        benchmark().plan(kin, 1.01, &[400.0], Seed(seed), &mut |so_far, _| found = so_far);
        found
    }

    #[test]
    fn who_hears_of_the_kin_finds_more() {
        let sum = |kin| (1..=20).map(|seed| found(kin, seed)).sum::<usize>();
        assert!(sum(Kin::Heard) > sum(Kin::Ignored));
    }

    #[test]
    fn the_oracle_finds_all_there_is() {
        assert_eq!(benchmark().oracle(&[400.0], Seed(1)), [10]);
    }

    #[test]
    fn what_the_model_is_believed_about_is_not_run() {
        let mut looked = 0;
        benchmark().plan(Kin::Heard, 0.05, &[1e6], Seed(1), &mut |found, _| {
            assert_eq!(found, 0);
            looked += 1;
        });
        assert_eq!(looked, 1);
    }
}
