//! The history as it is now, for the server.
//!
//! A request makes the server read the history, opened for looking only, and the project's quarantine
//! file. What models say about the source of flaky tests takes longer and does not change with every
//! run: it is found out once, beside the server, and added.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use flakeproof_core::{Overview, Prediction, Reason, TestId};
use flakeproof_store::SqliteHistory;
use flakeproof_web::{Source, SourceError, Stamp};

use crate::problem::Problem;
use crate::session::overview::OverviewReader;

/// The history as it is now.
pub(super) struct LiveHistory {
    reader: OverviewReader,
    /// What the reader reads.
    files: [PathBuf; 3],
    /// Notices what other processes write.
    watcher: Mutex<SqliteHistory>,
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
    pub(super) fn explain_later(&self, reader: OverviewReader) {
        let explained = Arc::clone(&self.explained);
        std::thread::spawn(move || {
            // Without it, pages lack an explanation; what else is wrong, requests will tell.
            let Ok(overview) = reader.read() else { return };
            let said = overview.details.into_iter().filter_map(|(test, detail)| {
                let is_there = detail.prediction.is_some() || !detail.features.is_empty();
                is_there.then_some((test, (detail.prediction, detail.features)))
            });
            let _ = explained.set(said.collect());
        });
    }

    fn data_version(&self) -> Result<i64, Problem> {
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        watcher.stamp().map_err(|error| Problem::broken(error.to_string(), NEXT))
    }
}

const NEXT: &str = "check that the history is where it was, then reload";

impl Source for LiveHistory {
    fn stamp(&self) -> Result<Stamp, SourceError> {
        let version = self.data_version().map_err(told)?;
        // A file that was put in place of another has a version of its own.
        let files = self.files.each_ref().map(|path| Look::at(path));
        let is_explained = self.explained.get().is_some();
        Ok(Stamp(format!("{version} {files:?} {is_explained}")))
    }

    fn overview(&self) -> Result<Overview, SourceError> {
        // Looked at first: what comes while the history is read has another stamp.
        let explained = self.explained.get();
        let mut overview = self.reader.read().map_err(told)?;
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
