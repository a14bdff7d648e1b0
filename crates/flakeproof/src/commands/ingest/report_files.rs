//! The report files that were meant, by name, in folders, by pattern, or from stdin; and what is
//! known of each before its tests are read: what it holds, when it was written, and which others
//! are attempts at the same tests.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use flakeproof_runner::reports::{self, Format};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use regex::Regex;
use tempfile::NamedTempFile;

use crate::problem::Problem;

/// How files end that may be reports.
const ENDINGS: [&str; 5] = ["xml", "json", "tap", "trx", "jsonl"];

/// Folders that hold other people's reports, or none.
const FOREIGN: [&str; 4] = [".git", "node_modules", ".flakeproof", ".hg"];

/// The largest file that is kept in memory between a look at it and its reading, and how much all of them
/// may be.
const MOST_KEPT: u64 = 4 * 1024 * 1024;
const ALL_KEPT: u64 = 64 * 1024 * 1024;

/// A file to be read.
#[derive(Debug)]
pub(in crate::commands) struct Input {
    /// Where it is.
    path: PathBuf,
    /// What it is called to people.
    pub(in crate::commands) name: String,
    /// All of it, where that is not much: then the file is read once.
    kept: Option<Vec<u8>>,
    /// Keeps what came from stdin until it was read.
    spool: Option<NamedTempFile>,
}

impl Input {
    /// A file; what is kept of it is taken from what may be kept of all.
    fn look(path: PathBuf, may_be_kept: &mut u64) -> Self {
        let kept = whole(&path, MOST_KEPT.min(*may_be_kept));
        *may_be_kept -= kept.as_ref().map_or(0, Vec::len) as u64;
        Self { name: path.display().to_string(), path, kept, spool: None }
    }

    /// Whether it came from stdin.
    fn is_spooled(&self) -> bool {
        self.spool.is_some()
    }

    /// What is in it, from the beginning.
    pub(in crate::commands) fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.kept {
            Some(kept) => Box::new(&kept[..]),
            None => Box::new(File::open(&self.path)?),
        })
    }

    /// Whether it looks like a report of tests, though nobody named it.
    fn is_report(&self) -> bool {
        const BEGINNING: u64 = 64 * 1024;
        let mut beginning = Vec::new();
        let read = self.open().and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
        read.is_ok() && reports::may_be_report(&beginning)
    }
}

/// All of a file that is not larger than this.
fn whole(path: &Path, most: u64) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    let is_small = file.metadata().ok()?.len() <= most;
    let read = is_small.then(|| file.take(most + 1).read_to_end(&mut bytes))?.ok()?;
    (read as u64 <= most).then_some(bytes)
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
    let mut may_be_kept = ALL_KEPT;
    for text in typed {
        let path = Path::new(text);
        let is_folder = path.is_dir();
        let found = if text == "-" {
            inputs.files.push(stdin()?);
            continue;
        } else if is_folder {
            in_folder(path)?
        } else if path.exists() || !text.contains(['*', '?', '[', '{']) {
            vec![path.to_path_buf()]
        } else {
            by_pattern(text)?
        };
        let mut is_any = false;
        for path in found {
            let left = may_be_kept;
            let input = Input::look(path, &mut may_be_kept);
            if is_folder && !input.is_report() {
                inputs.passed_over += 1;
                may_be_kept = left;
                continue;
            }
            is_any = true;
            let path = &input.path;
            let real = path.canonicalize().map_err(|error| unreadable(path, &error))?;
            if known.insert(real) {
                inputs.files.push(input);
            }
        }
        if !is_any {
            return Err(Problem::usage(
                format!("there is no report in `{text}`"),
                "name a file, or a folder that holds reports ending in .xml, .json, .tap or .trx",
            ));
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
    let path = file.path().to_path_buf();
    Ok(Input { path, name: "stdin".to_owned(), kept: None, spool: Some(file) })
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

/// A file whose content is known by its digest.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) input: Input,
    /// Its size in bytes.
    pub(super) size: u64,
    pub(super) digest: blake3::Hash,
    pub(super) format: Format,
    /// When its tests ran, as it says itself.
    pub(super) ran: Option<Timestamp>,
    /// When it was written.
    pub(super) written: Timestamp,
}

impl Report {
    /// When its tests ran, as far as that is known.
    pub(super) fn time(&self) -> Timestamp {
        self.ran.unwrap_or(self.written)
    }
}

/// Look at every file; earliest first. Files of the same content are one.
pub(super) fn inspect(inputs: Vec<Input>, now: Timestamp) -> Result<Vec<Report>, Problem> {
    let mut reports: Vec<Report> = Vec::with_capacity(inputs.len());
    let mut known = HashSet::new();
    for input in inputs {
        let name = input.name.clone();
        let report = inspected(input, now).map_err(|error| unreadable(Path::new(&name), &error))?;
        if known.insert(report.digest) {
            reports.push(report);
        }
    }
    reports.sort_by(|one, two| (one.time(), &one.input.name).cmp(&(two.time(), &two.input.name)));
    Ok(reports)
}

fn inspected(input: Input, now: Timestamp) -> io::Result<Report> {
    const AT_ONCE: usize = 256 * 1024;
    let mut file = input.open()?;
    let written = std::fs::metadata(&input.path)?
        .modified()
        .ok()
        .and_then(|time| Timestamp::try_from(time).ok());
    let written = written.filter(|_| !input.is_spooled()).unwrap_or(now);
    let mut buffer = vec![0; AT_ONCE];
    let mut hasher = blake3::Hasher::new();
    let (mut format, mut ran, mut size) = (Format::Tap, None, 0);
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = &buffer[..count];
        if size == 0 {
            format = Format::detect(piece);
            ran = reports::started(piece).and_then(|text| parse_time(&text));
        }
        hasher.update(piece);
        size += count as u64;
    }
    drop(file);
    let ran = ran.filter(|time| is_likely(*time, now));
    Ok(Report { input, size, digest: hasher.finalize(), format, ran, written })
}

/// Reproducible builds and clocks that are wrong write times that say nothing.
fn is_likely(time: Timestamp, now: Timestamp) -> bool {
    const EARLIEST: i64 = 946_684_800;
    time.as_second() >= EARLIEST
        && time <= now.saturating_add(SignedDuration::from_hours(24)).unwrap_or(now)
}

/// A word for an attempt, as a part of its own.
static ATTEMPT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(^|[-_./ ])(?:attempt|retry|rerun|try)[-_. ]?\d*($|[-_./ ])")
        .expect("the pattern is fixed and compiles")
});

/// A number for each file; files of the same number are attempts at the same tests: all of them if
/// the user says so, else those whose paths differ in nothing but the number of the attempt.
pub(super) fn attempt_groups(reports: &[&Report], are_attempts: bool) -> Vec<u32> {
    let mut known: Vec<String> = Vec::new();
    let group = |report: &&Report| {
        let key = if are_attempts { String::new() } else { without_attempt(&report.input.name) };
        let at = known.iter().position(|it| *it == key).unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    };
    reports.iter().map(group).collect()
}

fn without_attempt(path: &str) -> String {
    ATTEMPT.replace_all(path, "$2").into_owned()
}

/// A point in time: RFC 3339, the same without a zone (taken as UTC), or seconds or milliseconds
/// since 1970.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = text.parse().ok()?;
        return match text.len() {
            ..=11 => Timestamp::from_second(number).ok(),
            _ => Timestamp::from_millisecond(number).ok(),
        };
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    // `+0100`, as some write it, is not RFC 3339.
    let (civil, zone) = text.split_at_checked(text.len().checked_sub(5)?)?;
    if zone.starts_with(['+', '-']) && zone[1..].bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{civil}{}:{}", &zone[..3], &zone[3..]).parse().ok();
    }
    let civil: DateTime = text.parse().ok()?;
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// A point in time as the history keeps it: RFC 3339 in UTC, to the millisecond.
pub(super) fn written_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_told_by_their_names() {
        let is_same = |one: &str, two: &str| without_attempt(one) == without_attempt(two);
        assert!(is_same("out/attempt-1/junit.xml", "out/attempt-2/junit.xml"));
        assert!(is_same("junit.xml", "junit-rerun.xml"));
        assert!(is_same("junit_retry_1.xml", "junit_retry_2.xml"));
        assert!(!is_same("linux/junit.xml", "windows/junit.xml"));
        assert!(!is_same("shard-1.xml", "shard-2.xml"));
        assert!(!is_same("TEST-a.RetryTest.xml", "TEST-a.Test.xml"));
    }

    #[test]
    fn every_form_becomes_utc() {
        let expected = "2026-11-15T10:15:00.000Z";
        for text in [
            "2026-11-15T10:15:00Z",
            "2026-11-15T11:15:00+01:00",
            "2026-11-15T11:15:00+0100",
            "2026-11-15 10:15:00+00:00",
            "2026-11-15T10:15:00",
            "2026-11-15 10:15:00.000000",
            "1794737700",
            "1794737700000",
        ] {
            assert_eq!(parse_time(text).map(written_time).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "soon", "Sun Nov 15", "+0100", "é0100"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
