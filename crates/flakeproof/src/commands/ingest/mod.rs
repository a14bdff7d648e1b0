//! `flakeproof ingest`: reports of CI runs, read into the history.

mod circumstances;
mod gathering;
mod groups;
pub(super) mod inputs;
mod looked_at;
mod reading;
mod times;
mod told;

use std::collections::BTreeMap;
use std::path::Path;

use flakeproof_core::{ExitCode, History, IdRules};
use flakeproof_runner::Cancel;
use flakeproof_runner::reports::Places;
use flakeproof_store::SqliteHistory;
use jiff::Timestamp;

use self::circumstances::Circumstances;
use self::looked_at::Report;
use self::reading::{Ended, Reading, Trouble};
use crate::cli::{IngestArguments, ListFormat};
use crate::problem::Problem;
use crate::session::{current_folder, history, listen_for_interrupts};
use crate::settings::ConfigurationFile;
use crate::view;

pub(crate) use told::{Ingested, IngestedRun, Remarks, TestCounts};

/// Run the command.
pub(crate) fn run(typed: &IngestArguments) -> Result<ExitCode, Problem> {
    if typed.rules {
        view::id_rules(IdRules::all(), typed.format == ListFormat::Json);
        return Ok(ExitCode::Clean);
    }
    let folder = current_folder()?;
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let circumstances = Circumstances::of(typed, &variables, &folder)?;
    let cancel = listen_for_interrupts();
    let found = inputs::find(&typed.files)?;
    let reports = looked_at::look(found.files, Timestamp::now())?;
    let mut ingested = Ingested {
        passed_over: found.passed_over,
        is_dry: typed.dry_run,
        is_certain: circumstances.is_certain(),
        ..Ingested::default()
    };
    let mut session = Session { typed, folder: &folder, circumstances, cancel, history: None };
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
    match typed.format {
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
struct Session<'a> {
    typed: &'a IngestArguments,
    folder: &'a Path,
    circumstances: Circumstances,
    cancel: Cancel,
    history: Option<SqliteHistory>,
}

impl Session<'_> {
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
            groups: groups::groups(reports, self.typed.attempts),
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
            reading.into_history(&run.record, history)
        };
        match read {
            Ok(Ended::Whole(tests, remarks)) => Ok(Some(IngestedRun { tests, remarks, ..run })),
            Ok(Ended::Interrupted) => Ok(None),
            Err(Trouble::File(problem)) => Err(problem),
            Err(Trouble::History(error)) => Err(history::cannot_open(&error)),
        }
    }

    /// The history, opened when it is first needed.
    fn history(&mut self) -> Result<&mut SqliteHistory, Problem> {
        let history = match self.history.take() {
            Some(history) => history,
            None => history::open_or_create(self.typed.store.as_deref(), self.folder)?,
        };
        Ok(self.history.insert(history))
    }
}
