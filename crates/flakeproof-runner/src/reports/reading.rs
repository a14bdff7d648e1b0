//! From a report to its tests.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::issue::{Issue, Issues};
use super::reported::ReportedTest;
use super::{Format, go, json_document, junit, tap};

/// How much is read at once; the format is found in the first piece.
const AT_ONCE: usize = 128 * 1024;

/// A whole report.
#[derive(Debug, Default)]
pub struct Reported {
    /// Its tests, in its order.
    pub tests: Vec<ReportedTest>,
    /// What is odd about it.
    pub issues: Vec<Issue>,
}

/// Read a report from a file, whatever its format.
///
/// # Errors
/// When the file cannot be read.
pub fn read(path: &Path) -> io::Result<Reported> {
    collected(|sink| {
        let input = BufReader::with_capacity(AT_ONCE, File::open(path)?);
        read_each(input, None, sink)
    })
}

/// Read a report that lies in memory, in a format that is known.
///
/// # Errors
/// None that memory has; the signature is that of the other readers.
pub fn read_as(format: Format, bytes: &[u8]) -> io::Result<Reported> {
    collected(|sink| read_each(bytes, Some(format), sink))
}

fn collected(
    read: impl FnOnce(&mut dyn FnMut(ReportedTest)) -> io::Result<Vec<Issue>>,
) -> io::Result<Reported> {
    let mut tests = Vec::new();
    let issues = read(&mut |test| tests.push(test))?;
    Ok(Reported { tests, issues })
}

/// Hand over the tests of a report one by one, in bounded memory, and give what is odd about it.
///
/// Without a format, the content tells.
///
/// # Errors
/// When the input cannot be read. What was handed over by then is right.
pub fn read_each(
    mut input: impl BufRead,
    format: Option<Format>,
    sink: &mut dyn FnMut(ReportedTest),
) -> io::Result<Vec<Issue>> {
    let mut issues = Issues::default();
    let beginning = input.fill_buf()?;
    if beginning.starts_with(b"\xFF\xFE") || beginning.starts_with(b"\xFE\xFF") {
        issues.serious(0, "the report is UTF-16; only UTF-8 is read");
        return Ok(issues.into_vec());
    }
    if beginning.is_empty() {
        issues.serious(0, "the report is empty");
        return Ok(issues.into_vec());
    }
    match format.unwrap_or_else(|| Format::of(beginning)) {
        Format::Junit => junit::read(input, &mut issues, sink)?,
        Format::Tap => tap::read(input, &mut issues, sink)?,
        Format::GoJson => go::read(input, &mut issues, sink)?,
        Format::Ctrf | Format::JestJson | Format::RspecJson => {
            json_document::read(input, &mut issues, sink)?;
        }
    }
    Ok(issues.into_vec())
}
