//! Running trials side by side, without repeating one that is known.
//!
//! Trials come out in the order in which they go in, whatever their number of workers, and every
//! trial that was run is kept at once. So a hunt that is taken up again asks for the same trials in
//! the same order, finds those that are known, and goes on where it was cut off.
//!
//! A new interpreter spends most of its life importing. Several can do that at the same time; their
//! tests still run in turns, so that they meet neither each other's files nor each other's ports,
//! and find what those before them left.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use flakeproof_core::{
    Decision, Failure, HuntCost, Isolation, Outcome, PASSING_RATE, SequentialTest, Tally, TestId,
    TrialRecord,
};
use flakeproof_runner::{Adapter, Cancel, Error, Likeness, Orders, Result};

use super::crew;
use super::settings::{HuntEvent, HuntStage, Journal, Workplace};
use super::trial::{Trial, TrialRunner};

/// Why a hunt stops before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Interrupted,
    BudgetSpent,
    Trouble(Error),
}

/// The rates between which a repeated trial decides, and the chance to be wrong.
const PASSES: f64 = PASSING_RATE;
const FAILS: f64 = 0.8;
const ERROR: f64 = 0.02;
/// So often a trial is repeated at most; then the likelier rate is taken.
const MOST_REPETITIONS: u32 = 12;
/// What takes so many seconds is worth the start of further processes.
const LONG: f64 = 6.0;

/// Where trials are run, and what they cost so far.
pub(crate) struct TrialScheduler<'a, 'j> {
    pub(crate) adapter: &'a dyn Adapter,
    pub(super) tests: &'a [TestId],
    pub(super) jobs: usize,
    /// As many may run beside each other where nobody said how many, and they are only nearly fresh.
    pub(super) most_at_once: usize,
    pub(super) budget: Option<Duration>,
    pub(super) workplace: Workplace<'a>,
    pub(super) cancel: &'a Cancel,
    pub(super) journal: &'a mut Journal<'j>,
    pub(super) sink: &'a mut dyn FnMut(HuntEvent),
    pub(super) cost: HuntCost,
    /// The trials that are counted in it: one that is asked for twice costs nothing the second time.
    pub(super) counted: HashSet<String>,
    /// Up to here, by the clock, time is counted in it.
    pub(super) counted_until: Duration,
    /// The first failure of each test that failed.
    pub(super) told: BTreeMap<u32, Failure>,
    /// How fresh environments are made.
    pub(super) isolation: Isolation,
}

impl TrialScheduler<'_, '_> {
    /// Tell that a stage begins.
    pub(crate) fn begin(&mut self, stage: HuntStage, trials: usize) {
        self.count_the_time();
        self.cost.begin(stage.words());
        (self.sink)(HuntEvent::Stage(stage, trials));
    }

    /// Count what passed since it was counted last: side by side, trials take less than their sum.
    pub(crate) fn count_the_time(&mut self) {
        let now = (self.workplace.clock)();
        self.cost.spend(now.saturating_sub(self.counted_until));
        self.counted_until = now;
    }

    /// Remove what tests left on disk, if that was asked for.
    pub(crate) fn tidy(&self) -> Result<(), Stop> {
        self.workplace.tidy.map_or(Ok(()), |tidy| tidy().map_err(Stop::Trouble))
    }

    /// Tell something.
    pub(crate) fn tell(&mut self, event: HuntEvent) {
        (self.sink)(event);
    }

    /// The position of a test in the suite.
    pub(crate) fn position(&self, test: &TestId) -> Option<u32> {
        (0..).zip(self.tests).find(|(_, it)| *it == test).map(|(position, _)| position)
    }

    /// How fresh environments are made.
    pub(crate) fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Where an order runs: fresh environments run any. Only where each test has a process of its own
    /// in them, the suite's own order runs as the user's command runs it, for there its tests may
    /// share one.
    pub(crate) fn isolation_for(&self, order: &[u32]) -> Isolation {
        let is_own = order.len() > 1 && (0..).zip(order).all(|(position, test)| position == *test);
        match self.adapter.can().orders {
            Orders::Apart if is_own => Isolation::Same,
            Orders::Apart
            | Orders::Any
            | Orders::AnyFresh
            | Orders::ByFile
            | Orders::Seeded
            | Orders::Own => self.isolation,
        }
    }

    /// These tests in an order that environments run, with the same last one.
    pub(crate) fn runnable(&self, order: &[u32]) -> Vec<u32> {
        if self.keeps_any_order() {
            return order.to_vec();
        }
        let ids: Vec<TestId> = order.iter().map(|it| self.tests[*it as usize].clone()).collect();
        let positions: HashMap<&TestId, u32> = ids.iter().zip(order.iter().copied()).collect();
        let settled = self.adapter.runnable(&ids);
        settled.iter().filter_map(|test| positions.get(test).copied()).collect()
    }

    /// Whether environments run the tests of an order as they stand there, however many they are; or
    /// refuse them.
    pub(crate) fn keeps_any_order(&self) -> bool {
        match self.adapter.can().orders {
            Orders::Any | Orders::AnyFresh | Orders::ByFile | Orders::Own | Orders::Apart => true,
            Orders::Seeded => false,
        }
    }

    /// Whether environments, as trials have them, can be copied.
    pub(crate) fn can_copy(&self) -> bool {
        let can_fork = self.isolation == Isolation::Fork && self.workplace.tidy.is_none();
        can_fork && self.adapter.can().snapshot
    }

    /// A command that runs tests in an order; flakeproof's own where it would be too long to type.
    pub(crate) fn command_for_order(&self, order: &[TestId]) -> String {
        self.adapter.command_for_order(order).unwrap_or_else(|| {
            let last = order.last().map(TestId::as_str).unwrap_or_default();
            format!("flakeproof repro '{last}'")
        })
    }

    /// When so much of what is left of the budget will be used up; `None` where there is none.
    pub(crate) fn after_part_of_the_rest(&self, part: f64) -> Option<Duration> {
        let now = (self.workplace.clock)();
        self.budget.map(|budget| now + budget.saturating_sub(now).mul_f64(part))
    }

    /// Whether a moment is over.
    pub(crate) fn is_past(&self, moment: Option<Duration>) -> bool {
        moment.is_some_and(|moment| (self.workplace.clock)() >= moment)
    }

    /// Whether something that takes so many seconds ends before the budget does.
    pub(crate) fn fits(&self, seconds: f64) -> bool {
        let end = (self.workplace.clock)() + Duration::from_secs_f64(seconds.max(0.0));
        self.budget.is_none_or(|budget| end <= budget)
    }

    /// The time that has passed.
    pub(crate) fn now(&self) -> Duration {
        (self.workplace.clock)()
    }

    /// As many environments as may run beside each other, if those are more than usual. Only those that
    /// guess may: what is found is confirmed alone.
    pub(crate) fn most_at_once(&self) -> Option<usize> {
        let is_nearly_fresh = self.isolation == Isolation::Fork
            && self.adapter.can().likeness == Likeness::Nearly
            && self.workplace.tidy.is_none()
            && self.workplace.crew.is_none();
        Some(self.most_at_once).filter(|most| is_nearly_fresh && *most > self.jobs)
    }

    /// The same, if something takes so many seconds one after the other that it is worth further processes.
    pub(crate) fn at_once_for(&self, seconds: f64) -> Option<usize> {
        self.most_at_once().filter(|_| seconds > LONG)
    }

    /// Do something with so many environments beside each other.
    pub(crate) fn beside_each_other<T>(
        &mut self,
        at_once: usize,
        what: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let jobs = std::mem::replace(&mut self.jobs, at_once);
        let done = what(self);
        self.jobs = jobs;
        done
    }

    /// Run trials and give each with what happened, in order, until somebody has seen enough.
    pub(crate) fn each(
        &mut self,
        trials: impl Iterator<Item = Trial>,
        take: &mut dyn FnMut(&Trial, &TrialRecord) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        if let Some(crew) = self.workplace.crew {
            return self.by_crew(crew, &|| crew::AHEAD, trials, take);
        }
        self.side_by_side(self.jobs.max(1), None, trials, take)
    }

    /// The same, one at a time: what is decided must not come from tests that disturb each other over
    /// files or ports.
    pub(crate) fn one_by_one(
        &mut self,
        trials: impl Iterator<Item = Trial>,
        take: &mut dyn FnMut(&Trial, &TrialRecord) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        if let Some(crew) = self.workplace.crew {
            // Machines do not disturb each other. No more is asked for than all can do at once, because the
            // answer to one trial may make the next needless.
            return self.by_crew(crew, &|| (crew.size)().max(1), trials, take);
        }
        self.side_by_side(1, None, trials, take)
    }

    /// The same for a few trials in new processes, which start side by side; their tests run one after
    /// the other, in the order of the trials.
    pub(crate) fn in_turns(
        &mut self,
        trials: Vec<Trial>,
        take: &mut dyn FnMut(&Trial, &TrialRecord) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        if let Some(crew) = self.workplace.crew {
            let all = trials.len();
            return self.by_crew(crew, &|| all, trials.into_iter(), take);
        }
        // Who tidies up after one would take away what another makes at its start.
        if self.workplace.tidy.is_some() {
            return self.one_by_one(trials.into_iter(), take);
        }
        self.side_by_side(trials.len(), Some(&TurnLock::default()), trials.into_iter(), take)
    }

    fn side_by_side(
        &mut self,
        jobs: usize,
        turns: Option<&TurnLock>,
        trials: impl Iterator<Item = Trial>,
        take: &mut dyn FnMut(&Trial, &TrialRecord) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        let (adapter, tests, workplace) = (self.adapter, self.tests, self.workplace);
        let can = adapter.can();
        let (can_copy, orders) = (can.snapshot && workplace.tidy.is_none(), can.orders);
        let deadline = self.budget;
        let (clock, tidy) = (workplace.clock, workplace.tidy);
        let runner =
            TrialRunner { adapter, tests, can_copy, orders, clock, tidy, deadline, turn: None };
        let (asked, work) = unbounded();
        let (done, results) = unbounded();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                let (work, done) = (work.clone(), done.clone());
                scope.spawn(move || run_all(runner, turns, &work, &done));
            }
            drop((work, done));
            let (next, given, running, is_closed) = (0, 0, 0, false);
            let mut queue = Queue { trials, asked, results, jobs, next, given, running, is_closed };
            self.go_through(&mut queue, take)
        })
    }

    fn go_through(
        &mut self,
        queue: &mut Queue<impl Iterator<Item = Trial>>,
        take: &mut dyn FnMut(&Trial, &TrialRecord) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        let mut ended = Ok(());
        let mut waiting: BTreeMap<usize, (Trial, TrialRecord, bool)> = BTreeMap::new();
        let mut delivered = 0;
        loop {
            // First what is there: it may make further trials needless.
            while let Some((trial, record, is_recalled)) = waiting.remove(&delivered) {
                delivered += 1;
                if self.take_in(&trial, &record, is_recalled, take).is_break() {
                    queue.is_closed = true;
                    waiting.clear();
                    self.keep_the_rest(queue);
                    return ended;
                }
            }
            while queue.has_room() {
                if let Err(stop) = self.may_go_on() {
                    ended = Err(stop);
                    queue.is_closed = true;
                    break;
                }
                if let Some((number, trial, record)) = queue.ask_next(self.journal.recall) {
                    waiting.insert(number, (trial, record, true));
                    break;
                }
            }
            if waiting.contains_key(&delivered) {
                continue;
            }
            if queue.running == 0 {
                return ended;
            }
            let Ok((number, trial, result)) = queue.results.recv() else { return ended };
            queue.running -= 1;
            match result {
                Ok(record) => {
                    let record = self.kept(&trial, record);
                    waiting.insert(number, (trial, record, false));
                }
                // By the user, or by the budget.
                Err(Error::Cancelled) => {
                    queue.is_closed = true;
                    ended = Err(self.may_go_on().err().unwrap_or(Stop::Interrupted));
                }
                Err(error) => {
                    queue.is_closed = true;
                    ended = Err(Stop::Trouble(error));
                }
            }
        }
    }

    /// How many trials a stage asks for before it looks at the time again.
    pub(super) fn width(&self) -> usize {
        match (self.workplace.crew, self.budget) {
            (None, _) => self.jobs.max(1),
            (Some(crew), Some(_)) => 2 * (crew.size)().max(1),
            (Some(_), None) => crew::AHEAD,
        }
    }

    pub(super) fn may_go_on(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            Err(Stop::Interrupted)
        } else if self.is_past(self.budget) {
            Err(Stop::BudgetSpent)
        } else {
            Ok(())
        }
    }

    /// Keep a trial that was run, with the failures that nobody has told yet.
    fn kept(&mut self, trial: &Trial, record: TrialRecord) -> TrialRecord {
        let record = self.with_news_only(trial, record);
        (self.journal.keep)(&trial.key(), &record);
        record
    }

    /// A trial without the failures of tests whose failure is told already.
    pub(super) fn with_news_only(&self, trial: &Trial, mut record: TrialRecord) -> TrialRecord {
        let branches: Vec<&[u32]> = trial.branches().collect();
        let mut seen = HashSet::new();
        record.failures.retain(|it| {
            let branch = branches.get(it.branch as usize);
            let test = branch.and_then(|branch| branch.get(it.position as usize));
            test.is_some_and(|test| !self.told.contains_key(test) && seen.insert(*test))
        });
        record
    }

    /// What ran although nobody waits for it any more is kept, too: it may be asked for later.
    fn keep_the_rest(&mut self, queue: &mut Queue<impl Iterator<Item = Trial>>) {
        while queue.running > 0 {
            let Ok((_, trial, result)) = queue.results.recv() else { return };
            queue.running -= 1;
            if let Ok(record) = result {
                self.kept(&trial, record);
            }
        }
    }

    pub(super) fn take_in(
        &mut self,
        trial: &Trial,
        record: &TrialRecord,
        is_recalled: bool,
        take: &mut dyn FnMut(&Trial, &TrialRecord) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.counted.insert(trial.key()) {
            self.cost.count(record.executions);
            if is_recalled {
                // An earlier session spent this.
                self.cost.spend(record.duration);
            }
        }
        let branches: Vec<&[u32]> = trial.branches().collect();
        for it in &record.failures {
            let branch = branches.get(it.branch as usize);
            if let Some(test) = branch.and_then(|branch| branch.get(it.position as usize)) {
                self.told.entry(*test).or_insert_with(|| it.failure.clone());
            }
        }
        (self.sink)(HuntEvent::Trial { executions: record.executions });
        take(trial, record)
    }

    /// Whether the last test of an order fails in it, decided on repeated runs.
    pub(crate) fn decide(&mut self, name: &str, order: &[u32]) -> Result<Decision, Stop> {
        Ok(self.observe(name, order)?.decision)
    }

    /// The same with the runs that the decision rests on.
    pub(crate) fn observe(&mut self, name: &str, order: &[u32]) -> Result<Observed, Stop> {
        self.observe_in(self.isolation_for(order), name, order)
    }

    /// How the last test of an order does in new processes.
    pub(crate) fn observe_anew(&mut self, name: &str, order: &[u32]) -> Result<Tally, Stop> {
        Ok(self.observe_in(Isolation::Spawn, name, order)?.tally)
    }

    fn observe_in(
        &mut self,
        isolation: Isolation,
        name: &str,
        order: &[u32],
    ) -> Result<Observed, Stop> {
        let mut test = SequentialTest::new(PASSES, FAILS, ERROR);
        let mut tally = Tally::default();
        let trials = (1..=MOST_REPETITIONS)
            .map(|number| Trial::order(format!("{name}/{number}"), order.to_vec(), isolation));
        self.one_by_one(trials, &mut |_, record| {
            if let Some(has_failed) = last_failed(record) {
                test.observe(has_failed);
                tally.count(has_failed);
            }
            match test.decision() {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        })?;
        Ok(Observed { decision: test.leaning(), tally })
    }
}

/// What repeated runs of an order say about its last test.
pub(crate) struct Observed {
    pub(crate) decision: Decision,
    pub(crate) tally: Tally,
}

/// Whether the last test of a trial with one branch failed; `None` if it was not run or skipped.
pub(crate) fn last_failed(record: &TrialRecord) -> Option<bool> {
    failed(*record.outcomes.first()?.last()?)
}

/// Whether an outcome is a failure; `None` if it says nothing.
pub(crate) fn failed(outcome: Option<Outcome>) -> Option<bool> {
    match outcome? {
        Outcome::Skipped => None,
        outcome => Some(outcome.is_failure()),
    }
}

/// The number of a trial, its number among those that are run, and the trial.
type Work = (usize, usize, Trial);
type Done = (usize, Trial, Result<TrialRecord>);

/// Trials that wait for a worker, and those that have one.
struct Queue<I> {
    trials: I,
    asked: Sender<Work>,
    results: Receiver<Done>,
    jobs: usize,
    next: usize,
    /// Trials given to workers.
    given: usize,
    running: usize,
    /// Whether nothing more is asked for.
    is_closed: bool,
}

impl<I: Iterator<Item = Trial>> Queue<I> {
    fn has_room(&self) -> bool {
        !self.is_closed && self.running < self.jobs
    }

    /// Give the next trial to a worker, or give it back at once if it is known.
    fn ask_next(
        &mut self,
        recall: &dyn Fn(&str) -> Option<TrialRecord>,
    ) -> Option<(usize, Trial, TrialRecord)> {
        let Some(trial) = self.trials.next() else {
            self.is_closed = true;
            return None;
        };
        let number = self.next;
        self.next += 1;
        if let Some(record) = recall(&trial.key()) {
            return Some((number, trial, record));
        }
        self.running += 1;
        // Workers live as long as this half does.
        let _ = self.asked.send((number, self.given, trial));
        self.given += 1;
        None
    }
}

/// A worker: run trials as long as there are any.
fn run_all(
    runner: TrialRunner<'_>,
    turns: Option<&TurnLock>,
    work: &Receiver<Work>,
    done: &Sender<Done>,
) {
    for (number, given, trial) in work {
        let turn = turns.map(|turns| Turn { turns, number: given });
        // A fault of ours must reach the one who waits for the result.
        let result = catch_unwind(AssertUnwindSafe(|| TrialRunner { turn, ..runner }.run(&trial)))
            .unwrap_or_else(|panic| Err(Error::Agent(words_of(&*panic))));
        if let Some(turns) = turns {
            turns.pass_on();
        }
        if done.send((number, trial, result)).is_err() {
            return;
        }
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    format!("a worker panicked: {text}")
}

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct TurnLock {
    /// So many are done.
    done: Mutex<usize>,
    changed: Condvar,
}

impl TurnLock {
    /// Wait until so many are done.
    pub(super) fn wait_for(&self, number: usize) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let _turn = self.changed.wait_while(done, |done| *done < number);
    }

    /// One more is done.
    pub(super) fn pass_on(&self) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }
}

/// A place among trials that take turns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'a> {
    pub(super) turns: &'a TurnLock,
    pub(super) number: usize,
}

impl Turn<'_> {
    /// Wait for it.
    pub(super) fn wait(self) {
        self.turns.wait_for(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_waits_for_those_before() {
        let (turns, order) = (TurnLock::default(), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for number in (0..5).rev() {
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    Turn { turns, number }.wait();
                    order.lock().unwrap().push(number);
                    turns.pass_on();
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4]);
    }
}
