//! The suite's own run, with an immediate rerun of what fails (RERUN).
//!
//! Each worker owns an environment and a share of the suite; what they see flows over one channel
//! to one place, which records it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Sender, unbounded};
use flakeproof_core::{Attempt, Isolation, Notice, Outcome, Signature, Stage, Suite, TestId};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result};

use super::case::Case;
use super::{Event, TriageSettings};
use crate::partition;

/// The state after the suite's own run: what happened, and environments that are still open.
pub(super) struct SuiteRun {
    pub(super) cases: Vec<Case>,
    pub(super) workers: Vec<Worker>,
    pub(super) notices: Vec<Notice>,
    pub(super) is_interrupted: bool,
}

/// What is left of a worker when its share is done.
pub(super) struct Worker {
    pub(super) environment: Option<Box<dyn Environment>>,
    /// Counts the lives of its environment: a crash ends one.
    pub(super) life: u32,
}

impl SuiteRun {
    /// End the environments; give what the reader should know about it.
    pub(super) fn close(&mut self) -> Vec<Notice> {
        let mut notices = std::mem::take(&mut self.notices);
        for environment in self.workers.iter_mut().filter_map(|worker| worker.environment.take()) {
            if let Err(error) = environment.close() {
                notices.push(Notice {
                    what: format!("the suite's own process did not end well: {error}"),
                    next: "look for threads or processes that the tests leave behind".into(),
                });
            }
        }
        notices
    }
}

/// What a worker reports.
enum Report {
    Attempt(usize, u32, Box<Attempt>),
    Forbidden(TestId, String),
    Notice(Notice),
}

/// Run the suite.
pub(super) fn run(
    adapter: &dyn Adapter,
    suite: &Suite,
    settings: &TriageSettings,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<SuiteRun> {
    let shares = partition::shares(suite, &settings.durations, settings.jobs);
    sink(Event::Stage(Stage::First, suite.tests.len()));
    let context = Context {
        adapter,
        settings,
        cancel,
        failures: AtomicUsize::new(0),
        limit: settings.limit.of(suite.tests.len()),
    };
    let mut book = Book::default();
    let (sender, reports) = unbounded();
    let ends: Vec<Result<Worker>> = std::thread::scope(|scope| {
        let handles: Vec<_> = shares
            .iter()
            .enumerate()
            .map(|(number, share)| {
                let (sender, context) = (sender.clone(), &context);
                scope.spawn(move || work(context, number, share, &sender))
            })
            .collect();
        drop(sender);
        for report in reports {
            book.enter(report, sink);
        }
        handles
            .into_iter()
            .map(|handle| {
                handle.join().unwrap_or_else(|_| Err(Error::Agent("a worker panicked".into())))
            })
            .collect()
    });
    let mut run = SuiteRun {
        cases: book.cases,
        workers: Vec::new(),
        notices: book.notices,
        is_interrupted: false,
    };
    for end in ends {
        match end {
            Ok(worker) => run.workers.push(worker),
            Err(Error::Cancelled) => run.is_interrupted = true,
            Err(error) => return Err(error),
        }
    }
    Ok(run)
}

/// The one place where reports become cases.
#[derive(Default)]
struct Book {
    cases: Vec<Case>,
    positions: HashMap<TestId, usize>,
    notices: Vec<Notice>,
}

impl Book {
    fn enter(&mut self, report: Report, sink: &mut dyn FnMut(Event)) {
        match report {
            Report::Attempt(worker, life, attempt) => {
                sink(Event::Attempt(attempt.clone()));
                let test = attempt.execution.test.clone();
                let at = *self.positions.entry(test.clone()).or_insert_with(|| {
                    self.cases.push(Case::new(test, (worker, life)));
                    self.cases.len() - 1
                });
                self.cases[at].attempts.push(*attempt);
            }
            Report::Forbidden(test, rule) => {
                if let Some(at) = self.positions.get(&test) {
                    self.cases[*at].forbidden = Some(rule);
                }
            }
            Report::Notice(notice) => self.notices.push(notice),
        }
    }
}

/// What all workers know.
struct Context<'a> {
    adapter: &'a dyn Adapter,
    settings: &'a TriageSettings,
    cancel: &'a Cancel,
    failures: AtomicUsize,
    limit: usize,
}

/// Run one share of the suite to its end.
fn work(
    context: &Context<'_>,
    number: usize,
    share: &[TestId],
    reports: &Sender<Report>,
) -> Result<Worker> {
    let mut worker = Worker { environment: None, life: 0 };
    let mut persistent = HashSet::new();
    let mut lost_before = None;
    let mut position = 0;
    while position < share.len() {
        if context.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let environment = match &mut worker.environment {
            Some(environment) => environment,
            None => {
                worker.life += 1;
                let mut environment = context.adapter.open(Isolation::Same)?;
                environment.expect(&share[position..])?;
                worker.environment.insert(environment)
            }
        };
        let test = &share[position];
        let execution = match environment.run(test, Probe::attempt(1)) {
            Ok(execution) => execution,
            Err(Error::EnvironmentLost { cause }) if lost_before != Some(position) => {
                // Not the test's fault: once more, in another environment.
                lost_before = Some(position);
                worker.environment = None;
                let what = format!("the environment of the suite was lost between tests ({cause})");
                let next = "the rest ran in a new one".into();
                let _ = reports.send(Report::Notice(Notice { what, next }));
                continue;
            }
            Err(Error::Stopped { reason }) => {
                let left = share.len() - position;
                let what = format!("the runner stopped before {left} of the tests: {reason}");
                let next = "run without the option that stops it to see them all".into();
                let _ = reports.send(Report::Notice(Notice { what, next }));
                break;
            }
            Err(error) => return Err(error),
        };
        let mut attempt = Attempt {
            stage: Stage::First,
            isolation: Isolation::Same,
            number: 1,
            position: u32::try_from(position).ok(),
            execution,
        };
        attempt.execution.dependencies = None;
        let is_gone = attempt.execution.outcome.ends_environment();
        let failure = attempt.execution.outcome.is_failure().then(|| attempt.clone());
        let _ = reports.send(Report::Attempt(number, worker.life, Box::new(attempt)));
        position += 1;
        if is_gone {
            worker.environment = None;
        }
        if let Some(failure) = failure {
            rerun_at_once(context, number, &mut worker, &failure, &mut persistent, reports)?;
        }
    }
    Ok(worker)
}

/// Rerun a failure right after it happened, where that makes sense.
fn rerun_at_once(
    context: &Context<'_>,
    number: usize,
    worker: &mut Worker,
    failed: &Attempt,
    persistent: &mut HashSet<Signature>,
    reports: &Sender<Report>,
) -> Result<()> {
    let failures = context.failures.fetch_add(1, Ordering::Relaxed) + 1;
    let execution = &failed.execution;
    let Some(failure) = &execution.failure else { return Ok(()) };
    if let Some(rule) = context.settings.rerun.forbids(failure, &execution.output) {
        let _ = reports.send(Report::Forbidden(execution.test.clone(), rule));
        return Ok(());
    }
    // The change is broken, or this failure was rerun on another test and stayed.
    if failures > context.limit || persistent.contains(&failure.signature) {
        return Ok(());
    }
    for rerun in 0..context.settings.immediate {
        let Some(environment) = &mut worker.environment else { return Ok(()) };
        context.cancel.wait(context.settings.delay);
        let execution = match environment.run(&execution.test, Probe::attempt(rerun + 2)) {
            Ok(execution) => execution,
            Err(Error::EnvironmentLost { .. } | Error::Stopped { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let (outcome, is_gone) = (execution.outcome, execution.outcome.ends_environment());
        let attempt = Attempt {
            stage: Stage::Immediate,
            isolation: Isolation::Same,
            number: rerun + 2,
            position: None,
            execution,
        };
        let _ = reports.send(Report::Attempt(number, worker.life, Box::new(attempt)));
        if is_gone {
            worker.environment = None;
        }
        if outcome == Outcome::Passed {
            return Ok(());
        }
    }
    persistent.insert(failure.signature.clone());
    Ok(())
}
