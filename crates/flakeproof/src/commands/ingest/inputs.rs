//! The files that were meant: by name, in folders, by pattern, or from stdin.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flakeproof_runner::reports;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use tempfile::NamedTempFile;

use crate::problem::Problem;

/// How files end that may be reports.
const ENDINGS: [&str; 5] = ["xml", "json", "tap", "trx", "jsonl"];

/// Folders that hold other people's reports, or none.
const FOREIGN: [&str; 4] = [".git", "node_modules", ".flakeproof", ".hg"];

/// A file to be read.
#[derive(Debug)]
pub(in crate::commands) struct Input {
    /// Where it is.
    pub(in crate::commands) path: PathBuf,
    /// What it is called to people.
    pub(in crate::commands) name: String,
    /// Keeps what came from stdin until it was read.
    spool: Option<NamedTempFile>,
}

impl Input {
    /// Whether it came from stdin.
    pub(in crate::commands) fn is_spooled(&self) -> bool {
        self.spool.is_some()
    }
}

/// What was found, and how many files of folders are no reports.
#[derive(Debug, Default)]
pub(in crate::commands) struct Inputs {
    pub(in crate::commands) files: Vec<Input>,
    pub(in crate::commands) passed_over: usize,
}

/// The files that were meant, each once, in the order of their names.
pub(in crate::commands) fn find(typed: &[String]) -> Result<Inputs, Problem> {
    let mut inputs = Inputs::default();
    let mut known = BTreeSet::new();
    for text in typed {
        let path = Path::new(text);
        let found = if text == "-" {
            inputs.files.push(stdin()?);
            continue;
        } else if path.is_dir() {
            let all = in_folder(path)?;
            let count = all.len();
            let reports: Vec<PathBuf> = all.into_iter().filter(|path| is_report(path)).collect();
            inputs.passed_over += count - reports.len();
            reports
        } else if path.exists() || !text.contains(['*', '?', '[', '{']) {
            vec![path.to_path_buf()]
        } else {
            by_pattern(text)?
        };
        if found.is_empty() {
            return Err(Problem::usage(
                format!("there is no report in `{text}`"),
                "name a file, or a folder that holds reports ending in .xml, .json, .tap or .trx",
            ));
        }
        for path in found {
            let real = path.canonicalize().map_err(|error| unreadable(&path, &error))?;
            if known.insert(real) {
                let name = path.display().to_string();
                inputs.files.push(Input { path, name, spool: None });
            }
        }
    }
    Ok(inputs)
}

/// A file that cannot be read, as the user reads it.
pub(in crate::commands) fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem::usage(
        format!("{} cannot be read: {error}", path.display()),
        "check the path, and that the tests wrote their report",
    )
}

/// What comes from stdin is read twice, so it goes to a file first.
fn stdin() -> Result<Input, Problem> {
    let spooled = || {
        let mut file = NamedTempFile::new()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(file)
    };
    let file: NamedTempFile =
        spooled().map_err(|error: io::Error| unreadable(Path::new("stdin"), &error))?;
    Ok(Input { path: file.path().to_path_buf(), name: "stdin".to_owned(), spool: Some(file) })
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let is_wanted = |path: &Path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.iter().any(|it| ending.eq_ignore_ascii_case(it)))
    };
    walked(&WalkBuilder::new(folder), is_wanted)
}

/// Reports lie in folders that version control ignores, so nothing is.
fn walked(
    builder: &WalkBuilder,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, Problem> {
    let mut builder = builder.clone();
    builder.standard_filters(false).follow_links(false).filter_entry(|entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let name = entry.file_name().to_str().unwrap_or_default();
        !(is_folder && entry.depth() > 0 && FOREIGN.contains(&name))
    });
    let mut found = Vec::new();
    for entry in builder.build() {
        let entry = entry.map_err(|error| {
            Problem::usage(format!("a folder cannot be read: {error}"), "check its permissions")
        })?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) && is_wanted(entry.path()) {
            found.push(entry.into_path());
        }
    }
    found.sort();
    Ok(found)
}

fn by_pattern(pattern: &str) -> Result<Vec<PathBuf>, Problem> {
    let plain: PathBuf = Path::new(pattern)
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let rest = Path::new(pattern).strip_prefix(&plain).unwrap_or(Path::new(pattern));
    let root = if plain.as_os_str().is_empty() { Path::new(".") } else { &plain };
    let wrong = |error: ignore::Error| {
        Problem::usage(format!("`{pattern}` is no pattern: {error}"), "quote it for the shell")
    };
    let mut rules = OverrideBuilder::new(root);
    // With the slash in front, `*.xml` does not look into folders.
    rules.add(&format!("/{}", rest.display())).map_err(wrong)?;
    let rules = rules.build().map_err(wrong)?;
    if !root.is_dir() {
        return Ok(Vec::new());
    }
    walked(&WalkBuilder::new(root), |path| rules.matched(path, false).is_whitelist())
}

/// Whether a file that nobody named looks like a report of tests.
fn is_report(path: &Path) -> bool {
    const LOOKED_AT: u64 = 64 * 1024;
    let mut beginning = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut beginning));
    read.is_ok() && reports::may_be_report(&beginning)
}
