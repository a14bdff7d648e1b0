//! The history of a project: where it is, opened for a command, and what it knows of flaky tests;
//! and keeping what happens while tests run, and going on when it cannot be kept.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Features, Findings, History, HistoryError, HuntFindings, HuntRecord, KnownFlaky,
    Notice, RunRecord, Scores, TestId, TrialRecord,
};
use flakeproof_detect::triage::Event;
use flakeproof_store::{MemoryHistory, SqliteHistory};

use crate::problem::Problem;
use crate::settings::{ConfigurationFile, Store};

/// Where the history of the project is, or would be.
pub(crate) fn place(store: Option<&Path>, folder: &Path) -> Result<PathBuf, Problem> {
    if let Some(path) = store {
        return Ok(path.to_path_buf());
    }
    let file = ConfigurationFile::find(None, folder)?;
    let named = file.layer(None)?.store.map(|path| folder.join(path));
    Ok(named.unwrap_or_else(|| file.project.join(".flakeproof/history.db")))
}

/// Every test of the project that a hunt found to be flaky; none if there is no history.
pub(crate) fn flaky_tests(store: Option<&Path>, folder: &Path) -> Result<Vec<KnownFlaky>, Problem> {
    let Some(history) = find(store, folder)? else { return Ok(Vec::new()) };
    history.known_flaky().map_err(|error| unreadable(&error))
}

/// The history of the project, if there is one; one that was named must be there.
pub(crate) fn find(store: Option<&Path>, folder: &Path) -> Result<Option<SqliteHistory>, Problem> {
    let path = place(store, folder)?;
    if !path.is_file() {
        if store.is_some() {
            return Err(Problem::usage(
                format!("there is no history at {}", path.display()),
                "check the path after `--store`",
            ));
        }
        return Ok(None);
    }
    SqliteHistory::open(&path).map(Some).map_err(|error| unreadable(&error))
}

/// What hunts found, and what it and all runs come to.
pub(crate) fn hunted_and_scores(
    history: &SqliteHistory,
) -> Result<(Vec<KnownFlaky>, Scores), HistoryError> {
    let hunted = history.known_flaky()?;
    let scores = Scores::new(&history.timeline()?, &hunted);
    Ok((hunted, scores))
}

/// The history is there, and cannot be used.
pub(crate) fn unreadable(error: &HistoryError) -> Problem {
    Problem::usage(error.to_string(), "name another history with `--store`, or hunt again")
}

/// The history of the project, made if there is none.
pub(crate) fn open_or_create(
    store: Option<&Path>,
    folder: &Path,
) -> Result<SqliteHistory, Problem> {
    let file = ConfigurationFile::find(None, folder)?;
    let named = match store {
        Some(path) => Some(path.to_path_buf()),
        None => file.layer(None)?.store.map(|path| folder.join(path)),
    };
    match named {
        Some(path) => SqliteHistory::open(&path),
        None => SqliteHistory::in_project(&file.project),
    }
    .map_err(|error| cannot_open(&error))
}

/// The history cannot be opened or written.
pub(crate) fn cannot_open(error: &HistoryError) -> Problem {
    let next = match error {
        HistoryError::Newer { .. } => "update flakeproof, or name another file with `--store`",
        HistoryError::Unreadable { .. } => "move the file away, or name another with `--store`",
        HistoryError::Unwritable { .. } => "name a place that can be written with `--store`",
    };
    Problem::broken(error.to_string(), next)
}

/// The history of this project; in memory if it cannot be kept on disk.
pub(crate) struct Recorder {
    history: Rc<RefCell<dyn History>>,
    trouble: Option<HistoryError>,
}

impl Recorder {
    /// Open the history. Trouble with it never stops a run.
    pub(crate) fn open(store: &Store) -> Self {
        let opened = match store {
            Store::Project(folder) => SqliteHistory::in_project(folder),
            Store::File(path) => SqliteHistory::open(path),
        };
        match opened {
            Ok(history) => Self { history: Rc::new(RefCell::new(history)), trouble: None },
            Err(trouble) => Self {
                history: Rc::new(RefCell::new(MemoryHistory::new())),
                trouble: Some(trouble),
            },
        }
    }

    /// The history, for those who read it while the run goes on.
    pub(crate) fn shared(&self) -> Rc<RefCell<dyn History>> {
        Rc::clone(&self.history)
    }

    pub(crate) fn begin(&mut self, run: &RunRecord) {
        let begun = self.history.borrow_mut().begin(run);
        self.note(begun);
    }

    pub(crate) fn keep(&mut self, event: Event) {
        if let Event::Attempt(attempt) = event {
            self.attempt(&attempt);
        }
    }

    /// Keep one attempt.
    pub(crate) fn attempt(&mut self, attempt: &Attempt) {
        if self.trouble.is_none() {
            let kept = self.history.borrow_mut().record(std::slice::from_ref(attempt));
            self.note(kept);
        }
    }

    /// Keep what was measured about tests.
    pub(crate) fn features(&mut self, measured: &[(TestId, Features)]) {
        if self.trouble.is_none() {
            let kept = self.history.borrow_mut().record_features(measured);
            self.note(kept);
        }
    }

    pub(crate) fn finish(&mut self, findings: &Findings) {
        if self.trouble.is_none() {
            let finished = self.history.borrow_mut().finish(findings);
            self.note(finished);
        }
    }

    /// The open run proves nothing about its code.
    pub(crate) fn unsettle(&mut self) {
        if self.trouble.is_none() {
            let noted = self.history.borrow_mut().unsettle();
            self.note(noted);
        }
    }

    pub(crate) fn begin_hunt(&mut self, hunt: &HuntRecord) {
        let begun = self.history.borrow_mut().begin_hunt(hunt);
        self.note(begun);
    }

    /// The last hunt of a command that was not finished.
    pub(crate) fn unfinished_hunt(&mut self, command: &[String]) -> Option<HuntRecord> {
        let found = self.history.borrow().unfinished_hunt(command);
        match found {
            Ok(found) => found,
            Err(trouble) => {
                self.note(Err(trouble));
                None
            }
        }
    }

    /// Keep one trial of a hunt.
    pub(crate) fn trial(&mut self, key: &str, trial: &TrialRecord) {
        if self.trouble.is_none() {
            let kept = self.history.borrow_mut().record_trial(key, trial);
            self.note(kept);
        }
    }

    pub(crate) fn finish_hunt(&mut self, findings: &HuntFindings) {
        if self.trouble.is_none() {
            let finished = self.history.borrow_mut().finish_hunt(findings);
            self.note(finished);
        }
    }

    /// How long each test took before, as far as it is known.
    pub(crate) fn durations(&self) -> BTreeMap<TestId, Duration> {
        self.history.borrow().durations().unwrap_or_default()
    }

    /// Whether there is a history that could not be read.
    pub(crate) fn is_unreadable(&self) -> bool {
        match &self.trouble {
            Some(HistoryError::Newer { .. } | HistoryError::Unreadable { .. }) => true,
            Some(HistoryError::Unwritable { .. }) | None => false,
        }
    }

    /// What the user should know about it.
    pub(crate) fn notices(&self) -> Option<Notice> {
        let trouble = self.trouble.as_ref()?;
        let next = match trouble {
            HistoryError::Newer { .. } => {
                "update flakeproof, or name another file with `--store`; without the history, \
                 flaky failures count as failures"
            }
            HistoryError::Unreadable { .. } => {
                "move the file away, or name another with `--store`; without the history, \
                 flaky failures count as failures"
            }
            HistoryError::Unwritable { .. } => {
                "this run is not kept; name a place that can be written with `--store`"
            }
        };
        Some(Notice { what: trouble.to_string(), next: next.to_owned() })
    }

    /// What the user should know about it after a hunt.
    pub(crate) fn hunt_notice(&self) -> Option<Notice> {
        let trouble = self.trouble.as_ref()?;
        let next = match trouble {
            HistoryError::Newer { .. } => "update flakeproof, or name another file with `--store`",
            HistoryError::Unreadable { .. } => "move the file away, or name another with `--store`",
            HistoryError::Unwritable { .. } => "name a place that can be written with `--store`",
        };
        let next = format!("{next}; this hunt is not kept and cannot be resumed");
        Some(Notice { what: trouble.to_string(), next })
    }

    fn note(&mut self, done: Result<(), HistoryError>) {
        if let Err(trouble) = done {
            self.trouble.get_or_insert(trouble);
        }
    }
}
