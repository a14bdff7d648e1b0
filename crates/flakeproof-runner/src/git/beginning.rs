//! Where the work began that is to be judged: its first commit comes right after that.
//!
//! On a branch of its own that is where the branch left the default branch. On the default branch it is
//! what a CI system says was there before the push, for a push may bring many commits; else the commit
//! before. A clone that lacks these commits hides the change, which is another thing than none.

use flakeproof_core::{Base, TreeState};

use super::program::ask;
use super::repository::{Repository, as_hash, without_newline};

/// Why the beginning of the work is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoBeginning {
    /// Nothing was committed yet, or nothing is under version control.
    #[error("nothing is committed yet")]
    NoCommit,
    /// There is a repository, and git does not read it or is not installed.
    #[error("git cannot be asked about this repository")]
    Unreadable,
    /// No branch looks like the default one.
    #[error(
        "there is no default branch to compare with (`--base` names what was there before the \
         change)"
    )]
    NoDefaultBranch,
    /// A shallow clone that does not reach back that far, or a history of its own.
    #[error(
        "this clone lacks the commits before the change (fetch them: `fetch-depth: 0`, or \
         `git fetch --unshallow`)"
    )]
    CommitsMissing,
}

impl NoBeginning {
    /// Whether there is a change all the same.
    #[must_use]
    pub fn hides_the_change(self) -> bool {
        match self {
            Self::Unreadable | Self::NoDefaultBranch | Self::CommitsMissing => true,
            Self::NoCommit => false,
        }
    }
}

/// Who wants to know whether a failure is theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// Somebody at work: on the default branch, edits are the change where the last commit is known to be
    /// elsewhere, too, and else both are.
    Developer,
    /// A CI system, which tests what was pushed, whatever earlier steps left in the work tree.
    Ci {
        /// The revision that the branch was at before the push, where the system tells.
        before: Option<String>,
        /// Where a merge request left its target, where the system tells.
        base: Option<String>,
        /// Whether the branch is the default one. On any other, a push is a part of the change.
        is_on_default_branch: bool,
    },
}

impl Repository {
    /// Where the work began that is to be judged.
    ///
    /// The default branch is the one `origin/HEAD` points to, else the first that exists of
    /// `origin/main`, `origin/master`, `main`, `master` and the one that git is configured to begin with, the same of
    /// other remotes, or the only one there is. Other remotes come first where HEAD is on the default branch
    /// itself.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn beginning_of_change(&self, now: &TreeState, asker: &Asker) -> Result<Base, NoBeginning> {
        let head = now.revision.clone().ok_or(NoBeginning::NoCommit)?;
        let is_shallow = ask(self.root(), &["rev-parse", "--is-shallow-repository"])
            .is_ok_and(|told| told.starts_with(b"true"));
        let why_unknown = match is_shallow {
            true => NoBeginning::CommitsMissing,
            false => NoBeginning::NoDefaultBranch,
        };
        let known = |revision: &Option<String>| {
            let parting = self.parting_from(revision.as_deref()?);
            parting.filter(|it| *it != head)
        };
        let (before, may_be_alone) = match asker {
            Asker::Developer => (None, true),
            Asker::Ci { base, before, is_on_default_branch } => {
                if let Some(revision) = known(base) {
                    return Ok(Base::Parent { revision });
                }
                (known(before).filter(|_| *is_on_default_branch), *is_on_default_branch)
            }
        };
        let Some(reference) = self.default_branch(may_be_alone) else {
            return before.map(|revision| Base::Parent { revision }).ok_or(why_unknown);
        };
        let base = self.merge_base(&reference).ok_or(NoBeginning::CommitsMissing)?;
        let is_edited = !now.edited.is_empty() || !now.is_complete;
        // A commit that no other repository is known to have is as new as the edits on top of it.
        let is_published = reference.starts_with("refs/remotes/");
        let edits_are_all = *asker == Asker::Developer && is_edited && is_published;
        if base.full_revision() != head || edits_are_all {
            return Ok(base);
        }
        match before.or_else(|| self.commit("HEAD^1").ok().flatten()) {
            Some(revision) => Ok(Base::Parent { revision }),
            None if is_shallow => Err(NoBeginning::CommitsMissing),
            None => Ok(base),
        }
    }

    /// Where HEAD left a branch; HEAD itself if it is on it.
    fn merge_base(&self, reference: &str) -> Option<Base> {
        let printed = ask(self.root(), &["merge-base", "HEAD", reference]).ok()?;
        let revision = as_hash(without_newline(&printed))?;
        let short = ["refs/remotes/", "refs/heads/"];
        let branch = short.into_iter().find_map(|prefix| reference.strip_prefix(prefix));
        Some(Base::MergeBase { revision, branch: branch.unwrap_or(reference).to_owned() })
    }

    /// The default branch, which may be the only one that there is.
    fn default_branch(&self, may_be_alone: bool) -> Option<String> {
        let format =
            ["for-each-ref", "--format=%(refname) %(symref)", "refs/heads", "refs/remotes"];
        let printed = ask(self.root(), &format).ok()?;
        let printed = String::from_utf8_lossy(&printed);
        let existing: Vec<(&str, &str)> =
            printed.lines().filter_map(|line| line.split_once(' ')).collect();
        let configured = ask(self.root(), &["config", "init.defaultBranch"]).unwrap_or_default();
        let configured = String::from_utf8_lossy(without_newline(&configured)).into_owned();
        let candidates = [
            "refs/remotes/origin/HEAD".to_owned(),
            "refs/remotes/origin/main".to_owned(),
            "refs/remotes/origin/master".to_owned(),
        ];
        let of_others = ["/HEAD", "/main", "/master"].iter().filter_map(|ending| {
            let is_it = |(name, _): &&(&str, &str)| {
                let branch = name.strip_prefix("refs/remotes/");
                branch.and_then(|it| it.strip_suffix(ending)).is_some_and(|it| !it.contains('/'))
            };
            Some(existing.iter().find(is_it)?.0.to_owned())
        });
        let here = [
            "refs/heads/main".to_owned(),
            "refs/heads/master".to_owned(),
            format!("refs/heads/{configured}"),
        ];
        let head = ask(self.root(), &["symbolic-ref", "-q", "HEAD"]).unwrap_or_default();
        let is_on_it = here.iter().any(|branch| branch.as_bytes() == without_newline(&head));
        // A topic may have been pushed to the `main` of somebody's fork.
        let (others, here) = (of_others.collect::<Vec<_>>(), here.to_vec());
        let rest = if is_on_it { [others, here].concat() } else { [here, others].concat() };
        let mut candidates = candidates.into_iter().chain(rest);
        let named = candidates.find_map(|candidate| {
            let (name, target) = existing.iter().find(|(name, _)| *name == candidate)?;
            let reference = if target.is_empty() { name } else { target };
            // What it points to may be gone.
            existing.iter().any(|(name, _)| name == reference).then_some(*reference)
        });
        // A clone may have been asked for one branch, whichever it is.
        let only = || match existing.as_slice() {
            [(only, _)] if may_be_alone && only.starts_with("refs/heads/") => Some(*only),
            _ => None,
        };
        named.or_else(only).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::Sandbox;
    use super::*;

    fn merge_base(revision: String, branch: &str) -> Result<Base, NoBeginning> {
        Ok(Base::MergeBase { revision, branch: branch.to_owned() })
    }

    fn parent(revision: &str) -> Result<Base, NoBeginning> {
        Ok(Base::Parent { revision: revision.to_owned() })
    }

    fn beginning(sandbox: &Sandbox, asker: &Asker) -> Result<Base, NoBeginning> {
        let repository = sandbox.repository();
        repository.beginning_of_change(&repository.tree_state(), asker)
    }

    /// A CI system that says no more than that it runs the default branch.
    const IN_CI: Asker = Asker::Ci { before: None, base: None, is_on_default_branch: true };

    /// The default branch after a push.
    fn pushed_from(before: &str) -> Asker {
        Asker::Ci { before: Some(before.to_owned()), base: None, is_on_default_branch: true }
    }

    fn of_developer(sandbox: &Sandbox) -> Result<Base, NoBeginning> {
        beginning(sandbox, &Asker::Developer)
    }

    #[test]
    fn a_branch_begins_where_it_left_main() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let left_at = sandbox.head();
        sandbox.git(&["checkout", "-q", "-b", "topic"]);
        sandbox.commit([("a.py", "2\n")]);
        sandbox.commit([("a.py", "3\n")]);
        assert_eq!(of_developer(&sandbox), merge_base(left_at.clone(), "main"));
        assert_eq!(beginning(&sandbox, &pushed_from(&sandbox.head())), merge_base(left_at, "main"));
    }

    #[test]
    fn a_push_to_a_topic_is_a_part_of_the_change() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let left_at = sandbox.head();
        sandbox.commit([("a.py", "2\n")]);
        let before = sandbox.head();
        sandbox.commit([("a.py", "3\n")]);
        // As a CI system clones it: nothing but this branch is there.
        sandbox.git(&["branch", "-m", "main", "topic"]);
        let topic = |base: Option<&str>| {
            let (before, base) = (Some(before.clone()), base.map(str::to_owned));
            beginning(&sandbox, &Asker::Ci { before, base, is_on_default_branch: false })
        };
        assert_eq!(topic(None), Err(NoBeginning::NoDefaultBranch));
        assert_eq!(topic(Some(&left_at)), parent(&left_at));
    }

    #[test]
    fn a_fork_whose_main_is_this_branch_is_no_default_branch() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let left_at = sandbox.head();
        sandbox.git(&["checkout", "-q", "-b", "topic"]);
        sandbox.commit([("a.py", "2\n")]);
        sandbox.commit([("a.py", "3\n")]);
        sandbox.git(&["update-ref", "refs/remotes/fork/main", "HEAD"]);
        assert_eq!(of_developer(&sandbox), merge_base(left_at, "main"));
    }

    #[test]
    fn on_the_default_branch_edits_are_the_change_and_else_the_last_commit() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let first = sandbox.head();
        assert_eq!(of_developer(&sandbox), merge_base(first.clone(), "main"), "there is no other");
        sandbox.commit([("a.py", "2\n")]);
        assert_eq!(of_developer(&sandbox), parent(&first));
        sandbox.write("b.py", "left by a step before");
        assert_eq!(of_developer(&sandbox), parent(&first), "nobody else is known to have either");
        assert_eq!(beginning(&sandbox, &IN_CI), parent(&first));
        sandbox.git(&["update-ref", "refs/remotes/upstream/main", "HEAD~1"]);
        assert_eq!(of_developer(&sandbox), merge_base(first.clone(), "upstream/main"));
        sandbox.git(&["update-ref", "refs/remotes/upstream/main", "HEAD"]);
        assert_eq!(of_developer(&sandbox), merge_base(sandbox.head(), "upstream/main"));
        assert_eq!(beginning(&sandbox, &IN_CI), parent(&first));
    }

    #[test]
    fn a_push_of_several_commits_begins_where_the_branch_was_before() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let first = sandbox.head();
        sandbox.commit([("a.py", "2\n")]);
        let second = sandbox.head();
        sandbox.commit([("a.py", "3\n")]);
        assert_eq!(beginning(&sandbox, &pushed_from(&first)), parent(&first));
        for useless in [sandbox.head(), "0".repeat(40), "--all".to_owned()] {
            let asker = pushed_from(&useless);
            assert_eq!(beginning(&sandbox, &asker), parent(&second), "{useless}");
        }
    }

    #[test]
    fn a_forced_push_begins_where_both_parted() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let first = sandbox.head();
        sandbox.commit([("a.py", "2\n")]);
        let replaced = sandbox.head();
        sandbox.git(&["reset", "-q", "--hard", &first]);
        sandbox.commit([("a.py", "3\n")]);
        sandbox.commit([("a.py", "4\n")]);
        assert_eq!(beginning(&sandbox, &pushed_from(&replaced)), parent(&first));
    }

    #[test]
    fn the_branch_that_origin_calls_its_head_comes_first() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        let first = sandbox.head();
        sandbox.git(&["update-ref", "refs/remotes/origin/develop", "HEAD"]);
        let head = "refs/remotes/origin/HEAD";
        sandbox.git(&["symbolic-ref", head, "refs/remotes/origin/develop"]);
        sandbox.commit([("a.py", "2\n")]);
        sandbox.git(&["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
        assert_eq!(of_developer(&sandbox), merge_base(first.clone(), "origin/develop"));
        sandbox.git(&["symbolic-ref", head, "refs/remotes/origin/gone"]);
        assert_eq!(of_developer(&sandbox), merge_base(first, "origin/main"));
    }

    #[test]
    fn a_branch_of_another_name_is_the_default_one_if_there_is_no_other() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.git(&["branch", "-m", "main", "trunk"]);
        sandbox.write("a.py", "2\n");
        assert_eq!(of_developer(&sandbox), merge_base(sandbox.head(), "trunk"));
        sandbox.git(&["checkout", "-q", "-b", "topic"]);
        assert_eq!(of_developer(&sandbox), Err(NoBeginning::NoDefaultBranch));
        sandbox.git(&["config", "init.defaultBranch", "trunk"]);
        assert_eq!(of_developer(&sandbox), merge_base(sandbox.head(), "trunk"));
    }

    #[test]
    fn without_a_commit_there_is_no_change() {
        let none = of_developer(&Sandbox::empty());
        assert_eq!(none, Err(NoBeginning::NoCommit));
        assert!(!NoBeginning::NoCommit.hides_the_change());
    }

    #[test]
    fn a_shallow_clone_hides_the_change() {
        let origin = Sandbox::with([("a.py", "1\n")]);
        origin.git(&["checkout", "-q", "-b", "topic"]);
        origin.commit([("a.py", "2\n")]);
        origin.git(&["checkout", "-q", "main"]);
        origin.commit([("b.py", "1\n")]);
        let depth_one = origin.cloned(&["--depth=1"]);
        assert_eq!(of_developer(&depth_one), Err(NoBeginning::CommitsMissing));
        let of_topic = origin.cloned(&["--depth=1", "--branch=topic"]);
        of_topic.git(&["checkout", "-q", "--detach"]);
        assert_eq!(of_developer(&of_topic), Err(NoBeginning::CommitsMissing));
        let ci = pushed_from(origin.git(&["rev-parse", "main"]).trim());
        assert_eq!(beginning(&of_topic, &ci), Err(NoBeginning::CommitsMissing));
        let with_main = origin.cloned(&["--depth=1", "--no-single-branch", "--branch=topic"]);
        assert_eq!(of_developer(&with_main), Err(NoBeginning::CommitsMissing));
        let only_topic = origin.cloned(&["--single-branch", "--branch=topic"]);
        assert_eq!(of_developer(&only_topic), Err(NoBeginning::NoDefaultBranch));
        let first = origin.git(&["rev-parse", "main~1"]).trim().to_owned();
        assert_eq!(beginning(&only_topic, &pushed_from(&first)), parent(&first));
        let whole = origin.cloned(&["--depth=2"]);
        assert_eq!(of_developer(&whole), parent(&first));
    }
}
