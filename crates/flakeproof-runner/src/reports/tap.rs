//! The Test Anything Protocol, versions 12 to 14.
//!
//! Subtests are indented by four spaces and end with the test point of their parent, one level up.
//! What is reported are the leaves, with the names of their parents as class; a parent only where
//! it fails and none of its children does, as when its own clean-up fails.

use std::io::{self, BufRead};

use flakeproof_core::Outcome;

use super::go::next_line;
use super::issue::Issues;
use super::limits::{self, LONGEST_NAME, LONGEST_TEXT};
use super::reported::{ReportedFailure, ReportedTest, milliseconds};
use super::tap_line::{Directive, TapLine, TapPoint, indented, parse};
use super::tap_yaml::Diagnostics;

/// So many subtests may wait for the names of their parents.
const MOST_HELD: usize = 10_000;

/// Columns of one level.
const LEVEL: usize = 4;

/// Read a stream, test by test.
pub(super) fn read(
    mut input: impl BufRead,
    issues: &mut Issues,
    sink: &mut dyn FnMut(ReportedTest),
) -> io::Result<()> {
    let mut reader = TapReader::default();
    let mut line = Vec::new();
    while next_line(&mut input, &mut line)? {
        reader.number += 1;
        reader.hear(String::from_utf8_lossy(&line).trim_end(), issues, sink);
    }
    reader.finish(issues, sink);
    Ok(())
}

#[derive(Default)]
struct TapReader {
    number: u64,
    /// The test point whose diagnostics may follow.
    point: Option<Point>,
    /// The indentation of the block of diagnostics that is open.
    block: Option<usize>,
    /// Subtests whose parents are not named yet, with their levels.
    held: Vec<(usize, ReportedTest)>,
    /// What the plan of the outermost level announces, and how many there were.
    planned: Option<u64>,
    seen: u64,
    has_bailed_out: bool,
}

struct Point {
    level: usize,
    point: TapPoint,
    diagnostics: Diagnostics,
}

impl TapReader {
    fn hear(&mut self, line: &str, issues: &mut Issues, sink: &mut dyn FnMut(ReportedTest)) {
        let (indentation, rest) = indented(line);
        if let (Some(block), Some(point)) = (self.block, &mut self.point) {
            if rest == "..." && indentation <= block {
                self.block = None;
            } else {
                point.diagnostics.add(line.get(block..).unwrap_or(rest));
            }
            return;
        }
        let level = indentation / LEVEL;
        match parse(rest) {
            TapLine::Point(point) => {
                self.end_point(issues, sink);
                self.seen += u64::from(level == 0);
                self.point = Some(Point { level, point, diagnostics: Diagnostics::default() });
            }
            TapLine::Plan(count) if level == 0 => self.planned = Some(count),
            TapLine::BailOut(why) => {
                self.has_bailed_out = true;
                issues.serious(self.number, format!("the runner gave up: {why}"));
            }
            TapLine::Diagnostics if self.point.is_some() => self.block = Some(indentation),
            TapLine::Plan(_) | TapLine::Diagnostics | TapLine::Known | TapLine::Foreign => {}
        }
    }

    /// The open test point is complete.
    fn end_point(&mut self, issues: &mut Issues, sink: &mut dyn FnMut(ReportedTest)) {
        let Some(Point { level, point, diagnostics }) = self.point.take() else { return };
        let mut has_children = false;
        let mut has_failure = false;
        let name = &point.name;
        for (_, child) in self.held.iter_mut().filter(|(child, _)| *child > level) {
            has_children = true;
            has_failure |= child.outcome.is_failure();
            let class = match child.class.is_empty() {
                true => name.clone(),
                false => format!("{name} > {}", child.class),
            };
            child.class = class;
            limits::cut(&mut child.class, LONGEST_NAME);
        }
        // Children of the next parent must not be named after this one.
        for (child, _) in self.held.iter_mut().filter(|(child, _)| *child > level) {
            *child = level;
        }
        let test = reported(point, &diagnostics);
        if !has_children || (test.outcome.is_failure() && !has_failure) {
            self.held.push((level, test));
        }
        if self.held.len() > MOST_HELD {
            issues.note(self.number, "too many subtests wait for their parent; they lose its name");
        }
        if level == 0 || self.held.len() > MOST_HELD {
            self.held.drain(..).for_each(|(_, test)| sink(test));
        }
    }

    fn finish(mut self, issues: &mut Issues, sink: &mut dyn FnMut(ReportedTest)) {
        self.end_point(issues, sink);
        let is_cut_off = !self.held.is_empty();
        self.held.drain(..).for_each(|(_, test)| sink(test));
        match self.planned {
            _ if is_cut_off => issues.serious(self.number, "the report ends inside of subtests"),
            _ if self.has_bailed_out => {}
            Some(planned) if planned != self.seen => {
                let what = format!("{planned} tests were planned and {} reported", self.seen);
                issues.serious(self.number, what);
            }
            None if self.seen == 0 => {
                issues.serious(self.number, "this is no report: neither XML nor JSON nor TAP");
            }
            None => issues.serious(self.number, "the report ends without a plan"),
            Some(_) => {}
        }
    }
}

fn reported(point: TapPoint, diagnostics: &Diagnostics) -> ReportedTest {
    let TapPoint { is_ok, mut name, directive } = point;
    limits::cut(&mut name, LONGEST_NAME);
    let (outcome, reason) = match directive {
        Some(Directive::Skip(reason) | Directive::Todo(reason)) => (Outcome::Skipped, reason),
        None if is_ok => (Outcome::Passed, String::new()),
        None => (Outcome::Failed, String::new()),
    };
    let get = |key| diagnostics.get(key);
    let mut message = get("message").or(get("error")).map_or(reason, str::to_owned);
    limits::cut(&mut message, LONGEST_TEXT);
    let (file, line) = place_of(get("location").or(get("file")), get("line"));
    let failure = ReportedFailure {
        message,
        kind: get("failureType").or(get("name")).or(get("severity")).unwrap_or_default().into(),
        text: diagnostics.text.trim_end().to_owned(),
    };
    let says_something = outcome.is_failure() || !failure.message.is_empty();
    ReportedTest {
        file,
        line,
        outcome,
        duration: get("duration_ms").and_then(|text| milliseconds(text.parse().ok()?)),
        failure: (outcome != Outcome::Passed && says_something).then_some(failure),
        ..ReportedTest::named(name)
    }
}

/// A place as `file:line:column`, or in two parts.
fn place_of(location: Option<&str>, line: Option<&str>) -> (Option<String>, Option<u32>) {
    let Some(location) = location else { return (None, None) };
    let mut parts = location.rsplitn(3, ':');
    let (last, middle, first) = (parts.next(), parts.next(), parts.next());
    let number = |part: Option<&str>| part.and_then(|part| part.parse().ok());
    match (first, number(middle), number(last)) {
        (Some(file), Some(line), Some(_)) => (Some(file.to_owned()), Some(line)),
        _ => (Some(location.to_owned()), line.and_then(|line| line.parse().ok())),
    }
}
