//! The code now, in a form that can be kept: the revision, and a digest of each edited file.
//!
//! Digests of files as they are in the work tree now, before any filter of git's.
//!
//! A digest also tells a file from a program, a link or a repository. Equal digests mean equal
//! content, except for [`UNKNOWN`], which is equal to nothing, itself included.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::Path;

use flakeproof_core::TreeState;

use super::listing::{Listing, RepositoryPath};
use super::repository::Repository;
use crate::system::{bytes_of, is_program};

/// The most edited files that are written down.
const MOST_FILES: usize = 5_000;
/// The most bytes of edited files that are read.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

impl Repository {
    /// The code now: HEAD, and every file that differs from it, with a digest of its content.
    ///
    /// Differing are staged, unstaged, deleted and untracked files, and files that git was told
    /// not to look at (`--assume-unchanged`). Ignored files and flakeproof's own do not count. A
    /// submodule or a nested repository is one entry. If git cannot tell, or if there are more
    /// edits than can be read in a moment, the state is not complete. Calls git twice, and three
    /// more times for each submodule that differs.
    #[must_use]
    pub fn tree_state(&self) -> TreeState {
        let Ok(listing) = Listing::ask(self) else { return TreeState::default() };
        let edited = self.digests(&listing, MOST_FILES, MOST_BYTES);
        TreeState {
            revision: listing.revision,
            branch: listing.branch,
            is_complete: edited.is_some(),
            edited: edited.unwrap_or_default(),
        }
    }

    /// The digest of each file of a listing; `None` if that is too much.
    fn digests(
        &self,
        listing: &Listing,
        most_files: usize,
        most_bytes: u64,
    ) -> Option<BTreeMap<String, String>> {
        let paths = listing.paths();
        let size = |path: &super::listing::RepositoryPath| {
            let metadata = path.beneath(self.root()).symlink_metadata();
            metadata.map_or(0, |metadata| if metadata.is_file() { metadata.len() } else { 0 })
        };
        let bytes = paths.iter().map(|path| size(path)).fold(0, u64::saturating_add);
        if paths.len() > most_files || bytes > most_bytes {
            return None;
        }
        Some(paths.iter().map(|path| (path.text(), digest_of(self.root(), path))).collect())
    }
}

/// The digest of a file that is not there.
pub(super) const ABSENT: &str = "";
/// The digest of what cannot be read, named or listed.
pub(super) const UNKNOWN: &str = "unknown";

const HEX_DIGITS: usize = 16;

/// Whether two digests say that the content is the same.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one == other && one != UNKNOWN
}

/// The digest of a file now.
pub(super) fn digest_of(root: &Path, path: &RepositoryPath) -> String {
    if !path.is_text() {
        return UNKNOWN.to_owned();
    }
    let place = path.beneath(root);
    match place.symlink_metadata() {
        Ok(metadata) => digest_of_present(&place, &metadata).unwrap_or_else(|| UNKNOWN.to_owned()),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => ABSENT.to_owned(),
            _ => UNKNOWN.to_owned(),
        },
    }
}

fn digest_of_present(place: &Path, metadata: &Metadata) -> Option<String> {
    if metadata.is_symlink() {
        let target = std::fs::read_link(place).ok()?;
        return Some(digest("link", |hasher| {
            hasher.update(&bytes_of(target.as_os_str()));
        }));
    }
    if metadata.is_dir() {
        return digest_of_repository(place);
    }
    if !metadata.is_file() {
        // To open a pipe or a device could block or do something.
        return None;
    }
    let mut content = File::open(place).ok()?;
    let is_program = is_program(metadata);
    let mut is_read = true;
    let digest = digest(if is_program { "program" } else { "file" }, |hasher| {
        is_read = std::io::copy(&mut content, hasher).is_ok();
    });
    is_read.then_some(digest)
}

/// A submodule or a nested repository: its revision, and its own edits.
fn digest_of_repository(place: &Path) -> Option<String> {
    let repository = Repository::containing(place).ok()?;
    // A folder without a repository of its own belongs to the one around it.
    if repository.root() != place.canonicalize().ok()? {
        return None;
    }
    let TreeState { revision, branch: _, edited, is_complete } = repository.tree_state();
    if !is_complete || edited.values().any(|digest| digest == UNKNOWN) {
        return None;
    }
    Some(digest("repository", |hasher| {
        hasher.update(revision.unwrap_or_default().as_bytes());
        for text in edited.iter().flat_map(|(path, digest)| [path, digest]) {
            hasher.update(b"\0").update(text.as_bytes());
        }
    }))
}

fn digest(kind: &str, content: impl FnOnce(&mut blake3::Hasher)) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes()).update(b"\0");
    content(&mut hasher);
    hasher.finalize().to_hex().chars().take(HEX_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::Sandbox;
    use super::*;
    use crate::system::make_program;

    fn edited(sandbox: &Sandbox) -> Vec<String> {
        let state = sandbox.repository().tree_state();
        assert!(state.is_complete);
        state.edited.into_keys().collect()
    }

    #[test]
    fn a_clean_tree_is_a_revision_and_a_branch() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let state = sandbox.repository().tree_state();
        assert_eq!(state.revision, Some(sandbox.head()));
        assert_eq!(state.branch.as_deref(), Some("main"));
        assert!(state.is_complete && state.edited.is_empty(), "{state:?}");
    }

    #[test]
    fn before_the_first_commit_there_is_no_revision_but_there_are_edits() {
        let sandbox = Sandbox::empty();
        sandbox.write("a.py", "1\n");
        let state = sandbox.repository().tree_state();
        assert_eq!(state.revision, None);
        assert_eq!(state.branch.as_deref(), Some("main"));
        assert_eq!(state.edited.keys().collect::<Vec<_>>(), ["a.py"]);
    }

    #[test]
    fn a_detached_head_has_no_branch() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.git(&["checkout", "--detach"]);
        assert_eq!(sandbox.repository().tree_state().branch, None);
    }

    #[test]
    fn staged_unstaged_untracked_and_deleted_files_are_edits_and_ignored_ones_are_not() {
        let sandbox = Sandbox::with([
            (".gitignore", "*.log\n"),
            ("deleted.py", "1\n"),
            ("staged.py", "1\n"),
            ("unstaged.py", "1\n"),
        ]);
        sandbox.write("staged.py", "2\n");
        sandbox.git(&["add", "staged.py"]);
        sandbox.write("unstaged.py", "2\n");
        sandbox.remove("deleted.py");
        sandbox.write("new folder/new.py", "2\n");
        sandbox.write("ignored.log", "2\n");
        sandbox.write("sub/.flakeproof/history.db", "2\n");
        let state = sandbox.repository().tree_state();
        let names: Vec<_> = state.edited.keys().collect();
        assert_eq!(names, ["deleted.py", "new folder/new.py", "staged.py", "unstaged.py"]);
        assert_eq!(state.edited["deleted.py"], ABSENT);
        assert_eq!(state.edited["staged.py"], state.edited["unstaged.py"]);
    }

    #[test]
    fn a_file_that_git_was_told_to_trust_is_an_edit() {
        let sandbox = Sandbox::with([("trusted.py", "1\n"), ("skipped.py", "1\n"), ("a", "1\n")]);
        sandbox.git(&["update-index", "--assume-unchanged", "trusted.py"]);
        sandbox.git(&["update-index", "--skip-worktree", "skipped.py"]);
        assert_eq!(edited(&sandbox), ["skipped.py", "trusted.py"]);
    }

    #[test]
    fn a_file_that_was_edited_at_once_and_had_its_time_set_back_is_an_edit() {
        let sandbox = Sandbox::empty();
        let path = sandbox.path("tax.txt");
        let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(24);
        let put = |text: &str| {
            sandbox.write("tax.txt", text);
            let file = File::options().write(true).open(&path).expect("it is there");
            file.set_modified(long_ago).expect("its own time");
        };
        put("07\n");
        sandbox.git(&["add", "tax.txt"]);
        sandbox.git(&["commit", "-m", "tax"]);
        assert_eq!(edited(&sandbox), Vec::<String>::new());
        put("19\n");
        assert_eq!(edited(&sandbox), ["tax.txt"]);
    }

    #[test]
    fn a_file_that_a_sparse_checkout_leaves_out_is_no_edit() {
        let sandbox = Sandbox::with([("in/a.py", "1\n"), ("out/b.py", "1\n")]);
        sandbox.git(&["sparse-checkout", "set", "in"]);
        assert_eq!(edited(&sandbox), Vec::<String>::new());
    }

    #[test]
    fn settings_of_the_user_hide_nothing() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.git(&["config", "status.showUntrackedFiles", "no"]);
        sandbox.git(&["config", "status.relativePaths", "true"]);
        sandbox.git(&["config", "color.ui", "always"]);
        sandbox.write("deep/er/new.py", "2\n");
        assert_eq!(edited(&sandbox), ["deep/er/new.py"]);
    }

    #[test]
    fn names_with_spaces_quotes_and_newlines_stay_as_they_are() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let names = ["a b.py", "line\nbreak.py", "quote\".py", "tab\t.py", "ünïcode.py"];
        names.iter().for_each(|name| sandbox.write(name, "2\n"));
        assert_eq!(edited(&sandbox), names);
    }

    #[test]
    fn a_name_that_is_not_utf8_is_listed_with_an_unknown_digest() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        if sandbox.write_bytes_named(b"caf\xe9.py").is_err() {
            return; // This file system has no such names.
        }
        let state = sandbox.repository().tree_state();
        assert_eq!(state.edited["caf\u{fffd}.py"], UNKNOWN);
    }

    #[test]
    fn a_dirty_submodule_has_another_digest_for_each_content() {
        let inner = Sandbox::with([("inner.py", "1\n")]);
        let outer = Sandbox::with([("a.py", "1\n")]);
        outer.add_submodule(&inner, "sub");
        assert_eq!(edited(&outer), Vec::<String>::new());
        let digest_with = |content: &str| {
            outer.write("sub/inner.py", content);
            outer.repository().tree_state().edited.remove("sub").unwrap()
        };
        let (two, three, two_again) = (digest_with("2\n"), digest_with("3\n"), digest_with("2\n"));
        assert_ne!(two, three);
        assert_eq!(two, two_again);
        assert_ne!(two, UNKNOWN);
    }

    #[test]
    fn a_nested_repository_is_one_edit_with_the_digest_of_its_state() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.write("nested/b.py", "1\n");
        sandbox.git(&["init", "-q", "nested"]);
        let state = sandbox.repository().tree_state();
        assert_eq!(state.edited.keys().collect::<Vec<_>>(), ["nested"]);
        assert_eq!(state.edited["nested"].len(), 16);
        sandbox.write("nested/b.py", "2\n");
        assert_ne!(sandbox.repository().tree_state(), state);
    }

    #[test]
    fn more_edits_than_are_read_in_a_moment_are_not_listed() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.write("b.py", "12345");
        sandbox.write("c.py", "12345");
        let repository = sandbox.repository();
        let listing = Listing::ask(&repository).unwrap();
        assert!(repository.digests(&listing, 2, 10).is_some());
        assert!(repository.digests(&listing, 1, 10).is_none());
        assert!(repository.digests(&listing, 2, 9).is_none());
    }

    #[test]
    fn a_repository_that_is_gone_has_no_complete_state() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let repository = sandbox.repository();
        sandbox.remove(".git");
        assert_eq!(repository.tree_state(), TreeState::default());
    }

    #[test]
    fn reading_the_state_does_not_write_the_index() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.touch("a.py");
        let before = sandbox.index();
        let _ = sandbox.repository().tree_state();
        assert_eq!(sandbox.index(), before);
    }

    fn digest_in(folder: &Path, name: &str) -> String {
        digest_of(folder, &RepositoryPath::from(name))
    }

    #[test]
    fn a_file_a_program_and_a_link_with_the_same_text_differ() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        std::fs::write(folder.path().join("program"), "text").unwrap();
        make_program(&folder.path().join("program")).unwrap();
        std::os::unix::fs::symlink("text", folder.path().join("link")).unwrap();
        let digests = ["file", "program", "link"].map(|name| digest_in(folder.path(), name));
        assert!(digests.iter().all(|digest| digest.len() == HEX_DIGITS), "{digests:?}");
        assert_ne!(digests[0], digests[1]);
        assert_ne!(digests[0], digests[2]);
        assert_ne!(digests[1], digests[2]);
    }

    #[test]
    fn what_is_not_there_is_absent_also_below_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        assert_eq!(digest_in(folder.path(), "nothing"), ABSENT);
        assert_eq!(digest_in(folder.path(), "file/below"), ABSENT);
    }

    #[test]
    fn the_unknown_is_not_even_the_same_as_itself() {
        assert!(!is_same(UNKNOWN, UNKNOWN));
        assert!(is_same(ABSENT, ABSENT));
    }

    #[test]
    fn a_name_that_is_not_utf8_has_an_unknown_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = RepositoryPath::new(b"caf\xe9");
        assert_eq!(digest_of(folder.path(), &path), UNKNOWN);
    }
}
