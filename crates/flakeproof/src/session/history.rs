//! The history of a project: where it is, opened for a command, and what it knows of flaky tests.

use std::path::{Path, PathBuf};

use flakeproof_core::{History, HistoryError, KnownFlaky};
use flakeproof_store::SqliteHistory;

use crate::problem::Problem;
use crate::settings::ConfigurationFile;

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
