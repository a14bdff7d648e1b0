//! A planner on tests whose failure rate is known: what it would have found.
//!
//! A model that has not seen a test says how likely it is flaky; how often flaky tests fail is learned
//! from the other folds only. Outcomes are drawn by chance from the rate of each test, and each test
//! has its own chance, so that all strategies meet the same tests with the same outcomes.

use flakeproof_core::{Seed, Tally};
use flakeproof_detect::plan::{Candidate, FailureRates, GroupPrior, Planner};
use flakeproof_learn::Chance;

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
    pub subject: BenchmarkSubject,
}

/// A test whose outcomes over many runs are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BenchmarkSubject {
    /// Its outcomes.
    pub outcomes: Tally,
    /// What one run costs.
    pub cost: f64,
}

impl BenchmarkSubject {
    /// How often it fails.
    #[must_use]
    pub fn rate(&self) -> f64 {
        f64::from(self.outcomes.failures) / f64::from(self.outcomes.runs.max(1))
    }
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
#[derive(Debug)]
pub struct PlannerBenchmark {
    cases: Vec<BenchmarkCase>,
    rates: Vec<FailureRates>,
}

impl PlannerBenchmark {
    /// A benchmark on these tests.
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
        let (candidates, subjects): (Vec<Candidate>, Vec<BenchmarkSubject>) = chosen
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

/// Let a planner spend these budgets, in rising order, on tests that fail by chance, and look at it
/// whenever one is spent: how many flaky tests have shown themselves, and what it believes.
///
/// # Panics
/// When the planner has more tests than there are subjects.
fn simulate(
    mut planner: Planner,
    subjects: &[BenchmarkSubject],
    budgets: &[f64],
    seed: Seed,
    look: &mut dyn FnMut(usize, &Planner),
) {
    let mut tests: Vec<SimulatedTest> = (0..)
        .zip(subjects)
        .map(|(number, subject)| SimulatedTest::draw(subject, number, seed))
        .collect();
    let (mut spent, mut found) = (0.0, 0);
    let mut budgets = budgets.iter().copied().peekable();
    while let Some(pick) = planner.pick() {
        let at = pick.test as usize;
        let outcomes = tests[at].run(pick.runs);
        spent += f64::from(outcomes.runs) * subjects[at].cost;
        // What would cost more than there is does not happen.
        while budgets.next_if(|budget| *budget < spent).is_some() {
            look(found, &planner);
        }
        if budgets.peek().is_none() {
            return;
        }
        found += usize::from(tests[at].has_shown());
        planner.learn(pick.test, outcomes);
    }
    budgets.for_each(|_| look(found, &planner));
}

/// What chance has decided about a test: its outcome changes for the first time with this run.
#[derive(Debug, Clone, Copy)]
struct SimulatedTest {
    fails_first: bool,
    changes_at: f64,
    done: u32,
}

impl SimulatedTest {
    /// Each test has its own chance, so that all plans meet the same tests.
    fn draw(subject: &BenchmarkSubject, number: u32, seed: Seed) -> Self {
        let mut chance = Chance::new(seed.split(&number.to_string()));
        let fails_first = chance.unit() < subject.rate();
        let change = if fails_first { 1.0 - subject.rate() } else { subject.rate() };
        let more = if change <= 0.0 {
            f64::INFINITY
        } else {
            // A geometric number, from 1 on.
            1.0 + ((1.0 - chance.unit()).ln() / (-change).ln_1p()).floor()
        };
        Self { fails_first, changes_at: 1.0 + more, done: 0 }
    }

    /// Run it until its outcome changes, and so often at most.
    fn run(&mut self, most: u32) -> Tally {
        let left = self.changes_at - f64::from(self.done);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below most")]
        let runs = if left < f64::from(most) { left as u32 } else { most };
        self.done += runs;
        let changed = u32::from(self.has_shown());
        let failures = if self.fails_first { runs - changed } else { changed };
        Tally { runs, failures }
    }

    fn has_shown(&self) -> bool {
        f64::from(self.done) >= self.changes_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten classes of ten tests; all tests of the first one are flaky, and the model knows nothing.
    fn benchmark() -> PlannerBenchmark {
        let case = |number: u32| BenchmarkCase {
            kin: vec!["project".into(), format!("class {}", number / 10)],
            fold: number as usize % 2,
            probability: 0.1,
            subject: BenchmarkSubject {
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

    fn subject(failures: u32) -> BenchmarkSubject {
        BenchmarkSubject { outcomes: Tally { runs: 100, failures }, cost: 1.0 }
    }

    #[test]
    fn chance_shows_a_test_as_often_as_its_rate_says() {
        let shown = |runs: u32| {
            let tests = (0..4000).map(|number| SimulatedTest::draw(&subject(20), number, Seed(1)));
            tests.filter(|test| test.changes_at <= f64::from(runs)).count()
        };
        // 2 · 0.2 · 0.8 of 4000, and 1 − 0.8⁵ − 0.2⁵ of them.
        assert!(shown(2).abs_diff(1280) < 100, "{}", shown(2));
        assert!(shown(5).abs_diff(2688) < 100, "{}", shown(5));
    }

    #[test]
    fn steady_tests_never_change() {
        for failures in [0, 100] {
            let mut test = SimulatedTest::draw(&subject(failures), 3, Seed(1));
            assert_eq!(test.run(50), Tally { runs: 50, failures: failures / 2 });
            assert!(!test.has_shown());
        }
    }

    #[test]
    fn who_trusts_a_good_model_finds_more_for_the_same_price() {
        let subjects: Vec<BenchmarkSubject> =
            (0..200).map(|number| subject(if number % 10 == 0 { 10 } else { 0 })).collect();
        let found = |sure: f64| {
            let mut prior = GroupPrior::default();
            let group = prior.group_of::<String>(&[]);
            let probability = |number: usize| if number.is_multiple_of(10) { sure } else { 0.1 };
            let candidate =
                |number| Candidate { probability: probability(number), cost: 1.0, group, rates: 0 };
            let candidates = (0..200).map(candidate).collect();
            let planner = Planner::new(candidates, vec![FailureRates::known()], prior);
            let mut found = 0;
            simulate(planner, &subjects, &[400.0], Seed(1), &mut |so_far, _| found = so_far);
            found
        };
        assert!(found(0.9) > 2 * found(0.1), "{} and {}", found(0.9), found(0.1));
    }
}
