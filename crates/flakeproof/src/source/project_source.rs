//! All source of a project, lowered and indexed: where tests are, and the code they test.
//!
//! A project is walked and read once. What is parsed is kept from one process to the next ([`SourceCache`]);
//! where all that is asked of a project was kept, its index is not even made.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use flakeproof_core::{Notice, TestId};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::perturbation::{Form, Perturber};
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::{Language, Layout, SourceFile};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::files::{self, FinderWithDeadline, Listing, Skipped, files_in, layout};
use super::source_cache::{ProjectKey, SourceCache};
use super::source_tests::{Sources, without_parameters};
use super::source_text::{ParsedFile, SourceText, TestRecord, Uses};
use crate::problem::Problem;

/// More source than this is more than one project.
const MOST: Amount = Amount { files: 100_000, bytes: 1 << 29 };

/// The source of a project; by itself of none.
#[derive(Debug, Default)]
pub(crate) struct ProjectSource {
    index: OnceLock<ProjectIndex>,
    /// What the index is made of, as long as nobody asked for it.
    unparsed: Mutex<Option<UnparsedProject>>,
    /// Where what is made of the project is kept, and under which key.
    cache: Option<(SourceCache, ProjectKey)>,
    /// Whether a file took too long to parse, which depends on how busy the machine is.
    gave_up: AtomicBool,
    /// How many tests were found in it.
    tests: usize,
    /// What could not be read, unless [`source_tests::read`](super::source_tests::read) of the same
    /// paths says so.
    pub(crate) notices: Vec<Notice>,
}

/// The files of a project, each with its text.
#[derive(Debug)]
struct UnparsedProject {
    files: Vec<SourceText>,
    layout: Layout,
    time_a_file: Duration,
}

/// What is kept of a project in which no file has changed.
#[derive(Debug, Serialize, Deserialize)]
struct ProjectRecord {
    /// The tests, each with the number of its file.
    tests: Vec<(usize, TestRecord)>,
    /// The files that were not read whole, and why.
    skipped: Vec<(usize, Skipped)>,
}

/// The name that it is kept under.
const TESTS: &str = "tests";

impl UnparsedProject {
    fn parse(&self, cache: Option<&SourceCache>) -> Vec<ParsedFile> {
        self.files
            .par_iter()
            .map_init(
                || FinderWithDeadline::giving_up_after(self.time_a_file),
                |finder, file| file.parse(finder, &self.layout, cache),
            )
            .collect()
    }
}

impl ProjectSource {
    /// Read the project whose tests are in these files and folders.
    ///
    /// The project is the folder; where a repository below it or outside of it holds the tests,
    /// that one. Tests get the ids that [`source_tests::read`](super::source_tests::read) gives
    /// them.
    #[cfg(test)]
    pub(crate) fn read(paths: &[PathBuf], folder: &Path) -> Result<Self, Problem> {
        Self::read_within(files::WHILE_SOMEBODY_WAITS, paths, folder)
    }

    /// Read the project, with this time for each file.
    pub(crate) fn read_within(
        time_a_file: Duration,
        paths: &[PathBuf],
        folder: &Path,
    ) -> Result<Self, Problem> {
        Ok(Self::read_all(time_a_file, paths, folder, Wanted::Project, None)?.1)
    }

    /// The same project in another form, as far as its files can be brought to it.
    pub(crate) fn read_in_form(
        form: &Form,
        time_a_file: Duration,
        paths: &[PathBuf],
        folder: &Path,
    ) -> Result<Self, Problem> {
        Ok(Self::read_all(time_a_file, paths, folder, Wanted::Perturbed(form), None)?.1)
    }

    /// The tests in these files and folders, and the project around them; each file is read once, and
    /// parsed unless that was kept.
    pub(crate) fn read_with_tests(
        paths: &[PathBuf],
        folder: &Path,
        cache: Option<SourceCache>,
    ) -> Result<(Sources, Self), Problem> {
        Self::read_with_tests_beside(paths, folder, cache, &|| {})
    }

    /// The same, doing something beside as soon as it is known that not everything was kept.
    pub(crate) fn read_with_tests_beside(
        paths: &[PathBuf],
        folder: &Path,
        cache: Option<SourceCache>,
        beside: &(dyn Fn() + Sync),
    ) -> Result<(Sources, Self), Problem> {
        let wanted = Wanted::TestsToo(beside);
        Self::read_all(files::WHILE_SOMEBODY_WAITS, paths, folder, wanted, cache)
    }

    fn read_all(
        time_a_file: Duration,
        paths: &[PathBuf],
        folder: &Path,
        wanted: Wanted<'_>,
        cache: Option<SourceCache>,
    ) -> Result<(Sources, Self), Problem> {
        let tests = files_in(paths, folder)?;
        let roots: BTreeSet<PathBuf> = paths.iter().map(|path| root_of(path, folder)).collect();
        let everything = all_files(&roots, &tests, paths, folder)?;
        let layout = layout(&everything.files, folder);
        let (chosen, left_out) = at_most(MOST, &tests, &everything);
        let searched: BTreeSet<&PathBuf> = match wanted {
            Wanted::Project | Wanted::Perturbed(_) => BTreeSet::new(),
            Wanted::TestsToo(_) => tests.sources().collect(),
        };
        let read_from: Vec<&PathBuf> = chosen.union(&searched).copied().collect();
        let files: Vec<SourceText> = read_from
            .par_iter()
            .map(|path| {
                let uses =
                    Uses { tests: searched.contains(*path), project: chosen.contains(*path) };
                SourceText::read(path, folder, uses, &layout, cache.is_some())
            })
            .collect();
        let files = match wanted {
            Wanted::Perturbed(form) => perturbed(files, form),
            Wanted::Project | Wanted::TestsToo(_) => files,
        };
        let cache = cache.map(|cache| (cache, key_of(&files)));
        let mut source = Self { cache, ..Self::default() };
        let unparsed = UnparsedProject { files, layout, time_a_file };
        let record = source.kept(TESTS).unwrap_or_else(|| match wanted {
            Wanted::TestsToo(beside) => rayon::join(|| source.parse(&unparsed), beside).0,
            Wanted::Project | Wanted::Perturbed(_) => source.parse(&unparsed),
        });
        let (mut skipped, mut skipped_tests) = (everything.closed(folder), tests.closed(folder));
        let texts = unparsed.files.iter().enumerate();
        let unread = texts.filter_map(|(at, file)| Some((at, file.text.as_ref().err().copied()?)));
        for (at, why) in unread.chain(record.skipped.iter().copied()) {
            let Some((path, file)) = read_from.get(at).zip(unparsed.files.get(at)) else {
                continue;
            };
            let is_told = file.is_told_with_tests() && tests.files.contains(*path);
            let told = if is_told { &mut skipped_tests } else { &mut skipped };
            told.push((why, file.name.clone()));
        }
        source.notices = files::skipped_notices(&skipped);
        source.notices.extend(too_much(left_out, &roots));
        let found = record.tests.iter();
        let found = found.filter_map(|(at, test)| unparsed.files.get(*at)?.test(test)).collect();
        let sources = Sources { tests: found, notices: files::skipped_notices(&skipped_tests) };
        source.tests = sources.tests.len();
        if source.index.get().is_none() {
            source.unparsed = Mutex::new(Some(unparsed));
        }
        Ok((sources, source))
    }

    /// All that is declared in the project.
    pub(crate) fn index(&self) -> &ProjectIndex {
        self.index.get_or_init(|| {
            let unparsed = self.unparsed.lock().unwrap_or_else(PoisonError::into_inner).take();
            let cache = self.cache.as_ref().map(|(cache, _)| cache);
            let files = unparsed.map_or_else(Vec::new, |it| it.parse(cache));
            self.note_given_up(files.iter().filter_map(|file| file.skipped));
            ProjectIndex::new(files.into_iter().filter_map(|file| file.unit).collect())
        })
    }

    /// Parse the files, make the index, and keep which tests were found.
    fn parse(&self, unparsed: &UnparsedProject) -> ProjectRecord {
        let cache = self.cache.as_ref().map(|(cache, _)| cache);
        let mut record = ProjectRecord { tests: Vec::new(), skipped: Vec::new() };
        let mut units = Vec::with_capacity(unparsed.files.len());
        for (at, file) in unparsed.parse(cache).into_iter().enumerate() {
            record.tests.extend(file.tests.into_iter().map(|test| (at, test)));
            record.skipped.extend(file.skipped.map(|why| (at, why)));
            units.extend(file.unit);
        }
        self.note_given_up(record.skipped.iter().map(|(_, why)| *why));
        self.keep(TESTS, &record);
        let _ = self.index.set(ProjectIndex::new(units));
        record
    }

    fn note_given_up(&self, mut skipped: impl Iterator<Item = Skipped>) {
        if skipped.any(|why| why == Skipped::TakesTooLong) {
            self.gave_up.store(true, Ordering::Relaxed);
        }
    }

    /// What was made of the project before, by name, if no file has changed since.
    pub(crate) fn kept<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let (cache, key) = self.cache.as_ref()?;
        cache.of_project(key, name)
    }

    /// Keep what was made of all tests of the project, once it is [saved](Self::save); not if more may be
    /// read of the same files another time.
    pub(crate) fn keep<T: Serialize>(&self, name: &str, made: &T) {
        if let Some((cache, key)) = &self.cache
            && !self.gave_up.load(Ordering::Relaxed)
        {
            cache.keep_of_project(key, name, made);
        }
    }

    /// Write what is to be kept for the next process.
    pub(crate) fn save(&self) {
        if let Some((cache, _)) = &self.cache {
            cache.save();
        }
    }

    /// How many tests were found in the project.
    pub(crate) fn test_count(&self) -> usize {
        self.tests
    }

    /// The function behind a test; all cases of a test have the same.
    pub(crate) fn find(&self, test: &TestId) -> Option<Declared> {
        let find = |id: &TestId| self.index().find_test(id);
        find(test).or_else(|| find(&TestId::from(without_parameters(test.as_str()))))
    }
}

/// The key of all that these files decide.
fn key_of(files: &[SourceText]) -> ProjectKey {
    let keys = files.iter().map(|it| (it.key.as_ref(), [it.uses.tests, it.uses.project]));
    ProjectKey::new(keys)
}

/// The files with their text in another form.
fn perturbed(files: Vec<SourceText>, form: &Form) -> Vec<SourceText> {
    files
        .into_par_iter()
        .map_init(
            || Perturber::new(form.clone()),
            |perturber, file| {
                let changed = file
                    .text
                    .as_ref()
                    .ok()
                    .and_then(|text| perturber.file(&SourceFile { path: &file.name, text }));
                SourceText { text: changed.map_or(file.text, Ok), ..file }
            },
        )
        .collect()
}

/// What is asked of source.
#[derive(Clone, Copy)]
enum Wanted<'f> {
    /// The project alone.
    Project,
    /// The project alone, in another form.
    Perturbed(&'f Form),
    /// Also the tests that are meant; with what is to be done while files are parsed.
    TestsToo(&'f (dyn Fn() + Sync)),
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

/// The files below the roots, those of the tests among them; what is walked already is not walked again.
fn all_files(
    roots: &BTreeSet<PathBuf>,
    tests: &Listing,
    paths: &[PathBuf],
    folder: &Path,
) -> Result<Listing, Problem> {
    let walked: BTreeSet<PathBuf> =
        paths.iter().map(|path| folder.join(path).components().collect()).collect();
    let roots: Vec<PathBuf> = roots.difference(&walked).cloned().collect();
    let Listing { mut files, unreadable } = files_in(&roots, folder)?;
    files.extend(tests.files.iter().cloned());
    let unreadable = unreadable.difference(&tests.unreadable).cloned().collect();
    Ok(Listing { files, unreadable })
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

fn too_much(left_out: usize, roots: &BTreeSet<PathBuf>) -> Option<Notice> {
    let roots: Vec<String> = roots.iter().map(|path| path.display().to_string()).collect();
    (left_out > 0).then(|| Notice {
        what: format!(
            "{left_out} source files of {} were not read: more than one project has",
            roots.join(", ")
        ),
        next: "start flakeproof in the folder of the project".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::files::relative;
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
        source.index().units().iter().map(|unit| unit.path.as_str()).collect()
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

    /// The project with its tests, read with a cache in its folder.
    fn cached(folder: &Path) -> (Sources, ProjectSource) {
        let paths = [PathBuf::from(".")];
        let read = ProjectSource::read_with_tests(&paths, folder, SourceCache::in_project(folder))
            .expect("it can be read");
        read.1.save();
        read
    }

    fn told(sources: &Sources) -> Vec<(String, String)> {
        sources.tests.iter().map(|test| (test.id.to_string(), test.source.clone())).collect()
    }

    #[test]
    fn where_nothing_has_changed_nothing_is_parsed_and_the_same_is_found() {
        let folder = written(&[TEST, ("src/one.py", "def one():\n    return 1\n"), ("a.rb", "\0")]);
        let (first, source) = cached(folder.path());
        assert!(source.index.get().is_some());
        let (again, source) = cached(folder.path());
        assert!(source.index.get().is_none(), "nobody asked for it");
        assert_eq!(told(&again), told(&first));
        assert_eq!(again.notices, first.notices);
        assert_eq!(again.notices.len(), 1, "what cannot be read is told again");
        assert_eq!(names(&source), ["src/one.py", "tests/test_a.py"]);
        let test = source.find(&"tests/test_a.py::test_a".into()).expect("it is there");
        let unit = source.index().unit(test).expect("it is there");
        assert_eq!(unit.text, TEST.1, "the text comes from the file");
    }

    #[test]
    fn a_file_that_has_changed_is_read_anew() {
        let folder = written(&[TEST, ("tests/test_b.py", "def test_b():\n    pass\n")]);
        cached(folder.path());
        let path = folder.path().join("tests/test_b.py");
        std::fs::write(path, "def test_c():\n    pass\n").expect("it can be written");
        let ids: Vec<String> = told(&cached(folder.path()).0).into_iter().map(|it| it.0).collect();
        assert_eq!(ids, ["tests/test_a.py::test_a", "tests/test_b.py::test_c"]);
    }

    #[test]
    fn a_damaged_cache_is_none() {
        let folder = written(&[TEST]);
        let (first, _) = cached(folder.path());
        for pack in ["files", "projects"] {
            let path = folder.path().join(".flakeproof/cache").join(pack);
            let mut bytes = std::fs::read(&path).expect("it was kept");
            let middle = bytes.len() / 2;
            bytes[middle..].fill(0x55);
            std::fs::write(&path, bytes).expect("it can be written");
        }
        assert_eq!(told(&cached(folder.path()).0), told(&first));
    }

    #[test]
    fn what_was_kept_for_fewer_uses_is_no_answer_for_more() {
        let folder = written(&[TEST, ("src/one.py", "def test_one():\n    pass\n")]);
        let read = |path: &str| {
            let cache = SourceCache::in_project(folder.path());
            let paths = [PathBuf::from(path)];
            let read = ProjectSource::read_with_tests(&paths, folder.path(), cache);
            let (sources, project) = read.expect("it can be read");
            project.save();
            sources
        };
        assert_eq!(read("tests").tests.len(), 1);
        assert_eq!(read(".").tests.len(), 1, "src/one.py is no file of tests");
        assert_eq!(read("src").tests.len(), 0);
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
