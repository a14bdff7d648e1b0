//! What the history knows about flaky tests.

use std::path::Path;

use flakeproof_core::{History, HistoryError, KnownFlaky};
use flakeproof_store::SqliteHistory;

use super::forest_data;
use crate::problem::Problem;

/// Every test of the project that a hunt found to be flaky; none if there is no history.
pub(super) fn flaky_tests(store: Option<&Path>, folder: &Path) -> Result<Vec<KnownFlaky>, Problem> {
    let Some(history) = history(store, folder)? else { return Ok(Vec::new()) };
    history.known_flaky().map_err(|error| unreadable(&error))
}

/// The history of the project, if there is one; one that was named must be there.
pub(super) fn history(
    store: Option<&Path>,
    folder: &Path,
) -> Result<Option<SqliteHistory>, Problem> {
    let path = forest_data::place(store, folder)?;
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
pub(super) fn unreadable(error: &HistoryError) -> Problem {
    Problem::usage(error.to_string(), "name another history with `--store`, or hunt again")
}
