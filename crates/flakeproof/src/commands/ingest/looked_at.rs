//! What is known of a file before its tests are read: what it holds, and when it was written.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flakeproof_runner::reports::{self, Format};
use jiff::{SignedDuration, Timestamp};

use super::inputs::{Input, unreadable};
use super::times;
use crate::problem::Problem;

/// A file whose content is known by its digest.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) input: Input,
    /// Its size in bytes.
    pub(super) size: u64,
    pub(super) digest: blake3::Hash,
    pub(super) format: Format,
    /// When its tests ran, as it says itself.
    pub(super) told: Option<Timestamp>,
    /// When it was written.
    pub(super) written: Timestamp,
}

impl Report {
    /// When its tests ran, as far as that is known.
    pub(super) fn time(&self) -> Timestamp {
        self.told.unwrap_or(self.written)
    }
}

/// Look at every file; earliest first. Files of the same content are one.
pub(super) fn look(inputs: Vec<Input>, now: Timestamp) -> Result<Vec<Report>, Problem> {
    let mut reports: Vec<Report> = Vec::with_capacity(inputs.len());
    let mut known = HashSet::new();
    for input in inputs {
        let name = input.name.clone();
        let report = seen(input, now).map_err(|error| unreadable(Path::new(&name), &error))?;
        if known.insert(report.digest) {
            reports.push(report);
        }
    }
    reports.sort_by(|one, two| (one.time(), &one.input.name).cmp(&(two.time(), &two.input.name)));
    Ok(reports)
}

fn seen(input: Input, now: Timestamp) -> io::Result<Report> {
    const AT_ONCE: usize = 256 * 1024;
    let mut file = File::open(&input.path)?;
    let written = file.metadata()?.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let written = written.filter(|_| !input.is_spooled()).unwrap_or(now);
    let mut buffer = vec![0; AT_ONCE];
    let mut hasher = blake3::Hasher::new();
    let (mut format, mut told, mut size) = (Format::Tap, None, 0);
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = &buffer[..count];
        if size == 0 {
            format = Format::of(piece);
            told = reports::started(piece).and_then(|text| times::parse(&text));
        }
        hasher.update(piece);
        size += count as u64;
    }
    let told = told.filter(|time| is_likely(*time, now));
    Ok(Report { input, size, digest: hasher.finalize(), format, told, written })
}

/// Reproducible builds and clocks that are wrong write times that say nothing.
fn is_likely(time: Timestamp, now: Timestamp) -> bool {
    const EARLIEST: i64 = 946_684_800;
    time.as_second() >= EARLIEST
        && time <= now.saturating_add(SignedDuration::from_hours(24)).unwrap_or(now)
}
