//! How often each line of the work tree was modified in the last commits (CANNIER, Table 1,
//! "covered changes").
//!
//! The original asks git once per line. Here git prints the last commits once, and all lines are
//! followed back through them together. What is counted is what
//! `git log -L n,n:file --first-parent` lists: commits on the first-parent line, each compared
//! with its first parent, renames followed. One thing differs: where a commit adds several files
//! that resemble one that it deletes, git pairs the best two here, and asked for a single file it
//! takes that one.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use flakeproof_core::Lines;

use super::change::NoChange;
use super::line_log::{COMMIT, FilePatch, LineLog, parse_history};
use super::listing::RepositoryPath;
use super::program::{Failure, ask};
use super::repository::Repository;

/// Options that make a diff say what `git log -L` sees, whatever the user has configured.
const DIFF: [&str; 14] = [
    "-p",
    "-U0",
    "-M",
    "--text",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--no-indent-heuristic",
    "--full-index",
];

/// How often lines of the work tree were modified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Churn {
    /// For each file that was modified at all: the sum of changes before each line.
    sums: HashMap<PathBuf, Vec<u64>>,
}

impl Churn {
    /// The changes of these lines of a file, added up. A file that git does not know, or that did
    /// not change, has none.
    #[must_use]
    pub fn count(&self, file: &Path, lines: &Lines) -> u64 {
        let Some(sums) = self.sums.get(file) else { return 0 };
        let up_to = |line: u32| {
            let last = sums.last().copied().unwrap_or_default();
            sums.get(line as usize).copied().unwrap_or(last)
        };
        lines
            .ranges()
            .map(|range| up_to(*range.end()) - up_to(range.start().saturating_sub(1)))
            .sum()
    }
}

impl Repository {
    /// How often each line of the work tree was modified in the last `commits` commits, for files
    /// that match one of git's path patterns (`*.py`).
    ///
    /// A line that is not committed has no changes, and neither have files of a submodule. A
    /// shallow clone has fewer commits to look at, and takes its oldest for the first.
    ///
    /// # Errors
    /// When git cannot tell.
    pub fn churn(&self, commits: u32, patterns: &[&str]) -> Result<Churn, NoChange> {
        let mut files = Followed::present(self, patterns)?;
        if self.commit("HEAD")?.is_none() {
            return Ok(Churn::default());
        }
        let edits = self.ask_with(&["diff"], "HEAD", patterns)?;
        for edit in parse_history(&edits) {
            files.go_back(self.root(), edit, LineLog::undo_edits);
        }
        let log = ["-c", "log.showRoot=true", "-c", "log.diffMerges=first-parent", "log", COMMIT];
        let history = [&log[..], &["--first-parent", "-m", "--no-show-signature", "--no-notes"]];
        let range = match self.commit(&format!("HEAD~{commits}"))? {
            Some(base) => format!("{base}..HEAD"),
            None => "HEAD".to_owned(),
        };
        let printed = self.ask_with(&history.concat(), &range, patterns)?;
        for commit in parse_history(&printed) {
            files.go_back(self.root(), commit, LineLog::undo_commit);
        }
        Ok(files.into_churn(self.root()))
    }

    fn ask_with(
        &self,
        verb: &[&str],
        revision: &str,
        patterns: &[&str],
    ) -> Result<Vec<u8>, Failure> {
        ask(self.root(), &[verb, &DIFF, &[revision, "--"], patterns].concat())
    }
}

/// The present files by the path they have at this point of the history.
struct Followed {
    files: BTreeMap<RepositoryPath, FollowedFile>,
    /// Files that are followed back to their beginning.
    done: Vec<FollowedFile>,
}

struct FollowedFile {
    present: RepositoryPath,
    /// `None` until something happens to the file.
    lines: Option<LineLog>,
}

impl Followed {
    fn present(repository: &Repository, patterns: &[&str]) -> Result<Self, Failure> {
        let question = [&["ls-files", "-z", "--"], patterns].concat();
        let listed = ask(repository.root(), &question)?;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let files = paths
            .map(RepositoryPath::new)
            .map(|path| (path.clone(), FollowedFile { present: path, lines: None }))
            .collect();
        Ok(Self { files, done: Vec::new() })
    }

    /// Go from the files after a change to the files before it.
    fn go_back(
        &mut self,
        root: &Path,
        change: Vec<FilePatch>,
        undo: fn(&mut LineLog, &[super::line_log::Hunk]),
    ) {
        let mut before = Vec::new();
        for patch in change {
            let file = patch.new.as_ref().and_then(|path| self.files.remove(path));
            let Some(mut file) = file else { continue };
            let lines = file
                .lines
                .get_or_insert_with(|| LineLog::new(count_lines(&file.present.beneath(root))));
            undo(lines, &patch.hunks);
            before.push((patch.old, file));
        }
        // Only now: files may have swapped their names.
        for (path, file) in before {
            match path {
                Some(path) => drop(self.files.insert(path, file)),
                None => self.done.push(file),
            }
        }
    }

    fn into_churn(self, root: &Path) -> Churn {
        let files = self.files.into_values().chain(self.done);
        let sums = files.filter_map(|file| {
            let changes = file.lines?.into_changes();
            let mut sum = 0;
            let mut sums = vec![0];
            sums.extend(changes.into_iter().map(|changes| {
                sum += u64::from(changes);
                sum
            }));
            Some((file.present.beneath(root), sums))
        });
        Churn { sums: sums.collect() }
    }
}

/// The lines of a file as git counts them; none if it cannot be read.
fn count_lines(path: &Path) -> u32 {
    let content = std::fs::read(path).unwrap_or_default();
    let ends = content.iter().filter(|byte| **byte == b'\n').count();
    let is_open = content.last().is_some_and(|byte| *byte != b'\n');
    u32::try_from(ends + usize::from(is_open)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::super::sandbox::Sandbox;
    use super::*;

    /// How often each line of a file changed, by our account.
    fn ours(sandbox: &Sandbox, commits: u32, name: &str) -> Vec<u64> {
        let repository = sandbox.repository();
        let churn = repository.churn(commits, &["*.py"]).expect("an answer of git");
        let file = repository.root().join(name);
        (1..=count_lines(&file)).map(|line| churn.count(&file, &Lines::from_iter([line]))).collect()
    }

    /// The same by git's account, one line at a time.
    fn gits(sandbox: &Sandbox, commits: u32, name: &str) -> Vec<u64> {
        let count: u32 =
            sandbox.git(&["rev-list", "--count", "--first-parent", "HEAD"]).trim().parse().unwrap();
        let range =
            if commits < count { format!("HEAD~{commits}..HEAD") } else { "HEAD".to_owned() };
        (1..=count_lines(&sandbox.path(name)))
            .map(|line| {
                let lines = format!("-L{line},{line}:{name}");
                let question = ["log", "-s", "--format=%H", "--first-parent", &lines, &range];
                sandbox.git(&question).lines().count() as u64
            })
            .collect()
    }

    fn assert_agrees(sandbox: &Sandbox, commits: u32, name: &str) {
        assert_eq!(ours(sandbox, commits, name), gits(sandbox, commits, name), "{name}");
    }

    #[test]
    fn lines_that_no_commit_has_did_not_change() {
        let sandbox = Sandbox::with([("a.py", "1\n2\n3\n"), ("b.py", "1\n")]);
        sandbox.commit([("a.py", "1\ntwo\n3\n")]);
        sandbox.write("a.py", "new\n1\ntwo\nthree\n");
        sandbox.write("c.py", "1\n");
        assert_eq!(ours(&sandbox, 75, "a.py"), [0, 1, 2, 0]);
        assert_eq!(ours(&sandbox, 75, "b.py"), [1]);
        assert_eq!(ours(&sandbox, 75, "c.py"), [0]);
    }

    #[test]
    fn a_file_is_followed_through_renames_and_edits_of_the_work_tree() {
        let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
        let sandbox = Sandbox::with([("a.py", text)]);
        sandbox.git(&["mv", "a.py", "b.py"]);
        sandbox.commit([("b.py", &text.replace("two", "2"))]);
        assert_agrees(&sandbox, 75, "b.py");
        sandbox.git(&["mv", "b.py", "with space.py"]);
        assert_eq!(ours(&sandbox, 75, "with space.py"), [1, 2, 1, 1, 1, 1]);
    }

    #[test]
    fn files_that_swap_their_names_keep_their_history() {
        let (first, second) = ("a\nb\nc\nd\ne\nf\n", "1\n2\n3\n4\n5\n6\n");
        let sandbox = Sandbox::with([("a.py", first), ("b.py", second)]);
        sandbox.commit([("a.py", "a\nb\nc\nd\ne\nF\n")]);
        sandbox.git(&["mv", "a.py", "c.py"]);
        sandbox.git(&["mv", "b.py", "a.py"]);
        sandbox.git(&["mv", "c.py", "b.py"]);
        sandbox.commit([]);
        assert_agrees(&sandbox, 75, "a.py");
        assert_agrees(&sandbox, 75, "b.py");
    }

    #[test]
    fn only_the_last_commits_count_and_a_merge_is_one_of_them() {
        let sandbox = Sandbox::with([("a.py", "1\n2\n3\n4\n")]);
        sandbox.git(&["checkout", "-q", "-b", "topic"]);
        sandbox.commit([("a.py", "one\n2\n3\n4\n")]);
        sandbox.commit([("a.py", "One\n2\n3\n4\n")]);
        sandbox.git(&["checkout", "-q", "main"]);
        sandbox.commit([("a.py", "1\n2\n3\nfour\n")]);
        sandbox.git(&["merge", "-q", "--no-edit", "topic"]);
        assert_eq!(ours(&sandbox, 75, "a.py"), [2, 1, 1, 2]);
        for commits in 1..4 {
            assert_agrees(&sandbox, commits, "a.py");
        }
    }

    #[test]
    fn a_shallow_clone_and_a_repository_without_a_commit_have_less_to_tell() {
        let origin = Sandbox::with([("a.py", "1\n2\n")]);
        origin.commit([("a.py", "1\ntwo\n")]);
        origin.commit([("a.py", "1\nTwo\n")]);
        assert_agrees(&origin.cloned(&["--depth=2"]), 75, "a.py");
        assert_eq!(Sandbox::empty().repository().churn(75, &["*.py"]), Ok(Churn::default()));
    }

    /// An edit of a file of numbered words: replace this many lines at a place by this many new ones.
    type Edit = (usize, usize, usize);

    fn edited(lines: &mut Vec<String>, (place, gone, new): Edit, fresh: &mut u32) {
        let start = place % (lines.len() + 1);
        let end = (start + gone).min(lines.len());
        let added = (0..new).map(|_| {
            *fresh += 1;
            // Few different lines, so that hunks can be drawn in more than one way.
            format!("{}", *fresh % 5)
        });
        let added: Vec<String> = added.collect();
        lines.splice(start..end, added);
    }

    fn text(lines: &[String]) -> String {
        lines.iter().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{line}");
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn every_line_changed_as_often_as_git_says(
            commits in prop::collection::vec(
                prop::collection::vec((0..12usize, 0..4usize, 0..4usize), 1..3), 1..8),
            last in 1..9u32,
        ) {
            let sandbox = Sandbox::empty();
            let (mut lines, mut fresh) = (Vec::new(), 0);
            for edits in commits {
                edits.into_iter().for_each(|edit| edited(&mut lines, edit, &mut fresh));
                sandbox.commit([("a.py", &text(&lines))]);
            }
            prop_assert_eq!(ours(&sandbox, last, "a.py"), gits(&sandbox, last, "a.py"));
        }
    }
}
