//! `flakeproof ingest`: reports of CI runs, read into the history. What is known of the run that
//! wrote them was typed, or comes from the CI system or from git.

mod gathering;
mod reading;
pub(super) mod report_files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flakeproof_core::{
    ExitCode, IdRules, Notice, Origin, RunRecord, Seed, Surroundings, TreeState,
};
use flakeproof_runner::ci::CiFacts;
use flakeproof_runner::git::Repository;
use flakeproof_runner::reports::{Places, ReportIssue, Severity};
use flakeproof_runner::{Cancel, Waiting};
use jiff::Timestamp;

use self::reading::{Ended, Reading, Trouble};
use self::report_files::Report;
use crate::cli::{IngestArguments, ListFormat};
use crate::problem::Problem;
use crate::session::history::KeptHistory;
use crate::session::{current_folder, history, listen_for_interrupts, variables};
use crate::settings::ConfigurationFile;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &IngestArguments) -> Result<ExitCode, Problem> {
    if typed.rules {
        view::id_rules(IdRules::all(), typed.output_format == ListFormat::Json);
        return Ok(ExitCode::Clean);
    }
    let folder = current_folder()?;
    let variables = variables();
    let circumstances = Circumstances::gather(typed, &variables, &folder)?;
    let cancel = listen_for_interrupts(&Waiting::default());
    let found = report_files::find(&typed.files)?;
    let reports = report_files::inspect(found.files, Timestamp::now())?;
    let mut ingested = Ingested {
        passed_over: found.passed_over,
        is_dry: typed.dry_run,
        is_certain: circumstances.is_certain(),
        ..Ingested::default()
    };
    let mut session = Ingestion { typed, folder: &folder, circumstances, cancel, history: None };
    let progress = view::IngestProgress::start(reports.iter().map(|report| report.size).sum());
    let all: Vec<&Report> = reports.iter().collect();
    let size = if typed.each { 1 } else { all.len().max(1) };
    for of_run in all.chunks(size) {
        match session.ingest(of_run, &progress)? {
            Some(run) => ingested.runs.push(run),
            None => {
                ingested.is_interrupted = true;
                break;
            }
        }
    }
    progress.end();
    view::notices(session.unsent_notice().as_slice());
    match typed.output_format {
        ListFormat::Text => view::ingested(&ingested),
        ListFormat::Json => view::ingested_json(&ingested),
    }
    Ok(exit_of(&ingested))
}

fn exit_of(ingested: &Ingested) -> ExitCode {
    let has_tests = |run: &IngestedRun| run.is_known || run.tests.all() > 0;
    match ingested.is_interrupted {
        true => ExitCode::Interrupted,
        false if ingested.runs.iter().any(has_tests) => ExitCode::Clean,
        false => ExitCode::NoTests,
    }
}

/// What every run of a call shares.
struct Ingestion<'a> {
    typed: &'a IngestArguments,
    folder: &'a Path,
    circumstances: Circumstances,
    cancel: Cancel,
    history: Option<KeptHistory>,
}

impl Ingestion<'_> {
    /// Read one run; `None` if the user interrupted it.
    fn ingest(
        &mut self,
        reports: &[&Report],
        progress: &view::IngestProgress,
    ) -> Result<Option<IngestedRun>, Problem> {
        let record = self.circumstances.run(reports);
        let mut run = IngestedRun {
            is_known: false,
            files: reports.len(),
            bytes: reports.iter().map(|report| report.size).sum(),
            tests: TestCounts::default(),
            remarks: Remarks::default(),
            record,
        };
        let project = ConfigurationFile::find(None, self.folder)?.project;
        let reading = Reading {
            reports,
            groups: report_files::attempt_groups(reports, self.typed.attempts),
            rules: (!self.typed.raw_ids).then(|| IdRules::of_run(&run.record.started)),
            places: Places::new(self.circumstances.folders(&project)),
            cancel: self.cancel.clone(),
            progress,
        };
        let read = if self.typed.dry_run {
            reading.dry()
        } else {
            let history = self.history()?;
            if history.has_run(&run.record.id).map_err(|error| history::cannot_open(&error))? {
                run.is_known = true;
                return Ok(Some(run));
            }
            reading.into_history(&run.record, &mut **history)
        };
        match read {
            Ok(Ended::Whole(tests, remarks)) => Ok(Some(IngestedRun { tests, remarks, ..run })),
            Ok(Ended::Interrupted) => Ok(None),
            Err(Trouble::File(problem)) => Err(problem),
            Err(Trouble::History(error)) => Err(history::cannot_open(&error)),
        }
    }

    /// What to tell the user if not everything reached the team's history.
    fn unsent_notice(&self) -> Option<Notice> {
        self.history.as_ref().and_then(KeptHistory::unsent_notice)
    }

    /// The history, opened when it is first needed.
    fn history(&mut self) -> Result<&mut KeptHistory, Problem> {
        let history = match self.history.take() {
            Some(history) => history,
            None => history::open_or_create(self.typed.store.as_ref(), self.folder)?,
        };
        Ok(self.history.insert(history))
    }
}

/// Everything that one call read.
#[derive(Debug, Default)]
pub(crate) struct Ingested {
    pub(crate) runs: Vec<IngestedRun>,
    /// Files in folders that are no reports.
    pub(crate) passed_over: usize,
    pub(crate) is_dry: bool,
    pub(crate) is_interrupted: bool,
    /// Whether the revision is known to be what ran.
    pub(crate) is_certain: bool,
}

/// One run that was read from reports.
#[derive(Debug)]
pub(crate) struct IngestedRun {
    pub(crate) record: RunRecord,
    /// Whether it was in the history already, so that nothing was read.
    pub(crate) is_known: bool,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    pub(crate) tests: TestCounts,
    pub(crate) remarks: Remarks,
}

/// How many tests there were, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Passed and failed, in the same run.
    pub(crate) mixed: u64,
    pub(crate) skipped: u64,
}

impl TestCounts {
    pub(crate) fn all(self) -> u64 {
        self.passed + self.failed + self.mixed + self.skipped
    }
}

/// What should be known besides.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// What is odd about a file.
    pub(crate) issues: Vec<(String, ReportIssue)>,
    /// Times that a test occurred again and could not be told from a part of the same test.
    pub(crate) parts: u64,
    /// Ids before and after the rules; only some of many.
    pub(crate) rewritten: Vec<(String, String)>,
    pub(crate) rewritten_count: u64,
    /// Tests that kept their ids, because the rules would have made one of several.
    pub(crate) kept_apart: u64,
}

impl Remarks {
    /// Whether tests may be missing.
    pub(crate) fn has_serious_issue(&self) -> bool {
        self.issues.iter().any(|(_, issue)| issue.severity == Severity::Serious)
    }
}

/// What is known of the run.
#[derive(Debug, Default)]
struct Circumstances {
    ci: CiFacts,
    revision: Option<String>,
    branch: Option<String>,
    job: Option<String>,
    /// Whether the revision is known to be what ran, and not only what lies here now.
    is_certain: bool,
    started: Option<Timestamp>,
}

impl Circumstances {
    /// What was typed wins over what the CI system says, and that over git.
    fn gather(
        typed: &IngestArguments,
        variables: &BTreeMap<String, String>,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let ci = CiFacts::read(variables).unwrap_or_default();
        let named = typed.revision.clone().or_else(|| ci.revision.clone());
        let branch = typed.branch.clone().or_else(|| ci.branch.clone());
        let here = match (&named, &branch) {
            (Some(_), Some(_)) => TreeState::default(),
            _ => Repository::containing(folder).map(|it| it.tree_state()).unwrap_or_default(),
        };
        // A CI system that is not known checks out what it runs; elsewhere the reports may be of
        // any revision.
        let is_ci = variables.get("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let is_certain = named.is_some() || (is_ci && here.revision.is_some());
        // The branch of this folder is that of the revision only if both are from here.
        let own_branch = here.branch.filter(|_| named.is_none() || named == here.revision);
        Ok(Self {
            revision: named.or(here.revision),
            branch: branch.or(own_branch),
            job: typed.job.clone().or_else(|| ci.job.clone()),
            is_certain,
            started: started(typed)?,
            ci,
        })
    }

    /// The folders in which the tests may have run, that of the project first.
    fn folders(&self, project: &Path) -> Vec<PathBuf> {
        let real = project.canonicalize().ok();
        let workspace = self.ci.workspace.as_ref().map(PathBuf::from);
        [Some(project.to_path_buf()), real, workspace].into_iter().flatten().collect()
    }

    /// Whether failures and passes of these reports say anything about the code.
    fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// The run that these reports are of.
    fn run(&self, reports: &[&Report]) -> RunRecord {
        let ran = reports.iter().filter_map(|report| report.ran).min();
        let of_ci = self.ci.started.as_deref().and_then(report_files::parse_time);
        let written = reports.iter().map(|report| report.written).min();
        let started = self.started.or(ran).or(of_ci).or(written).unwrap_or(Timestamp::UNIX_EPOCH);
        RunRecord {
            id: self.id(reports),
            started: report_files::written_time(started),
            command: Vec::new(),
            folder: String::new(),
            seed: Seed(0),
            tree: TreeState {
                revision: self.revision.clone(),
                branch: self.branch.clone(),
                edited: BTreeMap::new(),
                is_complete: self.is_certain,
            },
            surroundings: Surroundings { runtime: self.runtime(), ..Surroundings::default() },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: Origin::Reports { job: self.job.clone() },
        }
    }

    /// A test that fails on one system and passes on another is not flaky: what surrounds the code
    /// differs from job to job and from machine to machine.
    fn runtime(&self) -> Vec<String> {
        let job = self.job.iter().map(|job| format!("job {job}"));
        job.chain(self.ci.machine.iter().cloned()).collect()
    }

    /// The same reports of the same attempt have the same id, in whatever order they are named.
    fn id(&self, reports: &[&Report]) -> String {
        let mut digests: Vec<&[u8; 32]> = reports.iter().map(|it| it.digest.as_bytes()).collect();
        digests.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for digest in digests {
            hasher.update(digest);
        }
        for part in [&self.revision, &self.job, &self.ci.build, &self.ci.attempt] {
            hasher.update(part.as_deref().unwrap_or_default().as_bytes()).update(b"\0");
        }
        format!("reports-{}", &hasher.finalize().to_hex()[..16])
    }
}

fn started(typed: &IngestArguments) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = &typed.started else { return Ok(None) };
    match report_files::parse_time(text) {
        Some(time) => Ok(Some(time)),
        None => Err(Problem::usage(
            format!("`{text}` after `--started` is no time"),
            "write it as `2026-11-15T10:15:00Z`, or as seconds since 1970",
        )),
    }
}
