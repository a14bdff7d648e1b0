//! What the environments of one adapter share: the runner, the tests of the project, and what went
//! wrong besides them.
//!
//! The tests are found by asking the runner for a list, or by running everything once.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use flakeproof_core::{
    CollectionProblem, Execution, Location, Notice, Suite, SuiteTest, Surroundings, TestId,
};
use serde::Deserialize;

use super::choice::Runner;
use super::launch::{Asked, Besides, Ran, is_file};
use super::profile::{CommandText, Fields, ListFormat, Profile, Values};
use crate::adapter::{Blame, Error, Probe, Result};
use crate::adapters::RunRequest;
use crate::agent::Hub;
use crate::lock::locked;
use crate::process::{Death, End};
use crate::reports;
use crate::shell::digests_of_variables;

const NODE_REPORTER: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/node/reporter.mjs"));
const MOCHA_REPORTER: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/node/mocha-reporter.cjs"));

const PLAYWRIGHT_REPORTER: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/node/playwright-reporter.cjs"));
const COVERAGE_AT_END: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/node/coverage-at-end.cjs"));

/// What the environments of one adapter share.
#[derive(Debug)]
pub(in crate::adapters) struct CommandSession {
    pub(in crate::adapters) settings: RunRequest,
    pub(in crate::adapters) runner: Runner,
    pub(in crate::adapters) hub: Hub,
    scratch: tempfile::TempDir,
    started: AtomicU32,
    project: OnceLock<Project>,
    /// What the suite's own process came to, as far as nobody asked for it yet.
    kept: Mutex<HashMap<TestId, Execution>>,
    has_run_all: AtomicBool,
    /// The part of the suite that the user's own run has, where it does not have all of it.
    part: OnceLock<Vec<TestId>>,
    /// A run of the whole suite that nobody asked for yet.
    made_ahead: Mutex<Option<Ran>>,
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

impl CommandSession {
    /// Prepare; nothing is started yet.
    pub(super) fn new(settings: RunRequest) -> Result<Self> {
        let runner = Runner::choose(&settings)?;
        let scratch = tempfile::Builder::new()
            .prefix("flakeproof-")
            .tempdir()
            .map_err(Error::io("make a temporary folder"))?;
        let hub = Hub::start(scratch.path())?;
        for (name, text) in [
            ("reporter.mjs", NODE_REPORTER),
            ("mocha-reporter.cjs", MOCHA_REPORTER),
            ("playwright-reporter.cjs", PLAYWRIGHT_REPORTER),
            ("coverage-at-end.cjs", COVERAGE_AT_END),
        ] {
            std::fs::write(scratch.path().join(name), text)
                .map_err(Error::io("write the reporters of Node"))?;
        }
        Ok(Self {
            settings,
            runner,
            hub,
            scratch,
            started: AtomicU32::new(0),
            project: OnceLock::new(),
            kept: Mutex::default(),
            has_run_all: AtomicBool::new(false),
            part: OnceLock::new(),
            made_ahead: Mutex::default(),
            unexplained: Mutex::default(),
            output: Mutex::default(),
            can_see_opens: OnceLock::new(),
        })
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.runner.profile
    }

    pub(in crate::adapters) fn folder(&self) -> &Path {
        &self.settings.folder
    }

    pub(in crate::adapters) fn scratch(&self) -> &Path {
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

    pub(in crate::adapters) fn fields(&self, test: &TestId) -> Result<&Fields> {
        let fields = self.project()?.fields.get(test);
        fields.ok_or_else(|| Error::UnknownTest { test: test.clone() })
    }

    /// Take a part of the suite for all of it.
    pub(super) fn narrow(&self, part: &[TestId]) -> Result<Vec<Notice>> {
        for test in part {
            self.fields(test)?;
        }
        let name = &self.runner.name;
        if self.has_run_all() {
            let _ = self.part.set(part.to_vec());
            return Ok(vec![Notice {
                what: format!("{name} names these tests only by running all of them"),
                next: "every shard runs the whole suite and tells of its part: no time is won"
                    .into(),
            }]);
        }
        if !self.profile().run.uses("{tests}") {
            return Err(Error::Explained {
                blame: Blame::Usage,
                what: format!("{name} cannot be told to run some of its tests together"),
                next: "let its `run` have `{tests}` in flakeproof.toml, or hand the list of \
                       `flakeproof shard` to the runner"
                    .to_owned(),
                details: String::new(),
            });
        }
        let _ = self.part.set(part.to_vec());
        Ok(Vec::new())
    }

    /// The part of the suite that the user's own run has, where it does not have all of it.
    pub(super) fn part(&self) -> Option<&[TestId]> {
        self.part.get().map(Vec::as_slice)
    }

    /// Whether these tests are all that the user's own run has.
    pub(super) fn is_own_run(&self, tests: &[TestId]) -> Result<bool> {
        let suite = &self.project()?.suite.tests;
        Ok(match self.part() {
            Some(part) => part == tests,
            None => {
                suite.len() == tests.len()
                    && suite.iter().zip(tests).all(|(test, id)| test.id == *id)
            }
        })
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
        let own = |name: &str| vec![self.scratch().join(name).to_string_lossy().into_owned()];
        let typed = &self.runner.typed;
        let values = Values::default()
            .with("command", typed.command.clone())
            .with("options", typed.options.clone())
            .with("selectors", typed.selectors.clone())
            .with("tail", typed.tail.clone())
            .with("reporter", own("reporter.mjs"))
            .with("mocha-reporter", own("mocha-reporter.cjs"))
            .with("playwright-reporter", own("playwright-reporter.cjs"))
            .with("node-options", vec![self.node_options()])
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

    /// The user's own, and a script that lets V8 tell its coverage also where a worker is ended from
    /// outside.
    fn node_options(&self) -> String {
        let own = std::env::var("NODE_OPTIONS").unwrap_or_default();
        let script = self.scratch().join("coverage-at-end.cjs");
        let quoted = script.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        format!("{own} --require=\"{quoted}\"").trim_start().to_owned()
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

/// The command, the limit, and the variables. Installed packages are not known: what a project
/// locks is part of it, and a change of that is a change of the project.
pub(super) fn surroundings_of(session: &CommandSession) -> Surroundings {
    let mut runtime = vec![format!("`{}`", session.runner.typed.options.join(" "))];
    runtime.extend(session.settings.timeout.map(|limit| format!("a time limit of {limit:?}")));
    Surroundings { runtime, variables: digests_of_variables(), ..Surroundings::default() }
}

/// A run of everything may take as long as so many tests at their limit.
const TESTS_AT_THEIR_LIMIT: u32 = 100;

impl CommandSession {
    /// Find the tests.
    pub(super) fn discover(&self) -> Result<Suite> {
        let (tests, problems) = match &self.profile().list {
            // A list of everything is no list of what the user selects by name.
            Some(list) if !self.runner.typed.is_selective => match self.found_by_clean_run()? {
                Some(found) => found,
                None => match self.listed(list)? {
                    // Some versions of a runner say nothing about tests that they do not run.
                    (tests, _) if tests.is_empty() => self.run_to_find()?,
                    found => found,
                },
            },
            _ => self.run_to_find()?,
        };
        if tests.is_empty() {
            return Err(self.nothing_found(&problems));
        }
        let fields = tests.iter().map(|(test, fields)| (test.id.clone(), fields.clone())).collect();
        let suite = Suite { tests: tests.into_iter().map(|(test, _)| test).collect(), problems };
        self.set_project(Project { suite: suite.clone(), fields });
        Ok(suite)
    }

    /// The tests of a run without any failure, where a list would cost as much as the run that comes next
    /// anyway. After any other run the list tells which tests it did not come to.
    fn found_by_clean_run(&self) -> Result<Option<Found>> {
        let is_worth_it = self.settings.is_whole_suite_next && self.profile().is_list_dear;
        // How long all tests may take is known only by their number.
        if !is_worth_it || self.settings.timeout.is_some() {
            return Ok(None);
        }
        let ran = self.launch(Asked::All, Probe::attempt(1), None)?;
        let is_clean = ran.how == End::Died(Death::Exit(0))
            && ran.issues.is_empty()
            && !ran.executions.values().any(|it| it.outcome.is_failure());
        let found = (is_clean && !ran.order.is_empty()).then(|| {
            let mut tests = ran.order.clone();
            if self.profile().list_format == ListFormat::GoList {
                by_package(&mut tests);
            }
            (tests, Vec::new())
        });
        self.set_output(&ran.output);
        *locked(&self.made_ahead) = Some(ran);
        Ok(found)
    }

    /// The run of the whole suite that was made while looking for its tests, once.
    pub(super) fn take_run_made_ahead(&self) -> Option<Ran> {
        locked(&self.made_ahead).take()
    }

    /// Ask the runner.
    fn listed(&self, list: &CommandText) -> Result<Found> {
        let folder =
            tempfile::tempdir_in(self.scratch()).map_err(Error::io("make a temporary folder"))?;
        let values = self.values(Asked::All, folder.path())?;
        let ended = self.run_to_end(values.fill(list), 1, self.limit_of(TESTS_AT_THEIR_LIMIT))?;
        self.set_output(&format!("{}\n{}", ended.stdout, ended.stderr));
        let path = folder.path().join("result");
        let printed = match list.uses("{result}") {
            true => std::fs::read(&path).unwrap_or_default(),
            false => ended.stdout.into_bytes(),
        };
        let tests = match self.profile().list_format {
            ListFormat::Lines => self.of_lines(&String::from_utf8_lossy(&printed)),
            ListFormat::GoList => self.of_go(&String::from_utf8_lossy(&printed)),
            ListFormat::Report => self.of_report(&printed)?,
        };
        let is_fine = ended.how == End::Died(Death::Exit(0));
        if !is_fine && tests.is_empty() {
            return Err(self.cannot_list(ended.how));
        }
        // A list that ends badly may lack tests; what is there can be run.
        let problem = (!is_fine).then(|| CollectionProblem {
            place: "the list of tests".to_owned(),
            text: format!("{}\nthe command that lists the tests failed", ended.stderr.trim_end()),
        });
        Ok((unique(tests), problem.into_iter().collect()))
    }

    fn of_lines(&self, text: &str) -> Vec<(SuiteTest, Fields)> {
        let ids = text.lines().map(str::trim).filter(|line| !line.is_empty());
        ids.map(|id| {
            let fields = Fields::of_id(id, &self.profile().id);
            let location = (!fields.file.is_empty())
                .then(|| Location { file: fields.file.clone(), line: None });
            (SuiteTest { id: TestId::from(id), location }, fields)
        })
        .collect()
    }

    fn of_report(&self, printed: &[u8]) -> Result<Vec<(SuiteTest, Fields)>> {
        let mut tests = Vec::new();
        let mut sink = |test: reports::ReportedTest| {
            if is_file(&test) {
                return;
            }
            let fields = Fields::read(&test, self.profile(), self.folder());
            let id = TestId::from(fields.test_id(&self.profile().id));
            let location = (!fields.file.is_empty())
                .then(|| Location { file: fields.file.clone(), line: test.line });
            tests.push((SuiteTest { id, location }, fields));
        };
        reports::read_each(printed, None, &mut sink)
            .map_err(Error::io("read the list of tests"))?;
        Ok(tests)
    }

    /// Names that `go test -list` prints, by package.
    fn of_go(&self, text: &str) -> Vec<(SuiteTest, Fields)> {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "PascalCase")]
        struct Event {
            action: String,
            package: String,
            output: String,
        }
        let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
        let names = events.filter(|event| event.action == "output").filter_map(|event| {
            let name = event.output.trim_end().to_owned();
            let is_test = ["Test", "Example", "Fuzz"].iter().any(|it| name.starts_with(it))
                && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_test.then(|| Fields {
                suite: event.package,
                title: name.clone(),
                name,
                ..Fields::default()
            })
        });
        let tests = names.map(|fields| {
            let id = TestId::from(fields.test_id(&self.profile().id));
            (SuiteTest { id, location: None }, fields)
        });
        let mut tests: Vec<(SuiteTest, Fields)> = tests.collect();
        by_package(&mut tests);
        tests
    }

    /// Run everything and take the tests from the report, which is the suite's own run then.
    fn run_to_find(&self) -> Result<Found> {
        let limit = self.limit_of(TESTS_AT_THEIR_LIMIT);
        let ran = self.launch(Asked::All, Probe::attempt(1), limit)?;
        self.set_output(&ran.output);
        let besides = self.what_no_test_explains(&ran, true);
        let Ran { executions, order, issues, .. } = ran;
        let problems: Vec<CollectionProblem> = issues
            .into_iter()
            .map(|issue| CollectionProblem {
                place: "a part of the suite".into(),
                text: issue.what,
            })
            .collect();
        // Problems are told as such.
        if let (Some(Besides::Anything(what) | Besides::Loss(what)), true, false) =
            (besides, problems.is_empty(), executions.is_empty())
        {
            self.cannot_explain(what, HashSet::new());
        }
        self.keep(executions);
        Ok((order, problems))
    }

    fn cannot_list(&self, how: End) -> Error {
        Error::Explained {
            blame: Blame::Runner,
            what: format!("{} cannot list its tests: it {}", self.runner.name, ending(how)),
            next: "run the command yourself to see why, and mend it".to_owned(),
            details: self.output().trim().to_owned(),
        }
    }

    fn nothing_found(&self, problems: &[CollectionProblem]) -> Error {
        let command = self.settings.command.join(" ");
        if problems.is_empty() && self.profile().list.is_some() {
            return Error::Explained {
                blame: Blame::NoTests,
                what: format!("`{command}` selects no test"),
                next: "check what selects tests in the command".to_owned(),
                details: String::new(),
            };
        }
        let texts: Vec<&str> = problems.iter().map(|problem| problem.text.as_str()).collect();
        Error::Explained {
            blame: Blame::Runner,
            what: format!("`{command}` reports no test"),
            next: "run it yourself to see why; its report may be somewhere else".to_owned(),
            details: format!("{}\n{}", texts.join("\n"), self.output()).trim().to_owned(),
        }
    }
}

/// Tests, and what could not be found.
type Found = (Vec<(SuiteTest, Fields)>, Vec<CollectionProblem>);

/// Packages are told as they are compiled; each keeps the order of its own tests.
fn by_package(tests: &mut [(SuiteTest, Fields)]) {
    tests.sort_by(|(_, one), (_, other)| one.suite.cmp(&other.suite));
}

fn unique(tests: Vec<(SuiteTest, Fields)>) -> Vec<(SuiteTest, Fields)> {
    let mut seen: HashSet<TestId> = HashSet::new();
    tests.into_iter().filter(|(test, _)| seen.insert(test.id.clone())).collect()
}

/// How a process ended, as the end of a sentence.
pub(super) fn ending(how: End) -> String {
    match how {
        End::Died(death) => format!("ended with {death}, not only for its tests"),
        End::TimedOut => "did not end in time and was killed".to_owned(),
    }
}
