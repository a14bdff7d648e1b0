//! A history that is open, wherever it is.
//!
//! Whatever every history can do is in [`History`], to which a [`Store`] dereferences. What only one
//! kind can do is a method here that says so, or of the kind itself.

use std::ops::{Deref, DerefMut};

use flakeproof_core::{CauseRecord, History, HistoryError};

use crate::location::project_file;
use crate::{
    ObjectHistory, PostgresHistory, Pruned, Pruning, SqliteHistory, StoreLocation, StoreStats,
    WholeHunt, WholeRun,
};

/// A history that is open, wherever it is.
#[derive(Debug)]
pub enum Store {
    /// In an SQLite file.
    Sqlite(Box<SqliteHistory>),
    /// In PostgreSQL.
    Postgres(Box<PostgresHistory>),
    /// In an object store.
    Objects(Box<ObjectHistory>),
}

impl Store {
    /// Open the history at a place, or make it there.
    ///
    /// # Errors
    /// When it cannot be reached, read or written, or a newer version wrote it.
    pub fn open(location: &StoreLocation) -> Result<Self, HistoryError> {
        match location {
            StoreLocation::Project(folder) => {
                SqliteHistory::in_project(folder).map(Box::new).map(Self::Sqlite)
            }
            StoreLocation::File(path) => SqliteHistory::open(path).map(Box::new).map(Self::Sqlite),
            StoreLocation::Postgres(address) => {
                PostgresHistory::open((**address).clone()).map(Box::new).map(Self::Postgres)
            }
            StoreLocation::Objects(address) => {
                ObjectHistory::open(address).map(Box::new).map(Self::Objects)
            }
        }
    }

    /// Open a history that is there for looking only: nothing that is done with it changes it.
    ///
    /// # Errors
    /// When it is missing, cannot be reached or read, or another version wrote it.
    pub fn look(location: &StoreLocation) -> Result<Self, HistoryError> {
        match location {
            StoreLocation::Project(folder) => {
                SqliteHistory::look(&project_file(folder)).map(Box::new).map(Self::Sqlite)
            }
            StoreLocation::File(path) => SqliteHistory::look(path).map(Box::new).map(Self::Sqlite),
            StoreLocation::Postgres(address) => {
                PostgresHistory::look((**address).clone()).map(Box::new).map(Self::Postgres)
            }
            StoreLocation::Objects(address) => {
                ObjectHistory::look(address).map(Box::new).map(Self::Objects)
            }
        }
    }

    /// Make the digests of runs that an older version kept, and of runs that were killed long ago, so
    /// that whoever only looks finds them.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub fn make_digests(&self) -> Result<(), HistoryError> {
        match self {
            Self::Sqlite(history) => history.make_digests(),
            // Whoever asks makes them.
            Self::Postgres(_) | Self::Objects(_) => Ok(()),
        }
    }

    /// A text that differs once anybody else has written to the history.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn stamp(&self) -> Result<String, HistoryError> {
        match self {
            Self::Sqlite(history) => history.stamp().map(|stamp| stamp.to_string()),
            Self::Postgres(history) => history.stamp(),
            Self::Objects(history) => history.cache().stamp().map(|stamp| stamp.to_string()),
        }
    }
}

impl Store {
    /// What the history holds, and how much room it takes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn stats(&self) -> Result<StoreStats, HistoryError> {
        match self {
            Self::Sqlite(history) => history.stats(),
            Self::Postgres(history) => history.stats(),
            Self::Objects(history) => history.cache().stats(),
        }
    }

    /// What pruning would remove; `None` where nothing is pruned by this program.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn prune_outlook(&self, pruning: &Pruning) -> Result<Option<Pruned>, HistoryError> {
        match self {
            Self::Sqlite(history) => history.prune_outlook(pruning).map(Some),
            Self::Postgres(_) | Self::Objects(_) => Ok(None),
        }
    }

    /// All runs, oldest first, and whether each is finished.
    pub(crate) fn run_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        match self {
            Self::Sqlite(history) => history.run_states(),
            Self::Postgres(history) => history.run_states(),
            Self::Objects(history) => history.run_states(),
        }
    }

    /// The run with this id, with everything that is kept of it.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn whole_run(&self, id: &str) -> Result<Option<WholeRun>, HistoryError> {
        match self {
            Self::Sqlite(history) => history.whole_run(id),
            Self::Postgres(history) => history.whole_run(id),
            Self::Objects(history) => history.cache().whole_run(id),
        }
    }

    /// Keep a run, unless it is there and finished; says whether that changed anything.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub fn put_run(&mut self, run: &WholeRun) -> Result<bool, HistoryError> {
        match self {
            Self::Sqlite(history) => history.put_run(run),
            Self::Postgres(history) => history.put_run(run),
            Self::Objects(history) => history.put_run(run),
        }
    }

    /// All hunts, oldest first, and whether each is over.
    pub(crate) fn hunt_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        match self {
            Self::Sqlite(history) => history.hunt_states(),
            Self::Postgres(history) => history.hunt_states(),
            Self::Objects(history) => history.hunt_states(),
        }
    }

    /// The hunt with this id, with everything that is kept of it.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn whole_hunt(&self, id: &str) -> Result<Option<WholeHunt>, HistoryError> {
        match self {
            Self::Sqlite(history) => history.whole_hunt(id),
            Self::Postgres(history) => history.whole_hunt(id),
            Self::Objects(history) => history.cache().whole_hunt(id),
        }
    }

    /// Keep a hunt, unless it is there and over; says whether that changed anything.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub fn put_hunt(&mut self, hunt: &WholeHunt) -> Result<bool, HistoryError> {
        match self {
            Self::Sqlite(history) => history.put_hunt(hunt),
            Self::Postgres(history) => history.put_hunt(hunt),
            Self::Objects(history) => history.put_hunt(hunt),
        }
    }

    /// Every experiment as it was kept last, oldest first.
    pub(crate) fn all_causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        match self {
            Self::Sqlite(history) => history.all_causes(),
            Self::Postgres(history) => history.all_causes(),
            Self::Objects(history) => history.cache().all_causes(),
        }
    }
}

impl Deref for Store {
    type Target = dyn History;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Sqlite(history) => &**history,
            Self::Postgres(history) => &**history,
            Self::Objects(history) => &**history,
        }
    }
}

impl DerefMut for Store {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Sqlite(history) => &mut **history,
            Self::Postgres(history) => &mut **history,
            Self::Objects(history) => &mut **history,
        }
    }
}
