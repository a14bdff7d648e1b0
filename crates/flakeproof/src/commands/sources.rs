//! The tests in the source of a project, read in parallel.

use std::path::{Path, PathBuf};

use flakeproof_core::{ExitCode, Notice, TestId};
use flakeproof_learn::flast::TestText;
use flakeproof_syntax::metrics::{MeasuredTests, StaticFeatures};
use flakeproof_syntax::{Language, Layout, SourceFile, TestSource, may_hold_tests};
use rayon::prelude::*;

use super::finder_with_deadline::FinderWithDeadline;
use super::skipped::{self, Skipped};
use super::source_files::{files_in, layout, relative, text_of};
use crate::problem::Problem;

/// A test found in source.
#[derive(Debug, Clone)]
pub(super) struct SourceTest {
    pub(super) id: TestId,
    /// Relative to the folder, with `/`.
    pub(super) file: String,
    pub(super) first_line: u32,
    pub(super) last_line: u32,
    pub(super) language: Language,
    /// Package and class, or folders, file and blocks, dotted.
    pub(super) class: String,
    pub(super) source: String,
    /// What its code is like, where that was asked for and can be told.
    pub(super) features: Option<StaticFeatures>,
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
    pub(super) fn text(&self) -> TestText<'_> {
        TestText { source: &self.source, class: &self.class, comments: self.language.into() }
    }
}

/// All tests found, by file and line, and what could not be read.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) tests: Vec<SourceTest>,
    pub(super) notices: Vec<Notice>,
}

/// Find the tests in files and folders. What `.gitignore` names is left out.
pub(super) fn read(paths: &[PathBuf], folder: &Path) -> Result<Sources, Problem> {
    look_at(paths, folder, Look::Find)
}

/// Find the tests in files and folders, and measure their code.
pub(super) fn measure(paths: &[PathBuf], folder: &Path) -> Result<Sources, Problem> {
    look_at(paths, folder, Look::Measure)
}

fn look_at(paths: &[PathBuf], folder: &Path, look: Look) -> Result<Sources, Problem> {
    let listing = files_in(paths, folder)?;
    let layout = layout(&listing.files, folder);
    let sources: Vec<&PathBuf> = listing.sources().collect();
    let read: Vec<FileRead> = sources
        .par_iter()
        .map_init(FinderWithDeadline::new, |finder, path| {
            FileRead::of(finder, path, folder, &layout, look)
        })
        .collect();
    let mut tests = Vec::new();
    let mut skipped = listing.closed(folder);
    for file in read {
        tests.extend(file.tests);
        skipped.extend(file.skipped.map(|why| (why, file.path)));
    }
    Ok(Sources { tests, notices: skipped::notices(&skipped) })
}

/// There is nothing to talk about.
pub(super) fn no_tests(paths: &[PathBuf]) -> Problem {
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
    fn of(
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
        read.skipped = Skipped::of(&found.issues);
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
fn class_of(test: &TestSource<'_>, file: &str) -> String {
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
