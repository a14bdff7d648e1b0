//! What one trial runs, and running it.
//!
//! What a test does to its environment, even killing it, is data here; only trouble of the runner
//! itself ends a trial.

use std::ops::ControlFlow;
use std::time::Duration;

use flakeproof_core::{
    Execution, Isolation, Outcome, Phase, Seed, Shuffle, TestId, TrialFailure, TrialRecord,
};
use flakeproof_runner::{Adapter, Environment, Error, Orders, Probe, Result, Then};
use serde::{Deserialize, Serialize};

use super::trial_scheduler::Turn;

/// So many failures of one trial are kept with their text, which is cut after so many characters.
const MOST_FAILURES: usize = 200;
const LONGEST_TEXT: usize = 4000;

/// Where trials are run.
#[derive(Clone, Copy)]
pub(super) struct TrialRunner<'a> {
    pub(super) adapter: &'a dyn Adapter,
    /// The tests of the suite, by position.
    pub(super) tests: &'a [TestId],
    /// Whether environments can be copied.
    pub(super) can_copy: bool,
    /// In which orders tests can run in one environment.
    pub(super) orders: Orders,
    /// The time that has passed.
    pub(super) clock: &'a (dyn Fn() -> Duration + Sync),
    /// Who removes what tests left on disk, if anybody does.
    pub(super) tidy: Option<&'a (dyn Fn() -> Result<()> + Sync)>,
    /// After this no further test is begun, and the trial is given up.
    pub(super) deadline: Option<Duration>,
    /// When the tests may run, if the trial is one of several that take turns.
    pub(super) turn: Option<Turn<'a>>,
}

impl TrialRunner<'_> {
    /// Run a trial.
    pub(super) fn run(&self, trial: &Trial) -> Result<TrialRecord> {
        let begin = (self.clock)();
        let mut record = self.run_steps(trial)?;
        record.duration = (self.clock)().saturating_sub(begin);
        Ok(record)
    }

    fn run_steps(&self, trial: &Trial) -> Result<TrialRecord> {
        let mut record = TrialRecord::default();
        let mut state = Prepared::Fresh;
        let mut before: Vec<u32> = Vec::new();
        for step in &trial.steps {
            match step {
                Step::Run(tests) => {
                    before.extend(tests);
                    if self.can_copy && trial.isolation == Isolation::Fork {
                        state = self.prepare(state, tests, &mut record)?;
                    }
                }
                Step::Branch(tests) | Step::Try(tests) => {
                    let is_try = matches!(step, Step::Try(_));
                    let outcomes = match &mut state {
                        _ if !self.can_run(&before, tests) => vec![None; tests.len()],
                        Prepared::Lost => vec![None; tests.len()],
                        Prepared::Fresh => self.replay(trial, &before, tests, &mut record)?,
                        Prepared::Live(environment) => match environment.snapshot() {
                            Ok(copy) => match self.run_copy(copy, tests, &mut record)? {
                                Some(outcomes) => outcomes,
                                None => self.replay(trial, &before, tests, &mut record)?,
                            },
                            Err(Error::Cancelled) => return Err(Error::Cancelled),
                            Err(_) if is_try => self.run_here(environment, tests, &mut record)?,
                            Err(_) => self.replay(trial, &before, tests, &mut record)?,
                        },
                    };
                    let failed =
                        outcomes.last().copied().flatten().is_some_and(Outcome::is_failure);
                    record.outcomes.push(outcomes);
                    if failed && trial.until == Until::Failure {
                        break;
                    }
                }
            }
        }
        if let Prepared::Live(environment) = state {
            // Its teardown is nobody's outcome any more.
            let _ = environment.close();
        }
        Ok(record)
    }

    /// Whether environments here run tests in this order at all.
    fn can_run(&self, before: &[u32], tests: &[u32]) -> bool {
        match self.orders {
            Orders::Any | Orders::AnyFresh | Orders::ByFile | Orders::Apart => true,
            Orders::Own => before.iter().chain(tests).is_sorted_by(|first, second| first < second),
            Orders::Seeded => {
                let order: Vec<u32> = before.iter().chain(tests).copied().collect();
                let order = self.ids(&order);
                self.adapter.runnable(&order) == order
            }
        }
    }

    /// Run tests in the environment that later steps start from.
    fn prepare(
        &self,
        state: Prepared,
        tests: &[u32],
        record: &mut TrialRecord,
    ) -> Result<Prepared> {
        let mut environment = match state {
            Prepared::Lost => return Ok(Prepared::Lost),
            Prepared::Live(environment) => environment,
            Prepared::Fresh => self.adapter.open(Isolation::Fork)?,
        };
        environment.expect(&self.ids(tests), Then::Open)?;
        for test in tests {
            match self.run_in_time(&mut environment, *test) {
                Ok(execution) => {
                    record.executions += 1;
                    if execution.outcome.ends_environment() {
                        return Ok(Prepared::Lost);
                    }
                }
                Err(error) if is_the_tests_own(&error) => return Ok(Prepared::Lost),
                Err(error) => return Err(error),
            }
        }
        Ok(Prepared::Live(environment))
    }

    /// Run tests in a copy; `None` if the copy was lost before the first of them ran.
    fn run_copy(
        &self,
        copy: Box<dyn Environment>,
        tests: &[u32],
        record: &mut TrialRecord,
    ) -> Result<Option<Vec<Option<Outcome>>>> {
        let outcomes = self.run_in(copy, tests, record)?;
        Ok(outcomes.first().is_some_and(Option::is_some).then_some(outcomes))
    }

    /// Run tests in the environment that later steps start from, and go on with it.
    fn run_here(
        &self,
        environment: &mut Box<dyn Environment>,
        tests: &[u32],
        record: &mut TrialRecord,
    ) -> Result<Vec<Option<Outcome>>> {
        let place = Place { branch: record.outcomes.len(), skipped: 0, start: 0 };
        let mut outcomes = Vec::with_capacity(tests.len());
        match environment.expect(&self.ids(tests), Then::Open) {
            Err(error) if is_the_tests_own(&error) => return Ok(vec![None; tests.len()]),
            other => other?,
        }
        // One that is gone shows itself at the next step.
        let _ = self.run_announced(environment, tests, place, record, &mut outcomes)?;
        outcomes.resize(tests.len(), None);
        Ok(outcomes)
    }

    /// Run everything in a new environment; give the outcomes of the last tests.
    fn replay(
        &self,
        trial: &Trial,
        before: &[u32],
        tests: &[u32],
        record: &mut TrialRecord,
    ) -> Result<Vec<Option<Outcome>>> {
        let order: Vec<u32> = before.iter().chain(tests).copied().collect();
        let mut outcomes = Vec::with_capacity(order.len());
        while outcomes.len() < order.len() {
            let rest = &order[outcomes.len()..];
            let place = self.branch_place(record, outcomes.len(), before.len());
            let ran = match self.open_for(rest, trial)? {
                Some(environment) => self.run_expected(environment, rest, place, record)?,
                None => Vec::new(),
            };
            if let Some(tidy) = self.tidy {
                tidy()?;
            }
            // Who dies at once, or is not known to this process, is passed over.
            let is_stuck = ran.is_empty();
            outcomes.extend(ran);
            if is_stuck {
                outcomes.push(None);
            }
            // A state that is gone says nothing about who would have come after it, and the suite's own
            // process runs from the start.
            let is_over = !before.is_empty()
                || trial.isolation == Isolation::Same
                || !self.can_run(&[], &order[outcomes.len()..]);
            if is_over && outcomes.len() < order.len() {
                outcomes.resize(order.len(), None);
            }
        }
        Ok(outcomes.split_off(before.len()))
    }

    /// Where the next outcome belongs, for its failure; `None` before the continuation.
    fn branch_place(&self, record: &TrialRecord, done: usize, before: usize) -> Place {
        Place {
            branch: record.outcomes.len(),
            skipped: before.saturating_sub(done),
            start: done.saturating_sub(before),
        }
    }

    fn run_in(
        &self,
        environment: Box<dyn Environment>,
        tests: &[u32],
        record: &mut TrialRecord,
    ) -> Result<Vec<Option<Outcome>>> {
        let place = Place { branch: record.outcomes.len(), skipped: 0, start: 0 };
        let mut outcomes = match self.announce(environment, tests)? {
            Some(environment) => self.run_expected(environment, tests, place, record)?,
            None => Vec::new(),
        };
        outcomes.resize(tests.len(), None);
        Ok(outcomes)
    }

    /// An environment that expects these tests: a fresh one, or the suite's own once more. `None` if the
    /// tests themselves stand in its way.
    fn open_for(&self, tests: &[u32], trial: &Trial) -> Result<Option<Box<dyn Environment>>> {
        if let Some(shuffle) = &trial.shuffle {
            return self.announce(self.adapter.open_shuffled(shuffle)?, tests);
        }
        match trial.isolation {
            Isolation::Same => match self.adapter.reopen(&self.ids(tests), Then::End) {
                Err(error) if is_the_tests_own(&error) => Ok(None),
                opened => opened.map(Some),
            },
            Isolation::Fork | Isolation::Spawn => self.announce(self.open(trial.isolation)?, tests),
        }
    }

    fn announce(
        &self,
        mut environment: Box<dyn Environment>,
        tests: &[u32],
    ) -> Result<Option<Box<dyn Environment>>> {
        match environment.expect(&self.ids(tests), Then::End) {
            Err(error) if is_the_tests_own(&error) => Ok(None),
            other => other.map(|()| Some(environment)),
        }
    }

    /// Run tests that an environment expects as long as it lives.
    fn run_expected(
        &self,
        mut environment: Box<dyn Environment>,
        tests: &[u32],
        place: Place,
        record: &mut TrialRecord,
    ) -> Result<Vec<Option<Outcome>>> {
        if let Some(turn) = self.turn {
            // What goes wrong here shows itself again when the first test is asked for.
            let _ = environment.get_ready();
            turn.wait();
        }
        let mut outcomes = Vec::with_capacity(tests.len());
        if self.run_announced(&mut environment, tests, place, record, &mut outcomes)?.is_continue()
        {
            // Its teardown may fail or hang; the outcomes stand, and it is killed.
            let _ = environment.close();
        }
        Ok(outcomes)
    }

    /// Run tests that the environment expects; breaks off when it is gone.
    fn run_announced(
        &self,
        environment: &mut Box<dyn Environment>,
        tests: &[u32],
        place: Place,
        record: &mut TrialRecord,
        outcomes: &mut Vec<Option<Outcome>>,
    ) -> Result<ControlFlow<()>> {
        for test in tests {
            match self.run_in_time(environment, *test) {
                Ok(execution) => {
                    record.executions += 1;
                    let outcome = execution.outcome;
                    keep_failure(record, place, outcomes.len(), execution);
                    outcomes.push(Some(outcome));
                    if outcome.ends_environment() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Err(error) if is_the_tests_own(&error) => return Ok(ControlFlow::Break(())),
                Err(error) => return Err(error),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Run a test, unless the time is over.
    fn run_in_time(&self, environment: &mut Box<dyn Environment>, test: u32) -> Result<Execution> {
        if self.deadline.is_some_and(|deadline| (self.clock)() >= deadline) {
            return Err(Error::Cancelled);
        }
        environment.run(self.id(test), Probe::attempt(1)).map(as_the_runner_blames)
    }

    /// A fresh environment; a new process where what copies are made from is gone.
    fn open(&self, isolation: Isolation) -> Result<Box<dyn Environment>> {
        match self.adapter.open(isolation) {
            Err(Error::NotPossible { .. }) if isolation == Isolation::Fork => {
                self.adapter.open(Isolation::Spawn)
            }
            opened => opened,
        }
    }

    fn id(&self, test: u32) -> &TestId {
        &self.tests[test as usize]
    }

    fn ids(&self, tests: &[u32]) -> Vec<TestId> {
        tests.iter().map(|test| self.id(*test).clone()).collect()
    }
}

/// An error beside all tests is told with the last of them, which made it no more than any other: a
/// hunt that took it for that test's would find victims that no plain run confirms.
fn as_the_runner_blames(execution: Execution) -> Execution {
    let is_beside_it =
        execution.failure.as_ref().is_some_and(|failure| failure.phase == Phase::Besides);
    if is_beside_it {
        Execution { outcome: Outcome::Passed, failure: None, ..execution }
    } else {
        execution
    }
}

/// Run a trial of a hunt that another machine steers. Its tests are those at the same positions of this
/// suite.
///
/// # Errors
/// When the runner itself breaks, or the trial is one of another suite; what tests do is never an error.
pub fn run_trial(
    adapter: &dyn Adapter,
    tests: &[TestId],
    clock: &(dyn Fn() -> Duration + Sync),
    trial: &Trial,
) -> Result<TrialRecord> {
    if !trial.is_of_suite(tests.len()) {
        return Err(Error::Agent("a trial names tests that this suite does not have".to_owned()));
    }
    let can = adapter.can();
    let runner = TrialRunner {
        adapter,
        tests,
        can_copy: can.snapshot,
        orders: can.orders,
        clock,
        tidy: None,
        deadline: None,
        turn: None,
    };
    runner.run(trial)
}

/// What the steps so far have made.
enum Prepared {
    /// Nothing ran yet, or copies cannot be made.
    Fresh,
    /// An environment to copy.
    Live(Box<dyn Environment>),
    /// A test took the environment with it.
    Lost,
}

/// Where outcomes belong in a record.
#[derive(Clone, Copy)]
struct Place {
    branch: usize,
    /// Tests before the continuation, whose failures are not kept.
    skipped: usize,
    /// The place in the continuation where the rest begins.
    start: usize,
}

fn keep_failure(record: &mut TrialRecord, place: Place, at: usize, execution: Execution) {
    let Some(mut failure) = execution.failure else { return };
    if at < place.skipped || record.failures.len() >= MOST_FAILURES {
        return;
    }
    let position = place.start + at - place.skipped;
    let end = failure.text.char_indices().nth(LONGEST_TEXT).map(|(end, _)| end);
    if let Some(end) = end {
        failure.text.truncate(end);
    }
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (branch, position) = (number(place.branch), number(position));
    record.failures.push(TrialFailure { branch, position, failure });
}

/// Whether an error says something about the tests that were run, and the hunt goes on.
fn is_the_tests_own(error: &Error) -> bool {
    match error {
        Error::UnknownTest { .. } | Error::Stopped { .. } | Error::EnvironmentLost { .. } => true,
        Error::Explained { .. }
        | Error::CannotStart { .. }
        | Error::EndedEarly { .. }
        | Error::Refused { .. }
        | Error::CannotCollect { .. }
        | Error::CollectOnly { .. }
        | Error::NotPossible { .. }
        | Error::Cancelled
        | Error::Agent(_)
        | Error::Io { .. } => false,
    }
}

/// Tests to run in one environment, and continuations that each get a copy of it.
///
/// A test is named by its position in the suite, so that a trial means the same on every machine that has
/// the same suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// What it is for, with a number that tells repetitions apart.
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) isolation: Isolation,
    pub(crate) until: Until,
    /// What decides the orders that the language leaves open, if not the runtime.
    pub(crate) shuffle: Option<Shuffle>,
}

/// A step of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Run these tests; what they leave stays for all that follows.
    Run(Vec<u32>),
    /// Run these tests in a copy; their outcomes are what the trial is about.
    Branch(Vec<u32>),
    /// The same; where the environment cannot be copied, because a thread runs in it, the tests run in it
    /// themselves. That is less clean and far cheaper than all steps once more: for what is confirmed.
    Try(Vec<u32>),
}

/// When a trial ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Until {
    /// After its last step.
    Done,
    /// After the first branch whose last test failed.
    Failure,
}

impl Trial {
    /// Run tests one after the other in a fresh environment.
    pub(crate) fn order(name: String, order: Vec<u32>, isolation: Isolation) -> Self {
        let (steps, until) = (vec![Step::Branch(order)], Until::Done);
        Self { name, steps, isolation, until, shuffle: None }
    }

    /// The same in a new process, in which this decides the orders that the language leaves open.
    pub(crate) fn shuffled(name: String, order: Vec<u32>, shuffle: Option<Shuffle>) -> Self {
        Self { shuffle, ..Self::order(name, order, Isolation::Spawn) }
    }

    /// The continuations, in order.
    pub(crate) fn branches(&self) -> impl Iterator<Item = &[u32]> {
        self.steps.iter().filter_map(|step| match step {
            Step::Branch(tests) | Step::Try(tests) => Some(tests.as_slice()),
            Step::Run(_) => None,
        })
    }

    /// How many tests it runs, each as often as it is named.
    #[must_use]
    pub fn len(&self) -> usize {
        let tests = |step: &Step| match step {
            Step::Run(tests) | Step::Branch(tests) | Step::Try(tests) => tests.len(),
        };
        self.steps.iter().map(tests).sum()
    }

    /// Whether it runs no test at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a suite of so many tests has all that it names.
    fn is_of_suite(&self, tests: usize) -> bool {
        let all = self.steps.iter().flat_map(|step| match step {
            Step::Run(tests) | Step::Branch(tests) | Step::Try(tests) => tests,
        });
        all.into_iter().all(|test| (*test as usize) < tests)
    }

    /// What the trial is found again by: the same name with other tests is another trial.
    #[must_use]
    pub fn key(&self) -> String {
        use std::fmt::Write as _;

        let mut text = self.isolation.word().to_owned();
        if let Some(Shuffle { seed, only }) = &self.shuffle {
            let _ = write!(text, " shuffled {seed} {only:?}");
        }
        for step in &self.steps {
            let (word, tests) = match step {
                Step::Run(tests) => ("run", tests),
                Step::Branch(tests) => ("branch", tests),
                Step::Try(tests) => ("try", tests),
            };
            let _ = write!(text, " {word}");
            tests.iter().for_each(|test| {
                let _ = write!(text, " {test}");
            });
        }
        format!("{} {:016x}", self.name, Seed(0).split(&text).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_of_a_larger_suite_is_told() {
        let trial = Trial::order("baseline/1".into(), vec![0, 3], Isolation::Fork);
        assert!(trial.is_of_suite(4) && !trial.is_of_suite(3));
        assert_eq!(trial.len(), 2);
    }

    #[test]
    fn other_tests_make_another_trial() {
        let trial = |order: &[u32]| Trial::order("alone/1".into(), order.to_vec(), Isolation::Fork);
        assert_eq!(trial(&[1, 2]).key(), trial(&[1, 2]).key());
        assert_ne!(trial(&[1, 2]).key(), trial(&[12]).key());
        let spawned = Trial { isolation: Isolation::Spawn, ..trial(&[1, 2]) };
        assert_ne!(trial(&[1, 2]).key(), spawned.key());
        let shuffled = |seed| Trial { shuffle: Some(Shuffle::all(seed)), ..spawned.clone() };
        assert_ne!(shuffled(1).key(), spawned.key());
        assert_ne!(shuffled(1).key(), shuffled(2).key());
    }
}
