//! A work tree of git's, and its commits.

use std::path::{Path, PathBuf};

use super::beginning::NoBeginning;
use super::program::{Failure, ask};
use crate::system::path_of;

/// A repository with a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    root: PathBuf,
}

/// Why there is no repository to ask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRepository {
    /// There is no `git` program.
    #[error("git is not installed")]
    GitMissing,
    /// The folder is in no work tree.
    #[error("not inside a git work tree")]
    NotARepository,
    /// There is a repository, but git does not want to read it.
    #[error("git refuses to read the repository: {message}")]
    Refused {
        /// What git says, with its advice; several lines.
        message: String,
    },
}

impl NoRepository {
    /// Why the beginning of the work in a folder is not known then.
    #[must_use]
    pub fn no_beginning(&self, folder: &Path) -> NoBeginning {
        match self {
            Self::Refused { .. } => NoBeginning::Unreadable,
            Self::GitMissing if folder.ancestors().any(|it| it.join(".git").exists()) => {
                NoBeginning::Unreadable
            }
            Self::GitMissing | Self::NotARepository => NoBeginning::NoCommit,
        }
    }
}

impl Repository {
    /// The repository whose work tree contains a folder.
    ///
    /// # Errors
    ///
    /// There is no git, no work tree (a bare repository has none), or git refuses, usually
    /// because the repository belongs to another user (`safe.directory`).
    pub fn containing(folder: &Path) -> Result<Self, NoRepository> {
        let printed = ask(folder, &["rev-parse", "--show-toplevel"]).map_err(why_not)?;
        let path = path_of(without_newline(&printed));
        let root = path.canonicalize().map_err(|_| NoRepository::NotARepository)?;
        Ok(Self { root })
    }

    /// The canonical path of the work tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// When the commit that is checked out was made, as an RFC 3339 time stamp.
    #[must_use]
    pub fn time_of_commit(&self) -> Option<String> {
        let printed =
            ask(&self.root, &["log", "-1", "--no-show-signature", "--format=%cI"]).ok()?;
        let time = String::from_utf8_lossy(without_newline(&printed)).into_owned();
        (!time.is_empty()).then_some(time)
    }

    /// Who git says is working here.
    #[must_use]
    pub fn user(&self) -> Option<String> {
        let printed = ask(&self.root, &["config", "user.name"]).ok()?;
        let name = String::from_utf8_lossy(without_newline(&printed)).into_owned();
        (!name.is_empty()).then_some(name)
    }

    /// Where its copies come from: the URL of the remote `origin`.
    #[must_use]
    pub fn origin(&self) -> Option<String> {
        let printed = ask(&self.root, &["config", "remote.origin.url"]).ok()?;
        let url = String::from_utf8_lossy(without_newline(&printed)).into_owned();
        (!url.is_empty()).then_some(url)
    }

    /// Whether git takes a file whose mode changed for another one. It is told not to where a file
    /// system keeps no modes.
    #[must_use]
    pub fn looks_at_modes(&self) -> bool {
        let asked = ["config", "--type=bool", "--default", "true", "core.fileMode"];
        ask(&self.root, &asked).is_ok_and(|told| told.starts_with(b"true"))
    }

    /// Whether a name is that of a revision.
    #[must_use]
    pub fn names(&self, name: &str, revision: Option<&str>) -> bool {
        revision.is_some() && self.commit(name).ok().flatten().as_deref() == revision
    }

    /// Whether a revision is another one or comes before it.
    #[must_use]
    pub fn is_in(&self, revision: &str, other: &str) -> bool {
        revision == other
            || ask(&self.root, &["merge-base", "--is-ancestor", revision, other]).is_ok()
    }

    /// Where HEAD and a revision parted: the latest commit that both have. `None` if the revision
    /// is not here or they have nothing in common.
    #[must_use]
    pub fn parting_from(&self, revision: &str) -> Option<String> {
        let commit = self.commit(revision).ok()??;
        let printed = ask(&self.root, &["merge-base", "HEAD", &commit]).ok()?;
        as_hash(without_newline(&printed))
    }

    /// The full hash of a commit, if the revision is one and it is here.
    pub(super) fn commit(&self, revision: &str) -> Result<Option<String>, Failure> {
        // No revision looks like this, and nothing else may be made of it.
        if revision.starts_with(['-', '^']) || revision.contains('\0') {
            return Ok(None);
        }
        let commit = format!("{revision}^{{commit}}");
        let question = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        match ask(&self.root, &question) {
            Ok(printed) => Ok(as_hash(without_newline(&printed))),
            // Quiet about what is not there, and loud about what is ambiguous or no commit.
            Err(Failure::Refused { .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

fn why_not(failure: Failure) -> NoRepository {
    let absent = ["not a git repository", "must be run in a work tree", "fatal: cannot change to"];
    match failure {
        Failure::Missing => NoRepository::GitMissing,
        Failure::Refused { stderr, .. } if absent.iter().any(|sign| stderr.contains(sign)) => {
            NoRepository::NotARepository
        }
        Failure::Refused { .. }
        | Failure::Io(_)
        | Failure::TooSlow
        | Failure::TooMuch
        | Failure::Unreadable => NoRepository::Refused { message: failure.reason() },
    }
}

pub(super) fn without_newline(printed: &[u8]) -> &[u8] {
    printed.strip_suffix(b"\n").unwrap_or(printed)
}

pub(super) fn as_hash(printed: &[u8]) -> Option<String> {
    let is_hash = printed.len() >= 40 && printed.iter().all(u8::is_ascii_hexdigit);
    is_hash.then(|| String::from_utf8_lossy(printed).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::Sandbox;
    use super::*;

    #[test]
    fn a_subfolder_and_a_worktree_have_the_root_they_are_in() {
        let sandbox = Sandbox::with([("services/api/a.py", "1\n")]);
        let inside = Repository::containing(&sandbox.path("services/api")).unwrap();
        assert_eq!(inside.root(), sandbox.path("").canonicalize().unwrap());
        let elsewhere = tempfile::tempdir().unwrap();
        let worktree = elsewhere.path().join("tree");
        sandbox.git(&["worktree", "add", "-q", "-b", "other", worktree.to_str().unwrap()]);
        let repository = Repository::containing(&worktree).unwrap();
        assert_eq!(repository.root(), worktree.canonicalize().unwrap());
        assert_eq!(repository.tree_state().branch.as_deref(), Some("other"));
    }

    #[test]
    fn a_folder_without_a_work_tree_is_no_repository() {
        let folder = tempfile::tempdir().unwrap();
        let none = Err(NoRepository::NotARepository);
        assert_eq!(Repository::containing(folder.path()), none);
        assert_eq!(Repository::containing(&folder.path().join("missing")), none);
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let bare = folder.path().join("bare.git");
        sandbox.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        assert_eq!(Repository::containing(&bare), none);
    }

    #[test]
    fn a_repository_of_another_user_is_refused_with_gits_advice() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let mut command = sandbox.command();
        command.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").args(["rev-parse", "--show-toplevel"]);
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let reason = why_not(Failure::Refused { code: output.status.code(), stderr });
        let NoRepository::Refused { message } = reason else { panic!("{reason:?}") };
        assert!(message.contains("safe.directory"), "{message}");
        let refused = NoRepository::Refused { message };
        assert_eq!(refused.no_beginning(&sandbox.path("")), NoBeginning::Unreadable);
        let missing = NoRepository::GitMissing;
        assert_eq!(missing.no_beginning(&sandbox.path("src")), NoBeginning::Unreadable);
        assert_eq!(missing.no_beginning(Path::new("/")), NoBeginning::NoCommit);
    }

    #[test]
    fn only_a_commit_that_is_here_is_a_revision() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let repository = sandbox.repository();
        let commit = |revision: &str| repository.commit(revision).unwrap();
        sandbox.git(&["tag", "-a", "v1", "-m", "one"]);
        for known in ["HEAD", "main", "v1", &sandbox.head()[..8], "@"] {
            assert_eq!(commit(known), Some(sandbox.head()), "{known}");
        }
        let unknown = ["", "-", "--all", "--help", "^HEAD", "HEAD..HEAD", "HEAD:a.py", "a\0b"];
        for revision in unknown.into_iter().chain(["no-such-branch", &"1".repeat(40)]) {
            assert_eq!(commit(revision), None, "{revision:?}");
        }
    }
}
