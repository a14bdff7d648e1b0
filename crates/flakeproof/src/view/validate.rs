//! What is wrong with reports.

use std::fmt::Write as _;

use flakeproof_runner::reports::{Counts, Format, Severity};
use serde_json::{Value, json};

use super::ingest::count;
use super::terminal::{self, BAD, CHANCE, DIM, GOOD, STRONG};

/// A report that was looked at.
#[derive(Debug)]
pub(crate) struct ValidatedReport {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) counts: Counts,
    pub(crate) problems: Vec<ReportProblem>,
}

/// Something that is wrong with a report.
#[derive(Debug)]
pub(crate) struct ReportProblem {
    pub(crate) severity: Severity,
    pub(crate) place: Option<Position>,
    pub(crate) what: String,
}

/// Where in a report.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Position {
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0, and its line if it is known.
    Byte(u64, u64),
}

/// Print for people what is wrong.
pub(crate) fn validated(reports: &[ValidatedReport]) {
    let text: String = reports.iter().map(shown).collect();
    let _ = terminal::out(&text);
}

/// Print for programs what is wrong.
pub(crate) fn validated_json(reports: &[ValidatedReport]) {
    let reports: Vec<Value> = reports.iter().map(as_json).collect();
    super::verbatim(&format!("{:#}\n", json!({ "schema": 1, "reports": reports })));
}

fn shown(report: &ValidatedReport) -> String {
    let mut text = String::new();
    let tests = count(report.counts.tests, "test");
    let failed = match report.counts.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let format = named(report.format);
    let _ = write!(text, "{STRONG}{}{STRONG:#}: {format}, {tests}{failed}: ", report.name);
    if report.problems.is_empty() {
        let _ = writeln!(text, "{GOOD}nothing is wrong{GOOD:#}");
        return text;
    }
    let _ = writeln!(text, "{}", count(report.problems.len() as u64, "problem"));
    for problem in &report.problems {
        let (style, word) = match problem.severity {
            Severity::Serious => (BAD, "serious"),
            Severity::Note => (CHANCE, "note"),
        };
        let place = match problem.place {
            Some(Position::Line(line)) => format!("line {line}: "),
            Some(Position::Byte(byte, 0)) => format!("byte {byte}: "),
            Some(Position::Byte(byte, line)) => format!("line {line}, byte {byte}: "),
            None => String::new(),
        };
        let what = problem.what.trim_end().replace('\n', "\n      ");
        let _ = writeln!(text, "  {style}{word}{style:#} {DIM}{place}{DIM:#}{what}");
    }
    text
}

fn as_json(report: &ValidatedReport) -> Value {
    let problem = |problem: &ReportProblem| {
        let (line, byte) = match problem.place {
            Some(Position::Line(line)) => (Some(line), None),
            Some(Position::Byte(byte, line)) => (Some(line).filter(|it| *it > 0), Some(byte)),
            None => (None, None),
        };
        json!({
            "severity": problem.severity.word(),
            "line": line,
            "byte": byte,
            "what": problem.what,
        })
    };
    json!({
        "file": report.name,
        "format": report.format,
        "tests": report.counts.tests,
        "failed": report.counts.failed,
        "skipped": report.counts.skipped,
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

fn named(format: Format) -> &'static str {
    match format {
        Format::Junit => "XML",
        Format::Tap => "TAP",
        Format::GoJson => "events of `go test -json`",
        Format::Ctrf | Format::JestJson | Format::RspecJson => "JSON",
    }
}
