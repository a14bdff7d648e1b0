//! pytest: collected once in the user's own process, copied by fork, checked by spawn.
//!
//! The user's command is started as it is, with an agent loaded through pytest's own plugin
//! mechanism. After collection the agent leaves a copy of the process, the *zygote*: everything
//! imported, no test run. The process itself goes on as the suite's own environment. Fresh
//! environments are forked from the zygote in milliseconds, or spawned as new interpreters.

mod command;
mod environment;
mod launch;
mod messages;
mod spawned;
mod worker_number;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, select};
use flakeproof_core::{
    Isolation, Location, Piece, Shuffle, Suite, SuiteTest, Surroundings, TestId,
};

use self::environment::PytestEnvironment;
use self::spawned::SpawnedEnvironment;
use self::worker_number::{WorkerNumber, WorkerNumbers};
use super::{Known, RunRequest};
use crate::adapter::{
    Adapter, Capabilities, Environment, Error, Likeness, OpenOrders, Orders, Result, Then, Workers,
};
use crate::agent::protocol::{Collected, FromAgent, Hello, ToAgent};
use crate::agent::{Arrival, Connection, Hub};
use crate::folders::Scratch;
use crate::levers::RandomNumbers;
use crate::lock::locked;
use crate::process::Guarded;

/// How long a copy of a live process may take to introduce itself.
const COPY_PATIENCE: Duration = Duration::from_secs(20);

/// How long a session that runs no test may take to end.
const LISTING_PATIENCE: Duration = Duration::from_secs(60);

/// pytest in the list of adapters.
pub(super) const KNOWN: Known = Known {
    name: "pytest",
    recognises: |command| command.iter().position(|word| is_program(word)),
    usual_command: |_| None,
    open: |request| Ok(Box::new(PytestAdapter::new(request)?)),
    capabilities: || vec![capabilities("pytest 7.0 to 9, Python 3.9 to 3.13".to_owned(), Ok(()))],
};

/// Runs the tests of a pytest project.
#[derive(Debug)]
pub struct PytestAdapter {
    session: Arc<Session>,
}

/// What the environments of one adapter share.
#[derive(Debug)]
struct Session {
    settings: RunRequest,
    hub: Hub,
    scratch: Scratch,
    agent: PathBuf,
    opened: AtomicU32,
    /// By which tests tell environments apart that live at the same time.
    workers: Arc<WorkerNumbers>,
    /// Whether another interpreter called a test by another name.
    names_move: AtomicBool,
    collected: OnceLock<Project>,
    main: Mutex<Option<Connection>>,
    zygote: Mutex<Zygote>,
    /// What made the user's own session fail besides its tests.
    own_failure: Mutex<Option<String>>,
    /// Declared last: dropped, and so killed, after everything that talks to its processes.
    guard: Mutex<Option<Guarded>>,
}

/// What collection told about the project.
#[derive(Debug)]
struct Project {
    hello: Hello,
    /// The process of the user's command: pytest itself, or what started it.
    command: u32,
    collected: Collected,
    positions: Arc<HashMap<TestId, usize>>,
    /// How long collection took, to know when a fresh one hangs.
    took: Duration,
}

/// The untouched copy from which environments are forked.
#[derive(Debug)]
enum Zygote {
    Awaited(Receiver<Arrival>),
    Ready(Box<Connection>),
    Impossible(String),
}

impl PytestAdapter {
    /// Prepare to run a command; nothing is started yet.
    ///
    /// # Errors
    /// When no temporary folder or socket can be made.
    pub fn new(settings: RunRequest) -> Result<Self> {
        let scratch = Scratch::new()?;
        let hub = Hub::start(scratch.path())?;
        let agent = launch::unpack_agent(scratch.path())?;
        Ok(Self {
            session: Arc::new(Session {
                settings,
                hub,
                scratch,
                agent,
                opened: AtomicU32::new(0),
                workers: WorkerNumbers::beside_the_main_one(),
                names_move: AtomicBool::new(false),
                collected: OnceLock::new(),
                main: Mutex::new(None),
                zygote: Mutex::new(Zygote::Impossible("nothing is collected yet".into())),
                own_failure: Mutex::new(None),
                guard: Mutex::new(None),
            }),
        })
    }
}

impl Adapter for PytestAdapter {
    fn discover(&self) -> Result<Suite> {
        self.collect().map_err(launch::explained)
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        let session = &self.session;
        match how {
            Isolation::Same => {
                if let Some(main) = locked(&session.main).take() {
                    let environment = PytestEnvironment::main(session, main)?;
                    return Ok(Box::new(environment));
                }
                match session.fork() {
                    Ok(environment) => Ok(Box::new(environment)),
                    Err(Error::NotPossible { .. }) => {
                        Ok(Box::new(SpawnedEnvironment::new(session)))
                    }
                    Err(error) => Err(error),
                }
            }
            Isolation::Fork => Ok(Box::new(session.fork()?)),
            Isolation::Spawn => Ok(Box::new(SpawnedEnvironment::new(session))),
        }
    }

    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>> {
        let mut environment = SpawnedEnvironment::of_all(&self.session);
        environment.expect(order, then)?;
        Ok(Box::new(environment))
    }

    fn open_orders(&self) -> OpenOrders {
        OpenOrders::Drawn
    }

    fn open_shuffled(&self, shuffle: &Shuffle) -> Result<Box<dyn Environment>> {
        Ok(Box::new(SpawnedEnvironment::shuffled(&self.session, shuffle.seed)))
    }

    fn command_shuffled(&self, test: &TestId, shuffle: &Shuffle) -> Option<String> {
        Some(command::for_one_with_seed(&self.session, test, shuffle.seed))
    }

    fn can(&self) -> Capabilities {
        let fork = match &*locked(&self.session.zygote) {
            Zygote::Awaited(_) | Zygote::Ready(_) => Ok(()),
            Zygote::Impossible(why) => Err(why.clone()),
        };
        let runner = self.session.collected.get().map_or_else(String::new, |project| {
            format!("pytest {}, Python {}", project.hello.framework, project.hello.runtime)
        });
        capabilities(runner, fork)
    }

    fn random_numbers(&self) -> std::result::Result<RandomNumbers, String> {
        let project = self.session.collected.get();
        match project.is_some_and(|it| launch::is_installed("pytest_randomly", &it.hello.path)) {
            true => Ok(RandomNumbers::PytestRandomly),
            false => {
                Err("pytest has a seed of random numbers with pytest-randomly only".to_owned())
            }
        }
    }

    fn surroundings(&self) -> Surroundings {
        let session = &self.session;
        session.collected.get().map_or_else(Surroundings::default, |project| {
            let selectors = &project.collected.selectors;
            let options = command::options(&session.settings.command, selectors);
            launch::surroundings_of(&project.hello, &options, session.settings.timeout)
        })
    }

    fn root(&self) -> Option<PathBuf> {
        self.session.collected.get().map(|project| PathBuf::from(&project.collected.root))
    }

    fn own_failure(&self) -> Option<String> {
        locked(&self.session.own_failure).clone()
    }

    fn workers(&self) -> Option<Workers> {
        let asked = self.session.collected.get()?.collected.workers.as_ref()?;
        Some(Workers {
            asked: asked.asked.clone(),
            count: asked.count as usize,
            obstacle: asked.obstacle.clone(),
        })
    }

    fn output(&self) -> String {
        locked(&self.session.guard).as_ref().map(Guarded::output).unwrap_or_default()
    }

    fn command_to_list(&self) -> Option<String> {
        Some("pytest --collect-only -q".to_owned())
    }

    fn command_for(&self, test: &TestId) -> String {
        command::for_one(&self.session, test)
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        command::for_order(&self.session, order)
    }

    fn command_for_all(&self) -> String {
        command::for_all(&self.session)
    }
}

impl PytestAdapter {
    /// Start the user's command and let it collect.
    fn collect(&self) -> Result<Suite> {
        let session = &self.session;
        let begin = Instant::now();
        let zygote = session.hub.expect("zygote");
        let launch = launch::Launch::main(session);
        let mut started = launch.start(session)?;
        *locked(&session.guard) = started.guarded.take();
        let (connection, collected) = match started.collect(session, None, None) {
            Ok(both) => both,
            Err(error) => return Err(self.with_output(error)),
        };
        if collected.collect_only || !collected.goes_on {
            wait_for_end_of(&connection);
            return Err(match collected.goes_on {
                true => Error::CollectOnly { output: self.end() },
                false => Error::CannotCollect { problems: collected.problems },
            });
        }
        *locked(&session.zygote) = match collected.threads {
            0 | 1 => Zygote::Awaited(zygote),
            threads => Zygote::Impossible(format!(
                "importing the tests started {} threads, which a fork would not copy",
                threads - 1
            )),
        };
        let suite = suite_of(&collected);
        let project = Project {
            hello: connection.hello.clone(),
            command: started.pid.unwrap_or(connection.hello.pid),
            positions: Arc::new(suite.positions()),
            collected,
            took: begin.elapsed(),
        };
        *locked(&session.main) = Some(connection);
        // A second discovery would start the user's command again; callers keep the suite.
        let _ = session.collected.set(project);
        Ok(suite)
    }

    /// Complete an error with what the command printed to its end.
    fn with_output(&self, error: Error) -> Error {
        match error {
            Error::EndedEarly { command, status, code, reached_framework, .. } => {
                let output = self.end();
                Error::EndedEarly { command, status, code, output, reached_framework }
            }
            other => other,
        }
    }

    /// End what is left of the command, and give all that it printed.
    fn end(&self) -> String {
        let guard = locked(&self.session.guard).take();
        guard.map(|mut guard| guard.end()).unwrap_or_default()
    }
}

impl Session {
    /// A name for the next environment.
    fn next_name(&self) -> String {
        format!("environment-{}", self.opened.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// What collection told.
    fn project(&self) -> Result<&Project> {
        self.collected.get().ok_or_else(|| Error::Agent("nothing was collected yet".into()))
    }

    /// A copy of the process from before the first test.
    fn fork(self: &Arc<Self>) -> Result<PytestEnvironment> {
        let mut zygote = locked(&self.zygote);
        if let Zygote::Awaited(arrival) = &*zygote {
            *zygote = match arrival.recv_timeout(COPY_PATIENCE) {
                Ok(Arrival::Connected(connection)) => Zygote::Ready(Box::new(connection)),
                _ => Zygote::Impossible("the copy of the interpreter did not answer".into()),
            };
        }
        let copied = match &mut *zygote {
            Zygote::Ready(connection) => self.copy_of(connection, None),
            Zygote::Impossible(why) => {
                Err(Error::NotPossible { what: "a fork".into(), why: why.clone() })
            }
            Zygote::Awaited(_) => Err(Error::Agent("the zygote is still awaited".into())),
        };
        if let Err(Error::EnvironmentLost { cause }) = &copied {
            let why = format!("the copy of the interpreter is gone: {cause}");
            *zygote = Zygote::Impossible(why.clone());
            return Err(Error::NotPossible { what: "a fork".into(), why });
        }
        copied
    }

    /// A copy of a live process, with all its state.
    ///
    /// `inherited` are the temporary files and the number of the original, which the copy goes on
    /// using.
    fn copy_of(
        self: &Arc<Self>,
        original: &mut Connection,
        inherited: Option<(&Arc<Scratch>, Option<&Arc<WorkerNumber>>)>,
    ) -> Result<PytestEnvironment> {
        let name = self.next_name();
        let arrival = self.hub.expect(&name);
        let scratch = self.scratch.folder(&name)?.after(inherited.map(|(scratch, _)| scratch));
        let (number, worker) = match inherited {
            Some((_, number)) => (number.cloned(), None),
            None => {
                let number = Arc::new(self.workers.take());
                let worker = number.get();
                (Some(number), Some(worker))
            }
        };
        original.send(&ToAgent::Snapshot { name, scratch: scratch.text(), worker })?;
        select! {
            recv(arrival) -> first => match first {
                Ok(Arrival::Connected(connection)) => {
                    PytestEnvironment::copy(self, connection, scratch, number)
                }
                _ => Err(Error::EnvironmentLost { cause: "its copy did not connect".into() }),
            },
            recv(self.settings.cancel.signal()) -> _ => Err(Error::Cancelled),
            recv(original.messages) -> message => Err(match message {
                Ok(FromAgent::Spoilt { reason }) => {
                    Error::NotPossible { what: "a snapshot".into(), why: reason }
                }
                _ => Error::EnvironmentLost { cause: "it ended while it was copied".into() },
            }),
            recv(after(COPY_PATIENCE)) -> _ => {
                Err(Error::EnvironmentLost { cause: "it does not answer".into() })
            }
        }
    }
}

/// Whether a word is pytest's program, or its module behind `-m`.
fn is_program(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    matches!(name, "pytest" | "py.test" | "pytest-3" | "-mpytest")
}

/// What can be done with this runner, when it can or cannot be forked.
fn capabilities(runner: String, fork: std::result::Result<(), String>) -> Capabilities {
    let snapshot = fork.is_ok();
    Capabilities {
        runner,
        fork,
        likeness: Likeness::Alike,
        snapshot,
        orders: Orders::Any,
        piece: Piece::Test,
        dependencies: true,
        features: true,
        state: true,
        examines_servers: false,
    }
}

fn suite_of(collected: &Collected) -> Suite {
    let tests = collected
        .tests
        .iter()
        .map(|test| SuiteTest {
            id: TestId::from(test.id.as_str()),
            location: test.file.clone().map(|file| Location { file, line: test.line }),
        })
        .collect();
    Suite { tests, problems: collected.problems.clone() }
}

/// Let a session that runs no test write its own reports and end.
fn wait_for_end_of(connection: &Connection) {
    let deadline = Instant::now() + LISTING_PATIENCE;
    while connection.messages.recv_deadline(deadline).is_ok() {}
}
