//! Where a history is, and what trouble at that place means.
//!
//! Every error names the file. A damaged file is told apart from one that cannot be written,
//! because the way out differs: move it away, or make room, or ask for permission.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use flakeproof_core::HistoryError;
use rusqlite::ErrorCode;

/// The file that holds a history.
#[derive(Debug, Clone)]
pub(crate) struct Place(PathBuf);

impl Place {
    /// The place at an absolute form of `path`, so that a later change of the working directory
    /// does not move it, and no path has a special meaning for SQLite.
    pub(crate) fn new(path: &Path) -> Result<Self, HistoryError> {
        std::path::absolute(path).map(Self).map_err(|cause| HistoryError::Unwritable {
            place: path.display().to_string(),
            cause: cause.to_string(),
        })
    }

    /// The file's absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The history is damaged, or is none.
    pub(crate) fn unreadable(&self, cause: impl Display) -> HistoryError {
        HistoryError::Unreadable { place: self.to_string(), cause: cause.to_string() }
    }

    /// The history cannot be written.
    pub(crate) fn unwritable(&self, cause: impl Display) -> HistoryError {
        HistoryError::Unwritable { place: self.to_string(), cause: cause.to_string() }
    }

    /// The history was written by a newer version.
    pub(crate) fn newer(&self, found: u32, known: u32) -> HistoryError {
        HistoryError::Newer { place: self.to_string(), found, known }
    }

    /// What an error of SQLite means for the history.
    ///
    /// A file that is no database, broken pages, missing tables and values of the wrong type are
    /// damage. The rest (no space, no permission, locked by someone for too long) is not.
    pub(crate) fn fault(&self, error: &rusqlite::Error) -> HistoryError {
        let is_damage = matches!(
            error.sqlite_error_code(),
            None | Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
        );
        if is_damage { self.unreadable(error) } else { self.unwritable(error) }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.display().fmt(f)
    }
}
