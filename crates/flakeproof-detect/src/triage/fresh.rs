//! Rerunning in fresh environments (FORK), and confirming what passed elsewhere.
//!
//! The first fresh environment is a new process in which dependencies are measured. Further ones
//! are made as the settings say. A pass that does not rest on a new process, because it happened
//! in the suite's own environment or in a fork, is tried in new processes until one passes or the
//! confirmations are used up.

use std::collections::HashSet;
use std::time::Duration;

use crossbeam_channel::{Sender, unbounded};
use flakeproof_core::{Attempt, Evidence, Execution, Isolation, Notice, Signature, Stage, TestId};
use flakeproof_runner::{Adapter, Cancel, Error, Granularity, Probe, Result, Then};

use super::case::Case;
use super::suite_run::pause;
use super::{Event, TriageSettings};

/// Why a case was left alone when the reruns had taken as long as they may.
pub(super) const NO_MORE_TIME: &str =
    "the reruns of others took as long as the suite (`--evidence-budget` gives them more)";

/// When reruns end, by the clock.
#[derive(Clone, Copy)]
pub(super) struct Deadline<'a> {
    pub(super) clock: &'a (dyn Fn() -> Duration + Sync),
    pub(super) at: Duration,
}

impl Deadline<'_> {
    pub(super) fn is_over(self) -> bool {
        (self.clock)() >= self.at
    }
}

/// Rerun every undecided case: first one of each group, then the others.
pub(super) fn rerun(
    adapter: &dyn Adapter,
    cases: &mut [Case],
    settings: &TriageSettings,
    deadline: Deadline<'_>,
    cancel: &Cancel,
    notices: &mut Vec<Notice>,
    sink: &mut dyn FnMut(Event),
) -> Result<()> {
    let count = cases.iter().filter(|case| case.is_undecided()).count();
    if count == 0 {
        return Ok(());
    }
    let isolation = isolation_of_further_reruns(adapter, settings, notices);
    let stage = FreshStage { adapter, settings, deadline, cancel, isolation };
    sink(Event::Stage(Stage::Fresh, count));
    let members = members_after_the_first(cases);
    let (rest, first): (Vec<&mut Case>, Vec<&mut Case>) = cases
        .iter_mut()
        .filter(|case| case.is_undecided())
        .partition(|case| members.contains(&case.test));
    let first = first.into_iter().map(|case| (case, settings.fresh)).collect();
    let healed = stage.rerun_with_budgets(first, sink)?;
    // Where the first of a group stays broken, one look at each of the others is enough.
    let rest = rest.into_iter().map(|case| {
        let is_hopeful = case.signature().is_some_and(|signature| healed.contains(signature));
        (case, if is_hopeful { settings.fresh } else { settings.fresh.min(1) })
    });
    stage.rerun_with_budgets(rest.collect(), sink)?;
    Ok(())
}

/// How fresh environments are made where the triage may choose.
fn isolation_of_further_reruns(
    adapter: &dyn Adapter,
    settings: &TriageSettings,
    notices: &mut Vec<Notice>,
) -> Isolation {
    match (settings.isolation, adapter.can().fork) {
        (Isolation::Fork, Ok(())) => adapter.can().judging(Isolation::Fork),
        (Isolation::Fork, Err(why)) => {
            let notice = Notice {
                what: format!("fresh environments are spawned, not forked: {why}"),
                next: "nothing is lost but time; `--isolation spawn` says that you know".into(),
            };
            // Of a runner whose processes are never copied nobody expects it.
            if adapter.can().state && !notices.contains(&notice) {
                notices.push(notice);
            }
            Isolation::Spawn
        }
        // The suite's own environment is never fresh.
        (Isolation::Spawn | Isolation::Same, _) => Isolation::Spawn,
    }
}

/// Undecided tests whose failure looks like that of an undecided test before them.
fn members_after_the_first(cases: &[Case]) -> HashSet<TestId> {
    let mut seen = HashSet::new();
    cases
        .iter()
        .filter(|case| case.is_undecided())
        .filter(|case| case.signature().is_some_and(|signature| !seen.insert(signature)))
        .map(|case| case.test.clone())
        .collect()
}

/// What is the same for all reruns in fresh environments.
struct FreshStage<'a> {
    adapter: &'a dyn Adapter,
    settings: &'a TriageSettings,
    deadline: Deadline<'a>,
    cancel: &'a Cancel,
    isolation: Isolation,
}

impl FreshStage<'_> {
    /// Rerun cases, each at most as often as its budget says, on as many workers as there are
    /// jobs. Gives the signatures of those that passed.
    fn rerun_with_budgets(
        &self,
        cases: Vec<(&mut Case, u32)>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<HashSet<Signature>> {
        let (queue, work) = unbounded();
        for item in cases {
            let _ = queue.send(item);
        }
        drop(queue);
        let (sender, attempts) = unbounded();
        let ends: Result<Vec<Vec<Signature>>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..self.settings.jobs.max(1))
                .map(|_| {
                    let (work, sender) = (work.clone(), sender.clone());
                    scope.spawn(move || self.rerun_all(work, &sender))
                })
                .collect();
            drop((work, sender));
            for attempt in attempts {
                sink(Event::Attempt(attempt));
            }
            let panicked = |_| Err(Error::Agent("a worker panicked".into()));
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(panicked)).collect()
        });
        Ok(ends?.concat().into_iter().collect())
    }

    /// Rerun cases as long as there are any; give the signatures of those that passed.
    fn rerun_all<'a>(
        &self,
        cases: impl IntoIterator<Item = (&'a mut Case, u32)>,
        report: &Sender<Box<Attempt>>,
    ) -> Result<Vec<Signature>> {
        let mut healed = Vec::new();
        for (case, budget) in cases {
            if self.deadline.is_over() {
                case.give_up(Evidence::NotRerun { reason: NO_MORE_TIME.to_owned() });
                continue;
            }
            if let Err(error) = self.rerun_case(case, budget, report) {
                let Some(reason) = why_not_rerun(&error) else { return Err(error) };
                case.give_up(Evidence::NotRerun { reason });
                if matches!(error, Error::Cancelled) {
                    return Err(error);
                }
            }
            if case.passed_in_spawn() || case.passed_in_fork() {
                healed.extend(case.signature().cloned());
            }
        }
        Ok(healed)
    }

    /// Rerun one case until a new process passes, or there is nothing more to learn.
    fn rerun_case(
        &self,
        case: &mut Case,
        budget: u32,
        report: &Sender<Box<Attempt>>,
    ) -> Result<()> {
        let mut left = Left { reruns: budget, confirmations: self.settings.confirmations };
        while let Some((isolation, dependencies)) = self.next_environment(case, &mut left) {
            pause(self.cancel, self.settings)?;
            let number = case.next_number();
            let probe = Probe { dependencies, ..Probe::attempt(number) };
            let (isolation, execution) = run_alone(self.adapter, &case.test, isolation, probe)?;
            let (stage, position) = (Stage::Fresh, None);
            let attempt = Attempt { stage, isolation, number, position, execution };
            let _ = report.send(Box::new(attempt.clone()));
            case.add(attempt, &self.settings.rerun);
        }
        if case.fresh().next().is_none() {
            let reason = "no rerun in a fresh environment was asked for".to_owned();
            case.give_up(Evidence::NotRerun { reason });
        }
        Ok(())
    }

    /// Where to run a case next, and how closely to look; `None` if nothing more can be learnt.
    fn next_environment(&self, case: &Case, left: &mut Left) -> Option<(Isolation, Granularity)> {
        if case.forbidden.is_some() || case.passed_in_spawn() {
            return None;
        }
        if left.reruns > 0 && !case.passed_in_fork() {
            left.reruns -= 1;
            let is_first = case.fresh().next().is_none();
            return Some(match self.settings.dependencies {
                Granularity::File | Granularity::Function if is_first => {
                    (Isolation::Spawn, self.settings.dependencies)
                }
                Granularity::Off | Granularity::File | Granularity::Function => {
                    (self.isolation, Granularity::Off)
                }
            });
        }
        let has_passed_elsewhere = case.passed_in_same_environment() || case.passed_in_fork();
        if has_passed_elsewhere && left.confirmations > 0 {
            left.confirmations -= 1;
            return Some((Isolation::Spawn, Granularity::Off));
        }
        None
    }
}

/// Run a test alone; give the isolation it had in truth, and what happened.
pub(super) fn run_alone(
    adapter: &dyn Adapter,
    test: &TestId,
    isolation: Isolation,
    probe: Probe,
) -> Result<(Isolation, Execution)> {
    let (isolation, mut environment) = match adapter.open(isolation) {
        // What copies are made from may be gone meanwhile; a new process always works.
        Err(Error::NotPossible { .. }) if isolation == Isolation::Fork => {
            (Isolation::Spawn, adapter.open(Isolation::Spawn)?)
        }
        opened => (isolation, opened?),
    };
    environment.expect(std::slice::from_ref(test), Then::End)?;
    let execution = environment.run(test, probe)?;
    if !execution.outcome.ends_environment() {
        // Its teardown may fail or hang; the test's outcome stands, and it is killed.
        let _ = environment.close();
    }
    Ok((isolation, execution))
}

/// What may still be tried on a case.
struct Left {
    reruns: u32,
    confirmations: u32,
}

/// Why a case has no more reruns, if that is no fault of the tool.
fn why_not_rerun(error: &Error) -> Option<String> {
    match error {
        // An id that changes from process to process.
        Error::UnknownTest { .. } => {
            Some("a fresh process does not collect a test of this id".into())
        }
        Error::Stopped { reason } => {
            Some(format!("the runner stopped in a fresh environment: {reason}"))
        }
        Error::EnvironmentLost { cause } => {
            Some(format!("a fresh environment was lost before the test ran: {cause}"))
        }
        Error::Cancelled => Some("the run was interrupted".into()),
        Error::Explained { .. }
        | Error::CannotStart { .. }
        | Error::EndedEarly { .. }
        | Error::Refused { .. }
        | Error::CannotCollect { .. }
        | Error::CollectOnly { .. }
        | Error::NotPossible { .. }
        | Error::Agent(_)
        | Error::Io { .. } => None,
    }
}
