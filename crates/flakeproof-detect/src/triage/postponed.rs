//! Rerunning at the end of the run, in the environment that saw the failure (POSTPONE).

use std::collections::HashSet;

use crossbeam_channel::unbounded;
use flakeproof_core::{Attempt, Isolation, Outcome, Signature, Stage, TestId};
use flakeproof_runner::{Cancel, Probe};

use super::suite_run::{SuiteRun, Worker};
use super::{Event, TriageSettings};

/// A test to be rerun, and what is needed for it.
struct Job {
    test: TestId,
    signature: Option<Signature>,
    number: u32,
}

/// Rerun the failures that are not explained yet.
pub(super) fn rerun(
    run: &mut SuiteRun,
    settings: &TriageSettings,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) {
    let mut jobs: Vec<Vec<Job>> = run.workers.iter().map(|_| Vec::new()).collect();
    for case in run.cases.iter().filter(|case| case.is_undecided()) {
        let (worker, life) = case.place;
        // In a later life of the environment the state that the test met is gone.
        let is_there = run.workers.get(worker).is_some_and(|worker| {
            worker.environment.is_some() && worker.life == life
        });
        if is_there && !case.passed_in_same_environment() {
            jobs[worker].push(Job {
                test: case.test.clone(),
                signature: case.signature().cloned(),
                number: case.next_number(),
            });
        }
    }
    let count = jobs.iter().map(Vec::len).sum();
    if count == 0 || settings.postponed == 0 {
        return;
    }
    sink(Event::Stage(Stage::Postponed, count));
    let (sender, attempts) = unbounded();
    std::thread::scope(|scope| {
        for (worker, jobs) in run.workers.iter_mut().zip(jobs) {
            let sender = sender.clone();
            scope.spawn(move || {
                work(worker, &jobs, settings, cancel, &mut |attempt| {
                    let _ = sender.send(attempt);
                });
            });
        }
        drop(sender);
        for attempt in attempts {
            sink(Event::Attempt(Box::new(attempt.clone())));
            let test = &attempt.execution.test;
            if let Some(case) = run.cases.iter_mut().find(|case| case.test == *test) {
                case.attempts.push(attempt);
            }
        }
    });
}

/// Rerun the jobs of one worker; an environment that breaks ends it.
fn work(
    worker: &mut Worker,
    jobs: &[Job],
    settings: &TriageSettings,
    cancel: &Cancel,
    report: &mut dyn FnMut(Attempt),
) {
    let mut persistent: HashSet<&Signature> = HashSet::new();
    for job in jobs {
        // Failures that look alike are tried on the first of them.
        if job.signature.as_ref().is_some_and(|signature| persistent.contains(signature)) {
            continue;
        }
        let mut has_passed = false;
        for rerun in 0..settings.postponed {
            let Some(environment) = &mut worker.environment else { return };
            if cancel.is_cancelled() {
                return;
            }
            cancel.wait(settings.delay);
            let number = job.number + rerun;
            let Ok(execution) = environment.run(&job.test, Probe::attempt(number)) else { return };
            if execution.outcome.ends_environment() {
                worker.environment = None;
            }
            has_passed = execution.outcome == Outcome::Passed;
            report(Attempt {
                stage: Stage::Postponed,
                isolation: Isolation::Same,
                number,
                position: None,
                execution,
            });
            if has_passed {
                break;
            }
        }
        if !has_passed {
            persistent.extend(&job.signature);
        }
    }
}
