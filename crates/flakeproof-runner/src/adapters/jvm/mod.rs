//! The JVM: JUnit and TestNG in projects of Maven and Gradle.
//!
//! The build tool compiles the project and tells, once, how it would run the tests. They then run
//! in JVMs of ours, with a worker that is compiled against the project's own JUnit or TestNG: kept
//! alive for the suite's own run and its reruns, started anew for fresh environments. Where nothing
//! but nearly fresh ones are asked for, many follow one another in a warm JVM.

mod ahead;
mod class_file;
mod environment;
mod gradle;
mod jdk;
mod launch;
mod live;
mod maven;
mod messages;
mod nearly_fresh;
mod project;
mod recompile;
mod selection;
mod shuffling;
mod touched;
mod warm;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flakeproof_core::{Isolation, LeverName, Notice, Piece, Shuffle, Suite, Surroundings, TestId};

use self::environment::JvmEnvironment;
use self::launch::ReadyModule;
use self::messages::Cases;
use self::nearly_fresh::NearlyFresh;
use self::project::Project;
use self::shuffling::Shuffling;
use super::{Known, RunRequest};
use crate::adapter::{
    Adapter, Blame, Capabilities, Environment, Error, Likeness, OpenOrders, Orders, Probe, Result,
    Then,
};
use crate::agent::Hub;
use crate::folders::Scratch;
use crate::{opens, shell};

/// Why environments have no copies with their state.
const NO_COPIES: &str = "a JVM cannot be copied";

/// The least memory that a JVM is taken to need, in bytes.
const LEAST_MEMORY: u64 = 200 * 1024 * 1024;

/// The JVM in the list of adapters.
pub(super) const KNOWN: Known = Known {
    name: "jvm",
    recognises: |command| Tool::recognise(command).map(|_| 0),
    usual_command,
    open: |request| Ok(Box::new(JvmAdapter::new(request)?)),
    capabilities: || vec![capabilities("JUnit 3 to 6 and TestNG, by Maven or Gradle".to_owned())],
};

/// Runs the tests of a Maven or Gradle project.
#[derive(Debug)]
pub struct JvmAdapter {
    session: Arc<JvmSession>,
}

/// What builds a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Maven,
    Gradle,
}

impl Tool {
    fn recognise(command: &[String]) -> Option<Self> {
        let program = Path::new(command.first()?).file_name()?.to_str()?;
        match program {
            "mvn" | "mvnw" => Some(Self::Maven),
            "gradle" | "gradlew" => Some(Self::Gradle),
            _ => None,
        }
    }
}

/// What the environments of one adapter share.
#[derive(Debug)]
struct JvmSession {
    request: RunRequest,
    tool: Tool,
    /// The folder of the command, without links.
    root: PathBuf,
    hub: Hub,
    port: u16,
    token: String,
    scratch: Scratch,
    opened: AtomicU32,
    project: OnceLock<Project>,
    cases: Cases,
    /// What the build printed.
    output: Mutex<String>,
    /// How a JVM of the suite ended after its last test, if that is not as it should.
    own_failure: Mutex<Option<String>>,
    /// Whether the system can be asked which files are opened.
    can_see_opens: OnceLock<bool>,
    /// The files that the build reads, looked up when they are first needed.
    read_by_build: OnceLock<Option<BTreeSet<String>>>,
}

impl JvmAdapter {
    /// Prepare to run a command; nothing is started yet.
    ///
    /// # Errors
    /// When no temporary folder or socket can be made, or the command is of another tool.
    pub fn new(request: RunRequest) -> Result<Self> {
        let tool = Tool::recognise(&request.command).ok_or_else(|| Error::Explained {
            blame: Blame::Usage,
            what: format!("`{}` is no command of Maven or Gradle", request.command.join(" ")),
            next: "begin it with `mvn`, `./mvnw`, `gradle` or `./gradlew`".into(),
            details: String::new(),
        })?;
        let scratch = Scratch::new()?;
        let hub = Hub::start(scratch.path())?;
        let token = random_word();
        let port = hub.open_port(&token)?;
        let root = request.folder.canonicalize().unwrap_or_else(|_| request.folder.clone());
        Ok(Self {
            session: Arc::new(JvmSession {
                request,
                tool,
                root,
                hub,
                port,
                token,
                scratch,
                opened: AtomicU32::new(0),
                project: OnceLock::new(),
                output: Mutex::new(String::new()),
                cases: Cases::default(),
                own_failure: Mutex::default(),
                can_see_opens: OnceLock::new(),
                read_by_build: OnceLock::new(),
            }),
        })
    }
}

impl Drop for JvmAdapter {
    fn drop(&mut self) {
        // Idle JVMs know the session that keeps them, and would live as long as it does.
        if let Some(project) = self.session.project.get() {
            for module in &project.modules {
                module.warmth.end();
                module.spare.end();
            }
        }
    }
}

impl Adapter for JvmAdapter {
    fn discover(&self) -> Result<Suite> {
        let session = &self.session;
        let built = match session.tool {
            Tool::Maven => maven::build(session)?,
            Tool::Gradle => gradle::build(session)?,
        };
        let (project, suite) = Project::collect(session, built)?;
        // A second discovery would build again; callers keep the suite.
        let _ = session.project.set(project);
        Ok(suite)
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        match how {
            Isolation::Same | Isolation::Spawn => {
                self.session.project()?;
                Ok(Box::new(JvmEnvironment::new(&self.session, how)))
            }
            Isolation::Fork => match warm::possible(self.session.project()?) {
                Ok(()) => Ok(Box::new(NearlyFresh::new(&self.session))),
                Err(why) => Err(Error::NotPossible { what: "a warm JVM".into(), why }),
            },
        }
    }

    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>> {
        let mut environment = self.open(Isolation::Same)?;
        environment.expect(order, then)?;
        Ok(environment)
    }

    fn open_orders(&self) -> OpenOrders {
        let Some(project) = self.session.project.get() else { return OpenOrders::Usual };
        match shuffling::obstacle(project) {
            Some(why) => OpenOrders::Fixed(why),
            None => OpenOrders::Usual,
        }
    }

    fn open_shuffled(&self, shuffle: &Shuffle) -> Result<Box<dyn Environment>> {
        let shuffling = Shuffling::new(self.session.project()?, shuffle.clone())?;
        Ok(Box::new(JvmEnvironment::shuffled(&self.session, shuffling)))
    }

    fn calls_shuffled(&self, test: &TestId, shuffle: &Shuffle) -> Result<Vec<String>> {
        let shuffling = Shuffling::new(self.session.project()?, shuffle.clone())?.told();
        let mut environment = JvmEnvironment::shuffled(&self.session, shuffling);
        environment.expect(std::slice::from_ref(test), Then::End)?;
        environment.run(test, Probe::attempt(1))?;
        let calls = environment.shuffled_calls();
        // How it ends is no test's outcome.
        let _ = Box::new(environment).close();
        Ok(calls)
    }

    fn take_in(&self, files: &[PathBuf]) -> Result<()> {
        recompile::take_in(&self.session, files)
    }

    fn can(&self) -> Capabilities {
        let project = self.session.project.get();
        let measures = self.session.project.get().is_none_or(|project| {
            project.modules.iter().all(|module| module.jdk.can_log_classes())
        });
        let runner = project.map_or_else(String::new, |project| {
            format!("{}, Java {}", project.framework, project.runtime)
        });
        let fork = self.session.project.get().map_or(Ok(()), warm::possible);
        let state = fork.is_ok();
        Capabilities { fork, dependencies: measures, state, ..capabilities(runner) }
    }

    fn surroundings(&self) -> Surroundings {
        let session = &self.session;
        session.project.get().map_or_else(Surroundings::default, |project| {
            launch::surroundings_of(project, &session.request)
        })
    }

    fn root(&self) -> Option<PathBuf> {
        Some(self.session.root.clone())
    }

    fn own_failure(&self) -> Option<String> {
        self.session.own_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn notices(&self) -> Vec<Notice> {
        self.session.project.get().map(warm::notices).unwrap_or_default()
    }

    fn output(&self) -> String {
        self.session.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn most_environments(&self) -> Option<usize> {
        let peak = self.session.project.get()?.peak.max(LEAST_MEMORY);
        let available = available_memory()?;
        usize::try_from(available / peak).ok().map(|count| count.max(1))
    }

    fn obstacle_to(&self, lever: LeverName) -> Option<String> {
        match (lever, self.open_orders()) {
            (LeverName::HashSeed, OpenOrders::Fixed(why)) => Some(why),
            _ => None,
        }
    }

    fn command_for(&self, test: &TestId) -> String {
        selection::for_one(&self.session, test)
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        // Neither Maven nor Gradle takes an order of methods or classes.
        match order {
            [alone] => Some(self.command_for(alone)),
            _ => None,
        }
    }

    fn command_for_all(&self) -> String {
        shell::shell(&self.session.request.command)
    }
}

impl JvmSession {
    /// A name for the next process.
    fn next_name(&self) -> String {
        format!("jvm-{}", self.opened.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// What collection told.
    fn project(&self) -> Result<&Project> {
        self.project.get().ok_or_else(|| Error::Agent("nothing was collected yet".into()))
    }

    /// A module, by its number.
    fn module(&self, number: usize) -> Result<&ReadyModule> {
        let module = self.project()?.modules.get(number);
        module.ok_or_else(|| Error::Agent("a module that is not there".into()))
    }

    fn keep_output(&self, output: &str) {
        output.clone_into(&mut self.output.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether the system can be asked which files are opened. Gradle's build is another process's,
    /// whose files are not seen, and the JVMs' files say nothing without them.
    fn can_see_opens(&self) -> bool {
        let try_it = |command| worker::run_tool(self, command);
        let is_seen = || opens::can_be_seen(self.scratch.path(), try_it);
        self.tool == Tool::Maven && *self.can_see_opens.get_or_init(is_seen)
    }

    /// The folders that are built: everything else of the project is taken as it was installed.
    fn built(&self, project: &Project) -> Vec<String> {
        let has = |names: &[&str]| {
            let is_one = |word: &String| names.iter().any(|name| word.starts_with(name));
            self.request.command.iter().any(is_one)
        };
        let is_partial = has(&["-pl", "--projects", "-rf", "--resume-from"]);
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        match is_partial && !has(&["-am", "--also-make"]) {
            true => project.modules.iter().map(|ready| text(&ready.module.folder)).collect(),
            false => vec![text(&self.root)],
        }
    }

    /// The files that the build reads or looks at, by building once more; `None` where that is not seen.
    fn read_by_build(&self) -> Option<&BTreeSet<String>> {
        self.read_by_build.get_or_init(|| maven::files_read(self)).as_ref()
    }

    /// What tests see of the run in their environment variables.
    fn variables(&self, attempt: u32) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("FLAKEPROOF".to_owned(), "1".to_owned()),
            ("FLAKEPROOF_ATTEMPT".to_owned(), attempt.to_string()),
            ("FLAKEPROOF_RUN_ID".to_owned(), self.request.run.clone()),
            ("FLAKEPROOF_SEED".to_owned(), self.request.seed.to_string()),
        ])
    }
}

/// The command that runs the tests of a project in this folder.
fn usual_command(folder: &Path) -> Option<Vec<String>> {
    let has = |name: &str| folder.join(name).is_file();
    let gradle = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    let (wrapper, tool) = if has("pom.xml") {
        ("mvnw", "mvn")
    } else if gradle.into_iter().any(has) {
        ("gradlew", "gradle")
    } else {
        return None;
    };
    let program = if has(wrapper) { format!("./{wrapper}") } else { tool.to_owned() };
    Some(vec![program, "test".to_owned()])
}

/// A word that nobody can guess: the standard library's hashers are keyed by the system's chance.
fn random_word() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}

/// Memory that can be used without swapping, in bytes, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// What can be done with this runner where its JDK logs which classes it loads.
fn capabilities(runner: String) -> Capabilities {
    Capabilities {
        runner,
        fork: Ok(()),
        likeness: Likeness::Nearly,
        snapshot: false,
        orders: Orders::Any,
        // Methods of a class may depend on each other, as TestNG lets them say.
        piece: Piece::File,
        dependencies: true,
        features: true,
        state: true,
        examines_servers: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maven_and_gradle_are_known_by_their_programs() {
        let tool =
            |words: &str| Tool::recognise(&words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(tool("mvn -q test"), Some(Tool::Maven));
        assert_eq!(tool("./mvnw test"), Some(Tool::Maven));
        assert_eq!(tool("/opt/gradle/bin/gradle test"), Some(Tool::Gradle));
        assert_eq!(tool("../gradlew check"), Some(Tool::Gradle));
        assert_eq!(tool("pytest mvn"), None);
        assert_eq!(tool("mvnd test"), None);
    }

    #[test]
    fn the_wrapper_of_a_project_is_its_usual_command() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(usual_command(folder.path()), None);
        std::fs::write(folder.path().join("build.gradle.kts"), "").expect("written");
        assert_eq!(usual_command(folder.path()), Some(vec!["gradle".into(), "test".into()]));
        std::fs::write(folder.path().join("pom.xml"), "").expect("written");
        std::fs::write(folder.path().join("mvnw"), "").expect("written");
        assert_eq!(usual_command(folder.path()), Some(vec!["./mvnw".into(), "test".into()]));
    }
}
