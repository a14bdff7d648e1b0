//! Starting a JVM with the worker in it, and what the JVMs of a module need for that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, never, select};
use flakeproof_core::Surroundings;

use super::JvmSession;
use super::ahead::Ahead;
use super::jdk::{self, Jdk};
use super::project::{Module, Project};
use super::selection::Selection;
use super::shuffling::Shuffling;
use super::touched::{Compiled, Sources};
use super::warm::Warmth;
use super::worker::{self, Frameworks, Worker, joined};
use crate::adapter::{Blame, Error, Granularity, Measuring, Result};
use crate::adapters::RunRequest;
use crate::agent::protocol::{Collected, FromAgent, ToAgent, VERSION, Wanted};
use crate::agent::{Arrival, Connection};
use crate::folders::Scratch;
use crate::opens;
use crate::process::{Guarded, Instructions, USUAL_CAP};
use crate::shell::{digest, digests_of_variables};

/// How long a JVM may take to introduce itself.
const START: Duration = Duration::from_secs(120);
/// How long a process's death may take to be heard of.
const REPORT: Duration = Duration::from_secs(10);
/// The most characters of a command line that are not put into a file.
const LONGEST: usize = 64 * 1024;

/// A JVM that answers.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) connection: Connection,
    pub(super) guard: Guarded,
    /// Where its temporary files are.
    pub(super) scratch: Scratch,
    /// Where it writes which classes it loads, if it does.
    pub(super) class_log: Option<PathBuf>,
    /// Where the system writes down which files it opens, if it does.
    pub(super) trace: Option<PathBuf>,
}

/// What a JVM is started for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// One environment.
    One {
        /// How closely to follow what it touches.
        granularity: Granularity,
        /// Counts the attempts at its tests from 1.
        attempt: u32,
        /// What decides the orders that are left open, if not the JDK.
        shuffle: Option<&'a Shuffling>,
        /// Whether its tests are measured.
        features: Measuring,
    },
    /// Environments one after another.
    Many,
}

impl Purpose<'_> {
    /// One environment in which nothing is measured.
    pub(super) const PLAIN: Self = Self::One {
        granularity: Granularity::Off,
        attempt: 1,
        shuffle: None,
        features: Measuring::Off,
    };

    /// Whether it is that.
    pub(super) fn is_plain(&self) -> bool {
        matches!(
            self,
            Self::One {
                granularity: Granularity::Off,
                attempt: 1,
                shuffle: None,
                features: Measuring::Off
            }
        )
    }
}

/// Start a JVM for a module. An archive of classes that does not suit it does no harm.
pub(super) fn start(
    session: &JvmSession,
    module: &ReadyModule,
    purpose: Purpose<'_>,
) -> Result<Started> {
    match start_with(session, module, purpose) {
        Err(Error::Explained { .. }) if module.forget_archive() => {
            start_with(session, module, purpose)
        }
        other => other,
    }
}

fn start_with(session: &JvmSession, module: &ReadyModule, purpose: Purpose<'_>) -> Result<Started> {
    let (granularity, attempt) = match purpose {
        Purpose::One { granularity, attempt, .. } => (granularity, attempt),
        Purpose::Many => (Granularity::Off, 1),
    };
    let name = session.next_name();
    let scratch = session.scratch.folder(&name)?;
    let class_log = (granularity != Granularity::Off && module.jdk.can_log_classes())
        .then(|| scratch.path().join("classes.log"));
    let trace = class_log.as_ref().filter(|_| session.can_see_opens());
    let trace = trace.map(|_| scratch.path().join("trace"));
    let mut words = trace.as_deref().map(opens::words_beside).unwrap_or_default();
    words.extend(command(session, module, purpose, &name, &scratch, class_log.as_ref())?);
    let guard_name = format!("guard-of-{name}");
    let arrival = session.hub.expect(&name);
    let guard_arrival = session.hub.expect(&guard_name);
    let mut variables = module.module.variables.clone();
    for (variable, value) in session.variables(attempt) {
        variables.insert(variable, Some(value));
    }
    let mut guard = Guarded::start(&Instructions {
        command: words,
        folder: module.module.folder.clone(),
        variables,
        socket: session.hub.socket().to_path_buf(),
        guard_name,
        is_shown: session.request.is_output_shown,
        kept: USUAL_CAP,
        in_force: session.request.in_force.clone(),
    })?;
    let connection = first_word(session, module, &mut guard, &arrival, &guard_arrival)?;
    if connection.hello.protocol != Some(VERSION) {
        return Err(Error::Agent("the worker speaks another version of the protocol".into()));
    }
    Ok(Started { connection, guard, scratch, class_log, trace })
}

/// Wait for the worker to introduce itself.
fn first_word(
    session: &JvmSession,
    module: &ReadyModule,
    guard: &mut Guarded,
    arrival: &Receiver<Arrival>,
    guard_arrival: &Receiver<Arrival>,
) -> Result<Connection> {
    let Ok(Arrival::Connected(reports)) = guard_arrival.recv_timeout(REPORT) else {
        return Err(Error::EnvironmentLost { cause: "its guard process was killed".into() });
    };
    let deadline = after(START);
    loop {
        select! {
            recv(arrival) -> first => return match first {
                Ok(Arrival::Connected(connection)) => Ok(connection),
                _ => Err(Error::Agent("the worker's line is closed".into())),
            },
            recv(reports.messages) -> message => match message {
                Ok(FromAgent::Started { .. }) => {}
                Ok(FromAgent::Unstartable { cause }) => {
                    let command = module.module.java.to_string_lossy().into_owned();
                    return Err(Error::CannotStart { command, cause });
                }
                _ => return Err(did_not_start(module, &guard.end())),
            },
            recv(session.request.cancel.signal()) -> _ => return Err(Error::Cancelled),
            recv(deadline) -> _ => return Err(did_not_start(module, &guard.end())),
        }
    }
}

impl Started {
    /// Let the worker collect all tests, or know these.
    pub(super) fn collect(
        &mut self,
        session: &JvmSession,
        only: Option<Vec<Wanted>>,
        patience: Option<Duration>,
    ) -> Result<Collected> {
        self.connection.send(&ToAgent::Collect { only })?;
        let deadline = patience.map_or_else(never, after);
        loop {
            select! {
                recv(self.connection.messages) -> message => match message {
                    Ok(FromAgent::Collected(collected)) => return Ok(collected),
                    Ok(FromAgent::Trouble { text }) => return Err(Error::Agent(text)),
                    Ok(_) => {}
                    Err(_) => return Err(self.ended(session)),
                },
                recv(session.request.cancel.signal()) -> _ => return Err(Error::Cancelled),
                recv(deadline) -> _ => {
                    let cause = "it did not tell its tests in time".into();
                    return Err(Error::EnvironmentLost { cause });
                }
            }
        }
    }

    fn ended(&mut self, session: &JvmSession) -> Error {
        let death = session.hub.death_of(self.connection.hello.pid, REPORT);
        Error::Explained {
            blame: Blame::Runner,
            what: format!(
                "the JVM ended while it looked for tests ({})",
                death.map_or_else(|| "in an unknown way".into(), |death| death.to_string())
            ),
            next: "look for `System.exit` in static initialisers, providers of parameters and \
                   class set-up"
                .into(),
            details: self.guard.end(),
        }
    }
}

/// The most memory that a live process took so far, in bytes, where the system tells.
pub(super) fn peak_memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Tell a JVM to end, and wait for it; false if it had to be left to be killed.
pub(super) fn say_goodbye(connection: &mut Connection, patience: Duration) -> bool {
    // A JVM that is gone already needs no goodbye.
    let _ = connection.send(&ToAgent::Bye);
    let deadline = Instant::now() + patience;
    loop {
        match connection.messages.recv_deadline(deadline) {
            Ok(_) => {}
            Err(crossbeam_channel::RecvTimeoutError::Disconnected) => return true,
            Err(crossbeam_channel::RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// The command line of a JVM.
fn command(
    session: &JvmSession,
    module: &ReadyModule,
    purpose: Purpose<'_>,
    name: &str,
    scratch: &Scratch,
    class_log: Option<&PathBuf>,
) -> Result<Vec<String>> {
    let settings = scratch.path().join("suite.json");
    let class_path = joined(&module.class_path());
    let mut told = module.module.settings();
    if let Purpose::Many = purpose {
        told["reloaded"] = module.reloaded().iter().map(|it| it.to_string_lossy()).collect();
        told["shown_path"] = class_path.as_str().into();
    }
    std::fs::write(&settings, told.to_string())
        .map_err(Error::io("write the worker's settings"))?;
    let mut arguments = module.module.options.clone();
    let properties = module.module.properties.iter();
    arguments.extend(properties.map(|(name, value)| format!("-D{name}={value}")));
    let has = |begin: &str| module.module.options.iter().any(|it| it.starts_with(begin));
    if !has("-XX:ErrorFile=") {
        let file = scratch.path().join("crash.log");
        arguments.push(format!("-XX:ErrorFile={}", file.display()));
    }
    if let Some(log) = class_log {
        arguments.push(format!("-Xlog:class+load=info:file={}:none:filecount=0", log.display()));
    }
    let class_path = match purpose {
        Purpose::One { shuffle, features, .. } => {
            arguments.extend(module.archive_options());
            if let Some(shuffling) = shuffle {
                arguments.push(shuffling.option(&module.worker, scratch)?);
            }
            if features == Measuring::On {
                arguments.push(module.measuring_option(scratch)?);
            }
            class_path
        }
        Purpose::Many => {
            let compilation =
                ["-XX:TieredStopAtLevel", "-XX:-TieredCompilation", "-Xint", "-Xcomp"];
            if !compilation.into_iter().any(has) {
                // Classes live too short here for the second compiler to be worth its time.
                arguments.push("-XX:TieredStopAtLevel=1".to_owned());
            }
            arguments.push(format!("-javaagent:{}", module.worker.place.display()));
            let loader = "-Djava.system.class.loader=flakeproof.agent.warm.SystemLoader";
            arguments.push(loader.to_owned());
            joined(&module.shared())
        }
    };
    arguments.extend(["-cp".to_owned(), class_path, "flakeproof.agent.Main".to_owned()]);
    arguments.extend([session.port.to_string(), session.token.clone(), name.to_owned()]);
    arguments.push(settings.to_string_lossy().into_owned());
    let length: usize = arguments.iter().map(String::len).sum();
    let mut command = vec![module.module.java.to_string_lossy().into_owned()];
    if length > LONGEST && module.jdk.can_read_arguments() {
        let file = scratch.path().join("arguments");
        std::fs::write(&file, arguments_file(&arguments))
            .map_err(Error::io("write the arguments of the JVM"))?;
        command.push(format!("@{}", file.display()));
    } else {
        command.extend(arguments);
    }
    Ok(command)
}

/// Arguments as `java` reads them from a file.
fn arguments_file(arguments: &[String]) -> String {
    let quoted = arguments.iter().map(|argument| {
        format!("\"{}\"\n", argument.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n"))
    });
    quoted.collect()
}

fn did_not_start(module: &ReadyModule, output: &str) -> Error {
    Error::Explained {
        blame: Blame::Runner,
        what: format!("the JVM of the tests does not start ({})", module.module.java.display()),
        next: "check the options that the build gives to it (`argLine`, `jvmArgs`)".into(),
        details: output.to_owned(),
    }
}

/// JVMs after which an archive is made: it costs as much as ten of them save.
const WORTHWHILE: u32 = 10;

/// A module, and what its JVMs need besides.
#[derive(Debug)]
pub(super) struct ReadyModule {
    pub(super) module: Module,
    pub(super) jdk: Jdk,
    worker: Worker,
    /// Jars that stand in front of the rest of the class path.
    first: Vec<PathBuf>,
    /// What of the frameworks is on the class path.
    pub(super) frameworks: Frameworks,
    /// What is known about its warm JVMs.
    pub(super) warmth: Warmth,
    /// A new JVM that starts before it is asked for.
    pub(super) spare: Ahead,
    can_archive: bool,
    /// An archive of classes, with which a JVM starts faster.
    archive: Mutex<Option<PathBuf>>,
    /// JVMs that were asked for so far.
    starts: AtomicU32,
    compiled: OnceLock<Compiled>,
}

impl ReadyModule {
    /// Prepare what the JVMs of a module need.
    pub(super) fn new(session: &JvmSession, module: Module) -> Result<Self> {
        let jdk = Jdk::inspect(&module.java);
        let frameworks = Frameworks::on(&module.class_path);
        let worker = worker::compiled(session, &jdk, &frameworks)?;
        let can_archive = jdk.can_archive_classes() && jdk::suits(&module, &worker);
        let ready = Self {
            first: if can_archive { frameworks.movable.clone() } else { Vec::new() },
            warmth: Warmth::of(&module, &jdk, &worker, &frameworks),
            frameworks,
            module,
            jdk,
            worker,
            can_archive,
            spare: Ahead::default(),
            archive: Mutex::new(None),
            starts: AtomicU32::new(0),
            compiled: OnceLock::new(),
        };
        if can_archive {
            ready.set_archive(jdk::kept(&ready));
        }
        Ok(ready)
    }

    /// The same for sample tests, on a class path of frameworks alone.
    pub(super) fn of_samples(&self, options: Vec<String>) -> Self {
        let module = Module {
            options,
            properties: BTreeMap::new(),
            class_path: Vec::new(),
            classes: self.worker.samples.clone(),
            groups: String::new(),
            excluded_groups: String::new(),
            parameters: BTreeMap::new(),
            selection: Selection::default(),
            ..self.module.clone()
        };
        Self {
            module,
            jdk: self.jdk.clone(),
            worker: self.worker.clone(),
            first: self.first.clone(),
            frameworks: self.frameworks.clone(),
            warmth: Warmth::cold("samples are run once"),
            can_archive: false,
            spare: Ahead::default(),
            archive: Mutex::new(None),
            starts: AtomicU32::new(0),
            compiled: OnceLock::new(),
        }
    }

    /// The jar of the agent that shuffles orders, if there is one.
    pub(super) fn shuffler(&self) -> Option<PathBuf> {
        self.worker.shuffler()
    }

    /// The option that lets a JVM follow the lines of the project's classes, whose temporary files lie
    /// there.
    fn measuring_option(&self, scratch: &Scratch) -> Result<String> {
        let jar = self.worker.measurer().ok_or_else(|| Error::NotPossible {
            what: "measuring".into(),
            why: "the agent for it could not be packed".into(),
        })?;
        // The JVM tells where a class lies without links.
        let folders = self.module.class_folders().map(|it| {
            let real = it.canonicalize().unwrap_or_else(|_| it.clone());
            format!("{}\n{}\n", it.display(), real.display())
        });
        let file = scratch.path().join("measured-folders");
        std::fs::write(&file, folders.collect::<String>())
            .map_err(Error::io("write which classes are measured"))?;
        Ok(format!("-javaagent:{}={}", jar.display(), file.display()))
    }

    /// The class path of its JVMs: the worker, the frameworks where they can be archived, the rest.
    pub(super) fn class_path(&self) -> Vec<PathBuf> {
        let mut entries = self.archived();
        let rest = self.module.class_path.iter().filter(|entry| !self.first.contains(entry));
        entries.extend(rest.cloned());
        entries
    }

    /// The beginning of the class path that an archive is made of.
    pub(super) fn archived(&self) -> Vec<PathBuf> {
        let mut entries = vec![self.worker.place.clone()];
        entries.extend(self.first.iter().cloned());
        entries
    }

    /// The class path of its warm JVMs: what all their environments share.
    pub(super) fn shared(&self) -> Vec<PathBuf> {
        let mut entries = vec![self.worker.place.clone()];
        entries.extend(self.frameworks.movable.iter().cloned());
        entries
    }

    /// The rest of the class path, which each environment of a warm JVM loads anew.
    pub(super) fn reloaded(&self) -> Vec<PathBuf> {
        let is_shared = |entry: &&PathBuf| self.frameworks.movable.contains(entry);
        self.module.class_path.iter().filter(|entry| !is_shared(entry)).cloned().collect()
    }

    /// What its classes were compiled from, looked up when it is first needed.
    pub(super) fn compiled(&self, root: &Path, sources: &Sources) -> &Compiled {
        self.compiled.get_or_init(|| {
            let folders = self.module.class_folders().cloned().collect();
            Compiled::find(folders, root, sources)
        })
    }

    /// Options that make a JVM use the archive, if there is one.
    pub(super) fn archive_options(&self) -> Vec<String> {
        let archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        let file = archive.iter().map(|file| format!("-XX:SharedArchiveFile={}", file.display()));
        file.collect()
    }

    /// Count the JVMs that are asked for; where there are many, make an archive for the next ones.
    ///
    /// # Errors
    /// Only when the user interrupts.
    pub(super) fn count_start(&self, session: &JvmSession) -> Result<()> {
        let count = self.starts.fetch_add(1, Ordering::Relaxed) + 1;
        if count == WORTHWHILE && self.can_archive && self.archive_options().is_empty() {
            self.set_archive(jdk::made(session, self)?);
        }
        Ok(())
    }

    fn set_archive(&self, archive: Option<PathBuf>) {
        *self.archive.lock().unwrap_or_else(PoisonError::into_inner) = archive;
    }

    /// Start without the archive from now on; false if there was none.
    pub(super) fn forget_archive(&self) -> bool {
        self.archive.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}

/// Properties that say where or what to run, not how.
const WITHOUT_EFFECT: [&str; 4] = ["basedir", "localRepository", "surefire.forkNumber", "test"];

/// The surroundings of a project's tests.
pub(super) fn surroundings_of(project: &Project, request: &RunRequest) -> Surroundings {
    let modules = || project.modules.iter().map(|ready| &ready.module);
    let mut runtime: Vec<String> =
        vec![format!("Java {}", project.runtime), project.framework.clone()];
    let options: BTreeSet<String> = modules().map(|module| module.options.join(" ")).collect();
    let options = options.into_iter().filter(|options| !options.is_empty());
    runtime.extend(options.map(|options| format!("`{options}`")));
    let properties: BTreeSet<String> = modules()
        .flat_map(|module| &module.properties)
        .filter(|(name, _)| !WITHOUT_EFFECT.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let properties: Vec<String> = properties.into_iter().collect();
    runtime.push(format!("system properties {}", digest(properties.join("\n").as_bytes())));
    runtime.extend(request.timeout.map(|limit| format!("a time limit of {limit:?}")));
    let jars: BTreeSet<String> = modules()
        .flat_map(|module| &module.class_path)
        .filter(|entry| entry.is_file())
        .filter_map(|entry| entry.file_name()?.to_str().map(str::to_owned))
        .collect();
    let jars: Vec<String> = jars.into_iter().collect();
    Surroundings {
        runtime,
        packages: digest(jars.join("\n").as_bytes()),
        variables: digests_of_variables(),
        machine: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_in_a_file_keep_spaces_quotes_and_backslashes() {
        let arguments = ["-Da=b c".to_owned(), r#"-Db=\"x"#.to_owned()];
        assert_eq!(arguments_file(&arguments), "\"-Da=b c\"\n\"-Db=\\\\\\\"x\"\n");
    }
}
