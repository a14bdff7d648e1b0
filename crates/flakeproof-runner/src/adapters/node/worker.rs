//! Processes of a runner with a worker of ours in them, and who keeps them.
//!
//! A worker is started before it is needed: while one runs its order, the next one loads the runner.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, select};
use flakeproof_core::{Notice, TestId};

use super::RunnerKind;
use super::recipe::LaunchRecipe;
use crate::adapter::{Error, Result};
use crate::adapters::command::{CommandSession, Fields};
use crate::agent::protocol::{FromAgent, ToAgent};
use crate::agent::{Arrival, Connection};
use crate::lock::locked;
use crate::process::{Guarded, Instructions, USUAL_CAP};

/// How long a worker may take to introduce itself.
const START: Duration = Duration::from_secs(120);
/// How long a guard may take to report.
const REPORT: Duration = Duration::from_secs(10);
/// How long a worker may take to end.
const END: Duration = Duration::from_secs(5);

/// After so many workers that died before they ran a test, none is started any more.
const MOST_SILENT_DEATHS: u32 = 3;

/// What the environments of one adapter share.
#[derive(Debug)]
pub(super) struct NodeSession {
    plain: Arc<CommandSession>,
    kind: RunnerKind,
    recipe: OnceLock<std::result::Result<LaunchRecipe, String>>,
    started: AtomicU32,
    /// Workers that have run something and can run more.
    used: Mutex<Vec<NodeWorker>>,
    /// A worker that was started and has run nothing.
    reserve: Mutex<Option<StartingWorker>>,
    /// Why tests cannot be put in order here.
    obstacle: OnceLock<String>,
    /// Workers that died before they ran a test.
    silent_deaths: AtomicU32,
    /// Whether the project has its runner repeat tests that fail.
    has_retries: AtomicBool,
}

impl NodeSession {
    pub(super) fn new(plain: &Arc<CommandSession>, kind: RunnerKind) -> Self {
        Self {
            plain: Arc::clone(plain),
            kind,
            recipe: OnceLock::new(),
            started: AtomicU32::new(0),
            used: Mutex::default(),
            reserve: Mutex::default(),
            obstacle: OnceLock::new(),
            silent_deaths: AtomicU32::new(0),
            has_retries: AtomicBool::new(false),
        }
    }

    pub(super) fn kind(&self) -> RunnerKind {
        self.kind
    }

    pub(super) fn plain(&self) -> &CommandSession {
        &self.plain
    }

    pub(super) fn fields(&self, test: &TestId) -> Result<&Fields> {
        self.plain.fields(test)
    }

    /// Why tests cannot be put in order here, if that was seen.
    pub(super) fn obstacle(&self) -> Option<&str> {
        self.obstacle.get().map(String::as_str)
    }

    /// From now on, every test runs in a process of its own.
    pub(super) fn give_up_orders(&self, why: String) {
        let _ = self.obstacle.set(why);
    }

    /// A worker died before it ran a test. That may be a file's doing; several times it is not.
    pub(super) fn count_silent_death(&self, why: &str) {
        if self.silent_deaths.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_SILENT_DEATHS {
            self.give_up_orders(why.to_owned());
        }
    }

    /// What the reader should know.
    pub(super) fn notice(&self) -> Option<Notice> {
        self.obstacle().map(|why| Notice {
            what: format!(
                "each test runs in a process of its own, and tests that depend on others are not \
                 found: {}",
                why.lines().next().unwrap_or_default()
            ),
            next: "put the runner's own command after the dashes, with its usual configuration"
                .to_owned(),
        })
    }

    /// The runner would repeat tests that fail, and does not in workers.
    pub(super) fn note_retries(&self) {
        self.has_retries.store(true, Ordering::Relaxed);
    }

    /// What the reader should know about repetitions.
    pub(super) fn notice_of_retries(&self) -> Option<Notice> {
        self.has_retries.load(Ordering::Relaxed).then(|| Notice {
            what: format!(
                "retries of {} are off where tests run in other orders",
                self.plain.runner.name
            ),
            next: "they would hide what is looked for; in your own run they stay as they are"
                .to_owned(),
        })
    }

    fn recipe(&self) -> Result<&LaunchRecipe> {
        let found = self.recipe.get_or_init(|| {
            let run = |variables, limit| {
                let ended = self.plain.run_as_typed(variables, limit)?;
                Ok(format!("{}\n{}", ended.stdout, ended.stderr))
            };
            LaunchRecipe::capture(self.kind, self.plain.scratch(), run).map_err(|error| match error
            {
                Error::NotPossible { why, .. } => why,
                other => other.to_string(),
            })
        });
        found.as_ref().map_err(|why| Error::NotPossible {
            what: "an environment for several tests".to_owned(),
            why: why.clone(),
        })
    }

    /// A worker that has run nothing.
    pub(super) fn new_worker(&self) -> Result<NodeWorker> {
        let waiting = locked(&self.reserve).take();
        let starting = match waiting {
            Some(starting) => starting,
            None => StartingWorker::begin(self)?,
        };
        if self.kind.most_orders() == 1 {
            *locked(&self.reserve) = StartingWorker::begin(self).ok();
        }
        starting.introduced(self)
    }

    /// A worker that has run nothing, or only what it has ended in order.
    pub(super) fn warm_worker(&self) -> Result<NodeWorker> {
        let used = locked(&self.used).pop();
        used.map_or_else(|| self.new_worker(), Ok)
    }

    /// Take a worker back that has ended its order.
    pub(super) fn take_back(&self, worker: NodeWorker) {
        match worker.orders < self.kind.most_orders() {
            true => locked(&self.used).push(worker),
            false => worker.end(),
        }
    }
}

impl Drop for NodeSession {
    fn drop(&mut self) {
        std::mem::take(&mut *locked(&self.used)).into_iter().for_each(NodeWorker::end);
    }
}

/// A worker that was started and not heard yet.
#[derive(Debug)]
struct StartingWorker {
    guard: Guarded,
    arrival: Receiver<Arrival>,
    guard_arrival: Receiver<Arrival>,
}

impl StartingWorker {
    fn begin(session: &NodeSession) -> Result<Self> {
        let recipe = session.recipe()?;
        let number = session.started.fetch_add(1, Ordering::Relaxed) + 1;
        let (name, guard_name) = (format!("worker-{number}"), format!("guard-of-worker-{number}"));
        let (hub, settings) = (&session.plain.hub, &session.plain.settings);
        let (arrival, guard_arrival) = (hub.expect(&name), hub.expect(&guard_name));
        let agent = serde_json::json!({
            "socket": hub.socket(),
            "name": name,
            "script": recipe.script,
            "words": recipe.words,
            "scratch": session.plain.scratch(),
        });
        let mut variables: BTreeMap<String, Option<String>> = std::env::vars_os()
            .filter_map(|(name, _)| Some((name.into_string().ok()?, None)))
            .collect();
        let kept = recipe.variables.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        variables.extend(kept);
        variables.extend([
            ("FLAKEPROOF".to_owned(), Some("1".to_owned())),
            ("FLAKEPROOF_ATTEMPT".to_owned(), Some("1".to_owned())),
            ("FLAKEPROOF_SEED".to_owned(), Some(settings.seed.to_string())),
            ("FLAKEPROOF_RUN_ID".to_owned(), Some(settings.run.clone())),
            ("FLAKEPROOF_AGENT".to_owned(), Some(agent.to_string())),
        ]);
        let program = recipe.agents.join(session.kind.program());
        let mut command = vec![recipe.node.clone()];
        command.extend(recipe.options.iter().cloned());
        command.push(program.to_string_lossy().into_owned());
        let guard = Guarded::start(&Instructions {
            command,
            folder: recipe.folder.clone(),
            variables,
            socket: hub.socket().to_path_buf(),
            guard_name,
            is_shown: false,
            kept: USUAL_CAP,
            in_force: session.plain.settings.in_force.clone(),
        })?;
        Ok(Self { guard, arrival, guard_arrival })
    }

    /// Wait for the worker to introduce itself.
    fn introduced(mut self, session: &NodeSession) -> Result<NodeWorker> {
        let cancel = session.plain.settings.cancel.signal();
        let Ok(Arrival::Connected(reports)) = self.guard_arrival.recv_timeout(REPORT) else {
            return Err(Error::EnvironmentLost { cause: "its guard process was killed".into() });
        };
        let deadline = after(START);
        loop {
            select! {
                recv(self.arrival) -> first => return match first {
                    Ok(Arrival::Connected(connection)) => {
                        Ok(NodeWorker { connection, guard: self.guard, orders: 0 })
                    }
                    _ => Err(Error::Agent("the worker's line is closed".into())),
                },
                recv(reports.messages) -> message => match message {
                    Ok(FromAgent::Started { .. }) => {}
                    _ => return Err(did_not_start(&self.guard.end())),
                },
                recv(cancel) -> _ => return Err(Error::Cancelled),
                recv(deadline) -> _ => return Err(did_not_start(&self.guard.end())),
            }
        }
    }
}

fn did_not_start(output: &str) -> Error {
    Error::NotPossible {
        what: "an environment for several tests".to_owned(),
        why: format!("the worker inside of the runner does not start\n{}", output.trim()),
    }
}

/// A process of the runner that waits for an order, or runs one.
#[derive(Debug)]
pub(super) struct NodeWorker {
    pub(super) connection: Connection,
    pub(super) guard: Guarded,
    /// How many orders it was given.
    pub(super) orders: u32,
}

impl NodeWorker {
    /// Let it end: what the project sets up once for all of its tests is torn down. Who is dropped
    /// instead is killed.
    fn end(mut self) {
        // One that is gone already needs no goodbye.
        let _ = self.connection.send(&ToAgent::Bye);
        let deadline = Instant::now() + END;
        while self.connection.messages.recv_deadline(deadline).is_ok() {}
    }
}
