//! The suite's own run, with an immediate rerun of what fails (RERUN).
//!
//! Each worker owns an environment and a share of the suite; what they see flows over one channel
//! to one place, which records it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender, unbounded};
use flakeproof_core::{
    Attempt, Execution, Isolation, Notice, Outcome, Signature, Stage, Suite, TestId,
};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result, Then};

use super::case::Case;
use super::{Event, RerunRules, TriageSettings};
use crate::side_by_side;

/// The state after the suite's own run: what happened, and environments that are still open.
pub(super) struct SuiteRun {
    pub(super) cases: Vec<Case>,
    /// One for each share, in the order of [`Case::place`].
    pub(super) workers: Vec<Worker>,
    /// The orders that the workers ran.
    pub(super) shares: Vec<Vec<TestId>>,
    notices: Vec<Notice>,
    pub(super) is_interrupted: bool,
}

/// What is left of a worker when its share is done.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) environment: Option<Box<dyn Environment>>,
    /// Counts the lives of its environment: a crash ends one.
    pub(super) life: u32,
}

impl Worker {
    /// Note how an execution in its environment ended.
    pub(super) fn survive(&mut self, outcome: Outcome) {
        if outcome.ends_environment() {
            self.environment = None;
        }
    }
}

impl SuiteRun {
    /// End the environments; give the cases, and what the reader should know about the run.
    pub(super) fn close(self) -> (Vec<Case>, Vec<Notice>) {
        let mut notices = self.notices;
        for environment in self.workers.into_iter().filter_map(|worker| worker.environment) {
            if let Err(error) = environment.close() {
                notices.push(Notice {
                    what: format!("the suite's own process did not end well: {error}"),
                    next: "look for threads or processes that the tests leave behind".into(),
                });
            }
        }
        (self.cases, notices)
    }
}

/// Run the suite.
pub(super) fn run(
    adapter: &dyn Adapter,
    suite: &Suite,
    settings: &TriageSettings,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<SuiteRun> {
    let shares = side_by_side::shares(suite, &settings.durations, settings.jobs);
    sink(Event::Stage(Stage::First, suite.tests.len()));
    let context = Context {
        adapter,
        settings,
        cancel,
        failures: AtomicUsize::new(0),
        limit: settings.limit.resolve(suite.tests.len()),
    };
    let mut book = Book::new(&settings.rerun);
    let ends = run_shares(&context, &shares, |reports| {
        for report in reports {
            book.enter(report, sink);
        }
    });
    let mut run = SuiteRun {
        cases: book.cases,
        workers: Vec::new(),
        shares,
        notices: book.notices,
        is_interrupted: false,
    };
    for end in ends {
        let (mut worker, end) = end?;
        match end {
            Ok(()) => {}
            Err(Error::Cancelled) => {
                // Nobody waits for its goodbye.
                worker.environment = None;
                run.is_interrupted = true;
            }
            Err(error) => return Err(error),
        }
        run.workers.push(worker);
    }
    Ok(run)
}

/// How a worker ended: what is left of it, and what stopped it.
type End = Result<(Worker, Result<()>)>;

/// Run every share on a thread of its own, and read what they report.
fn run_shares(
    context: &Context<'_>,
    shares: &[Vec<TestId>],
    read: impl FnOnce(Receiver<Report>),
) -> Vec<End> {
    let (sender, reports) = unbounded();
    std::thread::scope(|scope| {
        let handles: Vec<_> = shares
            .iter()
            .enumerate()
            .map(|(number, share)| {
                let mut run = ShareRun::new(context, number, share, sender.clone());
                scope.spawn(move || {
                    let end = run.finish();
                    (run.worker, end)
                })
            })
            .collect();
        drop(sender);
        read(reports);
        let panicked = |_| Error::Agent("a worker panicked".into());
        handles.into_iter().map(|handle| handle.join().map_err(panicked)).collect()
    })
}

/// What a worker reports.
enum Report {
    /// An execution, and the worker and life in which it happened.
    Attempt((usize, u32), Box<Attempt>),
    /// The first test is spared a rerun, because the second failed in the same way and stayed.
    Alike(TestId, TestId),
    Notice(Notice),
}

/// The one place where reports become cases.
struct Book<'a> {
    rules: &'a RerunRules,
    cases: Vec<Case>,
    positions: HashMap<TestId, usize>,
    notices: Vec<Notice>,
}

impl<'a> Book<'a> {
    fn new(rules: &'a RerunRules) -> Self {
        Self { rules, cases: Vec::new(), positions: HashMap::new(), notices: Vec::new() }
    }

    fn enter(&mut self, report: Report, sink: &mut dyn FnMut(Event)) {
        match report {
            Report::Attempt(place, attempt) => {
                sink(Event::Attempt(attempt.clone()));
                let test = attempt.execution.test.clone();
                let at = *self.positions.entry(test.clone()).or_insert_with(|| {
                    self.cases.push(Case::new(test, place));
                    self.cases.len() - 1
                });
                self.cases[at].add(*attempt, self.rules);
            }
            Report::Alike(test, other) => {
                if let Some(at) = self.positions.get(&test) {
                    self.cases[*at].like = Some(other);
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
    /// Failures so far, of all workers.
    failures: AtomicUsize,
    limit: usize,
}

/// A worker on its way through its share.
struct ShareRun<'a> {
    context: &'a Context<'a>,
    number: usize,
    share: &'a [TestId],
    worker: Worker,
    /// Failures that stayed when they were rerun at once, and the test on which they were.
    persistent: HashMap<Signature, TestId>,
    reports: Sender<Report>,
}

impl<'a> ShareRun<'a> {
    fn new(
        context: &'a Context<'a>,
        number: usize,
        share: &'a [TestId],
        reports: Sender<Report>,
    ) -> Self {
        let worker = Worker::default();
        Self { context, number, share, worker, persistent: HashMap::new(), reports }
    }

    /// Run the share, to its last test or to what stops it.
    fn finish(&mut self) -> Result<()> {
        let mut lost_before = None;
        let mut position = 0;
        while position < self.share.len() {
            if self.context.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            match self.run_first(position) {
                Ok(execution) => {
                    self.worker.survive(execution.outcome);
                    self.rerun_if_failed(position, execution)?;
                    position += 1;
                }
                // Not the test's fault: once more, in another environment.
                Err(Error::EnvironmentLost { cause }) if lost_before != Some(position) => {
                    lost_before = Some(position);
                    self.worker.environment = None;
                    self.notice(
                        format!("the environment of the suite was lost between tests ({cause})"),
                        "the rest ran in a new one",
                    );
                }
                Err(Error::Stopped { reason }) => {
                    let left = self.share.len() - position;
                    self.notice(
                        format!("the runner stopped before {left} of the tests: {reason}"),
                        "run without the option that stops it to see them all",
                    );
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Run the test at a position for the first time, in an environment that knows what comes.
    fn run_first(&mut self, position: usize) -> Result<Execution> {
        let environment = match &mut self.worker.environment {
            Some(environment) => environment,
            None => {
                self.worker.life += 1;
                let mut environment = self.context.adapter.open(Isolation::Same)?;
                environment.expect(&self.share[position..], Then::End)?;
                self.worker.environment.insert(environment)
            }
        };
        environment.run(&self.share[position], Probe::attempt(1))
    }

    /// Report a first execution and, if it failed, rerun it where that makes sense.
    fn rerun_if_failed(&mut self, position: usize, execution: Execution) -> Result<()> {
        let failed = execution.outcome.is_failure().then(|| execution.clone());
        self.report(Stage::First, 1, u32::try_from(position).ok(), execution);
        let Some(failed) = failed else { return Ok(()) };
        let failures = self.context.failures.fetch_add(1, Ordering::Relaxed) + 1;
        let is_forbidden = self.context.settings.rerun.forbids(&failed).is_some();
        // Above the limit the change is broken, and reruns would tell nothing.
        if failures > self.context.limit || is_forbidden {
            return Ok(());
        }
        let signature = failed.failure.map(|failure| failure.signature);
        if let Some(other) = signature.as_ref().and_then(|it| self.persistent.get(it)) {
            let _ = self.reports.send(Report::Alike(failed.test, other.clone()));
        } else if self.fails_again_at_once(&failed.test)? {
            self.persistent.extend(signature.map(|signature| (signature, failed.test)));
        }
        Ok(())
    }

    /// Rerun a test right after its failure; say whether it failed again, every time.
    fn fails_again_at_once(&mut self, test: &TestId) -> Result<bool> {
        let Context { settings, cancel, .. } = self.context;
        let mut has_failed_again = false;
        for rerun in 0..settings.immediate {
            let Some(environment) = &mut self.worker.environment else { break };
            pause(cancel, settings)?;
            let number = rerun + 2;
            let execution = match environment.run(test, Probe::attempt(number)) {
                Ok(execution) => execution,
                // The next test meets the same trouble, and then it is told.
                Err(Error::EnvironmentLost { .. } | Error::Stopped { .. }) => break,
                Err(error) => return Err(error),
            };
            has_failed_again = execution.outcome.is_failure();
            let is_forbidden = settings.rerun.forbids(&execution).is_some();
            self.worker.survive(execution.outcome);
            self.report(Stage::Immediate, number, None, execution);
            if !has_failed_again || is_forbidden {
                break;
            }
        }
        Ok(has_failed_again)
    }

    fn report(&self, stage: Stage, number: u32, position: Option<u32>, execution: Execution) {
        let place = (self.number, self.worker.life);
        let isolation = Isolation::Same;
        let attempt = Attempt { stage, isolation, number, position, execution };
        let _ = self.reports.send(Report::Attempt(place, Box::new(attempt)));
    }

    fn notice(&self, what: String, next: &str) {
        let _ = self.reports.send(Report::Notice(Notice { what, next: next.to_owned() }));
    }
}

/// Wait as long as the settings say before a rerun.
pub(super) fn pause(cancel: &Cancel, settings: &TriageSettings) -> Result<()> {
    cancel.wait(settings.delay);
    if cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
