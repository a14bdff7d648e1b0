//! The code now, in a form that can be kept: the revision, and a digest of each edited file.

use std::collections::BTreeMap;

use flakeproof_core::TreeState;

use super::digest::digest_of;
use super::listing::Listing;
use super::repository::Repository;

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
        let Ok(listing) = Listing::of(self) else { return TreeState::default() };
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
        let size = |path: &super::path::RepositoryPath| {
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

#[cfg(test)]
mod tests {
    use super::super::digest::{ABSENT, UNKNOWN};
    use super::super::sandbox::Sandbox;
    use super::*;

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
        let listing = Listing::of(&repository).unwrap();
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
}
