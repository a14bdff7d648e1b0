//! Rerunning in fresh environments (FORK), and confirming what passed elsewhere.
//!
//! The first fresh environment is a new process in which dependencies are measured. Further ones
//! are made as the settings say. A pass that does not rest on a new process, because it happened
//! in the suite's own environment or in a fork, is tried in new processes until one passes or the
//! confirmations are used up.

use std::collections::HashSet;

use crossbeam_channel::{Sender, unbounded};
use flakeproof_core::{
    Attempt, Evidence, Execution, Isolation, Notice, Outcome, Signature, Stage, TestId,
};
use flakeproof_runner::{Adapter, Cancel, Error, Granularity, Probe, Result};

use super::case::Case;
use super::{Event, TriageSettings};

/// Rerun every undecided case: first one of each group, then the others.
pub(super) fn rerun(
    adapter: &dyn Adapter,
    cases: &mut [Case],
    settings: &TriageSettings,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    let mut settings = settings.clone();
    let count = cases.iter().filter(|case| case.is_undecided()).count();
    if count == 0 || settings.fresh == 0 {
        return Ok(notices);
    }
    if let (Isolation::Fork, Err(why)) = (settings.isolation, adapter.can().fork) {
        settings.isolation = Isolation::Spawn;
        notices.push(Notice {
            what: format!("fresh environments are spawned, not forked: {why}"),
            next: "nothing is lost but time; `--isolation spawn` says that you know".into(),
        });
    }
    sink(Event::Stage(Stage::Fresh, count));
    let members = members_after_the_first(cases);
    let (rest, first): (Vec<&mut Case>, Vec<&mut Case>) = cases
        .iter_mut()
        .filter(|case| case.is_undecided())
        .partition(|case| members.contains(&case.test));
    let first = first.into_iter().map(|case| (case, settings.fresh)).collect();
    let healed = run_with_budgets(adapter, first, &settings, cancel, sink)?;
    // Where the first of a group stays broken, one look at each of the others is enough.
    let rest = rest.into_iter().map(|case| {
        let is_hopeful = case.signature().is_some_and(|signature| healed.contains(signature));
        (case, if is_hopeful { settings.fresh } else { 1 })
    });
    run_with_budgets(adapter, rest.collect(), &settings, cancel, sink)?;
    Ok(notices)
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

/// Rerun cases, each at most as often as its budget says, on as many workers as there are jobs.
/// Gives the signatures of those that passed.
fn run_with_budgets(
    adapter: &dyn Adapter,
    cases: Vec<(&mut Case, u32)>,
    settings: &TriageSettings,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<HashSet<Signature>> {
    let (queue, work) = unbounded();
    for item in cases {
        let _ = queue.send(item);
    }
    drop(queue);
    let (sender, attempts) = unbounded();
    let ends: Vec<Result<Vec<Signature>>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..settings.jobs.max(1))
            .map(|_| {
                let (work, sender) = (work.clone(), sender.clone());
                scope.spawn(move || {
                    let mut healed = Vec::new();
                    for (case, budget) in work {
                        rerun_case(adapter, case, budget, settings, cancel, &sender)?;
                        if case.passed_in_fresh_environment() {
                            healed.extend(case.signature().cloned());
                        }
                    }
                    Ok(healed)
                })
            })
            .collect();
        drop((work, sender));
        for attempt in attempts {
            sink(Event::Attempt(attempt));
        }
        handles
            .into_iter()
            .map(|handle| {
                handle.join().unwrap_or_else(|_| Err(Error::Agent("a worker panicked".into())))
            })
            .collect()
    });
    ends.into_iter().collect::<Result<Vec<_>>>().map(|healed| healed.concat().into_iter().collect())
}

/// Rerun one case until a new process passes, or there is nothing more to learn.
fn rerun_case(
    adapter: &dyn Adapter,
    case: &mut Case,
    budget: u32,
    settings: &TriageSettings,
    cancel: &Cancel,
    report: &Sender<Box<Attempt>>,
) -> Result<()> {
    let mut confirmations = settings.confirmations;
    let mut tried = 0;
    loop {
        let has_passed_elsewhere =
            case.passed_in_same_environment() || case.passed_in(Stage::Fresh, Isolation::Fork);
        let (isolation, dependencies) = if tried == 0 && settings.dependencies != Granularity::Off {
            (Isolation::Spawn, settings.dependencies)
        } else if tried < budget && !case.passed_in(Stage::Fresh, Isolation::Fork) {
            (settings.isolation, Granularity::Off)
        } else if has_passed_elsewhere && confirmations > 0 {
            confirmations -= 1;
            (Isolation::Spawn, Granularity::Off)
        } else {
            return Ok(());
        };
        tried += 1;
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        cancel.wait(settings.delay);
        let probe = Probe { attempt: case.next_number(), dependencies };
        let execution = match run_once(adapter, case, isolation, probe) {
            Ok(execution) => execution,
            // It does not exist there: an id that changes from process to process.
            Err(Error::UnknownTest { .. }) => {
                let reason = "a fresh interpreter does not collect a test of this id".to_owned();
                case.give_up(Evidence::NotRerun { reason });
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let attempt = case.attempt(Stage::Fresh, isolation, execution);
        let outcome = attempt.execution.outcome;
        let _ = report.send(Box::new(attempt.clone()));
        case.attempts.push(attempt);
        if outcome == Outcome::Passed && isolation == Isolation::Spawn {
            return Ok(());
        }
    }
}

fn run_once(
    adapter: &dyn Adapter,
    case: &Case,
    isolation: Isolation,
    probe: Probe,
) -> Result<Execution> {
    let open = || adapter.open(isolation);
    let mut environment = match open() {
        // The zygote may be gone meanwhile; a new process always works.
        Err(Error::NotPossible { .. }) => adapter.open(Isolation::Spawn)?,
        other => other?,
    };
    environment.expect(std::slice::from_ref(&case.test))?;
    let execution = environment.run(&case.test, probe)?;
    if !execution.outcome.ends_environment() {
        // Its teardown may fail or hang; the test's outcome stands, and the environment is killed.
        let _ = environment.close();
    }
    Ok(execution)
}
