//! The Test Anything Protocol, versions 12 to 14.
//!
//! Subtests are indented by four spaces and end with the test point of their parent, one level up.
//! What is reported are the leaves, with the names of their parents as class; a parent only where
//! it fails and none of its children does, as when its own clean-up fails.
//!
//! The diagnostics of a test point, as far as they matter here.
//!
//! They are YAML by name. What runners write of it is keys with plain, quoted or block values, and
//! nothing else is read; the whole block is kept as text.

use std::io::{self, BufRead};

use flakeproof_core::Outcome;

use super::go::next_line;
use super::reported::{
    self, Issues, LONGEST_NAME, LONGEST_TEXT, ReportedFailure, ReportedTest, milliseconds,
};

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
            reported::cut(&mut child.class, LONGEST_NAME);
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
    reported::cut(&mut name, LONGEST_NAME);
    let (outcome, reason) = match directive {
        Some(Directive::Skip(reason) | Directive::Todo(reason)) => (Outcome::Skipped, reason),
        None if is_ok => (Outcome::Passed, String::new()),
        None => (Outcome::Failed, String::new()),
    };
    let get = |key| diagnostics.get(key);
    let mut message = get("message").or(get("error")).map_or(reason, str::to_owned);
    reported::cut(&mut message, LONGEST_TEXT);
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

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TapLine<'a> {
    /// `ok` or `not ok`.
    Point(TapPoint),
    /// `1..n`.
    Plan(u64),
    /// `Bail out!`, and why.
    BailOut(&'a str),
    /// Begins a block of diagnostics.
    Diagnostics,
    /// `TAP version`, `pragma`, comments.
    Known,
    /// Something that a test printed.
    Foreign,
}

/// A test point.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TapPoint {
    pub(super) is_ok: bool,
    pub(super) name: String,
    pub(super) directive: Option<Directive>,
}

/// What a directive says about a test.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// It was not run, and why.
    Skip(String),
    /// It is expected to fail, and why.
    Todo(String),
}

/// How deep a line is indented: spaces, and what is after them.
pub(super) fn indented(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len(), rest)
}

/// Read a line without its indentation.
pub(super) fn parse(line: &str) -> TapLine<'_> {
    let line = line.trim_end();
    if let Some(rest) = after_word(line, "not ok") {
        return TapLine::Point(point(false, rest));
    }
    if let Some(rest) = after_word(line, "ok") {
        return TapLine::Point(point(true, rest));
    }
    if let Some(rest) = line.strip_prefix("1..") {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return number.parse().map_or(TapLine::Foreign, TapLine::Plan);
    }
    match line {
        "---" => TapLine::Diagnostics,
        _ if line.starts_with("Bail out!") => TapLine::BailOut(line[9..].trim()),
        _ if line.starts_with('#') || line.starts_with("pragma ") => TapLine::Known,
        _ if line.starts_with("TAP version ") => TapLine::Known,
        _ => TapLine::Foreign,
    }
}

/// What follows a word that stands alone.
fn after_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
}

fn point(is_ok: bool, rest: &str) -> TapPoint {
    let rest = rest.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, described) = rest.split_at(digits);
    // `ok 2nd try` is described as "2nd try".
    let (number, described) = match described.starts_with(' ') || described.is_empty() {
        true => (number, described),
        false => ("", rest),
    };
    let described = described.trim_start();
    let described =
        described.strip_prefix("- ").or(described.strip_prefix('-')).unwrap_or(described);
    let (name, directive) = directive_of(described);
    let name = unescaped(name.trim());
    let name = if name.is_empty() { format!("test {number}") } else { name };
    TapPoint { is_ok, name, directive }
}

/// The description before a directive, and the directive: the last `#` that is not escaped and is
/// followed by one of the two words.
fn directive_of(text: &str) -> (&str, Option<Directive>) {
    for (at, _) in text.match_indices('#').rev() {
        let (before, after) = (&text[..at], text[at + 1..].trim_start());
        let is_escaped = before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let has_space = before.is_empty() || before.ends_with(' ');
        let word = after.get(..4).map(str::to_ascii_lowercase);
        let reason = || {
            let rest = after[4..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
            rest.trim_start_matches(':').trim().to_owned()
        };
        match word.as_deref() {
            _ if is_escaped || !has_space => {}
            Some("skip") => return (before, Some(Directive::Skip(reason()))),
            Some("todo") => return (before, Some(Directive::Todo(reason()))),
            _ => {}
        }
    }
    (text, None)
}

fn unescaped(text: &str) -> String {
    text.replace("\\#", "#").replace("\\\\", "\\")
}

/// What a block says.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    /// The block as it is written, without its indentation.
    pub(super) text: String,
    entries: Vec<(String, String)>,
    /// The indentation of a block value that is being read.
    block: Option<usize>,
}

/// The most entries of a block.
const MOST_ENTRIES: usize = 100;

impl Diagnostics {
    /// A line of the block, without the block's own indentation.
    pub(super) fn add(&mut self, line: &str) {
        super::reported::append(&mut self.text, line, super::reported::LONGEST_TEXT);
        super::reported::append(&mut self.text, "\n", super::reported::LONGEST_TEXT);
        let indentation = line.len() - line.trim_start().len();
        if let (Some(_), Some((_, value))) = (self.block, self.entries.last_mut())
            && (indentation > 0 || line.trim().is_empty())
        {
            if !value.is_empty() {
                super::reported::append(value, "\n", super::reported::LONGEST_TEXT);
            }
            super::reported::append(value, line.trim_start(), super::reported::LONGEST_TEXT);
            return;
        }
        self.block = None;
        let Some((key, value)) = line.split_once(':') else { return };
        if indentation > 0 || self.entries.len() >= MOST_ENTRIES {
            return;
        }
        let value = value.trim();
        let is_block = matches!(value, "|" | "|-" | "|+" | ">" | ">-");
        self.block = is_block.then_some(indentation);
        let value = if is_block { String::new() } else { unquoted(value) };
        self.entries.push((key.trim().to_owned(), value));
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|(name, _)| name == key);
        entry.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

fn unquoted(value: &str) -> String {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    match (inner('\''), inner('"')) {
        (Some(single), _) => single.replace("''", "'"),
        (None, Some(double)) => double.replace("\\\"", "\"").replace("\\\\", "\\"),
        (None, None) => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(line: &str) -> String {
        match parse(line) {
            TapLine::Point(point) => point.name,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn descriptions_are_read_as_every_version_writes_them() {
        for (line, name) in [
            ("ok 1 - adds", "adds"),
            ("ok 1 adds", "adds"),
            ("ok - adds", "adds"),
            ("not ok", "test "),
            ("ok 7", "test 7"),
            (r"ok 1 - issue \#3 \\o/", r"issue #3 \o/"),
            ("ok 1 - issue #3 is closed", "issue #3 is closed"),
            ("ok 2nd try", "2nd try"),
        ] {
            assert_eq!(name_of(line), name, "{line}");
        }
    }

    #[test]
    fn directives_are_read_in_any_case() {
        let directive = |line| match parse(line) {
            TapLine::Point(point) => point.directive,
            other => panic!("{other:?}"),
        };
        assert_eq!(directive("ok 1 - a # SKIP no net"), Some(Directive::Skip("no net".into())));
        assert_eq!(directive("ok 1 # skipped: no net"), Some(Directive::Skip("no net".into())));
        assert_eq!(directive("not ok 1 - a # TODO"), Some(Directive::Todo(String::new())));
        assert_eq!(directive(r"ok 1 - a \# SKIP"), None);
        assert_eq!(directive("ok 1 - a#skip"), None);
    }

    #[test]
    fn words_that_only_begin_alike_are_foreign() {
        assert_eq!(parse("okay then"), TapLine::Foreign);
        assert_eq!(parse("1..x"), TapLine::Foreign);
    }
}
