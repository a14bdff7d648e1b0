//! The history of a project: where it is, opened for a command, and what it knows of flaky tests;
//! and keeping what happens while tests run, and going on when it cannot be kept.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Features, Findings, History, HistoryError, HuntFindings, HuntRecord, KnownFlaky,
    Notice, RunRecord, Scores, TestId, TrialRecord,
};
use flakeproof_detect::triage::Event;
use flakeproof_store::{MemoryHistory, Store, StoreLocation, TeamHistory, Unsent};

use super::sharing::cannot_share;
use crate::problem::Problem;
use crate::settings::{ConfigurationFile, StoreName, locate};
use crate::view;

/// Every test of the project that a hunt found to be flaky; none if there is no history.
pub(crate) fn flaky_tests(
    store: Option<&StoreName>,
    folder: &Path,
) -> Result<Vec<KnownFlaky>, Problem> {
    let Some(history) = find(store, folder)? else { return Ok(Vec::new()) };
    history.known_flaky().map_err(|error| unreadable(&error))
}

/// The history of the project, if there is one; one that was named must be there.
pub(crate) fn find(store: Option<&StoreName>, folder: &Path) -> Result<Option<Store>, Problem> {
    let location = locate(store, folder)?;
    if !location.may_be_there() {
        if store.is_some() {
            return Err(Problem::usage(
                format!("there is no history at {location}"),
                "check the path after `--store`",
            ));
        }
        return Ok(None);
    }
    let store = Store::open(&location).map_err(|error| unreadable(&error))?;
    tell_skipped(&store);
    Ok(Some(store))
}

/// Say what of a history counts for nothing, because it is damaged.
fn tell_skipped(store: &Store) {
    if let Store::Objects(history) = store {
        view::segments_skipped(history.skipped());
    }
}

/// The history of the project, as a hint: nothing where it does not answer, for commands that work without
/// it.
pub(crate) fn hint(folder: &Path) -> Result<Option<Store>, Problem> {
    let location = locate(None, folder)?;
    match location.is_shared() {
        true => Ok(Store::open(&location).ok()),
        false => find(None, folder),
    }
}

/// What hunts found, and what it and all runs come to.
pub(crate) fn hunted_and_scores(
    history: &dyn History,
) -> Result<(Vec<KnownFlaky>, Scores), HistoryError> {
    let hunted = history.known_flaky()?;
    let scores = Scores::new(&history.timeline()?, &hunted);
    Ok((hunted, scores))
}

/// The history is there, and cannot be used.
pub(crate) fn unreadable(error: &HistoryError) -> Problem {
    let next = match error {
        HistoryError::Unreachable { .. } => {
            "check the URL and that its server answers; `--store .flakeproof/history.db` asks what is \
             known on this machine"
        }
        HistoryError::Newer { .. } => "update flakeproof, or name another history with `--store`",
        HistoryError::Unreadable { .. } | HistoryError::Unwritable { .. } => {
            "name another history with `--store`, or hunt again"
        }
    };
    Problem::usage(error.to_string(), next)
}

/// The history of the project, made if there is none. What goes to a team's history is kept in the
/// project's own, too.
pub(crate) fn open_or_create(
    store: Option<&StoreName>,
    folder: &Path,
) -> Result<KeptHistory, Problem> {
    let location = locate(store, folder)?;
    KeptHistory::open(&location, folder).map_err(|error| cannot_open(&error))
}

/// The history cannot be opened or written.
pub(crate) fn cannot_open(error: &HistoryError) -> Problem {
    Problem::broken(error.to_string(), next_for(error))
}

fn next_for(error: &HistoryError) -> &'static str {
    match error {
        HistoryError::Newer { .. } => "update flakeproof, or name another history with `--store`",
        HistoryError::Unreadable { .. } => {
            "move the file away, or name another history with `--store`"
        }
        HistoryError::Unreachable { .. } => "check the URL and that its server answers",
        HistoryError::Unwritable { .. } => "name a place that can be written with `--store`",
    }
}

/// A history that is written to: a file, or a team's with the project's own before it.
pub(crate) struct KeptHistory {
    history: Box<dyn History>,
    unsent: Option<Unsent>,
}

impl KeptHistory {
    /// Open the history at a place, for a command that is given in this folder.
    ///
    /// A team's history that does not answer is no error: what is written waits in the project's own.
    pub(crate) fn open(location: &StoreLocation, folder: &Path) -> Result<Self, HistoryError> {
        if !location.is_shared() {
            let history = boxed(Store::open(location)?);
            return Ok(Self { history, unsent: None });
        }
        let project = ConfigurationFile::find(None, folder).map(|file| file.project);
        let project = project.unwrap_or_else(|_| folder.to_path_buf());
        let own = Store::open(&StoreLocation::Project(project)).map(boxed);
        let team = Store::open(location).inspect(tell_skipped).map(boxed);
        let team = TeamHistory::new(own, team)?;
        Ok(Self { unsent: Some(team.unsent()), history: Box::new(team) })
    }

    /// A history that ends with the process.
    pub(crate) fn in_memory() -> Self {
        Self { history: Box::new(MemoryHistory::new()), unsent: None }
    }

    /// What to tell the user if not everything that was written reached the team's history.
    pub(crate) fn unsent_notice(&self) -> Option<Notice> {
        self.unsent.as_ref().and_then(unsent_notice)
    }
}

fn boxed(store: Store) -> Box<dyn History> {
    match store {
        Store::Sqlite(history) => history,
        Store::Postgres(history) => history,
        Store::Objects(history) => history,
    }
}

fn unsent_notice(unsent: &Unsent) -> Option<Notice> {
    let trouble = unsent.trouble()?;
    let (kept, next) = match unsent.is_kept() {
        true => (
            "what happened is kept in this project's own history",
            "send it later: `flakeproof store sync`",
        ),
        false => (
            "what happened is kept nowhere, because the project's own history cannot be written either",
            "check the URL after `--store` and the permissions of `.flakeproof`",
        ),
    };
    Some(Notice { what: format!("{trouble}; {kept}"), next: next.to_owned() })
}

impl std::ops::Deref for KeptHistory {
    type Target = dyn History;

    fn deref(&self) -> &Self::Target {
        &*self.history
    }
}

impl std::ops::DerefMut for KeptHistory {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.history
    }
}

/// What a history that cannot be read means for a run.
const FLAKY_FAIL: &str = "without the history, flaky failures count as failures";

/// The history of this project; in memory if it cannot be kept on disk.
pub(crate) struct Recorder {
    history: Rc<RefCell<Box<dyn History>>>,
    trouble: Option<HistoryError>,
    unsent: Option<Unsent>,
}

impl Recorder {
    /// Open the history, for a command that is given in this folder. Trouble with it never stops a run.
    pub(crate) fn open(store: &StoreLocation, folder: &Path) -> Self {
        match KeptHistory::open(store, folder) {
            Ok(KeptHistory { history, unsent }) => {
                Self { history: Rc::new(RefCell::new(history)), trouble: None, unsent }
            }
            Err(trouble) => Self {
                history: Rc::new(RefCell::new(Box::new(MemoryHistory::new()))),
                trouble: Some(trouble),
                unsent: None,
            },
        }
    }

    /// Open a team's history that nothing stands in for, because others work in it at the same time.
    pub(crate) fn of_team(store: &StoreLocation) -> Result<Self, Problem> {
        let history = Store::open(store).map(boxed).map_err(|error| cannot_open(&error))?;
        Ok(Self { history: Rc::new(RefCell::new(history)), trouble: None, unsent: None })
    }

    /// The history, for those who read it while the run goes on.
    pub(crate) fn shared(&self) -> Rc<RefCell<Box<dyn History>>> {
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

    /// Refuse to go on where there is a history that could not be read, as a shard must: all need the same.
    /// Asked once it was read.
    pub(crate) fn check_readable(&self) -> Result<(), Problem> {
        let of_team = || self.unsent.as_ref().and_then(Unsent::trouble);
        match self.trouble.clone().or_else(of_team) {
            Some(HistoryError::Unwritable { .. }) | None => Ok(()),
            Some(trouble) => Err(cannot_share(&trouble)),
        }
    }

    /// Whether there is a history that could not be read.
    pub(crate) fn is_unreadable(&self) -> bool {
        let of_team = || self.unsent.as_ref().and_then(Unsent::trouble);
        match self.trouble.clone().or_else(of_team) {
            Some(HistoryError::Newer { .. } | HistoryError::Unreadable { .. }) => true,
            // One that does not answer holds back nothing: runs without any history end alike.
            Some(HistoryError::Unreachable { .. } | HistoryError::Unwritable { .. }) | None => {
                false
            }
        }
    }

    /// What the user should know about it.
    pub(crate) fn notices(&self) -> Option<Notice> {
        let Some(trouble) = &self.trouble else {
            let notice = self.unsent.as_ref().and_then(unsent_notice)?;
            return Some(match self.is_unreadable() {
                true => Notice { next: format!("{}; {FLAKY_FAIL}", notice.next), ..notice },
                false => notice,
            });
        };
        let next = next_for(trouble);
        let next = match trouble {
            HistoryError::Newer { .. } | HistoryError::Unreadable { .. } => {
                format!("{next}; {FLAKY_FAIL}")
            }
            HistoryError::Unreachable { .. } | HistoryError::Unwritable { .. } => {
                format!("this run is not kept; {next}")
            }
        };
        Some(Notice { what: trouble.to_string(), next })
    }

    /// What the user should know about it after a hunt.
    pub(crate) fn hunt_notice(&self) -> Option<Notice> {
        let Some(trouble) = &self.trouble else {
            return self.unsent.as_ref().and_then(unsent_notice);
        };
        let next = format!("{}; this hunt is not kept and cannot be resumed", next_for(trouble));
        Some(Notice { what: trouble.to_string(), next })
    }

    fn note(&mut self, done: Result<(), HistoryError>) {
        if let Err(trouble) = done {
            self.trouble.get_or_insert(trouble);
        }
    }
}
