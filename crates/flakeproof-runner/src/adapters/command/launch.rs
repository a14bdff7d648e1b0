//! One process of the runner and what its report says, and the three ways to give tests to such
//! processes: what one that ends badly says about each of its tests.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flakeproof_core::{
    Dependencies, Execution, Isolation, Location, Measured, Outcome, SuiteTest, TestId,
};

use super::environment;
use super::profile::{Beginning, CommandText, Fields, Values};
use super::session::{CommandSession, ending};
use super::touched::{measured, touched};
use crate::adapter::{Error, Granularity, Measuring, Probe, Result};
use crate::coverage::{self, Extent};
use crate::opens::{self, TestsBegin};
use crate::process::{Death, End, Ended, Instructions, Peak, USUAL_CAP, run_to_end, run_watched};
use crate::reports::{self, ReportIssue, Reported, ReportedTest, Severity};

/// Where V8 writes its coverage, in the folder of a process.
const V8_FOLDER: &str = "v8";
/// So much is kept of what a command prints, where that is its report.
const PRINTED_REPORT: usize = 64 * 1024 * 1024;

/// Systems take about 128 KiB as one argument.
const LONGEST_SELECTION: usize = 100_000;

/// What one process is asked to run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked<'a> {
    /// The whole suite, as the user's own command would.
    All,
    /// Some tests.
    Tests(&'a [TestId]),
    /// One test, named in the format that older versions of the runner need.
    AsOlderRunners(&'a TestId, &'a str),
}

/// What one process came to.
#[derive(Debug)]
pub(super) struct Ran {
    /// What happened, test by test.
    pub(super) executions: HashMap<TestId, Execution>,
    /// The tests in the order in which they began, or else of the report, with what is known of each.
    pub(super) order: Vec<(SuiteTest, Fields)>,
    /// When tests began, where the report tells that apart from their end.
    begun: HashMap<TestId, u64>,
    /// Serious issues of the report.
    pub(super) issues: Vec<ReportIssue>,
    /// Whether there was anything like a report.
    pub(super) has_report: bool,
    pub(super) how: End,
    /// What it printed.
    pub(super) output: String,
    pub(super) duration: Duration,
    pub(super) dependencies: Option<Dependencies>,
    /// What it used, where that was asked for; how long the test itself took is not in it.
    measured: Option<Measured>,
}

impl Ran {
    /// Whether the process ended by itself and told about its tests.
    fn is_whole(&self) -> bool {
        let has_died = |it: &Execution| it.outcome.ends_environment();
        matches!(self.how, End::Died(Death::Exit(_)))
            && !self.executions.is_empty()
            && !self.executions.values().any(has_died)
    }
}

impl CommandSession {
    /// Run a process to its end and read its report.
    pub(super) fn launch(
        &self,
        asked: Asked<'_>,
        probe: Probe,
        limit: Option<Duration>,
    ) -> Result<Ran> {
        let is_measured = probe.features == Measuring::On;
        let folder = tempfile::Builder::new()
            .prefix("process-")
            .tempdir_in(self.scratch())
            .map_err(Error::io("make a temporary folder"))?;
        let coverage = self.profile().coverage.as_ref();
        let coverage = coverage.filter(|_| is_measured || probe.dependencies != Granularity::Off);
        let command = match (asked, coverage.and_then(|coverage| coverage.run.as_ref())) {
            (Asked::All, _) => self.profile().command_for_all(),
            (Asked::Tests(_) | Asked::AsOlderRunners(..), Some(run)) => run,
            (Asked::Tests(_) | Asked::AsOlderRunners(..), None) => &self.profile().run,
        };
        let values = self.values(asked, folder.path())?;
        let begin = coverage.and_then(|_| self.tests_begin(asked));
        // Who follows every call makes the test slow, and is a process himself.
        let is_traced = !is_measured && begin.is_some() && self.can_see_opens(folder.path());
        let trace = begin.as_ref().filter(|_| is_traced);
        let trace = trace.map(|begin| (begin, folder.path().join("trace")));
        let words = trace.as_ref().map(|(_, file)| opens::words(file)).unwrap_or_default();
        let before = SystemTime::now();
        let words = words.into_iter().chain(values.fill(command)).collect();
        let (ended, peak) = match is_measured {
            true => {
                self.run_watched(words, probe.attempt, limit, &folder.path().join(V8_FOLDER))?
            }
            false => (self.run_to_end(words, probe.attempt, limit)?, Peak::default()),
        };
        let (reported, has_report) = self.reported(command, &values, &ended, before)?;
        let mut ran = self.ran(reported, has_report, &ended);
        // Who died did not write to the end what was touched, and half of it would be a lie.
        let coverage = coverage.filter(|_| ran.is_whole());
        let coverage = coverage.map(|coverage| {
            let path = values.path(coverage.path.as_deref().unwrap_or("{coverage}"));
            (coverage, self.folder().join(path))
        });
        if is_measured {
            let lines = match &coverage {
                Some((coverage, path)) => {
                    coverage::lines_that_ran(coverage.format, path, self.folder())
                }
                None => coverage::lines_of_v8(&folder.path().join(V8_FOLDER), self.folder()),
            };
            ran.measured = ended.used.map(|used| measured(used, peak, coverage::as_told(lines)));
            return Ok(ran);
        }
        ran.dependencies = coverage.and_then(|(coverage, path)| {
            let extent = match coverage.is_complete {
                true => Extent::WholeProgram,
                false => Extent::NamedFiles,
            };
            let covered = coverage::read(coverage.format, &path, self.folder(), extent).ok()?;
            let opens =
                trace.and_then(|(begin, file)| opens::read(&file, self.folder(), begin, None));
            touched(covered, opens, coverage.format, begin.as_ref())
        });
        Ok(ran)
    }

    /// Where the tests begin in a process that is asked for them, where that can be told.
    fn tests_begin(&self, asked: Asked<'_>) -> Option<TestsBegin> {
        let test = match asked {
            Asked::All => return None,
            Asked::Tests(tests) => tests.first()?,
            Asked::AsOlderRunners(test, _) => test,
        };
        Some(match self.profile().tests_begin? {
            Beginning::InProgram(ending) => TestsBegin::InProgram(ending),
            Beginning::WithTheirFile => {
                let file = self.folder().join(&self.fields(test).ok()?.file);
                TestsBegin::WithFile(file.canonicalize().ok()?)
            }
        })
    }

    fn can_see_opens(&self, folder: &Path) -> bool {
        let try_it = |command| self.run_to_end(command, 1, None);
        *self.can_see_opens.get_or_init(|| opens::can_be_seen(folder, try_it))
    }

    /// Run a command to its end under guard.
    pub(super) fn run_to_end(
        &self,
        command: Vec<String>,
        attempt: u32,
        limit: Option<Duration>,
    ) -> Result<Ended> {
        let (hub, cancel) = (&self.hub, &self.settings.cancel);
        run_to_end(hub, &self.instructions(command, attempt), limit, cancel, |_| {})
    }

    /// Run a command and see what it has at once while it runs. Where it is a program of Node, V8 writes
    /// what of its scripts ran.
    fn run_watched(
        &self,
        command: Vec<String>,
        attempt: u32,
        limit: Option<Duration>,
        v8_folder: &Path,
    ) -> Result<(Ended, Peak)> {
        let mut instructions = self.instructions(command, attempt);
        let v8_folder = v8_folder.to_string_lossy().into_owned();
        instructions.variables.insert("NODE_V8_COVERAGE".to_owned(), Some(v8_folder));
        run_watched(&self.hub, &instructions, limit, &self.settings.cancel)
    }

    /// Run the user's command as it was typed, with more variables, and show nothing of it.
    pub(in crate::adapters) fn run_as_typed(
        &self,
        variables: BTreeMap<String, Option<String>>,
        limit: Duration,
    ) -> Result<Ended> {
        let mut instructions = self.instructions(self.settings.command.clone(), 1);
        instructions.variables.extend(variables);
        instructions.is_shown = false;
        let cancel = &self.settings.cancel;
        run_to_end(&self.hub, &instructions, Some(limit), cancel, |_| {})
    }

    fn instructions(&self, command: Vec<String>, attempt: u32) -> Instructions {
        let settings = &self.settings;
        let variable = |name: &str, value: String| (name.to_owned(), Some(value));
        Instructions {
            command,
            folder: settings.folder.clone(),
            variables: BTreeMap::from([
                variable("FLAKEPROOF", "1".to_owned()),
                variable("FLAKEPROOF_ATTEMPT", attempt.to_string()),
                variable("FLAKEPROOF_SEED", settings.seed.to_string()),
                variable("FLAKEPROOF_RUN_ID", settings.run.clone()),
            ]),
            socket: self.hub.socket().to_path_buf(),
            guard_name: self.next_name(),
            is_shown: settings.is_output_shown,
            kept: PRINTED_REPORT,
            in_force: settings.in_force.clone(),
        }
    }

    /// The report, and whether there is one.
    fn reported(
        &self,
        command: &CommandText,
        values: &Values,
        ended: &Ended,
        before: SystemTime,
    ) -> Result<(Reported, bool)> {
        let format = self.profile().result;
        let path = match &self.profile().result_path {
            Some(path) => Some(self.folder().join(values.path(path))),
            None => command.uses("{result}").then(|| PathBuf::from(values.path("{result}"))),
        };
        let Some(path) = path else {
            let reported = reports::read_as(format, ended.stdout.as_bytes());
            let reported = reported.map_err(Error::io("read what the runner printed"))?;
            let is_report = format == reports::Format::GoJson || !reported.tests.is_empty();
            return Ok((reported, is_report));
        };
        let mut all = Reported::default();
        let files = files_since(&path, before);
        for file in &files {
            let one = reports::read(file).map_err(Error::io("read the runner's report"))?;
            all.tests.extend(one.tests);
            all.issues.extend(one.issues);
        }
        Ok((all, !files.is_empty()))
    }

    /// Tests, told from what only looks like one.
    fn ran(&self, reported: Reported, has_report: bool, ended: &Ended) -> Ran {
        let mut ran = Ran {
            executions: HashMap::new(),
            order: Vec::new(),
            begun: HashMap::new(),
            issues: reported.issues,
            has_report,
            how: ended.how,
            output: output_of(ended),
            duration: ended.duration,
            dependencies: None,
            measured: None,
        };
        ran.issues.retain(|issue| issue.severity == Severity::Serious);
        for test in reported.tests {
            match file_trouble(&test) {
                Some(Ok(())) => {}
                Some(Err(issue)) => ran.issues.push(issue),
                None => self.take_in(&mut ran, test),
            }
        }
        if ended.how == End::TimedOut {
            // What did not end was ended by us: alone it will tell.
            ran.executions.retain(|_, execution| execution.outcome != Outcome::Crashed);
        }
        // Tests that run beside each other end in an order of their own every time.
        let Ran { order, begun, .. } = &mut ran;
        order.sort_by_key(|(test, _)| begun.get(&test.id).copied());
        ran
    }

    fn take_in(&self, ran: &mut Ran, test: ReportedTest) {
        let fields = Fields::read(&test, self.profile(), self.folder());
        let id = TestId::from(fields.test_id(&self.profile().id));
        let location = (!fields.file.is_empty())
            .then(|| Location { file: fields.file.clone(), line: test.line });
        if let Some(begun) = test.begun {
            let first = ran.begun.entry(id.clone()).or_insert(begun);
            *first = begun.min(*first);
        }
        let told = environment::execution(&id, test, self.folder());
        match ran.executions.get_mut(&id) {
            Some(before) => environment::merge(before, told),
            None => {
                ran.order.push((SuiteTest { id: id.clone(), location }, fields));
                ran.executions.insert(id, told);
            }
        }
    }
}

/// Whether it is a file that stands in a report in place of its tests.
pub(super) fn is_file(test: &ReportedTest) -> bool {
    test.properties.iter().any(|(name, kind)| name == "type" && kind == "file")
}

/// A file that stands in a report in place of its tests: nothing where it is fine.
fn file_trouble(test: &ReportedTest) -> Option<std::result::Result<(), ReportIssue>> {
    is_file(test).then(|| match test.outcome.is_failure() {
        false => Ok(()),
        true => Err(ReportIssue {
            severity: Severity::Serious,
            position: 0,
            what: format!("{} fails outside of its tests", test.name),
        }),
    })
}

/// The report, or all in its folder, as far as this process wrote them: an older one tells of
/// another run.
fn files_since(path: &Path, before: SystemTime) -> Vec<PathBuf> {
    let is_fresh = |path: &Path| {
        let data = std::fs::metadata(path).ok();
        // Clocks of file systems are coarse.
        let before = before - Duration::from_millis(20);
        data.is_some_and(|data| {
            data.is_file() && data.len() > 0 && data.modified().is_ok_and(|time| time >= before)
        })
    };
    let mut files: Vec<PathBuf> = match std::fs::read_dir(path) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => vec![path.to_path_buf()],
    };
    files.retain(|file| is_fresh(file));
    files.sort_unstable();
    files
}

fn output_of(ended: &Ended) -> String {
    let end = |text: &str| {
        let mut from = text.len().saturating_sub(USUAL_CAP);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        text[from..].trim_end().to_owned()
    };
    [end(&ended.stdout), end(&ended.stderr)].join("\n").trim().to_owned()
}

/// What made a process fail besides its tests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Besides {
    /// Something that no test can explain.
    Anything(String),
    /// It ended before all of its tests: one that is missing may have ended it.
    Loss(String),
}

impl CommandSession {
    /// How long a process of so many tests may take.
    pub(super) fn limit_of(&self, tests: u32) -> Option<Duration> {
        self.settings.timeout.map(|limit| limit.saturating_mul(tests.max(1)))
    }

    /// Run the whole suite as the user's own command does, or the part of it that this run has, and keep
    /// what it says.
    pub(super) fn run_all(&self, tests: &[TestId]) -> Result<()> {
        if self.part().is_some() {
            return self.run_part(tests);
        }
        let ran = match self.take_run_made_ahead() {
            Some(ran) => ran,
            None => self.launch(Asked::All, Probe::attempt(1), self.limit_of(count(tests)))?,
        };
        self.set_output(&ran.output);
        self.look_for_what_no_test_explains(&ran, tests);
        self.keep(ran.executions);
        Ok(())
    }

    /// Run these tests by one process, or by as few as a command line is long enough for.
    fn run_part(&self, tests: &[TestId]) -> Result<()> {
        let mut all = HashMap::new();
        let mut rest = tests;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(self.fit_into_a_command(rest)?);
            let ran =
                self.launch(Asked::Tests(some), Probe::attempt(1), self.limit_of(count(some)))?;
            self.set_output(&ran.output);
            self.look_for_what_no_test_explains(&ran, some);
            // A name may select more than the one test.
            let wanted: HashSet<&TestId> = some.iter().collect();
            all.extend(ran.executions.into_iter().filter(|(test, _)| wanted.contains(test)));
            rest = others;
        }
        self.keep(all);
        Ok(())
    }

    /// How many of these tests, at least one, a command line can name, files whole.
    fn fit_into_a_command(&self, tests: &[TestId]) -> Result<usize> {
        let (mut length, mut whole_files) = (0, 0);
        let mut file = None;
        for (at, test) in tests.iter().enumerate() {
            let fields = self.fields(test)?;
            if file != Some(&fields.file) {
                whole_files = at;
                file = Some(&fields.file);
            }
            let profile = self.profile();
            length += fields.filled(&profile.format, profile.escape, test.as_str()).len() + 1;
            if length > LONGEST_SELECTION {
                return Ok(if whole_files == 0 { at.max(1) } else { whole_files });
            }
        }
        Ok(tests.len())
    }

    /// Note what went wrong in a process of several tests that is no outcome of one of them.
    fn look_for_what_no_test_explains(&self, ran: &Ran, tests: &[TestId]) {
        let missing: HashSet<TestId> =
            tests.iter().filter(|test| !ran.executions.contains_key(*test)).cloned().collect();
        match self.what_no_test_explains(ran, missing.is_empty()) {
            Some(Besides::Anything(what)) => self.cannot_explain(what, HashSet::new()),
            Some(Besides::Loss(what)) => self.cannot_explain(what, missing),
            None => {}
        }
    }

    /// What went wrong in a process of several tests that is no outcome of one of them.
    pub(super) fn what_no_test_explains(&self, ran: &Ran, is_complete: bool) -> Option<Besides> {
        let name = &self.runner.name;
        let mut failing = ran.executions.values().filter(|it| it.outcome.is_failure());
        let known = self.project().ok().map(|project| &project.fields);
        let is_foreign = |it: &&Execution| known.is_some_and(|known| !known.contains_key(&it.test));
        if let Some(foreign) = failing.clone().find(is_foreign) {
            return Some(Besides::Anything(format!(
                "{name} reports a failure of `{}`, which it did not list",
                foreign.test
            )));
        }
        if let Some(issue) = ran.issues.first() {
            return Some(Besides::Anything(issue.what.clone()));
        }
        if ran.how == End::Died(Death::Exit(0)) {
            return None;
        }
        if let Some(line) = environment::said(&ran.output) {
            return Some(Besides::Anything(format!("{name} says: {line}")));
        }
        let has_loss = failing.clone().any(|it| it.outcome.ends_environment());
        let has_failure = failing.next().is_some();
        let what = format!("{name} {}", ending(ran.how));
        match ran.how {
            _ if has_loss => None,
            _ if !is_complete => Some(Besides::Loss(what)),
            End::Died(death) if has_failure && !is_by_signal(death) => None,
            End::Died(_) | End::TimedOut => Some(Besides::Anything(what)),
        }
    }

    /// Run one test in a process of its own.
    pub(super) fn run_alone(
        &self,
        test: &TestId,
        probe: Probe,
        isolation: Isolation,
    ) -> Result<Execution> {
        let only = std::slice::from_ref(test);
        let limit = self.limit_of(1);
        let mut ran = self.launch(Asked::Tests(only), probe, limit)?;
        // All is well, and the test did not run: one that took its process with it is no such case.
        let is_fine = ran.how == End::Died(Death::Exit(0));
        let is_passed_over = is_fine && !ran.executions.contains_key(test);
        if let (true, Some(format)) = (is_passed_over, &self.profile().older_format) {
            let asked = Asked::AsOlderRunners(test, format);
            ran = self.launch(asked, probe, limit)?;
        }
        let mut execution = match ran.executions.remove(test) {
            _ if ran.how == End::TimedOut => {
                let message =
                    format!("still running after {limit:?}", limit = limit.unwrap_or_default());
                let output = ran.output.clone();
                environment::untold(test, Outcome::TimedOut, &message, output, ran.duration)
            }
            Some(told) => checked(told, &ran),
            None => missing(test, &ran),
        };
        if execution.output.is_empty() {
            // Nobody else ran in this process: what it printed is the test's, and the runner's.
            execution.output = ran.output;
        }
        execution.dependencies = ran.dependencies;
        execution.measured = ran
            .measured
            .map(|measured| Box::new(Measured { run_time: execution.duration, ..measured }));
        if execution.outcome.is_failure() && isolation == Isolation::Same {
            self.explained_by(test);
        }
        Ok(execution)
    }

    /// Run tests in one process, in this order.
    pub(super) fn run_in_order(
        &self,
        tests: &[TestId],
        isolation: Isolation,
    ) -> Result<HashMap<TestId, Execution>> {
        let limit = self.limit_of(count(tests));
        let ran = self.launch(Asked::Tests(tests), Probe::attempt(1), limit)?;
        let is_complete = tests.iter().all(|test| ran.executions.contains_key(test));
        if is_complete && ran.how != End::TimedOut {
            if isolation == Isolation::Same {
                self.look_for_what_no_test_explains(&ran, tests);
            }
            return Ok(ran.executions);
        }
        let found = self.find_the_end(tests, ran)?;
        let has_failure = found.values().any(|it| it.outcome.is_failure());
        if isolation == Isolation::Same && !has_failure {
            // It ended badly once, and not when it was looked for the cause.
            let what = format!("{} ended without a report", self.runner.name);
            self.cannot_explain(what, HashSet::new());
        }
        Ok(found)
    }

    /// Find the test that ended a process, by shorter and shorter beginnings of its order.
    fn find_the_end(&self, tests: &[TestId], whole: Ran) -> Result<HashMap<TestId, Execution>> {
        // The longest beginning that is known to end well, and the shortest that does not.
        let (mut good, mut bad) = (0, tests.len());
        let mut last_good = HashMap::new();
        let mut last_bad = whole;
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            let some = &tests[..middle];
            let limit = self.limit_of(count(some));
            let ran = self.launch(Asked::Tests(some), Probe::attempt(1), limit)?;
            let is_complete = some.iter().all(|test| ran.executions.contains_key(test));
            if is_complete && ran.how != End::TimedOut {
                good = middle;
                last_good = ran.executions;
            } else {
                bad = middle;
                last_bad = ran;
            }
        }
        if let Some(test) = tests.get(good) {
            let end = match last_bad.how {
                End::TimedOut => environment::untold(
                    test,
                    Outcome::TimedOut,
                    "still running at the limit of its process",
                    last_bad.output,
                    last_bad.duration,
                ),
                End::Died(_) => missing(test, &last_bad),
            };
            last_good.insert(test.clone(), end);
        }
        Ok(last_good)
    }
}

fn count(tests: &[TestId]) -> u32 {
    u32::try_from(tests.len()).unwrap_or(u32::MAX)
}

/// A pass is one only where the process agrees: what fails after the last test fails too.
fn checked(told: Execution, ran: &Ran) -> Execution {
    let is_fine = ran.how == End::Died(Death::Exit(0));
    let is_explained = ran.executions.values().any(|it| it.outcome.is_failure());
    let issues: Vec<&str> = ran.issues.iter().map(|issue| issue.what.as_str()).collect();
    if told.outcome != Outcome::Passed || is_fine || is_explained {
        return told;
    }
    let message = format!("it passes, and the runner {}", ending(ran.how));
    let text = format!("{}\n{}\n{message}", issues.join("\n"), ran.output);
    environment::untold(
        &told.test,
        Outcome::Errored,
        &message,
        text.trim().to_owned(),
        told.duration,
    )
}

/// A test that is not in the report of its process.
fn missing(test: &TestId, ran: &Ran) -> Execution {
    let issues: Vec<&str> = ran.issues.iter().map(|issue| issue.what.as_str()).collect();
    let text = format!("{}\n{}", issues.join("\n"), ran.output).trim().to_owned();
    let (outcome, message) = match ran.how {
        End::TimedOut => (Outcome::TimedOut, "still running at its limit".to_owned()),
        End::Died(death) if is_by_signal(death) => {
            (Outcome::Crashed, format!("its process was killed ({death})"))
        }
        End::Died(death) if !ran.has_report => {
            (Outcome::Crashed, format!("its process ended without a report ({death})"))
        }
        End::Died(death) => {
            (Outcome::Errored, format!("it is not in the runner's report ({death})"))
        }
    };
    environment::untold(test, outcome, &message, text, ran.duration)
}

/// Shells and launchers end with 128 and the number of the signal that killed their child.
fn is_by_signal(death: Death) -> bool {
    match death {
        Death::Signal(_) => true,
        Death::Exit(code) => (129..=128 + 64).contains(&code),
    }
}
