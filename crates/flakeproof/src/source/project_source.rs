//! All source of a project, lowered and indexed: where tests are, and the code they test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::{Notice, TestId};
use flakeproof_syntax::flow::{Declared, Unit};
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::{Language, Layout, SourceFile, may_hold_tests};
use rayon::prelude::*;

use super::files::{
    self, FinderWithDeadline, Listing, Skipped, files_in, layout, relative, text_of,
};
use super::source_tests::{self, SourceTest, Sources, without_parameters};
use crate::problem::Problem;

/// More source than this is more than one project.
const MOST: Amount = Amount { files: 100_000, bytes: 1 << 29 };

/// The source of a project; by itself of none.
#[derive(Debug)]
pub(crate) struct ProjectSource {
    /// Its files, those of the tests among them.
    pub(crate) project: ProjectIndex,
    /// What could not be read, unless [`source_tests::read`] of the same
    /// paths says so.
    pub(crate) notices: Vec<Notice>,
}

impl Default for ProjectSource {
    fn default() -> Self {
        Self { project: ProjectIndex::new(Vec::new()), notices: Vec::new() }
    }
}

impl ProjectSource {
    /// Read the project whose tests are in these files and folders.
    ///
    /// The project is the folder; where a repository below it or outside of it holds the tests,
    /// that one. Tests get the ids that [`source_tests::read`] gives
    /// them.
    pub(crate) fn read(paths: &[PathBuf], folder: &Path) -> Result<Self, Problem> {
        Self::read_within(files::WHILE_SOMEBODY_WAITS, paths, folder)
    }

    /// The same, with this time for each file.
    pub(crate) fn read_within(
        time_a_file: Duration,
        paths: &[PathBuf],
        folder: &Path,
    ) -> Result<Self, Problem> {
        Ok(Self::read_all(time_a_file, paths, folder, Wanted::Project)?.1)
    }

    /// The tests in these files and folders, and the project around them; each file is read and parsed once.
    pub(crate) fn read_with_tests(
        paths: &[PathBuf],
        folder: &Path,
    ) -> Result<(Sources, Self), Problem> {
        Self::read_all(files::WHILE_SOMEBODY_WAITS, paths, folder, Wanted::TestsToo)
    }

    fn read_all(
        time_a_file: Duration,
        paths: &[PathBuf],
        folder: &Path,
        wanted: Wanted,
    ) -> Result<(Sources, Self), Problem> {
        let tests = files_in(paths, folder)?;
        let roots: BTreeSet<PathBuf> = paths.iter().map(|path| root_of(path, folder)).collect();
        let roots: Vec<PathBuf> = roots.into_iter().collect();
        let Listing { mut files, unreadable } = files_in(&roots, folder)?;
        files.extend(tests.files.iter().cloned());
        let unreadable = unreadable.difference(&tests.unreadable).cloned().collect();
        let everything = Listing { files, unreadable };
        let layout = layout(&everything.files, folder);
        let (chosen, left_out) = at_most(MOST, &tests, &everything);
        let searched: BTreeSet<&PathBuf> = match wanted {
            Wanted::Project => BTreeSet::new(),
            Wanted::TestsToo => tests.sources().collect(),
        };
        let read_from: Vec<&PathBuf> = chosen.union(&searched).copied().collect();
        let read: Vec<FileRead> = read_from
            .par_iter()
            .map_init(
                || FinderWithDeadline::giving_up_after(time_a_file),
                |finder, path| {
                    let uses =
                        Uses { tests: searched.contains(*path), project: chosen.contains(*path) };
                    FileRead::read(finder, path, folder, &layout, uses)
                },
            )
            .collect();
        let (mut skipped, mut skipped_tests) = (everything.closed(folder), tests.closed(folder));
        let mut units = Vec::with_capacity(read.len());
        let mut found = Vec::new();
        for (path, file) in read_from.iter().zip(read) {
            units.extend(file.unit);
            found.extend(file.tests);
            let is_told = file.is_told_with_tests && tests.files.contains(*path);
            let why = file.skipped.map(|why| (why, relative(path, folder)));
            let told = if is_told { &mut skipped_tests } else { &mut skipped };
            told.extend(why);
        }
        let mut notices = files::skipped_notices(&skipped);
        notices.extend(too_much(left_out, &roots));
        let sources = Sources { tests: found, notices: files::skipped_notices(&skipped_tests) };
        Ok((sources, Self { project: ProjectIndex::new(units), notices }))
    }

    /// The function behind a test; all cases of a test have the same.
    pub(crate) fn find(&self, test: &TestId) -> Option<Declared> {
        let find = |id: &TestId| self.project.find_test(id);
        find(test).or_else(|| find(&TestId::from(without_parameters(test.as_str()))))
    }
}

/// What is asked of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The project alone.
    Project,
    /// Also the tests that are meant.
    TestsToo,
}

/// What a file is read for.
#[derive(Debug, Clone, Copy)]
struct Uses {
    tests: bool,
    project: bool,
}

/// An amount of source.
#[derive(Debug, Clone, Copy)]
struct Amount {
    files: usize,
    bytes: u64,
}

/// Where the project of a path begins: the repository below the folder that holds it, else the
/// folder; outside of the folder, the repository that holds it, else the path itself.
fn root_of(path: &Path, folder: &Path) -> PathBuf {
    let place: PathBuf = folder.join(path).components().collect();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let is_inside = real(&place).starts_with(real(folder));
    // Names stay as they were typed, so that the same file has one; the parent of `..` is no
    // parent.
    let mut above: Option<&Path> = Some(&place);
    while let Some(here) = above.filter(|here| *here != folder) {
        if here.join(".git").exists() {
            return here.to_path_buf();
        }
        above = here.file_name().and_then(|_| here.parent());
    }
    if is_inside { folder.to_path_buf() } else { place }
}

/// The files to read, those of the tests first of all, and how many are left out.
fn at_most<'l>(
    most: Amount,
    tests: &'l Listing,
    everything: &'l Listing,
) -> (BTreeSet<&'l PathBuf>, usize) {
    let mut left = most;
    let mut chosen = BTreeSet::new();
    let mut left_out = 0;
    let others = everything.sources().filter(|path| !tests.files.contains(*path));
    for path in tests.sources().chain(others).filter(|path| is_drawn(path)) {
        let bytes = path.metadata().map_or(0, |about| about.len());
        if left.files == 0 || left.bytes < bytes {
            left_out += 1;
            continue;
        }
        left = Amount { files: left.files - 1, bytes: left.bytes - bytes };
        chosen.insert(path);
    }
    (chosen, left_out)
}

/// Whether graphs are drawn for the language of a file.
fn is_drawn(path: &Path) -> bool {
    Language::of_path(&path.to_string_lossy()).is_some_and(has_graphs)
}

/// Whether graphs are drawn for a language.
pub(crate) fn has_graphs(language: Language) -> bool {
    match language {
        Language::Java
        | Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Go
        | Language::Rust => true,
        Language::Kotlin | Language::CSharp | Language::Ruby => false,
    }
}

fn too_much(left_out: usize, roots: &[PathBuf]) -> Option<Notice> {
    let roots: Vec<String> = roots.iter().map(|path| path.display().to_string()).collect();
    (left_out > 0).then(|| Notice {
        what: format!(
            "{left_out} source files of {} were not read: more than one project has",
            roots.join(", ")
        ),
        next: "start flakeproof in the folder of the project".to_owned(),
    })
}

/// One file, as far as it was read.
struct FileRead {
    unit: Option<Unit>,
    tests: Vec<SourceTest>,
    skipped: Option<Skipped>,
    /// Whether a search for tests says the same.
    is_told_with_tests: bool,
}

impl FileRead {
    fn read(
        finder: &mut FinderWithDeadline,
        path: &Path,
        folder: &Path,
        layout: &Layout,
        uses: Uses,
    ) -> Self {
        let name = relative(path, folder);
        let mut read =
            Self { unit: None, tests: Vec::new(), skipped: None, is_told_with_tests: true };
        let text = match text_of(path) {
            Ok(text) => text,
            Err(why) => {
                read.skipped = Some(why);
                return read;
            }
        };
        read.is_told_with_tests =
            Language::of_path(&name).is_some_and(|language| may_hold_tests(language, &name, &text));
        let file = SourceFile { path: &name, text: &text };
        let finder = finder.for_next_file();
        let (found, lowered) = match (uses.tests && read.is_told_with_tests, uses.project) {
            (true, true) => {
                let (found, lowered) = finder.find_and_lower(&file, layout);
                (Some(found), Some(lowered))
            }
            (true, false) => (Some(finder.find(&file, layout)), None),
            (false, true) => (None, Some(finder.lower(&file, layout))),
            (false, false) => (None, None),
        };
        let issues = lowered.iter().flat_map(|it| &it.issues);
        let issues = issues.chain(found.iter().flat_map(|it| &it.issues));
        read.skipped = Skipped::why(issues);
        if let Some(found) = &found {
            read.tests = source_tests::owned_all(found, &name);
        }
        read.unit = lowered.map(|it| it.unit);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files.
    fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for (path, text) in files {
            let path = folder.path().join(path);
            let parent = path.parent().expect("it is in a folder");
            std::fs::create_dir_all(parent).expect("folders can be made");
            std::fs::write(path, text).expect("files can be written");
        }
        folder
    }

    fn read(path: &str, folder: &Path) -> ProjectSource {
        ProjectSource::read(&[PathBuf::from(path)], folder).expect("it can be read")
    }

    fn names(source: &ProjectSource) -> Vec<&str> {
        source.project.units().iter().map(|unit| unit.path.as_str()).collect()
    }

    const TEST: (&str, &str) = ("tests/test_a.py", "def test_a():\n    assert one() == 1\n");

    #[test]
    fn the_code_under_test_is_the_whole_folder_and_each_file_is_read_once() {
        let folder = written(&[TEST, ("src/one.py", "def one():\n    return 1\n")]);
        let source = read("tests", folder.path());
        assert_eq!(names(&source), ["src/one.py", "tests/test_a.py"]);
        assert!(source.find(&"tests/test_a.py::test_a".into()).is_some());
        assert!(source.find(&"tests/test_a.py::test_a[1]".into()).is_some());
        assert!(source.find(&"tests/test_a.py::test_b".into()).is_none());
    }

    #[test]
    fn a_repository_below_the_folder_is_a_project_of_its_own() {
        let folder = written(&[("a/.git", ""), ("a/tests/test_a.py", TEST.1), ("b/b.py", "x = 1")]);
        assert_eq!(names(&read("a/tests", folder.path())), ["a/tests/test_a.py"]);
        assert_eq!(names(&read(".", folder.path())), ["a/tests/test_a.py", "b/b.py"]);
    }

    #[test]
    fn a_repository_outside_of_the_folder_is_found() {
        let folder =
            written(&[("a/.git", ""), ("a/tests/t.py", ""), ("a/a.py", ""), ("b/b.py", "")]);
        let source = read("../a/tests", &folder.path().join("b"));
        assert!(names(&source).iter().all(|name| name.contains("/a/")), "{:?}", names(&source));
        assert_eq!(names(&source).len(), 2);
    }

    #[test]
    fn what_a_search_for_tests_tells_is_not_told_again() {
        let folder = written(&[("tests/a.py", "\0"), ("src/b.py", "\0"), ("src/c.rb", "\0")]);
        let source = read("tests", folder.path());
        let told: Vec<&str> = source.notices.iter().map(|notice| notice.what.as_str()).collect();
        assert_eq!(told, ["src/b.py was not read: not a text"]);
    }

    #[test]
    fn of_too_much_source_the_tests_are_kept() {
        let folder = written(&[TEST, ("a.py", "a"), ("b.py", "b")]);
        let list = |path: &str| files_in(&[path.into()], folder.path()).expect("it can be read");
        let (tests, everything) = (list("tests"), list("."));
        let (chosen, left_out) = at_most(Amount { files: 2, bytes: 100 }, &tests, &everything);
        let chosen: Vec<String> = chosen.iter().map(|path| relative(path, folder.path())).collect();
        assert_eq!((chosen, left_out), (vec!["a.py".into(), TEST.0.into()], 1));
    }
}
