//! What the environments of one adapter share.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use flakeproof_core::{Execution, Suite, Surroundings, TestId};

use super::choice::Runner;
use super::launch::Asked;
use super::profile::{Fields, Profile, Values};
use crate::adapter::{Error, Result};
use crate::adapters::RunRequest;
use crate::agent::Hub;
use crate::shell::digests_of_variables;

const NODE_REPORTER: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/node/reporter.mjs"));

/// What the environments of one adapter share.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) settings: RunRequest,
    pub(super) runner: Runner,
    pub(super) hub: Hub,
    scratch: tempfile::TempDir,
    started: AtomicU32,
    project: OnceLock<Project>,
    /// What the suite's own process came to, as far as nobody asked for it yet.
    kept: Mutex<HashMap<TestId, Execution>>,
    has_run_all: AtomicBool,
    /// What went wrong in processes of the suite and belongs to no test, the first first.
    unexplained: Mutex<Vec<Unexplained>>,
    output: Mutex<String>,
    /// Whether the system can be asked which files are opened.
    pub(super) can_see_opens: OnceLock<bool>,
}

/// Something that went wrong in a process and belongs to no test.
#[derive(Debug)]
struct Unexplained {
    what: String,
    /// Tests that the process did not report on: it explains it if one of them fails alone.
    missing: HashSet<TestId>,
}

/// The tests of the project.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) suite: Suite,
    pub(super) fields: HashMap<TestId, Fields>,
}

impl Session {
    /// Prepare; nothing is started yet.
    pub(super) fn new(settings: RunRequest) -> Result<Self> {
        let runner = Runner::of(&settings)?;
        let scratch = tempfile::Builder::new()
            .prefix("flakeproof-")
            .tempdir()
            .map_err(Error::io("make a temporary folder"))?;
        let hub = Hub::start(scratch.path())?;
        std::fs::write(scratch.path().join("reporter.mjs"), NODE_REPORTER)
            .map_err(Error::io("write the reporter of node:test"))?;
        Ok(Self {
            settings,
            runner,
            hub,
            scratch,
            started: AtomicU32::new(0),
            project: OnceLock::new(),
            kept: Mutex::default(),
            has_run_all: AtomicBool::new(false),
            unexplained: Mutex::default(),
            output: Mutex::default(),
            can_see_opens: OnceLock::new(),
        })
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.runner.profile
    }

    pub(super) fn folder(&self) -> &Path {
        &self.settings.folder
    }

    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    pub(super) fn next_name(&self) -> String {
        format!("command-{}", self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// What discovery told; a second discovery changes nothing.
    pub(super) fn set_project(&self, project: Project) {
        let _ = self.project.set(project);
    }

    pub(super) fn project(&self) -> Result<&Project> {
        self.project.get().ok_or_else(|| Error::Agent("nothing was discovered yet".into()))
    }

    pub(super) fn fields(&self, test: &TestId) -> Result<&Fields> {
        let fields = self.project()?.fields.get(test);
        fields.ok_or_else(|| Error::UnknownTest { test: test.clone() })
    }

    /// Keep what the suite's own process came to.
    pub(super) fn keep(&self, executions: HashMap<TestId, Execution>) {
        self.has_run_all.store(true, Ordering::Relaxed);
        locked(&self.kept).extend(executions);
    }

    /// What the suite's own process says about a test, once.
    pub(super) fn take(&self, test: &TestId) -> Option<Execution> {
        locked(&self.kept).remove(test)
    }

    pub(super) fn has_run_all(&self) -> bool {
        self.has_run_all.load(Ordering::Relaxed)
    }

    /// Something went wrong that no test explains, unless one that is missing fails alone.
    pub(super) fn cannot_explain(&self, what: String, missing: HashSet<TestId>) {
        locked(&self.unexplained).push(Unexplained { what, missing });
    }

    /// A test fails alone, which explains the end of a process that did not report on it.
    pub(super) fn explained_by(&self, test: &TestId) {
        locked(&self.unexplained).retain(|it| !it.missing.contains(test));
    }

    /// The first thing that went wrong and that no test explains.
    pub(super) fn unexplained(&self) -> Option<String> {
        locked(&self.unexplained).first().map(|it| it.what.clone())
    }

    pub(super) fn set_output(&self, output: &str) {
        output.clone_into(&mut locked(&self.output));
    }

    pub(super) fn output(&self) -> String {
        locked(&self.output).clone()
    }

    /// The values of all placeholders.
    pub(super) fn values(&self, asked: Asked<'_>, scratch: &Path) -> Result<Values> {
        let text = |name: &str| vec![scratch.join(name).to_string_lossy().into_owned()];
        let reporter = self.scratch().join("reporter.mjs").to_string_lossy().into_owned();
        let typed = &self.runner.typed;
        let values = Values::default()
            .with("command", typed.command.clone())
            .with("options", typed.options.clone())
            .with("selectors", typed.selectors.clone())
            .with("tail", typed.tail.clone())
            .with("reporter", vec![reporter])
            .with("result", text("result"))
            .with("coverage", text("coverage"));
        match asked {
            Asked::All => self.with_tests(values, &[], &self.profile().format),
            Asked::Tests(tests) => self.with_tests(values, tests, &self.profile().format),
            Asked::AsOlderRunners(test, format) => {
                self.with_tests(values, std::slice::from_ref(test), format)
            }
        }
    }

    fn with_tests(&self, values: Values, tests: &[TestId], format: &str) -> Result<Values> {
        let profile = self.profile();
        let fields = tests.iter().map(|test| self.fields(test)).collect::<Result<Vec<_>>>()?;
        let formatted: Vec<String> = tests
            .iter()
            .zip(&fields)
            .map(|(test, fields)| fields.filled(format, profile.escape, test.as_str()))
            .collect();
        let formatted = match &profile.separator {
            Some(separator) if !formatted.is_empty() => vec![formatted.join(separator)],
            _ => formatted,
        };
        let each = |part: fn(&Fields) -> &String| {
            let mut all: Vec<String> = Vec::new();
            for value in fields.iter().map(|fields| part(fields)).filter(|it| !it.is_empty()) {
                if !all.contains(value) {
                    all.push(value.clone());
                }
            }
            all
        };
        let only = |part: fn(&Fields) -> &String| {
            fields.first().map(|fields| part(fields).clone()).into_iter().collect::<Vec<_>>()
        };
        Ok(values
            .with("tests", formatted)
            .with("test", tests.first().map(ToString::to_string).into_iter().collect())
            .with("files", each(|fields| &fields.file))
            .with("classes", each(|fields| &fields.class))
            .with("suites", each(|fields| &fields.suite))
            .with("file", only(|fields| &fields.file))
            .with("class", only(|fields| &fields.class))
            .with("suite", only(|fields| &fields.suite))
            .with("name", only(|fields| &fields.name)))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command, the limit, and the variables. Installed packages are not known: what a project
/// locks is part of it, and a change of that is a change of the project.
pub(super) fn surroundings_of(session: &Session) -> Surroundings {
    let mut runtime = vec![format!("`{}`", session.runner.typed.options.join(" "))];
    runtime.extend(session.settings.timeout.map(|limit| format!("a time limit of {limit:?}")));
    Surroundings { runtime, packages: String::new(), variables: digests_of_variables() }
}
