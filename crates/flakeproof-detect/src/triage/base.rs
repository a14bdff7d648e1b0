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

use super::base_order::needs_its_order;
use super::base_trials::{BaseTrials, TURNS_IF_FAILED, TURNS_IF_HUNG};
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

/// Why a failure that stays was not run on the base.
const NO_TIME_FOR_THE_BASE: &str = "it was not run on the base: others took as long as the suite (`--evidence-budget` gives them more)";

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
    pub(super) fn doubt(&self, execution: &Execution) -> Option<String> {
        (self.base.foreign_code)(execution.dependencies.as_ref())
    }

    fn have_lasting_ones_had_their_time(&self) -> bool {
        (self.head.clock)() >= self.lasting.min(self.deadline)
    }

    /// Whether there is no time left.
    pub(super) fn is_over(&self) -> bool {
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
