//! Which files and lines differ between a commit and the work tree.
//!
//! `git diff` knows only the files in its index, so untracked files and files that git was told
//! not to look at are added, and what git calls deleted is looked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flakeproof_core::{ChangeStatus, ChangedFile, LineRange};

use super::listing::{Listing, RepositoryPath};
use super::patch::{Difference, parse_patch, parse_raw};
use super::program::{Failure, ask};
use super::repository::Repository;

/// Options that make a diff say the same whatever the user has configured.
const PLAIN: [&str; 11] = [
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--ignore-submodules=none",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--inter-hunk-context=0",
    "--full-index",
];

/// The files that differ, by the text of their path.
#[derive(Debug, Default)]
pub(super) struct DifferingFiles(BTreeMap<String, ChangedFile>);

impl DifferingFiles {
    /// The files that differ between a commit and the work tree now.
    pub(super) fn between(revision: &str, repository: &Repository) -> Result<Self, Failure> {
        let root = repository.root();
        let listing = Listing::ask(repository)?;
        let mut files = Self::default();
        for difference in differences(root, revision, &listing)? {
            let status = match difference.status {
                // git forgot it, but it is still there.
                ChangeStatus::Deleted if is_there(root, &difference.path) => {
                    status_now(root, &difference.path, ChangeStatus::Modified)
                }
                status => status,
            };
            files.insert(&difference.path, status);
        }
        for path in &listing.untracked {
            files.insert(path, status_now(root, path, ChangeStatus::Added));
        }
        files.read_lines(root, revision);
        for path in &listing.unwatched {
            let is_there = is_there(root, path);
            let ordinary = if is_there { ChangeStatus::Modified } else { ChangeStatus::Deleted };
            files.insert(path, if is_there { status_now(root, path, ordinary) } else { ordinary });
        }
        Ok(files)
    }

    /// Add a file whose lines are not known. One that is there already differs in two ways.
    pub(super) fn insert(&mut self, path: &RepositoryPath, status: ChangeStatus) {
        use ChangeStatus::{Added, Deleted, Modified, Special};
        let status = if path.is_text() { status } else { Special };
        let before = self.0.get(&path.text()).map(|file| file.status);
        let status = match (before, status) {
            (Some(Special), _) | (_, Special) => Special,
            (Some(Added), Added | Modified | Deleted) => Added,
            (Some(Modified | Deleted), Added | Modified) => Modified,
            (Some(Modified | Deleted), Deleted) => Deleted,
            (None, status) => status,
        };
        let path = path.text();
        self.0.insert(path.clone(), ChangedFile { path, status, lines: None });
    }

    /// Take a file out; gives what its status was.
    pub(super) fn remove(&mut self, path: &RepositoryPath) -> Option<ChangeStatus> {
        self.0.remove(&path.text()).map(|file| file.status)
    }

    /// The files, sorted by path.
    pub(super) fn into_files(self) -> Vec<ChangedFile> {
        self.0.into_values().collect()
    }

    /// Find out which lines differ in modified files, where that can be known.
    fn read_lines(&mut self, root: &Path, revision: &str) {
        if self.0.values().all(|file| file.status != ChangeStatus::Modified) {
            return;
        }
        // It is no error if git cannot tell, as in a partial clone that lacks the old content.
        let mut lines = changed_lines(root, revision).unwrap_or_default();
        for file in self.0.values_mut().filter(|file| file.status == ChangeStatus::Modified) {
            let path = RepositoryPath::from(file.path.as_str());
            file.lines = lines.remove(&path).filter(|_| has_plain_lines(root, &path));
        }
    }
}

/// The status of a file that is there, unless it is no ordinary file now.
pub(super) fn status_now(
    root: &Path,
    path: &RepositoryPath,
    ordinary: ChangeStatus,
) -> ChangeStatus {
    match path.beneath(root).symlink_metadata() {
        Ok(metadata) if metadata.is_file() => ordinary,
        Ok(_) | Err(_) => ChangeStatus::Special,
    }
}

fn is_there(root: &Path, path: &RepositoryPath) -> bool {
    path.beneath(root).symlink_metadata().is_ok()
}

/// The differences between a commit and the files that git knows.
fn differences(root: &Path, revision: &str, listing: &Listing) -> Result<Vec<Difference>, Failure> {
    let mut differences = raw_diff(root, &[revision])?;
    // A file that was touched, but is as it is in HEAD, differs only if HEAD does.
    let is_only_touched =
        |one: &Difference| one.is_unverified && !listing.edited.contains(&one.path);
    if listing.revision.is_some() && differences.iter().any(is_only_touched) {
        let committed: BTreeSet<RepositoryPath> =
            raw_diff(root, &[revision, "HEAD"])?.into_iter().map(|one| one.path).collect();
        differences.retain(|one| !is_only_touched(one) || committed.contains(&one.path));
    }
    differences.retain(|one| !one.path.is_own());
    Ok(differences)
}

fn raw_diff(root: &Path, between: &[&str]) -> Result<Vec<Difference>, Failure> {
    let question = [&PLAIN[..], &["--raw", "-z"], between, &["--"]].concat();
    parse_raw(&ask(root, &question)?).ok_or(Failure::Unreadable)
}

fn changed_lines(
    root: &Path,
    revision: &str,
) -> Result<BTreeMap<RepositoryPath, Vec<LineRange>>, Failure> {
    let patch = ask(root, &[&PLAIN[..], &["--patch", "-U0", revision, "--"]].concat())?;
    let mut lines = parse_patch(&patch);
    // A filter may add or remove lines on the way to git, which then numbers them differently.
    let filtered = ask(root, &["ls-files", "-z", "--", ":(exclude,attr:!filter)"])?;
    for path in filtered.split(|byte| *byte == 0) {
        lines.remove(&RepositoryPath::new(path));
    }
    Ok(lines)
}

/// Whether lines end only where git says. A carriage return alone ends a line for others.
fn has_plain_lines(root: &Path, path: &RepositoryPath) -> bool {
    std::fs::read(path.beneath(root)).is_ok_and(|content| {
        let is_alone = |pair: &[u8]| pair[0] == b'\r' && pair[1] != b'\n';
        !content.windows(2).any(is_alone) && !content.ends_with(b"\r")
    })
}

#[cfg(test)]
mod tests {
    use flakeproof_core::ChangeStatus::{Added, Deleted, Modified, Special};

    use super::super::sandbox::Sandbox;
    use super::*;

    fn files_since(revision: &str, sandbox: &Sandbox) -> Vec<ChangedFile> {
        DifferingFiles::between(revision, &sandbox.repository()).unwrap().into_files()
    }

    #[test]
    fn an_edit_that_a_filter_removes_is_an_edit() {
        let filtered = [(".gitattributes", "*.cfg filter=scrub\n"), ("a.cfg", "pool=4\n")];
        let sandbox = Sandbox::with(filtered);
        assert_eq!(statuses(&sandbox), []);
        sandbox.git(&["config", "filter.scrub.clean", "sed s/^pool=.*/pool=4/"]);
        sandbox.git(&["config", "filter.scrub.smudge", "cat"]);
        assert_eq!(statuses(&sandbox), []);
        sandbox.write("a.cfg", "pool=2\n");
        assert_eq!(statuses(&sandbox), [("a.cfg".to_owned(), Modified)]);
    }

    fn statuses(sandbox: &Sandbox) -> Vec<(String, ChangeStatus)> {
        let files = files_since(&sandbox.head(), sandbox);
        files.into_iter().map(|file| (file.path, file.status)).collect()
    }

    fn lines_of(sandbox: &Sandbox, name: &str) -> Option<Vec<(u32, u32)>> {
        let files = files_since(&sandbox.head(), sandbox);
        let file = files.into_iter().find(|file| file.path == name).expect("a changed file");
        assert_eq!(file.status, Modified);
        file.lines.map(|lines| lines.iter().map(|range| (range.first, range.count)).collect())
    }

    fn expected<const N: usize>(files: [(&str, ChangeStatus); N]) -> Vec<(String, ChangeStatus)> {
        files.map(|(path, status)| (path.to_owned(), status)).to_vec()
    }

    #[test]
    fn lines_are_numbered_as_they_are_now() {
        let sandbox = Sandbox::with([("a.py", " 1\n 2\n 3\n 4\n 5\n 6\n")]);
        sandbox.write("a.py", " 0\n 1\n 2\n 4\n five\n 6\n");
        assert_eq!(lines_of(&sandbox, "a.py"), Some(vec![(1, 1), (3, 0), (5, 1)]));
    }

    #[test]
    fn a_rename_is_a_deletion_and_an_addition() {
        let sandbox = Sandbox::with([("old.py", "1\n2\n3\n")]);
        sandbox.git(&["config", "diff.renames", "copies"]);
        sandbox.git(&["mv", "old.py", "new.py"]);
        assert_eq!(statuses(&sandbox), expected([("new.py", Added), ("old.py", Deleted)]));
    }

    #[test]
    fn what_is_no_ordinary_file_is_special() {
        let sandbox = Sandbox::with([("becomes-link", "a\n"), ("mode", "1\n"), ("both", "1\n")]);
        sandbox.remove("becomes-link");
        std::os::unix::fs::symlink("mode", sandbox.path("becomes-link")).unwrap();
        std::os::unix::fs::symlink("mode", sandbox.path("new-link")).unwrap();
        sandbox.write("both", "2\n");
        sandbox.make_program("mode");
        sandbox.make_program("both");
        sandbox.git(&["init", "-q", "nested"]);
        let special = ["becomes-link", "both", "mode", "nested", "new-link"];
        assert_eq!(statuses(&sandbox), expected(special.map(|path| (path, Special))));
    }

    #[test]
    fn a_submodule_is_special_whether_moved_or_dirty_and_whatever_is_configured() {
        let inner = Sandbox::with([("inner.py", "1\n")]);
        let outer = Sandbox::with([("a.py", "1\n")]);
        outer.add_submodule(&inner, "sub");
        assert_eq!(statuses(&outer), vec![]);
        outer.git(&["config", "diff.ignoreSubmodules", "all"]);
        outer.git(&["config", "submodule.sub.ignore", "all"]);
        outer.git(&["config", "diff.submodule", "diff"]);
        outer.write("sub/new.py", "2\n");
        assert_eq!(statuses(&outer), expected([("sub", Special)]));
        outer.git(&["-C", "sub", "add", "--all"]);
        outer.git(&["-C", "sub", "commit", "-q", "-m", "inner"]);
        assert_eq!(statuses(&outer), expected([("sub", Special)]));
    }

    #[test]
    fn a_file_that_was_only_touched_has_not_changed_and_the_index_is_not_written() {
        let sandbox = Sandbox::with([("a.py", "1\n"), ("b.py", "1\n")]);
        let first = sandbox.head();
        sandbox.commit([("b.py", "2\n")]);
        sandbox.touch("a.py");
        sandbox.touch("b.py");
        let index = sandbox.index();
        assert_eq!(statuses(&sandbox), vec![]);
        let names: Vec<_> =
            files_since(&first, &sandbox).into_iter().map(|file| file.path).collect();
        assert_eq!(names, ["b.py"]);
        assert_eq!(sandbox.index(), index);
    }

    #[test]
    fn a_file_that_git_forgot_but_that_is_still_there_is_modified() {
        let sandbox = Sandbox::with([("kept.py", "1\n"), ("ignored.py", "1\n"), ("a.py", "1\n")]);
        sandbox.git(&["rm", "-q", "--cached", "kept.py", "ignored.py"]);
        sandbox.write(".git/info/exclude", "ignored.py\n");
        assert_eq!(statuses(&sandbox), expected([("ignored.py", Modified), ("kept.py", Modified)]));
    }

    #[test]
    fn a_file_that_git_was_told_to_trust_counts_as_modified() {
        let sandbox = Sandbox::with([("trusted.py", "1\n"), ("gone.py", "1\n")]);
        sandbox.git(&["update-index", "--assume-unchanged", "trusted.py", "gone.py"]);
        sandbox.write("trusted.py", "2\n");
        sandbox.remove("gone.py");
        assert_eq!(statuses(&sandbox), expected([("gone.py", Deleted), ("trusted.py", Modified)]));
        assert_eq!(lines_of(&sandbox, "trusted.py"), None);
    }

    #[test]
    fn the_lines_of_binary_filtered_and_oddly_ended_files_are_not_known() {
        let sandbox = Sandbox::with([
            (".gitattributes", "*.ipynb filter=strip\n"),
            ("binary", "\0\n1\n"),
            ("note.ipynb", "1\n"),
            ("odd.py", "1\n2\n"),
            ("windows.py", "1\r\n 2\r\n"),
        ]);
        sandbox.git(&["config", "filter.strip.clean", "tail -n 1"]);
        sandbox.write("binary", "\0\n2\n");
        sandbox.write("note.ipynb", "header\n2\n");
        sandbox.write("odd.py", "1\r1\n3\n");
        sandbox.write("windows.py", "1\r\n 3\r\n");
        assert_eq!(lines_of(&sandbox, "binary"), None);
        assert_eq!(lines_of(&sandbox, "note.ipynb"), None);
        assert_eq!(lines_of(&sandbox, "odd.py"), None);
        assert_eq!(lines_of(&sandbox, "windows.py"), Some(vec![(2, 1)]));
    }

    #[test]
    fn settings_of_the_user_change_no_line_and_no_name() {
        let names = ["a b.py", "quote\".py", "tab\tand\nline.py", "\u{fc}.py"];
        let content = " 1\n2\n3\n4\n 5\n";
        let sandbox = Sandbox::with(names.map(|name| (name, content)));
        for setting in [
            ["diff.noprefix", "true"],
            ["diff.mnemonicPrefix", "true"],
            ["diff.interHunkContext", "9"],
            ["diff.context", "9"],
            ["diff.orderFile", "/nonexistent"],
            ["diff.external", "false"],
            ["color.ui", "always"],
            ["core.quotepath", "true"],
        ] {
            sandbox.git(&["config", setting[0], setting[1]]);
        }
        names.iter().for_each(|name| sandbox.write(name, " one\n2\n3\n4\n five\n"));
        for name in names {
            assert_eq!(lines_of(&sandbox, name), Some(vec![(1, 1), (5, 1)]), "{name:?}");
        }
    }

    #[test]
    fn a_conflict_is_part_of_the_change() {
        let sandbox = Sandbox::with([("a.py", "1\n")]);
        sandbox.git(&["checkout", "-q", "-b", "topic"]);
        sandbox.commit([("a.py", "2\n")]);
        sandbox.git(&["checkout", "-q", "main"]);
        sandbox.commit([("a.py", "3\n")]);
        assert!(
            !sandbox.command().args(["merge", "-q", "topic"]).output().unwrap().status.success()
        );
        assert_eq!(statuses(&sandbox), expected([("a.py", Modified)]));
    }

    #[test]
    fn a_partial_clone_fetches_nothing_and_knows_no_lines() {
        let origin = Sandbox::with([("a.py", "1\n2\n")]);
        let first = origin.head();
        origin.commit([("a.py", "1\n3\n")]);
        origin.git(&["config", "uploadpack.allowFilter", "true"]);
        let clone = origin.cloned(&["--filter=blob:none"]);
        let files = files_since(&first, &clone);
        let file = ChangedFile { path: "a.py".into(), status: Modified, lines: None };
        assert_eq!(files, [file]);
    }
}
