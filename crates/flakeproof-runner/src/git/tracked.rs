//! Which files are under version control, and which are not.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::change::NoChange;
use super::program::ask;
use super::repository::Repository;

impl Repository {
    /// The paths of all files in the index, relative to the root.
    ///
    /// # Errors
    /// When git cannot tell.
    pub fn tracked_files(&self) -> Result<HashSet<String>, NoChange> {
        self.listed(&["ls-files", "-z"]).map(|paths| paths.into_iter().collect())
    }

    /// All files and folders that git was told to ignore; `None` where there are more than so many.
    ///
    /// # Errors
    /// When git cannot tell.
    pub fn ignored_files(&self, most: usize) -> Result<Option<Vec<PathBuf>>, NoChange> {
        let question =
            ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let mut files = Vec::new();
        for path in self.listed(&question)? {
            walk(&self.root().join(path), most, &mut files);
        }
        Ok((files.len() <= most).then_some(files))
    }

    fn listed(&self, question: &[&str]) -> Result<Vec<String>, NoChange> {
        let listed = ask(self.root(), question)
            .map_err(|failure| NoChange::GitFailed { reason: failure.reason() })?;
        Ok(listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }
}

/// Add what is at a path, and below it, as long as there is room for it.
fn walk(path: &Path, most: usize, files: &mut Vec<PathBuf>) {
    if files.len() > most {
        return;
    }
    let is_folder = path.symlink_metadata().is_ok_and(|it| it.is_dir());
    match std::fs::read_dir(path) {
        Ok(entries) if is_folder => {
            // Its own time tells of a file that is gone.
            files.push(path.to_path_buf());
            entries.filter_map(Result::ok).for_each(|it| walk(&it.path(), most, files));
        }
        _ => files.push(path.to_path_buf()),
    }
}
