//! Which files are under version control.

use std::collections::HashSet;

use super::change::NoChange;
use super::program::ask;
use super::repository::Repository;

impl Repository {
    /// The paths of all files in the index, relative to the root.
    ///
    /// # Errors
    /// When git cannot tell.
    pub fn tracked_files(&self) -> Result<HashSet<String>, NoChange> {
        let listed = ask(self.root(), &["ls-files", "-z"])
            .map_err(|failure| NoChange::GitFailed { reason: failure.reason() })?;
        Ok(listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }
}
