//! The suite in its own order, once, whatever crashes on the way, and such runs in the history:
//! their outcomes are outcomes like any other.

use std::time::Instant;

use flakeproof_core::{
    Attempt, Execution, ExitCode, Features, Findings, Isolation, Notice, Origin, RunFacts,
    RunRecord, Seed, Suite, SuiteCounts, Surroundings, TestId, TreeState,
};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result, Then};

use crate::cli::FeaturesSettings;
use crate::session::{Recorder, Start};

/// How a run of the suite ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Every test ran.
    Complete,
    /// The runner stopped before the last test.
    Stopped,
    /// The user interrupted.
    Interrupted,
}

/// Run every test once and hand out the executions as they come.
///
/// After a crash the rest runs in a new environment.
pub(super) fn run_suite(
    adapter: &dyn Adapter,
    suite: &Suite,
    probe: Probe,
    cancel: &Cancel,
    mut take: impl FnMut(Execution),
) -> Result<(End, Vec<Notice>)> {
    let order = suite.ids();
    let mut environment: Option<Box<dyn Environment>> = None;
    let mut notices = Vec::new();
    let mut lost_before = None;
    let mut position = 0;
    while position < order.len() {
        if cancel.is_cancelled() {
            return Ok((End::Interrupted, notices));
        }
        let live = match &mut environment {
            Some(live) => live,
            None => {
                let mut live = adapter.open(Isolation::Same)?;
                live.expect(&order[position..], Then::End)?;
                environment.insert(live)
            }
        };
        match live.run(&order[position], probe) {
            Ok(execution) => {
                if execution.outcome.ends_environment() {
                    environment = None;
                }
                take(execution);
                position += 1;
            }
            // Not the test's fault: once more, in another environment.
            Err(Error::EnvironmentLost { .. }) if lost_before != Some(position) => {
                lost_before = Some(position);
                environment = None;
            }
            Err(Error::Stopped { reason }) => {
                notices.push(stopped(order.len() - position, &reason));
                return Ok((End::Stopped, notices));
            }
            Err(Error::Cancelled) => return Ok((End::Interrupted, notices)),
            Err(error) => return Err(error),
        }
    }
    if let Some(Err(error)) = environment.map(Environment::close) {
        notices.push(Notice {
            what: format!("the suite's own process did not end well: {error}"),
            next: "look for threads or processes that the tests leave behind".into(),
        });
    }
    Ok((End::Complete, notices))
}

fn stopped(left: usize, reason: &str) -> Notice {
    Notice {
        what: format!("the runner stopped before {left} of the tests: {reason}"),
        next: "run without the option that stops it to measure them all".into(),
    }
}

/// The runs of one measurement, each a run of the history.
pub(super) struct KeptRuns {
    recorder: Recorder,
    command: Vec<String>,
    seed: Seed,
    tree: TreeState,
    open: Option<(RunRecord, Instant)>,
    position: u32,
    counts: SuiteCounts,
}

impl KeptRuns {
    pub(super) fn open(settings: &FeaturesSettings, seed: Seed) -> Self {
        Self {
            recorder: Recorder::open(&settings.store, &settings.folder),
            command: settings.command.clone(),
            seed,
            tree: TreeState::default(),
            open: None,
            position: 0,
            counts: SuiteCounts::default(),
        }
    }

    /// The code that runs.
    pub(super) fn set_tree(&mut self, tree: TreeState) {
        self.tree = tree;
    }

    pub(super) fn begin(&mut self, number: u32, mut surroundings: Surroundings) {
        // A pass under a trace function proves nothing about a run without one.
        surroundings.runtime.push("measuring".to_owned());
        let start = Start::now();
        let run = RunRecord {
            id: format!("{}-{number}", start.id()),
            started: start.at.to_string(),
            command: self.command.clone(),
            folder: String::new(),
            seed: self.seed,
            tree: self.tree.clone(),
            surroundings,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: Origin::Run,
        };
        self.recorder.begin(&run);
        self.open = Some((run, Instant::now()));
        self.position = 0;
        self.counts = SuiteCounts::default();
    }

    pub(super) fn execution(&mut self, execution: Execution) {
        self.counts.tests += 1;
        self.counts.add(execution.outcome);
        let attempt = Attempt { position: Some(self.position), ..Attempt::first(execution) };
        self.position += 1;
        self.recorder.attempt(&attempt);
    }

    pub(super) fn features(&mut self, measured: &[(TestId, Features)]) {
        self.recorder.features(measured);
    }

    pub(super) fn end(&mut self, runner: &str, end: End) {
        let Some((run, begin)) = self.open.take() else { return };
        self.recorder.finish(&Findings {
            run: RunFacts {
                id: run.id,
                command: run.command,
                runner: runner.to_owned(),
                started: run.started,
                duration: begin.elapsed(),
                seed: run.seed,
                revision: run.tree.revision,
                version: run.version,
            },
            suite: self.counts,
            tests: Vec::new(),
            groups: Vec::new(),
            notices: Vec::new(),
            exit: match end {
                End::Complete => ExitCode::Clean,
                End::Stopped => ExitCode::Inconclusive,
                End::Interrupted => ExitCode::Interrupted,
            },
        });
    }

    pub(super) fn notices(&self) -> Option<Notice> {
        self.recorder.notices()
    }
}
