//! The source files of a project: which there are, where they belong, their text, a finder that
//! gives up on one after a while, and how those are told of that were not read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeproof_core::Notice;
use flakeproof_syntax::{Finder, IssueKind, Language, Layout, SourceIssue};
use ignore::WalkBuilder;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// No person writes a larger source file.
const LARGEST_FILE: u64 = 8 << 20;

/// All files below the paths and all folders that cannot be read, sorted, each once.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: BTreeSet<PathBuf>,
    pub(crate) unreadable: BTreeSet<PathBuf>,
}

impl Listing {
    /// The files in a language that is understood.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().filter(|path| Language::of_path(&path.to_string_lossy()).is_some())
    }

    /// What cannot be read, as it is told.
    pub(crate) fn closed(&self, folder: &Path) -> Vec<(Skipped, String)> {
        self.unreadable.iter().map(|path| (Skipped::Unreadable, relative(path, folder))).collect()
    }
}

/// All files below these, each relative to the folder. What `.gitignore` names is left out.
pub(crate) fn files_in(paths: &[PathBuf], folder: &Path) -> Result<Listing, Problem> {
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
pub(crate) fn layout(files: &BTreeSet<PathBuf>, folder: &Path) -> Layout {
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
pub(crate) fn relative(path: &Path, folder: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/").trim_start_matches("./").to_owned()
}

/// The text of a file, or why it is none.
pub(crate) fn text_of(path: &Path) -> Result<String, Skipped> {
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

/// A file that takes longer to parse is garbage, when somebody waits for an answer.
pub(crate) const WHILE_SOMEBODY_WAITS: Duration = Duration::from_secs(2);
/// The same, when models are trained or measured: what is read should then depend on the files and
/// not on how busy the machine is.
pub(crate) const FOR_TRAINING: Duration = Duration::from_secs(120);

/// A finder that gives up on a file after a while.
pub(crate) struct FinderWithDeadline {
    finder: Finder,
    begin: Instant,
    deadline: Arc<AtomicU64>,
    longest: Duration,
}

impl FinderWithDeadline {
    /// One for each thread, for somebody who waits.
    pub(crate) fn new() -> Self {
        Self::giving_up_after(WHILE_SOMEBODY_WAITS)
    }

    /// One for each thread, which gives up on a file after this time.
    pub(crate) fn giving_up_after(longest: Duration) -> Self {
        let begin = Instant::now();
        let deadline = Arc::new(AtomicU64::new(0));
        let until = Arc::clone(&deadline);
        let stop = move || milliseconds(begin.elapsed()) > until.load(Ordering::Relaxed);
        Self { finder: Finder::default().stopping_when(stop), begin, deadline, longest }
    }

    /// The finder for one more file, which may take its time from now on.
    pub(crate) fn for_next_file(&mut self) -> &mut Finder {
        let until = milliseconds(self.begin.elapsed() + self.longest);
        self.deadline.store(until, Ordering::Relaxed);
        &mut self.finder
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Files named in one notice.
const NAMED: usize = 5;

/// Why a file was not read whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Skipped {
    TooLarge,
    Binary,
    Unreadable,
    TakesTooLong,
    TooDeep,
}

impl Skipped {
    /// What kept a file from being read whole, if anything did.
    pub(crate) fn why<'i>(issues: impl IntoIterator<Item = &'i SourceIssue>) -> Option<Self> {
        issues.into_iter().find_map(|issue| match issue.kind {
            IssueKind::GaveUp => Some(Self::TakesTooLong),
            IssueKind::TooDeep => Some(Self::TooDeep),
            // Half-written code is everyday; what stands around it was read.
            IssueKind::SyntaxError | IssueKind::UnknownLanguage => None,
        })
    }

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

/// A notice for each reason, naming some of its files.
pub(crate) fn skipped_notices(skipped: &[(Skipped, String)]) -> Vec<Notice> {
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
