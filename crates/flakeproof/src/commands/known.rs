//! What the history knows about flaky tests.

use std::path::Path;

use flakeproof_core::{History, KnownFlaky};
use flakeproof_store::SqliteHistory;

use super::forest_data;
use crate::problem::Problem;

/// Every test of the project that a hunt found to be flaky; none if there is no history.
pub(super) fn flaky_tests(store: Option<&Path>, folder: &Path) -> Result<Vec<KnownFlaky>, Problem> {
    let path = forest_data::place(store, folder)?;
    if !path.is_file() {
        if store.is_some() {
            return Err(Problem::usage(
                format!("there is no history at {}", path.display()),
                "check the path after `--store`",
            ));
        }
        return Ok(Vec::new());
    }
    SqliteHistory::open(&path).and_then(|history| history.known_flaky()).map_err(|error| {
        Problem::usage(error.to_string(), "name another history with `--store`, or hunt again")
    })
}
