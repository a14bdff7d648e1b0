//! Removing what tests leave on disk.
//!
//! Everything in a folder is listed once at the beginning, by name and by identity. Later, files and
//! empty folders that git neither tracks nor ignores are removed if neither their name nor they
//! themselves were there at the beginning: a file that a test moved elsewhere keeps its identity. No
//! link is followed, no folder is removed with something in it, and another repository inside is not
//! entered. git itself is only asked.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::listing::{Listing, RepositoryPath};
use super::program::{Failure, ask};
use super::repository::{NoRepository, Repository};
use crate::system::{self, bytes_of};

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
type Identity = ((u64, u64), Option<SystemTime>);

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
            edited: Listing::ask(&repository)?.edited,
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
        let now = Listing::ask(&self.repository)?.edited;
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
            |kept: &PathBuf| bytes_of(path.as_os_str()).starts_with(&bytes_of(kept.as_os_str()));
        is_plain
            && metadata.is_dir() == is_folder
            && !RepositoryPath::of(below).is_own()
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
    (system::identity(metadata), metadata.created().ok())
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
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::super::sandbox::Sandbox;
    use super::*;

    fn sandbox() -> Sandbox {
        let sandbox = Sandbox::with([
            ("a.py", "1\n"),
            ("data/keep.csv", "1\n"),
            (".gitignore", "*.log\nout/\n"),
        ]);
        sandbox.write("mine.txt", "not yet added\n");
        sandbox.write("run.log", "ignored\n");
        sandbox
    }

    fn begin(sandbox: &Sandbox) -> Tidying {
        Tidying::begin(&sandbox.path(""), Vec::new()).unwrap()
    }

    fn is_there(sandbox: &Sandbox, name: &str) -> bool {
        sandbox.path(name).symlink_metadata().is_ok()
    }

    #[test]
    fn what_tests_leave_is_removed_and_the_rest_stays() {
        let sandbox = sandbox();
        let tidying = begin(&sandbox);
        sandbox.write("data/left/deep/file.csv", "x");
        sandbox.write("left.txt", "x");
        fs::create_dir_all(sandbox.path("empty/inside")).unwrap();
        let mut removed = tidying.tidy().unwrap();
        removed.sort();
        let expected = [
            "data/left",
            "data/left/deep",
            "data/left/deep/file.csv",
            "empty",
            "empty/inside",
            "left.txt",
        ];
        assert_eq!(removed, expected);
        for name in ["a.py", "data/keep.csv", ".gitignore", "mine.txt", "run.log"] {
            assert!(is_there(&sandbox, name), "{name}");
        }
        assert_eq!(tidying.tidy().unwrap(), [""; 0]);
    }

    #[test]
    fn ignored_files_and_folders_stay() {
        let sandbox = sandbox();
        let tidying = begin(&sandbox);
        sandbox.write("new.log", "x");
        sandbox.write("left/new.log", "x");
        fs::create_dir(sandbox.path("out")).unwrap();
        assert_eq!(tidying.tidy().unwrap(), [""; 0]);
        assert!(is_there(&sandbox, "left/new.log") && is_there(&sandbox, "out"));
    }

    #[test]
    fn what_was_ignored_at_the_beginning_stays_when_it_no_longer_is() {
        let sandbox = sandbox();
        sandbox.write("out/old.bin", "precious");
        let tidying = begin(&sandbox);
        sandbox.write(".gitignore", "");
        assert_eq!(tidying.tidy().unwrap(), [""; 0]);
        assert!(is_there(&sandbox, "out/old.bin") && is_there(&sandbox, "run.log"));
        assert_eq!(tidying.edited_since().unwrap(), [".gitignore"]);
    }

    #[test]
    fn what_was_moved_stays() {
        let sandbox = sandbox();
        let tidying = begin(&sandbox);
        fs::rename(sandbox.path("mine.txt"), sandbox.path("moved.txt")).unwrap();
        fs::rename(sandbox.path("data"), sandbox.path("elsewhere")).unwrap();
        assert_eq!(tidying.tidy().unwrap(), [""; 0]);
        assert!(is_there(&sandbox, "moved.txt") && is_there(&sandbox, "elsewhere/keep.csv"));
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let sandbox = sandbox();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("precious"), "x").unwrap();
        let tidying = begin(&sandbox);
        symlink(outside.path(), sandbox.path("to-folder")).unwrap();
        symlink(outside.path().join("precious"), sandbox.path("to-file")).unwrap();
        let mut removed = tidying.tidy().unwrap();
        removed.sort();
        assert_eq!(removed, ["to-file", "to-folder"]);
        assert!(outside.path().join("precious").exists());
    }

    #[test]
    fn a_folder_that_became_a_link_leads_nowhere() {
        let sandbox = sandbox();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "x").unwrap();
        let tidying = begin(&sandbox);
        symlink(outside.path(), sandbox.path("link")).unwrap();
        assert!(!tidying.is_new(&sandbox.path("link/file").canonicalize().unwrap(), false));
        assert!(!tidying.is_new(&tidying.folder.join("link/file"), false));
        assert!(!tidying.is_new(&tidying.folder.join("data/../../x"), false));
    }

    #[test]
    fn another_repository_inside_is_not_entered() {
        let sandbox = sandbox();
        let tidying = begin(&sandbox);
        fs::create_dir_all(sandbox.path("inner/empty")).unwrap();
        sandbox.git(&["init", "-q", "inner"]);
        sandbox.write("inner/file.txt", "x");
        assert_eq!(tidying.tidy().unwrap(), [""; 0]);
        assert!(is_there(&sandbox, "inner/file.txt") && is_there(&sandbox, "inner/empty"));
    }

    #[test]
    fn what_others_still_write_and_our_own_files_stay() {
        let sandbox = sandbox();
        let history = sandbox.path("").canonicalize().unwrap().join("history.db");
        let tidying = Tidying::begin(&sandbox.path(""), vec![history]).unwrap();
        for name in ["history.db", "history.db-wal", ".flakeproof/history.db"] {
            sandbox.write(name, "x");
        }
        assert_eq!(tidying.tidy().unwrap(), [""; 0]);
        assert!(
            is_there(&sandbox, "history.db-wal") && is_there(&sandbox, ".flakeproof/history.db")
        );
    }

    #[test]
    fn only_the_folder_itself_is_tidied() {
        let sandbox = sandbox();
        let tidying = Tidying::begin(&sandbox.path("data"), Vec::new()).unwrap();
        sandbox.write("beside.txt", "x");
        sandbox.write("data/left.txt", "x");
        assert_eq!(tidying.tidy().unwrap(), ["left.txt"]);
        assert!(is_there(&sandbox, "beside.txt"));
    }

    #[test]
    fn a_folder_without_git_is_not_tidied() {
        let folder = tempfile::tempdir().unwrap();
        let refused = Tidying::begin(folder.path(), Vec::new());
        assert!(matches!(refused, Err(CannotTidy::NoRepository(NoRepository::NotARepository))));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
        #[test]
        fn nothing_that_was_there_is_ever_removed(
            before in prop::collection::btree_set("[ab]/[abc]{1,2}", 1..8),
            after in prop::collection::btree_set("[abx]/[abc]{1,2}", 1..8),
            is_committed: bool,
        ) {
            let sandbox = sandbox();
            before.iter().for_each(|name| sandbox.write(name, "before"));
            if is_committed {
                sandbox.commit([]);
            }
            let tidying = begin(&sandbox);
            after.iter().for_each(|name| sandbox.write(name, "after"));
            tidying.tidy().unwrap();
            for name in before.iter().map(String::as_str).chain(["a.py", "mine.txt", "run.log"]) {
                prop_assert!(is_there(&sandbox, name), "{}", name);
            }
            for name in after.difference(&before) {
                prop_assert!(!is_there(&sandbox, name), "{}", name);
            }
        }
    }
}
