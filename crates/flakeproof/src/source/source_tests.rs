//! The tests in the source of a project, read in parallel, and which of them belongs to which test
//! of a suite.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use flakeproof_core::{ExitCode, Notice, Suite, SuiteTest, TestId};
use flakeproof_learn::flast::TestText;
use flakeproof_syntax::metrics::{MeasuredTests, StaticFeatures};
use flakeproof_syntax::{Language, Layout, SourceFile, TestSource, may_hold_tests};
use rayon::prelude::*;

use super::files::{self, FinderWithDeadline, Skipped, files_in, layout, relative, text_of};
use crate::problem::Problem;

/// A test found in source.
#[derive(Debug, Clone)]
pub(crate) struct SourceTest {
    pub(crate) id: TestId,
    /// Relative to the folder, with `/`.
    pub(crate) file: String,
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    pub(crate) language: Language,
    /// Package and class, or folders, file and blocks, dotted.
    pub(crate) class: String,
    pub(crate) source: String,
    /// What its code is like, where that was asked for and can be told.
    pub(crate) features: Option<StaticFeatures>,
}

/// What to find out about tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Where they are.
    Find,
    /// Also what their code is like.
    Measure,
}

impl SourceTest {
    /// The test as a model sees it.
    pub(crate) fn text(&self) -> TestText<'_> {
        TestText { source: &self.source, class: &self.class, comments: self.language.into() }
    }
}

/// All tests found, by file and line, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) tests: Vec<SourceTest>,
    pub(crate) notices: Vec<Notice>,
}

/// Find the tests in files and folders. What `.gitignore` names is left out.
pub(crate) fn read(paths: &[PathBuf], folder: &Path) -> Result<Sources, Problem> {
    look_at(paths, folder, Look::Find)
}

/// Find the tests in files and folders, and measure their code.
pub(crate) fn measure(paths: &[PathBuf], folder: &Path) -> Result<Sources, Problem> {
    look_at(paths, folder, Look::Measure)
}

fn look_at(paths: &[PathBuf], folder: &Path, look: Look) -> Result<Sources, Problem> {
    let listing = files_in(paths, folder)?;
    let layout = layout(&listing.files, folder);
    let sources: Vec<&PathBuf> = listing.sources().collect();
    let read: Vec<FileRead> = sources
        .par_iter()
        .map_init(FinderWithDeadline::new, |finder, path| {
            FileRead::read(finder, path, folder, &layout, look)
        })
        .collect();
    let mut tests = Vec::new();
    let mut skipped = listing.closed(folder);
    for file in read {
        tests.extend(file.tests);
        skipped.extend(file.skipped.map(|why| (why, file.path)));
    }
    Ok(Sources { tests, notices: files::skipped_notices(&skipped) })
}

/// There is nothing to talk about.
pub(crate) fn no_tests(paths: &[PathBuf]) -> Problem {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    Problem::new(
        ExitCode::NoTests,
        format!("no test was found in {}", paths.join(", ")),
        "name the folder that holds your tests; Java, Kotlin, Python, JavaScript, TypeScript, Go, \
         Rust, C# and Ruby are understood",
    )
}

struct FileRead {
    path: String,
    tests: Vec<SourceTest>,
    skipped: Option<Skipped>,
}

impl FileRead {
    fn read(
        finder: &mut FinderWithDeadline,
        path: &Path,
        folder: &Path,
        layout: &Layout,
        look: Look,
    ) -> Self {
        let name = relative(path, folder);
        let mut read = Self { path: name, tests: Vec::new(), skipped: None };
        let text = match text_of(path) {
            Ok(text) => text,
            Err(why) => {
                read.skipped = Some(why);
                return read;
            }
        };
        let holds_tests = Language::of_path(&read.path)
            .is_some_and(|language| may_hold_tests(language, &read.path, &text));
        if !holds_tests {
            return read;
        }
        let finder = finder.for_next_file();
        let file = SourceFile { path: &read.path, text: &text };
        let MeasuredTests { found, features } = match look {
            Look::Find => MeasuredTests { found: finder.find(&file, layout), features: Vec::new() },
            Look::Measure => finder.measure(&file, layout),
        };
        read.skipped = Skipped::why(&found.issues);
        let features = features.into_iter().chain(std::iter::repeat(None));
        let tests = found.tests.iter().zip(features);
        read.tests = tests.map(|(test, features)| owned(test, &read.path, features)).collect();
        read
    }
}

fn owned(test: &TestSource<'_>, file: &str, features: Option<StaticFeatures>) -> SourceTest {
    SourceTest {
        id: test.id.clone(),
        file: file.to_owned(),
        first_line: *test.lines.start(),
        last_line: *test.lines.end(),
        language: test.language,
        class: class_of(test, file),
        source: test.text.to_owned(),
        features,
    }
}

/// Where a test stands, dotted, as data sets of Java name classes.
pub(super) fn class_of(test: &TestSource<'_>, file: &str) -> String {
    let id = test.id.as_str();
    match test.language {
        Language::Java | Language::Kotlin => {
            id.split_once('#').map_or(id, |(class, _)| class).to_owned()
        }
        Language::CSharp => id.rsplit_once('.').map_or(id, |(class, _)| class).to_owned(),
        Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Go
        | Language::Rust
        | Language::Ruby => {
            let (folders, name) = file.rsplit_once('/').unwrap_or(("", file));
            let stem = name.split('.').next().unwrap_or(name);
            let mut class = folders.replace('/', ".");
            for part in std::iter::once(stem).chain(test.enclosing.first().map(String::as_str)) {
                if !class.is_empty() {
                    class.push('.');
                }
                class.push_str(&part.replace('.', " "));
            }
            class
        }
    }
}

/// The files in which the tests of a suite are written. `root` is the folder that their places are
/// relative to.
pub(crate) fn files_of(suite: &Suite, root: &Path) -> Vec<PathBuf> {
    let files: BTreeSet<PathBuf> = suite
        .tests
        .iter()
        .flat_map(places)
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect();
    // Ids of some runners name a package: its tests may be in any file.
    if files.is_empty() { vec![PathBuf::from(".")] } else { files.into_iter().collect() }
}

/// For each test of a suite, in its order, the place of its source among those found.
pub(crate) fn places_of(suite: &Suite, found: &[SourceTest]) -> Vec<Option<usize>> {
    let numbered = || found.iter().enumerate();
    let by_id: HashMap<&str, usize> = numbered().map(|(at, it)| (it.id.as_str(), at)).collect();
    let mut by_file: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, test) in numbered() {
        by_file.entry(test.file.as_str()).or_default().push(at);
    }
    let place = |test: &SuiteTest| {
        // A test that its class inherits stands elsewhere than its id says.
        let id = without_parameters(test.id.as_str());
        let by_id = by_id.get(id).or_else(|| by_id.get(id.replacen("::", " > ", 1).as_str()));
        by_id.copied().or_else(|| at_place(test, found, &by_file))
    };
    suite.tests.iter().map(place).collect()
}

/// The id of the function behind a test: parameters are no part of the source.
pub(crate) fn without_parameters(id: &str) -> &str {
    // A folder may have a bracket in its name, too.
    let names = id.find("::").unwrap_or(0);
    id[names..].find('[').map_or(id, |bracket| &id[..names + bracket])
}

/// The file of a test's id, and the file in which it is written.
fn places(test: &SuiteTest) -> impl Iterator<Item = &str> {
    let written = test.location.as_ref().map(|place| place.file.as_str());
    test.id.as_str().split("::").take(1).chain(written)
}

fn at_place(
    test: &SuiteTest,
    found: &[SourceTest],
    by_file: &HashMap<&str, Vec<usize>>,
) -> Option<usize> {
    let place = test.location.as_ref()?;
    let line = place.line?;
    let holds = |source: &SourceTest| (source.first_line..=source.last_line).contains(&line);
    by_file.get(place.file.as_str())?.iter().copied().find(|at| holds(&found[*at]))
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Location;
    use flakeproof_syntax::Language;

    use super::*;

    fn written(id: &str, first_line: u32) -> SourceTest {
        SourceTest {
            id: id.into(),
            file: id.split("::").next().unwrap_or_default().into(),
            first_line,
            last_line: first_line + 3,
            language: Language::Python,
            class: String::new(),
            source: String::new(),
            features: None,
        }
    }

    #[test]
    fn all_cases_of_a_test_have_its_source() {
        let ids = ["t.py::test_a[1]", "t.py::test_a[x::y]", "t.py::T::test_b", "t.py::test_made"];
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        let suite = Suite { tests: ids.iter().map(test).collect(), problems: Vec::new() };
        let found = [written("t.py::T::test_b", 1), written("t.py::test_a", 9)];
        assert_eq!(places_of(&suite, &found), [Some(1), Some(1), Some(0), None]);
    }

    #[test]
    fn runners_of_node_and_go_have_ids_of_their_own() {
        let ids = ["t/a.js::cart > adds", "example.com/shop.TestAdds"];
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        let suite = Suite { tests: ids.iter().map(test).collect(), problems: Vec::new() };
        let found = [written("example.com/shop.TestAdds", 1), written("t/a.js > cart > adds", 9)];
        assert_eq!(places_of(&suite, &found), [Some(1), Some(0)]);
    }

    #[test]
    fn an_inherited_test_has_the_source_of_where_it_is_written() {
        let location = Some(Location { file: "base.py".into(), line: Some(5) });
        let test = SuiteTest { id: "t.py::TestChild::test_a".into(), location };
        let suite = Suite { tests: vec![test], problems: Vec::new() };
        assert_eq!(places_of(&suite, &[written("base.py::TestBase::test_a", 4)]), [Some(0)]);
    }

    #[test]
    fn only_what_follows_the_test_is_a_parameter() {
        assert_eq!(without_parameters("a[b]/t.py::test_a[1][2]"), "a[b]/t.py::test_a");
        assert_eq!(without_parameters("a[b]/t.py::test_a"), "a[b]/t.py::test_a");
    }
}
