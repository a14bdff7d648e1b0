//! One process of the runner, and what its report says.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flakeproof_core::{BlindSpot, Dependencies, Execution, Location, Outcome, SuiteTest, TestId};

use super::environment;
use super::profile::{Beginning, CommandText, Fields, Values};
use super::session::Session;
use crate::adapter::{Error, Granularity, Result};
use crate::coverage::Extent;
use crate::opens::{self, Opens, TestsBegin};
use crate::process::{Death, End, Ended, Instructions, USUAL_CAP, run_to_end};
use crate::reports::{self, Issue, Reported, ReportedTest, Severity};

/// So much is kept of what a command prints, where that is its report.
const PRINTED_REPORT: usize = 64 * 1024 * 1024;

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
    /// The tests in the order of the report, with what is known of each.
    pub(super) order: Vec<(SuiteTest, Fields)>,
    /// Serious issues of the report.
    pub(super) issues: Vec<Issue>,
    /// Whether there was anything like a report.
    pub(super) has_report: bool,
    pub(super) how: End,
    /// What it printed.
    pub(super) output: String,
    pub(super) duration: Duration,
    pub(super) dependencies: Option<Dependencies>,
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

impl Session {
    /// Run a process to its end and read its report.
    pub(super) fn launch(
        &self,
        asked: Asked<'_>,
        attempt: u32,
        granularity: Granularity,
        limit: Option<Duration>,
    ) -> Result<Ran> {
        let folder = tempfile::Builder::new()
            .prefix("process-")
            .tempdir_in(self.scratch())
            .map_err(Error::io("make a temporary folder"))?;
        let coverage = self.profile().coverage.as_ref();
        let coverage = coverage.filter(|_| granularity != Granularity::Off);
        let command = match (asked, coverage.and_then(|coverage| coverage.run.as_ref())) {
            (Asked::All, _) => self.profile().command_for_all(),
            (Asked::Tests(_) | Asked::AsOlderRunners(..), Some(run)) => run,
            (Asked::Tests(_) | Asked::AsOlderRunners(..), None) => &self.profile().run,
        };
        let values = self.values(asked, folder.path())?;
        let begin = coverage.and_then(|_| self.tests_begin(asked));
        let trace = begin.as_ref().filter(|_| self.can_see_opens(folder.path()));
        let trace = trace.map(|begin| (begin, folder.path().join("trace")));
        let words = trace.as_ref().map(|(_, file)| opens::words(file)).unwrap_or_default();
        let before = SystemTime::now();
        let words = words.into_iter().chain(values.fill(command)).collect();
        let ended = self.run_to_end(words, attempt, limit)?;
        let (reported, has_report) = self.reported(command, &values, &ended, before)?;
        let mut ran = self.ran(reported, has_report, &ended);
        // Who died did not write to the end what was touched, and half of it would be a lie.
        let coverage = coverage.filter(|_| ran.is_whole());
        ran.dependencies = coverage.and_then(|coverage| {
            let path = values.path(coverage.path.as_deref().unwrap_or("{coverage}"));
            let path = self.folder().join(path);
            let extent = match coverage.is_complete {
                true => Extent::WholeProgram,
                false => Extent::NamedFiles,
            };
            let covered = crate::coverage::read(coverage.format, &path, self.folder(), extent);
            let opens =
                trace.and_then(|(begin, file)| opens::read(&file, self.folder(), begin, None));
            Some(match opens {
                Some(opens) => with_opens(covered.ok()?, opens, begin.as_ref()?),
                None => covered.ok()?,
            })
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
        let settings = &self.settings;
        let variable = |name: &str, value: String| (name.to_owned(), Some(value));
        let instructions = Instructions {
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
        };
        run_to_end(&self.hub, &instructions, limit, &settings.cancel, |_| {})
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
            issues: reported.issues,
            has_report,
            how: ended.how,
            output: output_of(ended),
            duration: ended.duration,
            dependencies: None,
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
        ran
    }

    fn take_in(&self, ran: &mut Ran, test: ReportedTest) {
        let fields = Fields::of(&test, self.profile(), self.folder());
        let id = TestId::from(fields.test_id(&self.profile().id));
        let location = (!fields.file.is_empty())
            .then(|| Location { file: fields.file.clone(), line: test.line });
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

/// What a test touched, by the code that ran and the files that were opened.
fn with_opens(covered: Dependencies, opens: Opens, begin: &TestsBegin) -> Dependencies {
    let is_code = |path: &String| covered.followed.iter().any(|it| path.ends_with(it.as_str()));
    let Opens { mut opened, listed, mut prepared, teller, .. } = opens;
    // Which code runs the coverage says: a runner or a compiler reads more than that.
    prepared.retain(|path| !is_code(path));
    if let TestsBegin::WithFile(_) = begin {
        opened.retain(|path| !is_code(path));
    }
    let mut blind_spots = vec![BlindSpot::Caches];
    blind_spots.extend(teller.map(|program| BlindSpot::Process { program }));
    Dependencies { opened, listed, prepared, blind_spots, ..covered }
}

/// A file that stands in a report in place of its tests: nothing where it is fine.
fn file_trouble(test: &ReportedTest) -> Option<std::result::Result<(), Issue>> {
    let is_file = test.properties.iter().any(|(name, kind)| name == "type" && kind == "file");
    is_file.then(|| match test.outcome.is_failure() {
        false => Ok(()),
        true => Err(Issue {
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
