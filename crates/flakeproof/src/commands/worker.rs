//! `flakeproof worker`: run tests for a hunt that another machine steers.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flakeproof_core::{ExitCode, TestId, TrialRecord};
use flakeproof_detect::hunt::{Trial, run_trial};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::levers::InForce;
use flakeproof_runner::{Adapter, Cancel, Error, Waiting, Watched};
use flakeproof_store::{Claim, FleetFound, FleetPulse, FleetUnit, FleetWorker, UnitKept};

use super::hunt::fleet::FleetNeeds;
use super::hunt::kept_hunt::Fingerprint;
use crate::cli::{WorkerArguments, WorkerSettings};
use crate::problem::{self, Problem};
use crate::session::history::cannot_open;
use crate::session::{code_in, current_folder, listen_for_interrupts};
use crate::view::{self, WorkerProgress, WorkerSum};

/// How long to wait for news before the queue is asked again.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a unit took counts so much for the pace, beside what was known before.
const NEWEST: f64 = 0.5;

/// Run the command.
pub(crate) fn run(typed: &WorkerArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let settings = WorkerSettings::resolve(typed, &folder)?;
    let waiting = Waiting::default();
    let cancel = listen_for_interrupts(&waiting);
    let queue = FleetWorker::connect(&settings.address).map_err(|error| cannot_open(&error))?;
    let mut progress = WorkerProgress::default();
    let Some(fleet) = wait_for_hunt(&queue, &settings, &cancel, &mut progress)? else {
        return Ok(ExitCode::Interrupted);
    };
    let needs = FleetNeeds::read(&fleet.needs)?;
    let code = code_in(&folder);
    let adapter = adapter_for(&settings, &needs, &cancel).map_err(problem::explain)?;
    let adapter = Watched::new(adapter, waiting);
    let suite = adapter.discover().map_err(problem::explain)?;
    if suite.tests.is_empty() {
        return Err(problem::no_tests(&settings.command));
    }
    let code = code.wait();
    let fingerprint = Fingerprint::take(&code, &suite, &adapter.surroundings());
    let given = (needs.run.as_str(), needs.seed, needs.timeout);
    needs.check(&FleetNeeds::of(&settings.command, &adapter, &code, &fingerprint, given))?;
    progress.joins(settings.name.as_str(), suite.tests.len());
    let mut worker = Worker {
        queue: &queue,
        pulse: Pulse::start(&queue, fleet.lease)?,
        fleet: &fleet,
        adapter: &adapter,
        tests: suite.ids(),
        wait: settings.wait,
        cancel: &cancel,
        seconds_per_test: None,
        sum: WorkerSum::default(),
        progress,
    };
    let ended = worker.work();
    let sum = worker.sum;
    drop(worker);
    // Whoever counts on it finds out without it, too.
    let _ = queue.leave();
    match ended {
        Err(problem) => {
            view::worker_ends(&sum, "broken off");
            Err(problem)
        }
        Ok(exit) => {
            let why = match exit {
                ExitCode::Interrupted => "interrupted",
                _ => "the hunt is over",
            };
            view::worker_ends(&sum, why);
            Ok(exit)
        }
    }
}

/// The fleet, once its hunt has begun; `None` if that was interrupted.
fn wait_for_hunt(
    queue: &FleetWorker,
    settings: &WorkerSettings,
    cancel: &Cancel,
    progress: &mut WorkerProgress,
) -> Result<Option<FleetFound>, Problem> {
    let (begin, name) = (Instant::now(), settings.name.as_str());
    while !cancel.is_cancelled() {
        if let Some(fleet) = queue.find(name).map_err(|error| cannot_open(&error))? {
            return Ok(Some(fleet));
        }
        if begin.elapsed() >= settings.wait {
            return Err(no_hunt(name, settings.wait));
        }
        progress.waits_for_hunt(name, settings.wait);
        cancel.wait(PATIENCE);
    }
    Ok(None)
}

fn no_hunt(name: &str, waited: Duration) -> Problem {
    Problem::new(
        ExitCode::Inconclusive,
        format!("no hunt of fleet `{name}` was heard of for {} s", waited.as_secs()),
        format!(
            "start `flakeproof hunt --fleet {name}` with the same store and project, or wait longer with \
             `--wait`"
        ),
    )
}

fn adapter_for(
    settings: &WorkerSettings,
    needs: &FleetNeeds,
    cancel: &Cancel,
) -> Result<Box<dyn Adapter>, Error> {
    adapters::open(RunRequest {
        command: settings.command.clone(),
        folder: settings.folder.clone(),
        adapter: settings.adapter.clone(),
        timeout: needs.timeout,
        run: needs.run.clone(),
        seed: needs.seed,
        is_output_shown: settings.is_runner_shown,
        profiles: settings.runners.clone(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: cancel.clone(),
        in_force: InForce::default(),
    })
}

/// A worker that has joined a fleet.
struct Worker<'a> {
    queue: &'a FleetWorker,
    pulse: Pulse,
    fleet: &'a FleetFound,
    adapter: &'a dyn Adapter,
    tests: Vec<TestId>,
    wait: Duration,
    cancel: &'a Cancel,
    seconds_per_test: Option<f64>,
    sum: WorkerSum,
    progress: WorkerProgress,
}

impl Worker<'_> {
    /// Take units until the hunt is over.
    fn work(&mut self) -> Result<ExitCode, Problem> {
        let mut alone_since = None;
        while !self.cancel.is_cancelled() {
            let claim = self.queue.claim(self.fleet.number, self.seconds_per_test);
            match claim.map_err(|error| cannot_open(&error))? {
                Claim::Over => return Ok(ExitCode::Clean),
                Claim::Unit(unit) => self.run_unit(&unit)?,
                Claim::Nothing { is_steered: true } => {
                    alone_since = None;
                    self.progress.is_steered();
                    self.queue.wait(PATIENCE);
                }
                Claim::Nothing { is_steered: false } => {
                    let since = *alone_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= self.wait {
                        return Err(coordinator_gone(self.wait));
                    }
                    self.progress.waits_for_coordinator(self.wait);
                    self.queue.wait(PATIENCE);
                }
            }
        }
        Ok(ExitCode::Interrupted)
    }

    /// Run the trials of a unit and bring back what happened; what was not run is given back.
    fn run_unit(&mut self, unit: &FleetUnit) -> Result<(), Problem> {
        self.pulse.hold(unit.lease);
        let mut records: Vec<(String, TrialRecord)> = Vec::new();
        let mut trouble = None;
        for (key, work) in &unit.trials {
            if self.cancel.is_cancelled() || self.pulse.has_lost(unit.lease) {
                break;
            }
            match self.run_one(work) {
                Ok(record) => {
                    self.learn_pace(&record);
                    records.push((key.clone(), record));
                }
                Err(Error::Cancelled) => break,
                Err(error) => {
                    trouble = Some(error);
                    break;
                }
            }
        }
        let said = trouble.as_ref().map(ToString::to_string);
        let kept = self.queue.complete(self.fleet.number, unit, &records, said.as_deref());
        self.pulse.hold(NO_LEASE);
        match kept.map_err(|error| cannot_open(&error))? {
            UnitKept::Kept => {
                self.sum.kept += 1;
                self.sum.trials += records.len();
                let executions = records.iter().map(|(_, it)| u64::from(it.executions));
                self.sum.executions += executions.sum::<u64>();
            }
            UnitKept::Lost => {
                self.sum.lost += 1;
                self.progress.loses_unit();
            }
        }
        match trouble {
            Some(error) => Err(problem::explain_after_start(error, &self.adapter.output())),
            None => Ok(()),
        }
    }

    fn run_one(&self, work: &str) -> Result<TrialRecord, Error> {
        let trial: Trial = serde_json::from_str(work)
            .map_err(|error| Error::Agent(format!("a trial cannot be read: {error}")))?;
        let begin = Instant::now();
        run_trial(self.adapter, &self.tests, &|| begin.elapsed(), &trial)
    }

    fn learn_pace(&mut self, record: &TrialRecord) {
        let seconds = record.duration.as_secs_f64() / f64::from(record.executions.max(1));
        let before = self.seconds_per_test.unwrap_or(seconds);
        self.seconds_per_test = Some(NEWEST * seconds + (1.0 - NEWEST) * before);
    }
}

fn coordinator_gone(waited: Duration) -> Problem {
    Problem::new(
        ExitCode::Inconclusive,
        format!("the machine that steers the hunt was not heard of for {} s", waited.as_secs()),
        "what was run is kept; `flakeproof hunt --resume --fleet NAME` goes on with it",
    )
}

/// No lease has this number.
const NO_LEASE: i64 = 0;

/// Keeps the lease of a unit alive while its tests run.
struct Pulse {
    held: Arc<AtomicI64>,
    lost: Arc<AtomicI64>,
    beating: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Pulse {
    fn start(queue: &FleetWorker, lease: Duration) -> Result<Self, Problem> {
        let pulse = queue.pulse().map_err(|error| cannot_open(&error))?;
        let (held, lost) = (Arc::new(AtomicI64::new(NO_LEASE)), Arc::new(AtomicI64::new(NO_LEASE)));
        let (stop, stopped) = channel();
        let (holds, loses) = (Arc::clone(&held), Arc::clone(&lost));
        let beating = std::thread::spawn(move || {
            while stopped.recv_timeout(lease / 4) == Err(RecvTimeoutError::Timeout) {
                beat(&pulse, &holds, &loses);
            }
        });
        Ok(Self { held, lost, beating: Some((stop, beating)) })
    }

    fn hold(&self, lease: i64) {
        self.held.store(lease, Ordering::SeqCst);
    }

    fn has_lost(&self, lease: i64) -> bool {
        self.lost.load(Ordering::SeqCst) == lease
    }
}

fn beat(pulse: &FleetPulse, held: &AtomicI64, lost: &AtomicI64) {
    let lease = held.load(Ordering::SeqCst);
    // Without a lease it only says that the worker is there. A server that is away is asked again later.
    if let Ok(false) = pulse.beat(lease)
        && lease != NO_LEASE
        && held.load(Ordering::SeqCst) == lease
    {
        lost.store(lease, Ordering::SeqCst);
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        if let Some((stop, beating)) = self.beating.take() {
            drop(stop);
            // It has no more to say.
            let _ = beating.join();
        }
    }
}
