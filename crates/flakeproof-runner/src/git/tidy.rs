//! Removing what tests leave on disk.
//!
//! Everything in a folder is listed once at the beginning, by name and by identity. Later, files and
//! empty folders that git neither tracks nor ignores are removed if neither their name nor they
//! themselves were there at the beginning: a file that a test moved elsewhere keeps its identity. No
//! link is followed, no folder is removed with something in it, and another repository inside is not
//! entered. git itself is only asked.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::listing::{Listing, RepositoryPath};
use super::program::{Failure, ask};
use super::repository::{NoRepository, Repository};

/// Why a folder cannot be tidied.
#[derive(Debug, thiserror::Error)]
pub enum CannotTidy {
    /// It is in no repository, so that nobody knows what belongs there.
    #[error(transparent)]
    NoRepository(#[from] NoRepository),
    /// git gave no answer.
    #[error("git cannot tell what belongs to the project: {reason}")]
    GitFailed {
        /// What git said, or why it said nothing.
        reason: String,
    },
    /// What is there cannot be listed, so that nothing may be removed.
    #[error("{} cannot be listed", path.display())]
    Unlisted {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl From<Failure> for CannotTidy {
    fn from(failure: Failure) -> Self {
        Self::GitFailed { reason: failure.reason() }
    }
}

/// A folder as it was at the beginning.
#[derive(Debug)]
pub struct Tidying {
    folder: PathBuf,
    repository: Repository,
    /// The path of everything that was there.
    paths: HashSet<PathBuf>,
    /// Everything that was there, whatever it is called now.
    identities: HashSet<Identity>,
    /// Folders that git ignored, which are not looked into.
    ignored: HashSet<PathBuf>,
    /// Tracked files that differed already.
    edited: BTreeSet<RepositoryPath>,
    /// Whatever begins like this is somebody's who is still at work.
    kept: Vec<PathBuf>,
}

/// Device, number, and time of birth where the file system tells it: numbers are given anew.
type Identity = (u64, u64, Option<SystemTime>);

impl Tidying {
    /// List everything in a folder of a work tree. Files whose path begins with one of `kept` are never
    /// removed.
    ///
    /// # Errors
    /// When the folder is in no work tree, or cannot be listed completely.
    pub fn begin(folder: &Path, kept: Vec<PathBuf>) -> Result<Self, CannotTidy> {
        let repository = Repository::containing(folder)?;
        let unlisted = |source| CannotTidy::Unlisted { path: folder.to_path_buf(), source };
        let folder = folder.canonicalize().map_err(unlisted)?;
        let mut tidying = Self {
            edited: Listing::of(&repository)?.edited,
            repository,
            paths: HashSet::new(),
            identities: HashSet::new(),
            ignored: HashSet::new(),
            kept,
            folder,
        };
        let mut everything = Vec::new();
        list(&tidying.folder, &|_| true, &mut everything)?;
        for (path, metadata) in everything {
            tidying.identities.insert(identity(&metadata));
            tidying.paths.insert(path);
        }
        // Also as git spells it: some file systems give names back in another form.
        let others = ["ls-files", "--others", "-z"];
        tidying.paths.extend(tidying.listed(&others)?.into_iter().map(|(path, _)| path));
        let ignored =
            ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let folders = tidying.listed(&ignored)?.into_iter().filter(|(_, is_folder)| *is_folder);
        tidying.ignored = folders.map(|(path, _)| path).collect();
        Ok(tidying)
    }

    /// Remove what has come since the beginning and git neither tracks nor ignores; gives the paths
    /// of what was removed, relative to the folder.
    ///
    /// # Errors
    /// When git gives no answer, or the folder cannot be listed. What cannot be removed stays.
    pub fn tidy(&self) -> Result<Vec<String>, CannotTidy> {
        let mut removed = Vec::new();
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        for (path, is_folder) in self.listed(&others)? {
            // A folder here is another repository.
            if !is_folder && self.is_new(&path, false) && fs::remove_file(&path).is_ok() {
                removed.push(self.name(&path));
            }
        }
        let mut entries = Vec::new();
        list(&self.folder, &|path| self.is_entered(path), &mut entries)?;
        // What is inside comes after its folder, and must go first.
        for (path, _) in entries.iter().rev().filter(|(_, metadata)| metadata.is_dir()) {
            let is_empty = || fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none());
            let is_leftover = self.is_new(path, true) && is_empty() && !self.is_ignored(path);
            // The system refuses to remove a folder that is not empty.
            if is_leftover && fs::remove_dir(path).is_ok() {
                removed.push(self.name(path));
            }
        }
        Ok(removed)
    }

    /// Tracked files that differ and did not at the beginning.
    ///
    /// # Errors
    /// When git gives no answer.
    pub fn edited_since(&self) -> Result<Vec<String>, CannotTidy> {
        let now = Listing::of(&self.repository)?.edited;
        Ok(now.difference(&self.edited).map(RepositoryPath::text).collect())
    }

    /// What git lists in the folder, and whether it is a folder.
    fn listed(&self, question: &[&str]) -> Result<Vec<(PathBuf, bool)>, Failure> {
        let printed = ask(&self.folder, question)?;
        let records = printed.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        let path = |record: &[u8]| {
            (RepositoryPath::new(record).beneath(&self.folder), record.ends_with(b"/"))
        };
        Ok(records.map(path).collect())
    }

    /// Whether something came after the beginning and is nobody's who is still at work.
    fn is_new(&self, path: &Path, is_folder: bool) -> bool {
        let Ok(below) = path.strip_prefix(&self.folder) else { return false };
        let Ok(metadata) = path.symlink_metadata() else { return false };
        let is_plain = below.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        let is_kept =
            |kept: &PathBuf| path.as_os_str().as_bytes().starts_with(kept.as_os_str().as_bytes());
        is_plain
            && metadata.is_dir() == is_folder
            && !RepositoryPath::new(below.as_os_str().as_bytes()).is_own()
            && !self.paths.contains(path)
            && !self.identities.contains(&identity(&metadata))
            && !self.kept.iter().any(is_kept)
            && self.leads_through_folders(path)
    }

    /// Whether no folder on the way from the project to a path is a link.
    fn leads_through_folders(&self, path: &Path) -> bool {
        let parents = path.ancestors().skip(1).take_while(|it| *it != self.folder);
        parents.into_iter().all(|it| it.symlink_metadata().is_ok_and(|found| found.is_dir()))
    }

    /// Whether a folder is looked into.
    fn is_entered(&self, path: &Path) -> bool {
        !self.ignored.contains(path)
            && path.file_name().is_none_or(|name| name != ".flakeproof")
            && path.join(".git").symlink_metadata().is_err()
            // A test may leave a folder that nobody can read; it stays.
            && fs::read_dir(path).is_ok()
    }

    /// Whether git ignores a folder; also if it cannot tell.
    fn is_ignored(&self, folder: &Path) -> bool {
        let Some(path) = folder.to_str() else { return true };
        let path = format!("{path}/");
        match ask(&self.folder, &["check-ignore", "--quiet", "--", &path]) {
            Err(Failure::Refused { code: Some(1), .. }) => false,
            Ok(_) | Err(_) => true,
        }
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).to_string_lossy().into_owned()
    }
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino(), metadata.created().ok())
}

/// Everything below a folder, a folder before what is in it; git's own files are left out.
fn list(
    folder: &Path,
    is_entered: &dyn Fn(&Path) -> bool,
    found: &mut Vec<(PathBuf, Metadata)>,
) -> Result<(), CannotTidy> {
    let unlisted = |source| CannotTidy::Unlisted { path: folder.to_path_buf(), source };
    for entry in fs::read_dir(folder).map_err(unlisted)? {
        let path = entry.map_err(unlisted)?.path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            // Gone since.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unlisted(error)),
        };
        let is_folder = metadata.is_dir();
        found.push((path.clone(), metadata));
        if is_folder && is_entered(&path) {
            list(&path, is_entered, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
