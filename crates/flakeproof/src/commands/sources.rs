//! The tests in the source of a project, read in parallel.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeproof_core::{ExitCode, Notice, TestId};
use flakeproof_learn::flast::TestText;
use flakeproof_syntax::metrics::{Measured, StaticFeatures};
use flakeproof_syntax::{
    Finder, Found, IssueKind, Language, Layout, SourceFile, TestSource, may_hold_tests,
};
use ignore::WalkBuilder;
use rayon::prelude::*;

use crate::problem::Problem;

/// No person writes a larger source file.
const LARGEST_FILE: u64 = 8 << 20;
/// A file that takes longer to parse is garbage.
const LONGEST_PARSE: Duration = Duration::from_secs(2);
/// Files named in one notice.
const NAMED: usize = 5;

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
    let Listing { files, unreadable } = files_in(paths, folder)?;
    let layout = layout(&files, folder);
    let is_source = |path: &&PathBuf| Language::of_path(&path.to_string_lossy()).is_some();
    let sources: Vec<&PathBuf> = files.iter().filter(is_source).collect();
    let read: Vec<FileRead> = sources
        .par_iter()
        .map_init(PatientFinder::new, |finder, path| finder.read(path, folder, &layout, look))
        .collect();
    let mut tests = Vec::new();
    let closed = |path: &PathBuf| (Skipped::Unreadable, relative(path, folder));
    let mut skipped: Vec<(Skipped, String)> = unreadable.iter().map(closed).collect();
    for file in read {
        tests.extend(file.tests);
        skipped.extend(file.skipped.map(|why| (why, file.path)));
    }
    Ok(Sources { tests, notices: notices(&skipped) })
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

/// All files below the paths and all folders that cannot be read, sorted, each once.
#[derive(Debug, Default)]
struct Listing {
    files: BTreeSet<PathBuf>,
    unreadable: BTreeSet<PathBuf>,
}

fn files_in(paths: &[PathBuf], folder: &Path) -> Result<Listing, Problem> {
    let mut listing = Listing::default();
    for path in paths {
        let path = folder.join(path);
        let shown = path.display();
        if !path.exists() {
            return Err(Problem::usage(format!("{shown} does not exist"), "check the path"));
        }
        let opened = if path.is_dir() {
            std::fs::read_dir(&path).err()
        } else {
            std::fs::File::open(&path).err()
        };
        if let Some(error) = opened {
            let what = format!("{shown} cannot be read: {error}");
            return Err(Problem::usage(what, "check its permissions"));
        }
        // A clean form, so that the same file has one name.
        let path: PathBuf = path.components().collect();
        let walk = WalkBuilder::new(&path).require_git(false).build();
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    listing.files.insert(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => listing.unreadable.extend(place_of(&error)),
            }
        }
    }
    Ok(listing)
}

fn place_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } => place_of(err),
        _ => None,
    }
}

/// The manifests below the paths and above them.
fn layout(files: &BTreeSet<PathBuf>, folder: &Path) -> Layout {
    let is_manifest = |path: &Path| Layout::is_manifest(&path.to_string_lossy());
    let mut manifests: BTreeSet<PathBuf> =
        files.iter().filter(|path| is_manifest(path)).cloned().collect();
    let folders: BTreeSet<&Path> = files.iter().filter_map(|path| path.parent()).collect();
    let within = |path: &&Path| path.starts_with(folder);
    let above: BTreeSet<&Path> =
        folders.iter().flat_map(|path| path.ancestors().take_while(within)).collect();
    for place in above {
        let here = ["go.mod", "Cargo.toml"].map(|name| place.join(name));
        manifests.extend(here.into_iter().filter(|path| path.is_file()));
    }
    let texts: Vec<(String, String)> = manifests
        .iter()
        .filter_map(|path| Some((relative(path, folder), std::fs::read_to_string(path).ok()?)))
        .collect();
    Layout::of_manifests(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

/// The path as ids have it: relative to the folder, with `/`.
fn relative(path: &Path, folder: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/").trim_start_matches("./").to_owned()
}

/// Why a file was not read whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Skipped {
    TooLarge,
    Binary,
    Unreadable,
    TakesTooLong,
    TooDeep,
}

struct FileRead {
    path: String,
    tests: Vec<SourceTest>,
    skipped: Option<Skipped>,
}

/// A finder that gives up on a file after a while.
struct PatientFinder {
    finder: Finder,
    begin: Instant,
    deadline: Arc<AtomicU64>,
}

impl PatientFinder {
    fn new() -> Self {
        let begin = Instant::now();
        let deadline = Arc::new(AtomicU64::new(0));
        let until = Arc::clone(&deadline);
        let stop = move || milliseconds(begin.elapsed()) > until.load(Ordering::Relaxed);
        Self { finder: Finder::default().stopping_when(stop), begin, deadline }
    }

    fn read(&mut self, path: &Path, folder: &Path, layout: &Layout, look: Look) -> FileRead {
        let name = relative(path, folder);
        let mut read = FileRead { path: name, tests: Vec::new(), skipped: None };
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
        let until = milliseconds(self.begin.elapsed() + LONGEST_PARSE);
        self.deadline.store(until, Ordering::Relaxed);
        let file = SourceFile { path: &read.path, text: &text };
        let Measured { found, features } = match look {
            Look::Find => Measured { found: self.finder.find(&file, layout), features: Vec::new() },
            Look::Measure => self.finder.measure(&file, layout),
        };
        read.skipped = skipped(&found);
        let features = features.into_iter().chain(std::iter::repeat(None));
        let tests = found.tests.iter().zip(features);
        read.tests = tests.map(|(test, features)| owned(test, &read.path, features)).collect();
        read
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn text_of(path: &Path) -> Result<String, Skipped> {
    let about = std::fs::metadata(path).map_err(|_| Skipped::Unreadable)?;
    if about.len() > LARGEST_FILE {
        return Err(Skipped::TooLarge);
    }
    let bytes = std::fs::read(path).map_err(|_| Skipped::Unreadable)?;
    if bytes.contains(&0) {
        return Err(Skipped::Binary);
    }
    // Bytes that are no text are replaced one for one or more, never a line break: lines stay.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn skipped(found: &Found<'_>) -> Option<Skipped> {
    found.issues.iter().find_map(|issue| match issue.kind {
        IssueKind::GaveUp => Some(Skipped::TakesTooLong),
        IssueKind::TooDeep => Some(Skipped::TooDeep),
        // Half-written code is everyday; the tests around it were found.
        IssueKind::SyntaxError | IssueKind::UnknownLanguage => None,
    })
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

fn notices(skipped: &[(Skipped, String)]) -> Vec<Notice> {
    let mut by_kind = skipped.to_vec();
    by_kind.sort();
    by_kind
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            let names: Vec<&str> = same.iter().take(NAMED).map(|(_, path)| path.as_str()).collect();
            let more = same.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let (why, next) = same[0].0.words();
            Notice { what: format!("{} {why}", names.join(", ") + &more), next: next.to_owned() }
        })
        .collect()
}

impl Skipped {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::TooLarge => (
                "was not read: larger than 8 MiB",
                "no tests are that large; generated files belong into `.gitignore`",
            ),
            Self::Binary => ("was not read: not a text", "rename it if it is not source"),
            Self::Unreadable => ("could not be read", "check its permissions"),
            Self::TakesTooLong => (
                "was not read: it takes too long to parse",
                "is it source? If so, please report this as a bug",
            ),
            Self::TooDeep => (
                "was read in part: it is nested deeper than anyone writes",
                "generated files belong into `.gitignore`",
            ),
        }
    }
}
