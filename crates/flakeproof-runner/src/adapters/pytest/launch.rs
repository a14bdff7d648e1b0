//! Starting the user's command with the agent in it, what surrounds its tests, and what it means to
//! the user where that does not succeed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvError, RecvTimeoutError, after, never, select};
use flakeproof_core::Surroundings;
use serde_json::json;

use super::{Session, worker_number};
use crate::adapter::{Blame, Error, Granularity, Result};
use crate::agent::protocol::{Collected, FromAgent, Hello, ToAgent, VERSION, Wanted};
use crate::agent::{Arrival, Connection};
use crate::folders::{AgentFile, Scratch, unpack};
use crate::process::{Death, Guarded, Instructions, USUAL_CAP};
use crate::shell::{digest, digests_of_variables};

/// How long a guard may take to report what its command came to.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);

/// How long what a process said before it died may be on its way.
const LAST_WORD: Duration = Duration::from_millis(200);

macro_rules! agent_files {
    ($($name:literal),*) => {
        [$(AgentFile {
            path: concat!("flakeproof_agent/", $name),
            content: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../agents/pytest/flakeproof_agent/", $name
            )),
        }),*]
    };
}

const AGENT: &[AgentFile] = &agent_files![
    "__init__.py",
    "cases.py",
    "children.py",
    "cover.py",
    "describe.py",
    "environment.py",
    "guard.py",
    "link.py",
    "measure.py",
    "monitoring.py",
    "plugin.py",
    "probe.py",
    "report.py",
    "rerun.py",
    "servers.py",
    "state.py",
    "tracing.py",
    "undecided.py",
    "workers.py"
];

/// Write the agent where an interpreter can import it.
pub(super) fn unpack_agent(fallback: &Path) -> Result<PathBuf> {
    unpack(AGENT, fallback)
}

/// One start of the user's command.
#[derive(Debug)]
pub(super) struct Launch {
    name: String,
    isolation: &'static str,
    granularity: Granularity,
    scratch: PathBuf,
    hash_seed: Option<u32>,
    /// The number by which tests tell processes apart.
    worker: u32,
}

/// A command that was started, before it has collected.
#[derive(Debug)]
pub(super) struct Started {
    /// Keeps the command alive; the caller takes it.
    pub(super) guarded: Option<Guarded>,
    arrival: Receiver<Arrival>,
    guard: Receiver<Arrival>,
    command: String,
    /// The process of the command, once the guard has started it.
    pub(super) pid: Option<u32>,
}

/// The name of the user's own session.
const MAIN: &str = "main";

/// By which seed a new interpreter orders its sets of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HashSeed {
    /// One of its own.
    Own,
    /// That of the user's own session.
    OfMain,
    /// This one, whatever the user says.
    Given(u32),
}

impl Launch {
    /// The user's own session.
    pub(super) fn main(session: &Session) -> Self {
        Self {
            name: MAIN.into(),
            isolation: "same",
            granularity: Granularity::Off,
            scratch: session.scratch.path().to_path_buf(),
            hash_seed: hash_seed_of_main(session),
            worker: worker_number::OF_MAIN,
        }
    }

    /// A new interpreter for some tests.
    pub(super) fn fresh(
        session: &Session,
        name: &str,
        scratch: &Scratch,
        granularity: Granularity,
        seed: HashSeed,
    ) -> Self {
        let drawn =
            |of: &str| is_hash_seed_free().then(|| session.settings.seed.split(of).hash_seed());
        let hash_seed = match seed {
            HashSeed::Own => drawn(name),
            HashSeed::OfMain => drawn(MAIN),
            HashSeed::Given(seed) => Some(seed),
        };
        Self {
            name: name.to_owned(),
            isolation: "spawn",
            granularity,
            scratch: scratch.path().to_path_buf(),
            hash_seed,
            worker: worker_number::OF_MAIN,
        }
    }

    /// The same start with a number of its own.
    pub(super) fn with_worker(self, worker: u32) -> Self {
        Self { worker, ..self }
    }

    /// Start the command under guard.
    pub(super) fn start(self, session: &Arc<Session>) -> Result<Started> {
        let guard_name = format!("guard-of-{}", self.name);
        let arrival = session.hub.expect(&self.name);
        let guard = session.hub.expect(&guard_name);
        let settings = &session.settings;
        let guarded = Guarded::start(&Instructions {
            command: settings.command.clone(),
            folder: settings.folder.clone(),
            variables: self.variables(session),
            socket: session.hub.socket().to_path_buf(),
            guard_name,
            is_shown: settings.is_output_shown && self.isolation == "same",
            kept: USUAL_CAP,
            in_force: settings.in_force.clone(),
        })?;
        let command = settings.command.join(" ");
        Ok(Started { guarded: Some(guarded), arrival, guard, command, pid: None })
    }

    /// What makes any pytest below this command load the agent, and how the agent undoes it.
    fn variables(&self, session: &Session) -> BTreeMap<String, Option<String>> {
        let own = |name: &str| std::env::var(name).ok();
        let agent = session.agent.to_string_lossy();
        let mut variables = BTreeMap::from([
            ("PYTHONPATH".to_owned(), Some(joined(&agent, ":", own("PYTHONPATH")))),
            (
                "PYTEST_ADDOPTS".to_owned(),
                Some(joined("-p flakeproof_agent", " ", own("PYTEST_ADDOPTS"))),
            ),
        ]);
        if let Some(seed) = self.hash_seed {
            variables.insert("PYTHONHASHSEED".to_owned(), Some(seed.to_string()));
        }
        let restore: BTreeMap<&String, Option<String>> =
            variables.keys().map(|name| (name, own(name))).collect();
        let order = json!({
            "socket": session.hub.socket(),
            "name": self.name,
            "program": std::process::id(),
            "isolation": self.isolation,
            "probe": self.granularity.word(),
            "scratch": self.scratch,
            "worker": self.worker,
            "restore": restore,
            "environment": {
                "FLAKEPROOF": "1",
                "FLAKEPROOF_ATTEMPT": "1",
                "FLAKEPROOF_RUN_ID": session.settings.run,
                "FLAKEPROOF_SEED": session.settings.seed.to_string(),
            },
        });
        variables.insert("FLAKEPROOF_AGENT".to_owned(), Some(order.to_string()));
        variables
    }
}

impl Started {
    /// Wait until the tests are collected.
    pub(super) fn collect(
        &mut self,
        session: &Session,
        only: Option<Vec<Wanted>>,
        patience: Option<Duration>,
    ) -> Result<(Connection, Collected)> {
        let deadline = patience.map_or_else(never, after);
        let cancel = session.settings.cancel.signal();
        let Ok(Arrival::Connected(guard)) = self.guard.recv_timeout(REPORT_PATIENCE) else {
            return Err(guard_is_gone());
        };
        let pid = self.started(&guard)?;
        self.pid = Some(pid);
        let mut connection = loop {
            select! {
                recv(self.arrival) -> first => break connected(first)?,
                recv(guard.messages) -> message => match message {
                    Ok(FromAgent::Died { pid: dead, .. }) if dead != pid => {}
                    // Its first and last word may still be on the way.
                    Ok(_) => match self.arrival.recv_timeout(LAST_WORD) {
                        Err(RecvTimeoutError::Timeout) => {
                            return Err(self.ended(session, pid, false));
                        }
                        first => break connected(first.map_err(|_| RecvError))?,
                    },
                    Err(_) => return Err(guard_is_gone()),
                },
                recv(cancel) -> _ => return Err(Error::Cancelled),
                recv(deadline) -> _ => return Err(self.too_slow()),
            }
        };
        if connection.hello.protocol != Some(VERSION) {
            return Err(Error::Agent("the agent speaks another version of the protocol".into()));
        }
        connection.send(&ToAgent::Collect { only })?;
        loop {
            select! {
                recv(connection.messages) -> message => match message {
                    Ok(FromAgent::Collected(collected)) => return Ok((connection, collected)),
                    Ok(FromAgent::Trouble { text }) => return Err(Error::Agent(text)),
                    Ok(FromAgent::Refused { reason, detail, .. }) => {
                        return Err(Error::Refused { reason, detail });
                    }
                    Ok(_) => {}
                    Err(_) => return Err(self.ended(session, pid, true)),
                },
                recv(cancel) -> _ => return Err(Error::Cancelled),
                recv(deadline) -> _ => return Err(self.too_slow()),
            }
        }
    }

    /// The process of the command, once the guard has started it.
    fn started(&self, guard: &Connection) -> Result<u32> {
        match guard.messages.recv_timeout(REPORT_PATIENCE) {
            Ok(FromAgent::Started { pid }) => Ok(pid),
            Ok(FromAgent::Unstartable { cause }) => {
                Err(Error::CannotStart { command: self.command.clone(), cause })
            }
            _ => Err(guard_is_gone()),
        }
    }

    fn ended(&self, session: &Session, pid: u32, reached_framework: bool) -> Error {
        let death = session.hub.death_of(pid, REPORT_PATIENCE);
        Error::EndedEarly {
            command: self.command.clone(),
            status: death.map_or_else(|| "in an unknown way".into(), |death| death.to_string()),
            code: death.and_then(Death::code),
            output: String::new(),
            reached_framework,
        }
    }

    fn too_slow(&self) -> Error {
        Error::EndedEarly {
            command: self.command.clone(),
            status: "it did not finish collecting in time".into(),
            code: None,
            output: String::new(),
            reached_framework: true,
        }
    }
}

/// The connection that arrived first, or the refusal.
fn connected(first: std::result::Result<Arrival, RecvError>) -> Result<Connection> {
    match first {
        Ok(Arrival::Connected(connection)) => Ok(connection),
        Ok(Arrival::Refused { reason, detail }) => Err(Error::Refused { reason, detail }),
        Err(RecvError) => Err(Error::Agent("the agent's line is closed".into())),
    }
}

/// Our own trouble, not the command's.
fn guard_is_gone() -> Error {
    Error::EnvironmentLost { cause: "its guard process was killed".into() }
}

/// The hash seed of the user's own session; `None` where the user fixed it.
pub(super) fn hash_seed_of_main(session: &Session) -> Option<u32> {
    is_hash_seed_free().then(|| session.settings.seed.split(MAIN).hash_seed())
}

fn is_hash_seed_free() -> bool {
    std::env::var_os("PYTHONHASHSEED").is_none_or(|value| value == "random" || value.is_empty())
}

fn joined(first: &str, by: &str, second: Option<String>) -> String {
    match second {
        Some(second) if !second.is_empty() => format!("{first}{by}{second}"),
        _ => first.to_owned(),
    }
}

/// The surroundings of an interpreter that introduced itself.
///
/// The options belong to them: with `-W error` or a time limit a test may fail that passed before.
pub(super) fn surroundings_of(
    hello: &Hello,
    options: &[String],
    timeout: Option<Duration>,
) -> Surroundings {
    let mut runtime =
        vec![format!("Python {}", hello.runtime), format!("pytest {}", hello.framework)];
    if !options.is_empty() {
        runtime.push(format!("`{}`", options.join(" ")));
    }
    runtime.extend(timeout.map(|limit| format!("a time limit of {limit:?}")));
    let packages = packages_in(&hello.path);
    Surroundings { runtime, packages, variables: digests_of_variables(), machine: None }
}

/// Whether a package is installed where an interpreter looks for them.
pub(super) fn is_installed(package: &str, path: &[String]) -> bool {
    names_of_packages(path)
        .any(|name| name.split('-').next().is_some_and(|it| it.eq_ignore_ascii_case(package)))
}

fn names_of_packages(path: &[String]) -> impl Iterator<Item = String> {
    path.iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".dist-info") || name.ends_with(".egg-info"))
}

/// A digest of the names of all installed packages, which carry their versions.
fn packages_in(path: &[String]) -> String {
    let mut names: Vec<String> = names_of_packages(path).collect();
    names.sort_unstable();
    names.dedup();
    digest(names.join("\n").as_bytes())
}

/// pytest's own exit codes that mean something here.
const USAGE: i32 = 4;
const NO_TESTS: i32 = 5;

/// The same error in words of pytest, where it has any.
pub(super) fn explained(error: Error) -> Error {
    match error {
        Error::CannotStart { command, cause } => cannot_start(&command, &cause),
        Error::EndedEarly { command, status, code, output, reached_framework } => {
            ended_early(&command, &status, code, &output, reached_framework)
        }
        Error::Refused { reason, detail } => refused(&reason, &detail),
        Error::CannotCollect { problems } => {
            let texts = problems.iter().map(|it| format!("{}\n{}", it.place, it.text));
            let files = match problems.len() {
                1 => "1 file".to_owned(),
                count => format!("{count} files"),
            };
            Error::Explained {
                blame: Blame::Runner,
                what: format!("pytest cannot collect {files}, so no test ran"),
                next: "mend the errors above, or add `--continue-on-collection-errors` after \
                       `-- pytest` to run the rest"
                    .to_owned(),
                details: texts.collect::<Vec<_>>().join("\n\n"),
            }
        }
        other => other,
    }
}

fn cannot_start(command: &str, cause: &str) -> Error {
    let program = command.split_whitespace().next().unwrap_or(command);
    let next = if program.contains("pytest") {
        "install pytest in this environment (`python -m pip install pytest`), activate the \
         environment that has it, or run `flakeproof run -- python -m pytest`"
    } else {
        "check the command after `--`"
    };
    usage(format!("`{program}` cannot be started: {cause}"), next)
}

fn ended_early(
    command: &str,
    status: &str,
    code: Option<i32>,
    output: &str,
    reached_framework: bool,
) -> Error {
    let (blame, what, next) = if code == Some(0) && reached_framework {
        // `--help`, `--version` and the like.
        (
            Blame::Nobody,
            format!("`{command}` ended without running tests"),
            "leave out the option that only prints something",
        )
    } else if output.contains("No module named pytest")
        || output.contains("No module named 'pytest'")
    {
        (
            Blame::Usage,
            format!("`{command}` finds no pytest"),
            "install it there (`python -m pip install pytest`), or use the Python that has it",
        )
    } else if code == Some(NO_TESTS) {
        (
            Blame::NoTests,
            format!("`{command}` selects no test"),
            "check the paths and the `-k` and `-m` expressions after `--`",
        )
    } else if code == Some(USAGE) {
        (
            Blame::Usage,
            format!("pytest does not accept `{command}`"),
            "mend the command after `--`; everything there goes to pytest as it is",
        )
    } else if reached_framework {
        (
            Blame::Runner,
            format!("`{command}` ended while it collected tests ({status})"),
            "run the same command without flakeproof to see the cause",
        )
    } else {
        (
            Blame::Usage,
            format!("`{command}` ended without starting pytest ({status})"),
            "the command after `--` must run pytest, and must not clear PYTHONPATH or \
             PYTEST_ADDOPTS (as `python -I`, `python -E` and `tox` without `pass_env` do); for \
             another runner, name its adapter with `--adapter`",
        )
    };
    let details = match blame {
        Blame::Nobody => output.to_owned(),
        Blame::NoTests => String::new(),
        Blame::Usage | Blame::Runner => last_lines(output, 40),
    };
    Error::Explained { blame, what, next: next.to_owned(), details }
}

fn refused(reason: &str, detail: &str) -> Error {
    match reason {
        "xdist" => usage(
            format!(
                "`{detail}` of pytest-xdist runs tests more than once, or where flakeproof cannot \
                 rerun a failure"
            ),
            "leave it out, or add `-n 0` where the project's configuration sets it; `-j 4` of \
             flakeproof runs files side by side",
        ),
        "debugger" => usage(
            "`--pdb` and `--trace` need the terminal, which a rerun test does not have",
            "run pytest itself to debug, with the command that flakeproof prints to reproduce",
        ),
        "python" => usage(
            format!("the tests run on Python {detail}, and flakeproof needs 3.9 or newer"),
            "use a newer Python for the tests",
        ),
        other => usage(
            format!("pytest cannot be run like this: {other} {detail}"),
            "change the command after `--`",
        ),
    }
}

fn usage(what: impl Into<String>, next: impl Into<String>) -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: what.into(),
        next: next.into(),
        details: String::new(),
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
