//! What a plan would have found: tests whose failure rate is known are run by chance.

use flakeproof_core::{Seed, Tally};
use flakeproof_learn::Chance;

use super::planner::Planner;

/// A test whose outcomes over many runs are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject {
    /// Its outcomes.
    pub outcomes: Tally,
    /// What one run costs.
    pub cost: f64,
}

impl Subject {
    /// How often it fails.
    #[must_use]
    pub fn rate(&self) -> f64 {
        f64::from(self.outcomes.failures) / f64::from(self.outcomes.runs.max(1))
    }
}

/// Let a planner spend these budgets, in rising order, on tests that fail by chance, and look at it
/// whenever one is spent: how many flaky tests have shown themselves, and what it believes.
///
/// # Panics
/// When the planner has more tests than there are subjects.
pub fn simulate(
    mut planner: Planner,
    subjects: &[Subject],
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
    fn draw(subject: &Subject, number: u32, seed: Seed) -> Self {
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
    use super::super::{Candidate, FailureRates, GroupPrior};
    use super::*;

    fn subject(failures: u32) -> Subject {
        Subject { outcomes: Tally { runs: 100, failures }, cost: 1.0 }
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
        let subjects: Vec<Subject> =
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
