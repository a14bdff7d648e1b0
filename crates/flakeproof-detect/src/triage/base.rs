//! Running a failing test on the code from before the change: the strongest answer to "is it mine?".
//!
//! What fails on both sides, at the same time and in the same way, is not the change's. What passes
//! there and fails here every time is. A test that is shown to be flaky and touches the change is run
//! there until it fails like this, or until it would have.
//!
//! Many lasting failures look for chance together, in one process for each turn and side: a new process
//! for each would take longer than the suite. One that passes there is tried alone.

use std::collections::HashSet;
use std::time::Duration;

use flakeproof_core::{Attempt, Conditions, Execution, Isolation, Outcome, Stage, TestId};
use flakeproof_runner::{Adapter, Error, Granularity, Probe, Result};

use super::case::{Case, Shown};
use super::in_order::{OrderStage, Walk};
use super::rates::InTurns;
use super::settings::BaseProject;
use super::{Event, fresh};

/// So often a flaky test is run on the base before it is said that it never failed there: one that
/// fails once in twenty runs shows itself with 95 %.
const RUNS_FOR_A_RATE: u32 = 60;
/// The same where each run is a new process.
const RUNS_IN_NEW_PROCESSES: u32 = 12;

/// So often both sides are run once more where it passes on the base: four failures here (the suite's
/// own, the first alone, and one in each turn) and three passes there happen once in 35 times where
/// nothing differs (Fisher's exact test), whatever the rate.
const TURNS_IF_PASSED: u32 = 2;
/// The same where it fails there too: a test that passes half of the time then passes once with 99 %.
const TURNS_IF_FAILED: u32 = 3;
/// The same where it is a time limit that it reaches, which is dear and seldom chance.
const TURNS_IF_HUNG: u32 = 1;
/// The same where it does both there: it is flaky, and will pass here too.
const TURNS_IF_BOTH: u32 = 8;

/// Why a failure that stays was not run on the base.
const NO_TIME_FOR_THE_BASE: &str = "it was not run on the base: others took as long as the suite (`--evidence-budget` gives them more)";

/// How a case fared on the base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BaseTrials {
    /// The revision, for people.
    pub(super) revision: String,
    pub(super) alone: Trials,
    pub(super) in_order: Trials,
    /// How often it failed, here and there, in turns: alone, or in order where it fails only there.
    pub(super) in_turns: InTurns,
    /// Why what ran there may not have been the base's code.
    pub(super) doubt: Option<String>,
}

impl BaseTrials {
    /// Whether it failed there in another way than the suite's, too.
    pub(super) fn fails_otherwise(&self) -> bool {
        self.alone.failed_otherwise + self.in_order.failed_otherwise > 0
    }

    /// Why what failed there may have failed for another reason than chance: it was not the base's code, or it
    /// lacks something there.
    pub(super) fn doubt_of_chance(&self) -> Option<String> {
        let failed = self.alone.failed + self.in_order.failed;
        let passed = self.alone.passed + self.in_order.passed;
        let lacks = || "it fails there each time, which may have another reason".to_owned();
        self.doubt.clone().or_else(|| (failed > 0 && passed == 0).then(lacks))
    }
}

/// How often a case passed and failed under some conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trials {
    pub(super) passed: u32,
    /// It failed as it does on the head.
    pub(super) failed: u32,
    /// It failed in another way.
    pub(super) failed_otherwise: u32,
    /// What it said where it failed as it does on the head.
    pub(super) messages: Vec<String>,
}

impl Trials {
    /// Whether it ran, and always passed.
    pub(super) fn only_passed(&self) -> bool {
        self.passed > 0 && self.failed == 0 && self.failed_otherwise == 0
    }

    /// Whether it passed, and failed as it does here.
    pub(super) fn does_both(&self) -> bool {
        self.passed > 0 && self.failed > 0
    }

    /// Whether it never passed, and failed in another way than here: what it needs may not be there.
    fn lacks_something(&self) -> bool {
        self.passed == 0 && self.failed_otherwise > 0
    }

    /// How often both sides are run once more.
    fn turns(&self) -> u32 {
        match (self.passed, self.failed + self.failed_otherwise) {
            (0, 0) => 0,
            (0, _) => TURNS_IF_FAILED,
            (_, 0) => TURNS_IF_PASSED,
            _ => TURNS_IF_BOTH,
        }
    }

    fn count(&mut self, case: &Case, execution: &Execution) {
        match execution.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Skipped => {}
            _ if case.fails_alike(execution) => {
                self.failed += 1;
                self.messages.extend(execution.failure.as_ref().map(|it| it.message.clone()));
            }
            _ => self.failed_otherwise += 1,
        }
    }
}

/// The base, and the head to run in turns with it.
pub(super) struct BaseStage<'a> {
    pub(super) head: &'a OrderStage<'a>,
    pub(super) base: &'a BaseProject,
    /// When there is no more time, by the clock.
    pub(super) deadline: Duration,
    /// The same for failures that stay on both sides, which get less.
    pub(super) lasting: Duration,
}

impl BaseStage<'_> {
    /// Find out how the cases that are still open fare on the base: alone first, because a part of an
    /// order leaves things behind that the whole of it removes.
    pub(super) fn compare(
        &self,
        mut cases: Vec<&mut Case>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        sink(Event::Base(cases.len()));
        let begin = (self.head.clock)();
        let half = begin + self.deadline.saturating_sub(begin) / 2;
        for case in &mut cases {
            if self.head.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let mut trials =
                BaseTrials { revision: self.base.revision.clone(), ..BaseTrials::default() };
            if case.shows() == Shown::OrderDependent && (self.head.clock)() >= half {
                // The rest of the time is the order's.
                case.base = Some(trials);
                continue;
            }
            if case.shows() == Shown::Broken && self.have_lasting_ones_had_their_time() {
                case.undecided.get_or_insert_with(|| NO_TIME_FOR_THE_BASE.to_owned());
                continue;
            }
            let mut tried = self.try_apart(case, &mut trials, sink);
            if tried.is_ok() && trials.alone.lacks_something() && (self.base.bring_the_rest)() {
                trials =
                    BaseTrials { revision: self.base.revision.clone(), ..BaseTrials::default() };
                tried = self.try_apart(case, &mut trials, sink);
            }
            match tried {
                Ok(()) => case.base = Some(trials),
                Err(Error::Cancelled) if self.head.cancel.is_cancelled() => {
                    return Err(Error::Cancelled);
                }
                Err(Error::UnknownTest { .. } | Error::CannotCollect { .. }) => {
                    case.undecided.get_or_insert_with(|| {
                        format!("it is not there on the base ({})", self.base.revision)
                    });
                }
                Err(error) => {
                    case.undecided.get_or_insert_with(|| {
                        format!("it cannot be run on the base ({}): {error}", self.base.revision)
                    });
                }
            }
        }
        self.try_together(&mut cases, sink)?;
        self.try_in_order(cases.into_iter().filter(|case| needs_its_order(case)).collect(), sink)
    }

    fn try_apart(
        &self,
        case: &mut Case,
        trials: &mut BaseTrials,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let probe = Probe { dependencies: Granularity::File, ..Probe::attempt(1) };
        let first = self.alone(&case.test, Isolation::Spawn, probe)?;
        trials.doubt = self.doubt(&first);
        trials.alone.count(case, &first);
        match case.shows() {
            Shown::Broken if trials.alone.only_passed() => {
                self.try_alone(case, trials, sink)?;
                self.try_if_flaky(case, trials, sink)
            }
            // On both sides: together with the others.
            Shown::Broken => Ok(()),
            Shown::Flaky(Conditions::Alone) => self.try_if_flaky(case, trials, sink),
            Shown::Flaky(Conditions::InOrder) => self.try_often(case, trials),
            Shown::OrderDependent => self.until_it_passes(case, trials),
            Shown::PassesAlone | Shown::Nothing => Ok(()),
        }
    }

    /// How often it fails there, where it is flaky here; one that seemed to be broken may have turned out to be.
    fn try_if_flaky(
        &self,
        case: &mut Case,
        trials: &mut BaseTrials,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        if case.shows() != Shown::Flaky(Conditions::Alone) {
            return Ok(());
        }
        self.try_in_turns(case, trials, sink)?;
        self.try_often(case, trials)
    }

    /// Alone there, where a failure of a test that passes alone here may be chance.
    fn until_it_passes(&self, case: &Case, trials: &mut BaseTrials) -> Result<()> {
        for turn in 1..=TURNS_IF_FAILED {
            if trials.alone.passed > 0 || self.is_over() {
                break;
            }
            let again = self.alone(&case.test, Isolation::Spawn, Probe::attempt(turn + 1))?;
            trials.alone.count(case, &again);
        }
        Ok(())
    }

    /// What fails on both sides, in turns here and there: all of it in one process, and alone what passes
    /// in it. Every other turn goes backwards, so that none always comes after the same ones.
    fn try_together(&self, cases: &mut [&mut Case], sink: &mut dyn FnMut(Event)) -> Result<()> {
        let mut alone: HashSet<TestId> = HashSet::new();
        for turn in 1..=TURNS_IF_FAILED {
            let mut lasting: Vec<&mut Case> = cases
                .iter_mut()
                .map(|case| &mut **case)
                .filter(|case| fails_on_both_sides(case) && !alone.contains(&case.test))
                .filter(|case| turn <= TURNS_IF_HUNG || !is_dear(case))
                .collect();
            if lasting.is_empty() || self.have_lasting_ones_had_their_time() {
                return Ok(());
            }
            let mut tests: Vec<TestId> = lasting.iter().map(|case| case.test.clone()).collect();
            if turn % 2 == 0 {
                tests.reverse();
            }
            let here = may_pass(self.head, self.head.adapter, &tests)?;
            let there = may_pass(self.head, &*self.base.adapter, &tests)?;
            let is_chance = |test: &TestId| here.contains(test) || there.contains(test);
            for case in lasting.iter_mut().filter(|case| is_chance(&case.test)) {
                let Some(mut trials) = case.base.take() else { continue };
                alone.insert(case.test.clone());
                let tried = self.try_alone(case, &mut trials, sink);
                let tried = tried.and_then(|()| self.try_if_flaky(case, &mut trials, sink));
                case.base = Some(trials);
                tried?;
            }
        }
        Ok(())
    }

    /// In turns, here and there, as long as it fails here and that may still be chance.
    fn try_alone(
        &self,
        case: &mut Case,
        trials: &mut BaseTrials,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        for turn in 1.. {
            let is_enough = turn > trials.alone.turns() || (turn > TURNS_IF_HUNG && is_dear(case));
            if case.shows() != Shown::Broken || is_enough || self.is_over() {
                break;
            }
            run_here(self.head, case, Isolation::Spawn, next(case), sink)?;
            if case.shows() == Shown::Broken {
                let there = Probe::attempt(turn + 1);
                let again = self.alone(&case.test, Isolation::Spawn, there)?;
                trials.alone.count(case, &again);
            }
        }
        Ok(())
    }

    /// The base's own order, once for all: the change may have moved tests, or removed one that cleaned
    /// up. Where they pass there, the order here once more.
    fn try_in_order(&self, mut cases: Vec<&mut Case>, sink: &mut dyn FnMut(Event)) -> Result<()> {
        if cases.is_empty() || self.is_over() {
            return Ok(());
        }
        self.walk_the_base(&mut cases, &mut |_, _, _| {})?;
        if !self.is_over() {
            let passed_there = |case: &&mut &mut Case| {
                case.shows() == Shown::OrderDependent
                    && case.base.as_ref().is_some_and(|base| base.in_order.only_passed())
            };
            let passed_there = cases.iter_mut().filter(passed_there).map(|case| &mut **case);
            self.head.rerun_once(passed_there.collect(), sink)?;
        }
        self.try_orders_in_turns(cases, sink)
    }

    /// The base's own order up to the last of some cases; `also` counts besides.
    fn walk_the_base(
        &self,
        cases: &mut [&mut Case],
        also: &mut dyn FnMut(&Case, &mut BaseTrials, &Execution),
    ) -> Result<()> {
        let order = &self.base.order;
        let is_wanted = |test: &TestId| cases.iter().any(|case| case.test == *test);
        let Some(last) = order.iter().rposition(is_wanted) else { return Ok(()) };
        let walk = Walk::Measured;
        let is_measured = walk.is_measured(&*self.base.adapter);
        let dependencies = if is_measured { Granularity::File } else { Granularity::Off };
        let probe = Probe { dependencies, ..Probe::attempt(1) };
        let mut doubt = self.base.order_doubt.clone();
        let walked = walk.through(
            &*self.base.adapter,
            order,
            last,
            self.head.cancel,
            &|_| probe,
            &mut |place, there| {
                // Whoever came before may be what makes it fail, and must be the base's too.
                doubt = doubt.take().or_else(|| self.doubt(&there));
                let case = cases.iter_mut().find(|case| case.test == order[place]);
                let Some(case) = case else { return };
                if let Some(mut trials) = case.base.take() {
                    trials.doubt = trials.doubt.take().or_else(|| doubt.clone());
                    trials.in_order.count(case, &there);
                    also(case, &mut trials, &there);
                    case.base = Some(trials);
                }
            },
        );
        match walked {
            Err(Error::Cancelled) if self.head.cancel.is_cancelled() => Err(Error::Cancelled),
            Err(error) => {
                for trials in cases.iter_mut().filter_map(|case| case.base.as_mut()) {
                    trials.doubt.get_or_insert(format!("its order cannot be run there: {error}"));
                }
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Where a test fails in the order now and then: the order here and there, in turns, to see whether it
    /// failed so before the change, too, and whether it fails more often with it.
    fn try_orders_in_turns(
        &self,
        mut cases: Vec<&mut Case>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        self.see_whether_it_passes_there(&mut cases)?;
        let mut costs = self.head.suite_took * 2;
        for turn in 0..InTurns::most(Isolation::Spawn) {
            let begin = (self.head.clock)();
            let wanted = cases.iter_mut().filter(|case| is_worth_a_turn(case));
            let mut wanted: Vec<&mut Case> = wanted.map(|case| &mut **case).collect();
            if wanted.is_empty() || begin + costs > self.deadline {
                break;
            }
            for is_here in InTurns::order(turn) {
                match is_here {
                    true => self.run_the_order_here(&mut wanted, sink)?,
                    false => self.walk_the_base(&mut wanted, &mut |case, trials, there| {
                        trials.in_turns.before.count(case.fails_alike(there));
                    })?,
                }
            }
            costs = (self.head.clock)().saturating_sub(begin);
        }
        Ok(())
    }

    /// Where a test fails in the order each time here and failed in it once there: whether it passes there, too. In
    /// most suites the order decides, and there is nothing to compare.
    fn see_whether_it_passes_there(&self, cases: &mut [&mut Case]) -> Result<()> {
        let mut costs = self.head.suite_took;
        for _ in 1..SAME_ON_BOTH {
            let begin = (self.head.clock)();
            let wanted = cases.iter_mut().filter(|case| may_pass_there(case));
            let mut wanted: Vec<&mut Case> = wanted.map(|case| &mut **case).collect();
            if wanted.is_empty() || begin + costs > self.deadline {
                break;
            }
            self.walk_the_base(&mut wanted, &mut |_, _, _| {})?;
            costs = (self.head.clock)().saturating_sub(begin);
        }
        Ok(())
    }

    fn run_the_order_here(
        &self,
        cases: &mut [&mut Case],
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let numbers: Vec<u32> = cases.iter().map(|case| case.next_number()).collect();
        self.head.rerun_once(cases.iter_mut().map(|case| &mut **case).collect(), sink)?;
        for (case, number) in cases.iter_mut().zip(numbers) {
            let ran = case.attempts.last().filter(|_| case.next_number() > number);
            let Some(has_failed) = ran.map(|ran| case.fails_alike(&ran.execution)) else {
                continue;
            };
            if let Some(trials) = &mut case.base {
                trials.in_turns.now.count(has_failed);
            }
        }
        Ok(())
    }

    /// As often here as there, to see whether it fails more often with the change.
    fn try_in_turns(
        &self,
        case: &mut Case,
        trials: &mut BaseTrials,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let (here, there) = (self.head.adapter.can(), self.base.adapter.can());
        let isolation = here.judging(there.judging(Isolation::Fork));
        for turn in 0..InTurns::most(isolation) {
            if self.is_over() || trials.in_turns.is_hopeless() {
                break;
            }
            for is_here in InTurns::order(turn) {
                if is_here {
                    let ran = run_here(self.head, case, isolation, next(case), sink)?;
                    trials.in_turns.now.count(case.fails_alike(&ran));
                } else {
                    let ran = self.alone(&case.test, isolation, Probe::attempt(turn + 2))?;
                    trials.alone.count(case, &ran);
                    trials.in_turns.before.count(case.fails_alike(&ran));
                }
            }
        }
        Ok(())
    }

    /// Until it fails there as it does here, and passes.
    fn try_often(&self, case: &Case, trials: &mut BaseTrials) -> Result<()> {
        let isolation = self.base.adapter.can().judging(Isolation::Fork);
        let most = match isolation {
            Isolation::Fork => RUNS_FOR_A_RATE,
            Isolation::Spawn | Isolation::Same => RUNS_IN_NEW_PROCESSES,
        };
        let ran = trials.alone.passed + trials.alone.failed_otherwise;
        for number in ran + 1..=most {
            // One that has failed has to pass, too: what always fails may lack something there.
            let is_chance = trials.alone.failed > 0 && trials.alone.passed > 0;
            if is_chance || self.is_over() {
                break;
            }
            let execution = self.alone(&case.test, isolation, Probe::attempt(number))?;
            trials.alone.count(case, &execution);
        }
        Ok(())
    }

    fn alone(&self, test: &TestId, isolation: Isolation, probe: Probe) -> Result<Execution> {
        Ok(fresh::run_alone(&*self.base.adapter, test, isolation, probe)?.1)
    }

    /// Why an execution on the base may have run other code than the base's.
    fn doubt(&self, execution: &Execution) -> Option<String> {
        (self.base.foreign_code)(execution.dependencies.as_ref())
    }

    fn have_lasting_ones_had_their_time(&self) -> bool {
        (self.head.clock)() >= self.lasting.min(self.deadline)
    }

    fn is_over(&self) -> bool {
        (self.head.clock)() >= self.deadline
    }
}

/// Where there is no base to run: only a pass here can still tell, if these fail by chance.
pub(super) fn until_they_pass(
    head: &OrderStage<'_>,
    mut cases: Vec<&mut Case>,
    deadline: Duration,
    sink: &mut dyn FnMut(Event),
) -> Result<()> {
    let mut alone: HashSet<TestId> = HashSet::new();
    for turn in 1..=TURNS_IF_FAILED {
        let is_tried = |case: &&mut Case| {
            let is_left = case.shows() == Shown::Broken && !alone.contains(&case.test);
            is_left && (turn <= TURNS_IF_HUNG || !is_dear(case))
        };
        let tests: Vec<TestId> =
            cases.iter_mut().filter(|it| is_tried(it)).map(|it| it.test.clone()).collect();
        let hopeful = may_pass(head, head.adapter, &tests)?;
        for case in cases.iter_mut().filter(|case| hopeful.contains(&case.test)) {
            alone.insert(case.test.clone());
            let turns = if is_dear(case) { TURNS_IF_HUNG } else { TURNS_IF_FAILED };
            for _ in 0..turns {
                if head.cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                if case.shows() != Shown::Broken || (head.clock)() >= deadline {
                    break;
                }
                run_here(head, case, Isolation::Spawn, next(case), sink)?;
            }
        }
        if (head.clock)() >= deadline {
            break;
        }
    }
    Ok(())
}

/// The tests that are worth trying alone: those that pass when all of them run in one new process. What
/// cannot be run so has not passed. A single one is tried alone in any case.
fn may_pass(
    head: &OrderStage<'_>,
    adapter: &dyn Adapter,
    tests: &[TestId],
) -> Result<HashSet<TestId>> {
    let mut passing = HashSet::new();
    let last = match tests {
        [] => return Ok(passing),
        [only] => return Ok(HashSet::from([only.clone()])),
        [rest @ .., _] => rest.len(),
    };
    let walked = Walk::AsTheSuite.through(
        adapter,
        tests,
        last,
        head.cancel,
        &|_| Probe::attempt(1),
        &mut |place, execution| {
            if execution.outcome == Outcome::Passed {
                passing.insert(tests[place].clone());
            }
        },
    );
    match walked {
        Err(Error::Cancelled) if head.cancel.is_cancelled() => Err(Error::Cancelled),
        Err(_) | Ok(()) => Ok(passing),
    }
}

/// Whether a case fails alone each time, here and on the base.
fn fails_on_both_sides(case: &Case) -> bool {
    let failed_there = |base: &BaseTrials| {
        base.alone.passed == 0 && base.alone.failed + base.alone.failed_otherwise > 0
    };
    case.shows() == Shown::Broken && case.base.as_ref().is_some_and(failed_there)
}

/// Whether each run of a case takes as long as it may.
fn is_dear(case: &Case) -> bool {
    case.outcome() == Outcome::TimedOut
}

/// The next time of a case, not measured.
pub(super) fn next(case: &Case) -> Probe {
    Probe::attempt(case.next_number())
}

/// One more time alone, on the head.
pub(super) fn run_here(
    head: &OrderStage<'_>,
    case: &mut Case,
    isolation: Isolation,
    probe: Probe,
    sink: &mut dyn FnMut(Event),
) -> Result<Execution> {
    let number = case.next_number();
    let (isolation, execution) = fresh::run_alone(head.adapter, &case.test, isolation, probe)?;
    let ran = execution.clone();
    let attempt = Attempt { stage: Stage::Fresh, isolation, number, position: None, execution };
    sink(Event::Attempt(Box::new(attempt.clone())));
    case.add(attempt, &head.settings.rerun);
    Ok(ran)
}

/// So often an order fails there, and never passes, until it is the same on both sides.
const SAME_ON_BOTH: u32 = 3;

/// Whether more runs of the base's order may show that what fails in it each time here passes in it.
fn may_pass_there(case: &Case) -> bool {
    let is_open = |base: &BaseTrials| {
        let fails_so_far = base.in_order.failed > 0 && base.in_order.passed == 0;
        fails_so_far && base.doubt.is_none() && base.alone.failed == 0
    };
    case.shows() == Shown::OrderDependent && case.base.as_ref().is_some_and(is_open)
}

/// Whether the order in turns, here and on the base, tells more about a case.
fn is_worth_a_turn(case: &Case) -> bool {
    let Some(base) = &case.base else { return false };
    let is_told = base.in_turns.is_hopeless() || base.in_turns.is_plain();
    let is_open = match case.shows() {
        Shown::Flaky(Conditions::InOrder) => true,
        Shown::OrderDependent => base.in_order.does_both(),
        Shown::Flaky(Conditions::Alone) | Shown::Broken => false,
        Shown::PassesAlone | Shown::Nothing => false,
    };
    is_open && !is_told && base.doubt.is_none() && base.alone.failed == 0
}

/// Whether what is left to learn about a case that ran on the base is how it fares there in order.
fn needs_its_order(case: &Case) -> bool {
    case.base.as_ref().is_some_and(|base| match case.shows() {
        Shown::OrderDependent => true,
        Shown::Flaky(Conditions::InOrder) => base.alone.failed == 0,
        Shown::Flaky(Conditions::Alone) | Shown::Broken => false,
        Shown::PassesAlone | Shown::Nothing => false,
    })
}
