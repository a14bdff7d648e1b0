//! `flakeproof serve`: the report over the live history, in a browser.
//!
//! A request makes the server read the history, opened for looking only, and the project's
//! quarantine file. What models say about the source of flaky tests takes longer and does not
//! change with every run: it is found out once, beside the server, and added.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use flakeproof_core::{ExitCode, Overview, Prediction, Reason, TestId};
use flakeproof_runner::process::on_interrupt;
use flakeproof_store::Store;
use flakeproof_web::{
    Error, Limits, Server, Settings, Source, SourceError, Stamp, Stopper, shutdown,
};

use crate::cli::{Naming, ServeArguments};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::session::overview::{Explain, OverviewReader};
use crate::session::token::choose_token;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ServeArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let store = typed.store.as_ref();
    let (reader, _) = OverviewReader::open(store, &folder, Explain::Nothing)?;
    let naming = Naming::asked_for(typed.as_recorded);
    let source = LiveHistory::new(reader.with(naming))?;
    if !typed.no_source {
        let (reader, _) = OverviewReader::open(store, &folder, Explain::Suspects)?;
        source.explain_later(reader.with(naming));
    }
    let (token, is_made) = choose_token(typed.token_file.as_deref(), typed.address)?;
    let settings =
        Settings { address: typed.address, token: token.clone(), limits: Limits::default() };
    let server = Server::bind(settings).map_err(|error| cannot_serve(&error))?;
    let (stopper, shutdown) = shutdown();
    stop_on_interrupt(stopper)?;
    view::served(&view::Served { address: server.address(), token, is_made });
    server.serve(source, shutdown).map_err(|error| cannot_serve(&error))?;
    view::stopped();
    Ok(ExitCode::Clean)
}

/// An interrupt is how a server ends, and no trouble.
fn stop_on_interrupt(stopper: Stopper) -> Result<(), Problem> {
    on_interrupt(move || stopper.stop()).map_err(|error| {
        let what = format!("interrupts cannot be listened for: {error}");
        Problem::broken(what, "free some file descriptors, then try again")
    })
}

fn cannot_serve(error: &Error) -> Problem {
    match error {
        Error::Exposed { .. } => {
            Problem::usage(error.to_string(), "name a file with a token after `--token-file`")
        }
        Error::Listen { source, .. } => Problem::usage(
            format!("{error}: {source}"),
            "choose another address with `--address`; port 0 is any free one",
        ),
        Error::Run(source) => Problem::broken(
            format!("{error}: {source}"),
            "free some memory or file descriptors, then try again",
        ),
    }
}

/// The history as it is now.
struct LiveHistory {
    reader: OverviewReader,
    /// What the reader reads.
    files: Vec<PathBuf>,
    /// Notices what other processes write.
    watcher: Mutex<Store>,
    explained: Arc<OnceLock<Explained>>,
}

/// What models say about tests.
type Explained = BTreeMap<TestId, (Option<Prediction>, Vec<Reason>)>;

impl LiveHistory {
    /// What this reader reads.
    pub(super) fn new(reader: OverviewReader) -> Result<Self, Problem> {
        let watcher = Mutex::new(reader.history()?);
        let files = reader.files()?;
        Ok(Self { reader, files, watcher, explained: Arc::default() })
    }

    /// Ask models about the flaky tests of now, while the server answers already.
    fn explain_later(&self, reader: OverviewReader) {
        let explained = Arc::clone(&self.explained);
        std::thread::spawn(move || {
            // Without it, pages lack an explanation; what else is wrong, requests will tell.
            let read = reader.history().and_then(|history| reader.read(&*history));
            let Ok(overview) = read else { return };
            let said = overview.details.into_iter().filter_map(|(test, detail)| {
                let is_there = detail.prediction.is_some() || !detail.features.is_empty();
                is_there.then_some((test, (detail.prediction, detail.features)))
            });
            let _ = explained.set(said.collect());
        });
    }

    fn data_version(&self) -> Result<String, Problem> {
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        watcher.stamp().map_err(|error| Problem::broken(error.to_string(), NEXT))
    }
}

const NEXT: &str = "check that the history is where it was, then reload";

impl Source for LiveHistory {
    fn stamp(&self) -> Result<Stamp, SourceError> {
        let version = self.data_version().map_err(told)?;
        // A file that was put in place of another has a version of its own.
        let files = self.files.iter().map(|path| Look::at(path)).collect::<Vec<_>>();
        let is_explained = self.explained.get().is_some();
        Ok(Stamp(format!("{version} {files:?} {is_explained}")))
    }

    fn overview(&self) -> Result<Overview, SourceError> {
        // Looked at first: what comes while the history is read has another stamp.
        let explained = self.explained.get();
        let history = self.reader.history().map_err(told)?;
        let mut overview = self.reader.read(&*history).map_err(told)?;
        for (test, (prediction, features)) in explained.into_iter().flatten() {
            let detail = overview.details.entry(test.clone()).or_default();
            detail.prediction.clone_from(prediction);
            detail.features.clone_from(features);
        }
        Ok(overview)
    }
}

fn told(problem: Problem) -> SourceError {
    SourceError { what: problem.what, next: problem.next }
}

/// What tells a file from what it was, without reading it.
#[derive(Debug)]
#[expect(dead_code, reason = "it is compared by what `{:?}` shows")]
struct Look {
    changed: Option<SystemTime>,
    bytes: Option<u64>,
}

impl Look {
    fn at(path: &Path) -> Self {
        let facts = std::fs::metadata(path).ok();
        let changed = facts.as_ref().and_then(|facts| facts.modified().ok());
        Self { changed, bytes: facts.map(|facts| facts.len()) }
    }
}
