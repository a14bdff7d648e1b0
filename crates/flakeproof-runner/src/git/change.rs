//! What differs between the code at a base and the code now.

use std::collections::BTreeMap;
use std::path::Path;

use flakeproof_core::{Base, Change, ChangeStatus, TreeState};

use super::differing::{DifferingFiles, status_now};
use super::listing::RepositoryPath;
use super::program::Failure;
use super::repository::Repository;
use super::state::{ABSENT, UNKNOWN, digest_of, is_same};

/// Why it is not known what changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoChange {
    /// You named a revision that is not here.
    #[error("revision `{revision}` is not in this repository")]
    NamedRevisionUnknown {
        /// The revision as it was typed.
        revision: String,
    },
    /// The revision of a pass on record is not here: a shallow clone, or rewritten history.
    #[error("revision {revision} is not in this clone")]
    RevisionUnknown {
        /// The revision on record.
        revision: String,
    },
    /// Which files were edited on top of the revision is not on record.
    #[error("the edits on top of revision {revision} at that run are not on record")]
    EditsUnknown {
        /// The revision checked out at that run.
        revision: String,
    },
    /// The path of the repository is not UTF-8, so that no file in it can be named.
    #[error("the path of the repository is not UTF-8: {root}")]
    RootNotText {
        /// The path, as far as it is text.
        root: String,
    },
    /// git gave no answer.
    #[error("git cannot tell the change: {reason}")]
    GitFailed {
        /// What git said, or why it said nothing.
        reason: String,
    },
}

impl From<Failure> for NoChange {
    fn from(failure: Failure) -> Self {
        Self::GitFailed { reason: failure.reason() }
    }
}

impl Repository {
    /// The files that differ between the code at `base` and the work tree now.
    ///
    /// `then` is the state of the work tree at the run that `base` stands for. A file that was
    /// edited at that time is compared with its edited content; without `then`, with the content
    /// that was committed. A file that only may differ is part of the change.
    ///
    /// # Errors
    ///
    /// The revision is not in this repository, `then` is not complete or is not about that
    /// revision, or git gives no answer.
    pub fn change_since(&self, base: Base, then: Option<&TreeState>) -> Result<Change, NoChange> {
        let Some(root) = self.root().to_str() else {
            return Err(NoChange::RootNotText { root: self.root().display().to_string() });
        };
        let revision = self.revision_of(&base)?;
        let edits_then = then.map(|then| edits_on(&revision, then)).transpose()?;
        let mut files = DifferingFiles::between(&revision, self)?;
        for (path, digest) in edits_then.into_iter().flatten() {
            compare_with_edit(self.root(), &mut files, path, digest);
        }
        Ok(Change { base, root: root.to_owned(), files: files.into_files() })
    }

    /// The full hash of a base.
    fn revision_of(&self, base: &Base) -> Result<String, NoChange> {
        match base {
            Base::Named { revision } => self
                .commit(revision)?
                .ok_or_else(|| NoChange::NamedRevisionUnknown { revision: revision.clone() }),
            Base::PassOnRecord { revision }
            | Base::MergeBase { revision, .. }
            | Base::Parent { revision } => self
                .commit(revision)?
                .ok_or_else(|| NoChange::RevisionUnknown { revision: revision.clone() }),
        }
    }
}

/// The edits of a state, if it is a whole state on top of a revision.
fn edits_on<'a>(
    revision: &str,
    then: &'a TreeState,
) -> Result<&'a BTreeMap<String, String>, NoChange> {
    if then.is_complete && then.revision.as_deref() == Some(revision) {
        return Ok(&then.edited);
    }
    Err(NoChange::EditsUnknown { revision: revision.to_owned() })
}

/// Compare a file with the content that it was edited to, instead of what was committed.
fn compare_with_edit(root: &Path, files: &mut DifferingFiles, path: &str, digest_then: &str) {
    let path = RepositoryPath::from(path);
    let digest_now = digest_of(root, &path);
    let known = files.remove(&path);
    if is_same(digest_then, &digest_now) {
        return;
    }
    let status = if digest_then == UNKNOWN || known == Some(ChangeStatus::Special) {
        ChangeStatus::Special
    } else if digest_now == ABSENT {
        ChangeStatus::Deleted
    } else if digest_then == ABSENT {
        status_now(root, &path, ChangeStatus::Added)
    } else {
        status_now(root, &path, ChangeStatus::Modified)
    };
    files.insert(&path, status);
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use flakeproof_core::ChangeStatus::{Added, Deleted, Modified, Special};

    use super::super::sandbox::Sandbox;
    use super::*;

    /// The change since a run with this state.
    fn since(sandbox: &Sandbox, then: &TreeState) -> Vec<(String, ChangeStatus)> {
        let revision = then.revision.clone().expect("a commit");
        let base = Base::PassOnRecord { revision };
        let change = sandbox.repository().change_since(base, Some(then)).expect("a change");
        change.files.into_iter().map(|file| (file.path, file.status)).collect()
    }

    fn one(path: &str, status: ChangeStatus) -> Vec<(String, ChangeStatus)> {
        vec![(path.to_owned(), status)]
    }

    #[test]
    fn a_change_is_what_was_committed_edited_and_not_yet_added() {
        let sandbox = Sandbox::with([("a.py", " 1\n"), ("b.py", "1\n"), ("same.py", "1\n")]);
        let base = Base::Named { revision: "HEAD~1".into() };
        sandbox.commit([("a.py", "2\n")]);
        sandbox.write("b.py", "2\n");
        sandbox.write("new.py", "2\n");
        let repository = sandbox.repository();
        let change = repository.change_since(base.clone(), None).unwrap();
        assert_eq!(change.base, base);
        assert_eq!(Path::new(&change.root), repository.root());
        let files: Vec<_> = change.files.iter().map(|one| (&*one.path, one.status)).collect();
        assert_eq!(files, [("a.py", Modified), ("b.py", Modified), ("new.py", Added)]);
        assert!(change.files[0].lines.is_some() && change.files[2].lines.is_none());
    }

    #[test]
    fn an_edit_that_was_there_when_the_test_passed_is_no_change() {
        let sandbox = Sandbox::with([("a.py", "1\n"), ("gone.py", "1\n")]);
        sandbox.write("a.py", "2\n");
        sandbox.write("new.py", "1\n");
        sandbox.remove("gone.py");
        let then = sandbox.repository().tree_state();
        assert_eq!(since(&sandbox, &then), vec![]);
        sandbox.commit([]);
        assert_eq!(since(&sandbox, &then), vec![], "committing changes no file");
    }

    #[test]
    fn an_edit_that_was_undone_is_a_change() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.write("a.py", "2\n");
        let then = sandbox.repository().tree_state();
        sandbox.write("a.py", "1\n");
        assert_eq!(since(&sandbox, &then), one("a.py", Modified));
    }

    #[test]
    fn an_edit_that_was_edited_again_is_a_change_without_lines() {
        let sandbox = Sandbox::with([("a.py", "1\n2\n")]);
        sandbox.write("a.py", "one\n2\n");
        let then = sandbox.repository().tree_state();
        sandbox.write("a.py", "1\ntwo\n");
        let base = Base::PassOnRecord { revision: sandbox.head() };
        let change = sandbox.repository().change_since(base, Some(&then)).unwrap();
        assert_eq!(change.files.len(), 1);
        assert_eq!((change.files[0].status, &change.files[0].lines), (Modified, &None));
    }

    #[test]
    fn a_new_file_that_is_gone_is_deleted_and_a_deleted_one_that_is_back_is_added() {
        let sandbox = Sandbox::with([("back.py", "1\n")]);
        sandbox.write("new.py", "1\n");
        sandbox.remove("back.py");
        let then = sandbox.repository().tree_state();
        sandbox.remove("new.py");
        sandbox.write("back.py", "1\n");
        let expected = [one("back.py", Added), one("new.py", Deleted)].concat();
        assert_eq!(since(&sandbox, &then), expected);
    }

    #[test]
    fn a_new_edit_is_a_change_beside_an_old_one() {
        let sandbox = Sandbox::with([("a.py", "1\n"), ("b.py", "1\n")]);
        sandbox.write("a.py", "2\n");
        let then = sandbox.repository().tree_state();
        sandbox.write("b.py", "2\n");
        assert_eq!(since(&sandbox, &then), one("b.py", Modified));
    }

    #[test]
    fn a_submodule_that_is_as_dirty_as_it_was_is_no_change() {
        let inner = Sandbox::with([("inner.py", "1\n")]);
        let outer = Sandbox::with([("a.py", "1\n")]);
        outer.add_submodule(&inner, "sub");
        outer.write("sub/inner.py", "2\n");
        let then = outer.repository().tree_state();
        assert_eq!(since(&outer, &then), vec![]);
        outer.write("sub/inner.py", "3\n");
        assert_eq!(since(&outer, &then), one("sub", Special));
        outer.write("sub/inner.py", "1\n");
        assert_eq!(since(&outer, &then), one("sub", Special));
    }

    #[test]
    fn a_name_that_is_not_utf8_is_always_a_special_change() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        if sandbox.write_bytes_named(b"caf\xe9.py").is_err() {
            return; // This file system has no such names.
        }
        let then = sandbox.repository().tree_state();
        assert_eq!(since(&sandbox, &then), one("caf\u{fffd}.py", Special));
    }

    #[test]
    fn in_a_folder_whose_name_is_not_utf8_no_change_can_be_told() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let root = sandbox.path("").join(OsStr::from_bytes(b"caf\xe9"));
        if std::fs::create_dir(&root).is_err() {
            return; // This file system has no such names.
        }
        assert!(
            sandbox.command().args(["clone", "-q", "."]).arg(&root).status().unwrap().success()
        );
        let repository = Repository::containing(&root).unwrap();
        let base = Base::Named { revision: "HEAD".into() };
        let change = repository.change_since(base, None);
        assert!(matches!(change, Err(NoChange::RootNotText { .. })), "{change:?}");
    }

    #[test]
    fn flakeproofs_own_files_are_no_change() {
        let sandbox = Sandbox::with([(".flakeproof/history.db", "1\n")]);
        let then = sandbox.repository().tree_state();
        sandbox.write(".flakeproof/history.db", "2\n");
        sandbox.write("sub/.flakeproof/new", "2\n");
        assert_eq!(since(&sandbox, &then), vec![]);
    }

    #[test]
    fn a_state_that_is_incomplete_or_of_another_revision_gives_no_change() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let complete = sandbox.repository().tree_state();
        sandbox.commit([]);
        let revision = sandbox.head();
        let incomplete = TreeState { revision: Some(revision.clone()), ..TreeState::default() };
        for then in [complete, incomplete] {
            let base = Base::PassOnRecord { revision: revision.clone() };
            let change = sandbox.repository().change_since(base, Some(&then));
            assert_eq!(change, Err(NoChange::EditsUnknown { revision: revision.clone() }));
        }
    }

    #[test]
    fn an_unknown_revision_is_told_by_who_named_it() {
        let repository = Sandbox::with([("a.py", "1\n")]);
        let change = |base: Base| repository.repository().change_since(base, None).unwrap_err();
        let revision = "--output=x".to_owned();
        let named = change(Base::Named { revision: revision.clone() });
        assert_eq!(named, NoChange::NamedRevisionUnknown { revision });
        assert_eq!(named.to_string(), "revision `--output=x` is not in this repository");
        let revision = "1".repeat(40);
        let recorded = change(Base::PassOnRecord { revision: revision.clone() });
        assert_eq!(recorded, NoChange::RevisionUnknown { revision });
    }

    #[test]
    fn a_repository_that_broke_is_an_error_and_not_an_empty_change() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let (repository, revision) = (sandbox.repository(), sandbox.head());
        sandbox.write(".git/index", "this is no index");
        let change = repository.change_since(Base::PassOnRecord { revision }, None);
        assert!(matches!(change, Err(NoChange::GitFailed { .. })), "{change:?}");
    }
}
