//! Rerunning at the end of the run, in the environment that saw the failure (POSTPONE).

use std::collections::HashMap;

use crossbeam_channel::{Sender, unbounded};
use flakeproof_core::{Attempt, Isolation, Outcome, Signature, Stage, TestId};
use flakeproof_runner::{Cancel, Error, Probe, Result};

use super::case::Case;
use super::suite_run::{SuiteRun, Worker, pause};
use super::{Event, TriageSettings};

/// A test to be rerun, and what is needed for it.
struct Job {
    test: TestId,
    signature: Option<Signature>,
    number: u32,
}

/// A test that is spared a rerun, because another one failed in the same way and stayed.
struct Alike {
    test: TestId,
    other: TestId,
}

/// Rerun the failures that are not explained yet.
pub(super) fn rerun(
    run: &mut SuiteRun,
    settings: &TriageSettings,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<()> {
    let jobs = jobs_by_worker(&run.cases, &run.workers);
    let count = jobs.iter().map(Vec::len).sum();
    if count == 0 || settings.postponed == 0 {
        return Ok(());
    }
    sink(Event::Stage(Stage::Postponed, count));
    let (sender, attempts) = unbounded();
    let (cases, workers) = (&mut run.cases, &mut run.workers);
    let alike: Result<Vec<Vec<Alike>>> = std::thread::scope(|scope| {
        let handles: Vec<_> = workers
            .iter_mut()
            .zip(jobs)
            .map(|(worker, jobs)| {
                let sender = sender.clone();
                scope.spawn(move || rerun_jobs(worker, &jobs, settings, cancel, &sender))
            })
            .collect();
        drop(sender);
        for attempt in attempts {
            sink(Event::Attempt(Box::new(attempt.clone())));
            let test = &attempt.execution.test;
            if let Some(case) = cases.iter_mut().find(|case| case.test == *test) {
                case.add(attempt, &settings.rerun);
            }
        }
        let panicked = |_| Err(Error::Agent("a worker panicked".into()));
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(panicked)).collect()
    });
    for Alike { test, other } in alike?.into_iter().flatten() {
        if let Some(case) = run.cases.iter_mut().find(|case| case.test == test) {
            case.like = Some(other);
        }
    }
    Ok(())
}

/// The failures that each worker can rerun where they happened.
fn jobs_by_worker(cases: &[Case], workers: &[Worker]) -> Vec<Vec<Job>> {
    let mut jobs: Vec<Vec<Job>> = workers.iter().map(|_| Vec::new()).collect();
    for case in cases.iter().filter(|case| case.is_undecided()) {
        let (number, life) = case.place;
        // In a later life of the environment the state that the test met is gone.
        let is_there = workers
            .get(number)
            .is_some_and(|worker| worker.environment.is_some() && worker.life == life);
        if is_there && !case.passed_in_same_environment() {
            jobs[number].push(Job {
                test: case.test.clone(),
                signature: case.signature().cloned(),
                number: case.next_number(),
            });
        }
    }
    jobs
}

/// Rerun the jobs of one worker, as long as its environment lives; say which were spared.
fn rerun_jobs(
    worker: &mut Worker,
    jobs: &[Job],
    settings: &TriageSettings,
    cancel: &Cancel,
    report: &Sender<Attempt>,
) -> Result<Vec<Alike>> {
    let mut persistent: HashMap<&Signature, &TestId> = HashMap::new();
    let mut alike = Vec::new();
    for job in jobs {
        // Failures that look alike are tried on the first of them.
        if let Some(other) = job.signature.as_ref().and_then(|it| persistent.get(it)) {
            alike.push(Alike { test: job.test.clone(), other: (*other).clone() });
            continue;
        }
        match rerun_job(worker, job, settings, cancel, report) {
            Ok(Some(last)) if last.is_failure() => {
                persistent.extend(job.signature.as_ref().map(|it| (it, &job.test)));
            }
            Ok(_) => {}
            // The environment is of no more use, and fresh ones come next.
            Err(Error::EnvironmentLost { .. } | Error::Stopped { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(alike)
}

/// Rerun one test until it does not fail any more; give its last outcome.
fn rerun_job(
    worker: &mut Worker,
    job: &Job,
    settings: &TriageSettings,
    cancel: &Cancel,
    report: &Sender<Attempt>,
) -> Result<Option<Outcome>> {
    let mut last = None;
    for rerun in 0..settings.postponed {
        let Some(environment) = &mut worker.environment else { break };
        pause(cancel, settings)?;
        let number = job.number + rerun;
        let execution = environment.run(&job.test, Probe::attempt(number))?;
        let outcome = execution.outcome;
        let is_forbidden = settings.rerun.forbids(&execution).is_some();
        worker.survive(outcome);
        let (stage, isolation) = (Stage::Postponed, Isolation::Same);
        let _ = report.send(Attempt { stage, isolation, number, position: None, execution });
        last = Some(outcome);
        if !outcome.is_failure() || is_forbidden {
            break;
        }
    }
    Ok(last)
}
