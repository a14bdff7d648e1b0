//! A hunt whose trials other machines run: what they need for that, and the way to them and back.

use std::cell::Cell;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use flakeproof_core::{HistoryError, HuntRecord, Notice, Seed, TrialRecord};
use flakeproof_detect::hunt::Trial;
use flakeproof_report::words;
use flakeproof_runner::{Adapter, Blame, Error};
use flakeproof_store::{
    Collected, CoordinatorPulse, FleetCoordinator, FleetPlan, QueuedTrial, StuckTrial,
};
use serde::{Deserialize, Serialize};

use super::kept_hunt::Fingerprint;
use crate::cli::FleetSettings;
use crate::problem::Problem;
use crate::session::Code;
use crate::session::history::cannot_open;

/// What a worker must have, to run what the coordinator would run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::commands) struct FleetNeeds {
    version: String,
    pub(in crate::commands) command: Vec<String>,
    runner: String,
    /// What environments of the runner can do there.
    abilities: String,
    revision: Option<String>,
    fingerprint: String,
    /// What is the same on all machines because the coordinator says so.
    pub(in crate::commands) run: String,
    pub(in crate::commands) seed: Seed,
    pub(in crate::commands) timeout: Option<Duration>,
}

impl FleetNeeds {
    /// What this machine has.
    pub(in crate::commands) fn of(
        command: &[String],
        adapter: &dyn Adapter,
        code: &Code,
        fingerprint: &Fingerprint,
        (run, seed, timeout): (&str, Seed, Option<Duration>),
    ) -> Self {
        let can = adapter.can();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_vec(),
            abilities: format!(
                "{:?}, copies {}, forks {}, state {}",
                can.orders,
                can.snapshot,
                can.fork.is_ok(),
                can.state
            ),
            runner: can.runner,
            revision: code.tree.revision.clone(),
            fingerprint: fingerprint.text(),
            run: run.to_owned(),
            seed,
            timeout,
        }
    }

    /// As text, to be kept.
    pub(in crate::commands) fn text(&self) -> Result<String, Problem> {
        serde_json::to_string(self).map_err(|error| {
            Problem::broken(format!("the fleet cannot be described: {error}"), "please report this")
        })
    }

    /// The needs of a fleet from their text.
    pub(in crate::commands) fn read(text: &str) -> Result<Self, Problem> {
        serde_json::from_str(text).map_err(|_| {
            Problem::usage(
                "another version of flakeproof steers this hunt",
                "install the same version on all machines",
            )
        })
    }

    /// Refuse a machine that has this, and say what differs.
    pub(in crate::commands) fn check(&self, here: &Self) -> Result<(), Problem> {
        let refuse = |what: String, next: &str| Err(Problem::usage(what, next));
        if self.version != here.version {
            let what = format!(
                "flakeproof {} steers this hunt, and this is {}",
                self.version, here.version
            );
            return refuse(what, "install the same version on all machines");
        }
        if self.command != here.command {
            let what = format!(
                "the hunt runs `{}`, and this worker `{}`",
                words::command(&self.command),
                words::command(&here.command)
            );
            return refuse(what, "give the worker the same command after `--`");
        }
        if self.runner != here.runner || self.abilities != here.abilities {
            let what = format!(
                "the hunt's runner is {} ({}), and here it is {} ({})",
                self.runner, self.abilities, here.runner, here.abilities
            );
            return refuse(what, "use the same image, or install the same packages");
        }
        if self.run != here.run || self.seed != here.seed {
            return refuse(
                "its record was lost and begun anew, with another seed".to_owned(),
                "remove all that is left of it in the store",
            );
        }
        if let Some(part) = here.part_that_differs(self) {
            let revision = |it: &Self| it.revision.as_ref().map_or("none", |it| it).to_owned();
            return match part {
                0 => refuse(
                    format!(
                        "the code differs: the hunt has revision {} and this machine {}, each with its \
                         edits",
                        revision(self),
                        revision(here)
                    ),
                    "check out the same revision here, without edits",
                ),
                1 => refuse(
                    "the suite has other tests here, or finds them in another order".to_owned(),
                    "compare what the runner lists on both machines",
                ),
                _ => refuse(
                    "the runtime or the installed packages differ from those of the hunt"
                        .to_owned(),
                    "use the same image, or install from the same lock file",
                ),
            };
        }
        Ok(())
    }

    fn part_that_differs(&self, other: &Self) -> Option<usize> {
        let (own, others) = (self.fingerprint.split(':'), other.fingerprint.split(':'));
        if own.clone().count() != others.clone().count() {
            return Some(0);
        }
        own.zip(others).position(|(own, other)| own != other)
    }
}

/// The way to the workers and back.
pub(super) struct Fleet {
    coordinator: FleetCoordinator,
    workers: Cell<usize>,
    pulse: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Fleet {
    /// Take the place of the coordinator.
    pub(super) fn take_place(
        settings: &FleetSettings,
        hunt: &HuntRecord,
        needs: &FleetNeeds,
    ) -> Result<Self, Problem> {
        let plan = FleetPlan {
            name: settings.name.as_str().to_owned(),
            hunt: hunt.clone(),
            needs: needs.text()?,
            lease: settings.lease,
        };
        let place = FleetCoordinator::take_place(&settings.address, &plan);
        let coordinator = match place.map_err(|error| cannot_open(&error))? {
            Ok(coordinator) => coordinator,
            Err(taken) => {
                let (name, seconds) = (settings.name.as_str(), taken.free_in.as_secs() + 1);
                return Err(Problem::usage(
                    format!("the hunt of {} has the fleet `{name}`", taken.started),
                    format!(
                        "take another name, or wait for that hunt; if it was killed, its place is free in \
                         {seconds} s, and `--resume` goes on with it"
                    ),
                ));
            }
        };
        let pulse = coordinator.pulse().map_err(|error| cannot_open(&error))?;
        let lease = settings.lease;
        let (stop, stopped) = channel();
        let beating = std::thread::spawn(move || {
            while stopped.recv_timeout(lease / 4) == Err(RecvTimeoutError::Timeout) {
                if !is_in_place(&pulse) {
                    return;
                }
            }
        });
        Ok(Self { coordinator, workers: Cell::new(0), pulse: Some((stop, beating)) })
    }

    /// How many workers were heard of lately.
    pub(super) fn size(&self) -> usize {
        self.workers.get()
    }

    /// Hand out trials.
    pub(super) fn ask(&self, trials: &[Trial]) -> Result<(), Error> {
        let queued = trials.iter().map(|trial| {
            let work = serde_json::to_string(trial).map_err(|it| Error::Agent(it.to_string()))?;
            let tests = u32::try_from(trial.len()).unwrap_or(u32::MAX);
            Ok(QueuedTrial { key: trial.key(), work, tests })
        });
        let queued = queued.collect::<Result<Vec<_>, Error>>()?;
        self.coordinator.ask(&queued).map_err(|error| trouble(&error))
    }

    /// Wait for trials.
    pub(super) fn collect(
        &self,
        keys: &[String],
        wait: Duration,
    ) -> Result<Vec<(String, TrialRecord)>, Error> {
        let Collected { done, stuck, workers } =
            self.coordinator.collect(keys, wait).map_err(|error| trouble(&error))?;
        self.workers.set(workers);
        match stuck {
            Some(stuck) if done.is_empty() => Err(no_worker_can(stuck)),
            Some(_) | None => Ok(done),
        }
    }

    /// Take back trials that nobody has begun.
    pub(super) fn withdraw(&self, keys: &[String]) -> Result<(), Error> {
        self.coordinator.withdraw(keys).map_err(|error| trouble(&error))
    }

    /// End the fleet, and say how it was.
    pub(super) fn end(mut self) -> Option<Notice> {
        if let Some((stop, beating)) = self.pulse.take() {
            drop(stop);
            // It has no more to say.
            let _ = beating.join();
        }
        let ended = self.coordinator.end();
        ended.err().map(|error| Notice {
            what: format!("the workers could not be told that the hunt is over: {error}"),
            next: "they end by themselves once they have waited".to_owned(),
        })
    }
}

/// Whether the coordinator still has its place, as far as is known.
fn is_in_place(pulse: &CoordinatorPulse) -> bool {
    // A server that is away for a moment is asked again at the next beat.
    pulse.beat().unwrap_or(true)
}

/// Trouble with the queue ends a hunt; what was found is in the history.
fn trouble(error: &HistoryError) -> Error {
    let next = match error {
        HistoryError::Unreachable { .. } => {
            "check that the server answers, and go on with `flakeproof hunt --resume --fleet NAME`"
        }
        HistoryError::Newer { .. } => "update flakeproof",
        HistoryError::Unreadable { .. } | HistoryError::Unwritable { .. } => {
            "see what it says; `flakeproof hunt --resume --fleet NAME` goes on once that is mended"
        }
    };
    Error::Explained {
        blame: Blame::Runner,
        what: error.to_string(),
        next: next.to_owned(),
        details: String::new(),
    }
}

fn no_worker_can(stuck: StuckTrial) -> Error {
    let given = stuck.given;
    let what = match &stuck.trouble {
        Some(_) => {
            "several workers gave up on the same tests, with an error of the runner".to_owned()
        }
        None => format!("{given} workers were given the same tests, and none came back"),
    };
    Error::Explained {
        blame: Blame::Runner,
        what,
        next: "look at what the workers say; `flakeproof hunt --resume --fleet NAME` goes on"
            .to_owned(),
        details: stuck.trouble.unwrap_or_default(),
    }
}

/// What to type on other machines.
pub(super) fn invitation(settings: &FleetSettings, command: &[String]) -> Notice {
    let name = words::command(&[settings.name.as_str().to_owned()]);
    Notice {
        what: format!(
            "other machines run the tests of this hunt: the fleet `{}`",
            settings.name.as_str()
        ),
        next: format!(
            "start any number of them, with the same store: `flakeproof worker --fleet {name} -- {}`",
            words::command(command)
        ),
    }
}
