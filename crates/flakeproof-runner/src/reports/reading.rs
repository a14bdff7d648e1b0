//! From a report to its format and its tests, and whether it holds what it says it holds.
//!
//! Suites of JUnit XML and the summaries of JSON reports say how many tests there are and how many
//! failed. Where that is not what follows, the report was cut, merged badly or edited.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::json_skeleton::CutStrings;
use super::reported::{Issues, ReportIssue, ReportedTest};
use super::xml::{Piece, Pieces, Tag, Texts};
use super::{go, json, junit, tap};

/// How much is read at once; the format is found in the first piece.
const AT_ONCE: usize = 128 * 1024;

/// A whole report.
#[derive(Debug, Default)]
pub struct Reported {
    /// Its tests, in its order.
    pub tests: Vec<ReportedTest>,
    /// What is odd about it.
    pub issues: Vec<ReportIssue>,
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
    read: impl FnOnce(&mut dyn FnMut(ReportedTest)) -> io::Result<Vec<ReportIssue>>,
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
) -> io::Result<Vec<ReportIssue>> {
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
    match format.unwrap_or_else(|| Format::detect(beginning)) {
        Format::Junit => junit::read(input, &mut issues, sink)?,
        Format::Tap => tap::read(input, &mut issues, sink)?,
        Format::GoJson => go::read(input, &mut issues, sink)?,
        Format::Ctrf | Format::JestJson | Format::RspecJson => {
            json::read_document(input, &mut issues, sink)?;
        }
    }
    Ok(issues.into_vec())
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// JUnit XML in any dialect, and the results of Visual Studio (TRX).
    Junit,
    /// The Test Anything Protocol, versions 12 to 14.
    Tap,
    /// The Common Test Report Format.
    Ctrf,
    /// The events of `go test -json`.
    GoJson,
    /// The JSON of jest and of vitest.
    JestJson,
    /// The JSON of RSpec.
    RspecJson,
}

impl Format {
    /// The format of what begins like this. Whatever is neither XML nor JSON may be TAP.
    #[must_use]
    pub fn detect(beginning: &[u8]) -> Self {
        let beginning = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning);
        let beginning = beginning.trim_ascii_start();
        match beginning.first() {
            Some(b'<') => Self::Junit,
            Some(b'{') => {
                let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let has = |key: &[u8]| line.windows(key.len()).any(|window| window == key);
                // The other kinds of JSON are told apart by their keys as they are read.
                if has(b"\"Action\":") { Self::GoJson } else { Self::Ctrf }
            }
            _ => Self::Tap,
        }
    }
}

/// Whether what begins like this may be a report of tests, rather than a build file, a lock file or
/// a report of coverage.
#[must_use]
pub fn may_be_report(beginning: &[u8]) -> bool {
    let has = |word: &str| beginning.windows(word.len()).any(|window| window == word.as_bytes());
    let has_line = |word: &str| {
        beginning
            .split(|byte| *byte == b'\n')
            .any(|line| line.trim_ascii().starts_with(word.as_bytes()))
    };
    match Format::detect(beginning) {
        Format::Junit => ["<testsuite", "<testcase", "<TestRun"].iter().any(|tag| has(tag)),
        Format::GoJson => has("\"Test\":") || has("\"Package\":"),
        Format::Ctrf | Format::JestJson | Format::RspecJson => {
            (has("\"results\"") && has("\"tests\""))
                || has("\"testResults\"")
                || (has("\"examples\"") && has("\"status\""))
        }
        Format::Tap => ["TAP version", "1..", "ok ", "not ok "].iter().any(|word| has_line(word)),
    }
}

/// The first time in the beginning of a report, as it is written: RFC 3339 with or without a zone,
/// or milliseconds since 1970. `None` where the report does not tell.
#[must_use]
pub fn started(beginning: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(beginning);
    match super::Format::detect(beginning) {
        super::Format::Junit => attribute(&text),
        super::Format::GoJson => quoted(after(&text, "\"Time\":")?),
        super::Format::Ctrf | super::Format::JestJson | super::Format::RspecJson => {
            let number = ["\"start\":", "\"startTime\":"];
            let number = number.iter().find_map(|key| digits(after(&text, key)?));
            number.or_else(|| quoted(after(&text, "\"timestamp\":")?))
        }
        super::Format::Tap => None,
    }
}

/// The time of a suite, or of a run of Visual Studio. What tests printed is not looked at.
fn attribute(text: &str) -> Option<String> {
    for tag in text.split('<').skip(1) {
        let name = tag.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
        let key = match name {
            "testsuite" | "testsuites" | "testcase" => " timestamp=",
            "Times" => " start=",
            _ => continue,
        };
        let value = after(tag, key).and_then(quoted);
        if value.as_ref().is_some_and(|value| !value.is_empty()) {
            return value;
        }
    }
    None
}

fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.find(key).map(|at| text[at + key.len()..].trim_start())
}

fn quoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote).map(|(value, _)| value.trim().to_owned())
}

fn digits(text: &str) -> Option<String> {
    let number: String = text.chars().take_while(char::is_ascii_digit).collect();
    (number.len() >= 10).then_some(number)
}

/// What a report declares otherwise than it is.
///
/// # Errors
/// When the input cannot be read.
pub fn declared_otherwise(mut input: impl BufRead, tests: Counts) -> io::Result<Vec<ReportIssue>> {
    let mut issues = Issues::default();
    match Format::detect(input.fill_buf()?) {
        Format::Junit => suites(input, &mut issues)?,
        Format::Ctrf | Format::JestJson | Format::RspecJson => summary(input, tests, &mut issues),
        // A plan is checked by whoever reads the tests, and events declare nothing.
        Format::Tap | Format::GoJson => {}
    }
    Ok(issues.into_vec())
}

/// How many tests there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub tests: u64,
    /// Those that failed in any way.
    pub failed: u64,
    /// Those that were skipped.
    pub skipped: u64,
}

/// A suite that is open.
struct Suite {
    name: String,
    offset: u64,
    depth: usize,
    declared: [Option<u64>; 3],
    /// Tests that were disabled, which some runners count beside those that were skipped.
    disabled: u64,
    /// Surefire declares the counts of its last round where it repeats tests.
    has_rounds: bool,
    /// In the suite itself, and with those below it.
    own: Counts,
    all: Counts,
}

fn suites(input: impl BufRead, issues: &mut Issues) -> io::Result<()> {
    let mut pieces = Pieces::new(input);
    let mut open: Vec<Suite> = Vec::new();
    let mut case: Option<Case> = None;
    let mut depth = 0_usize;
    loop {
        let offset = pieces.offset();
        match pieces.next(Texts::Skipped)? {
            None => return Ok(()),
            Some(Piece::Open(tag)) => {
                depth += 1;
                match (tag.name(), &mut case) {
                    (b"testsuite", None) if open.len() < super::reported::DEEPEST => {
                        open.push(suite(tag, offset, depth));
                    }
                    (b"testcase", None) => case = Some(Case::begin(tag, depth)),
                    (name, Some(case)) if depth == case.depth + 1 => case.hear(name),
                    _ => {}
                }
            }
            Some(Piece::Close) => {
                if let Some(case) = case.take_if(|case| case.depth == depth) {
                    case.count(&mut open);
                } else if let Some(suite) = open.pop_if(|suite| suite.depth == depth) {
                    suite.check(issues);
                    if let Some(outer) = open.last_mut() {
                        outer.all.add(suite.all);
                    }
                }
                depth = depth.saturating_sub(1);
            }
            Some(Piece::Text(_)) => {}
        }
    }
}

struct Case {
    depth: usize,
    has_failed: bool,
    is_skipped: bool,
    is_repeated: bool,
}

impl Case {
    fn begin(tag: Tag<'_>, depth: usize) -> Self {
        let state = tag.attribute("status").map(|it| it.to_ascii_lowercase()).unwrap_or_default();
        let result = tag.attribute("result").map(|it| it.to_ascii_lowercase()).unwrap_or_default();
        let is = |words: &[&str]| words.iter().any(|word| *word == state || *word == result);
        Self {
            depth,
            has_failed: is(&["fail", "failed", "failure", "error"]),
            is_repeated: false,
            is_skipped: is(&["notrun", "disabled", "suppressed", "skipped", "skip", "pending"]),
        }
    }

    fn hear(&mut self, name: &[u8]) {
        self.has_failed |= matches!(name, b"failure" | b"error");
        self.is_skipped |= matches!(name, b"skipped" | b"skip" | b"ignored");
        self.is_repeated |= name.starts_with(b"flaky") || name.starts_with(b"rerun");
    }

    fn count(&self, open: &mut [Suite]) {
        let counts = Counts {
            tests: 1,
            failed: u64::from(self.has_failed),
            skipped: u64::from(self.is_skipped && !self.has_failed),
        };
        if let Some(suite) = open.last_mut() {
            suite.has_rounds |= self.is_repeated;
            suite.own.add(counts);
            suite.all.add(counts);
        }
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.tests += other.tests;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

fn suite(tag: Tag<'_>, offset: u64, depth: usize) -> Suite {
    let number = |name| tag.attribute(name).and_then(|value| value.trim().parse::<u64>().ok());
    let failed = match (number("failures"), number("errors")) {
        (None, None) => None,
        (failures, errors) => Some(failures.unwrap_or(0) + errors.unwrap_or(0)),
    };
    let mut name = tag.attribute("name").unwrap_or_default().into_owned();
    super::reported::cut(&mut name, 200);
    Suite {
        name,
        offset,
        depth,
        declared: [number("tests"), failed, number("skipped").or(number("disabled"))],
        disabled: number("disabled").unwrap_or(0),
        has_rounds: false,
        own: Counts::default(),
        all: Counts::default(),
    }
}

impl Suite {
    /// Some runners count what is in the suites below, and some do not.
    fn check(&self, issues: &mut Issues) {
        if self.has_rounds {
            return;
        }
        let held = [
            (self.own.tests, self.all.tests, "tests"),
            (self.own.failed, self.all.failed, "failures and errors"),
            (self.own.skipped, self.all.skipped, "skipped tests"),
        ];
        for (declared, (own, all, what)) in self.declared.into_iter().zip(held) {
            let is_held = |it: u64| it == own || it == all;
            let disabled = if what.starts_with("skipped") { self.disabled } else { 0 };
            let wrong = |it: &u64| !is_held(*it) && !is_held(it.saturating_add(disabled));
            if let Some(declared) = declared.filter(wrong) {
                let name = &self.name;
                let says = format!("the suite `{name}` declares {declared} {what} and holds {all}");
                issues.serious(self.offset, says);
            }
        }
    }
}

/// The summaries of CTRF, jest and RSpec.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Document {
    results: Option<CtrfResults>,
    #[serde(rename = "numTotalTests")]
    jest_tests: Option<u64>,
    #[serde(rename = "numFailedTests")]
    jest_failed: Option<u64>,
    summary: Option<RspecSummary>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CtrfResults {
    summary: Option<CtrfSummary>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CtrfSummary {
    tests: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
    pending: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RspecSummary {
    example_count: Option<u64>,
    failure_count: Option<u64>,
    pending_count: Option<u64>,
}

/// What cannot be read is told by whoever reads the tests.
fn summary(input: impl BufRead, held: Counts, issues: &mut Issues) {
    let buffered = io::BufReader::with_capacity(64 * 1024, CutStrings::new(input));
    let Ok(document) = serde_json::from_reader::<_, Document>(buffered) else { return };
    let ctrf = document.results.and_then(|results| results.summary).unwrap_or_default();
    let rspec = document.summary.unwrap_or_default();
    let ctrf_skipped = ctrf.skipped.map(|skipped| skipped + ctrf.pending.unwrap_or(0));
    let pairs = [
        (ctrf.tests.or(document.jest_tests).or(rspec.example_count), held.tests, "tests"),
        (ctrf.failed.or(document.jest_failed).or(rspec.failure_count), held.failed, "failures"),
        (ctrf_skipped.or(rspec.pending_count), held.skipped, "skipped tests"),
    ];
    for (declared, held, what) in pairs {
        if let Some(declared) = declared.filter(|declared| *declared != held) {
            issues.serious(0, format!("the summary declares {declared} {what}, and {held} follow"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_told_from_what_lies_beside_them() {
        for report in [
            "<?xml version='1.0'?>\n<testsuites/>",
            "<TestRun id='1'>",
            "{\"Action\":\"start\",\"Package\":\"a\"}",
            "{\"results\":{\"tests\":[]}}",
            "{\"numTotalTests\":1,\"testResults\":[]}",
            "TAP version 14\n1..0",
        ] {
            assert!(may_be_report(report.as_bytes()), "{report}");
        }
        for other in [
            "<project><artifactId>a</artifactId></project>",
            "<coverage line-rate='1'/>",
            "{\"name\":\"a\",\"scripts\":{\"test\":\"jest\"}}",
            "",
        ] {
            assert!(!may_be_report(other.as_bytes()), "{other}");
        }
    }

    fn found(text: &str) -> String {
        started(text.as_bytes()).unwrap_or_default()
    }

    #[test]
    fn every_format_tells_it_in_its_way() {
        let time = "2026-11-15T10:15:00";
        let suite = format!("<testsuites>\n<testsuite name='a' timestamp=\"{time}\">");
        assert_eq!(found(&suite), time);
        assert_eq!(
            found(&format!("<TestRun id=\"1\"><Times creation=\"x\" start=\"{time}Z\"/>")),
            format!("{time}Z")
        );
        assert_eq!(
            found(&format!("{{\"Time\":\"{time}Z\",\"Action\":\"start\"}}")),
            format!("{time}Z")
        );
        let ctrf = r#"{"results": {"summary": {"tests": 1, "start": 1794737700123}}}"#;
        assert_eq!(found(ctrf), "1794737700123");
        assert_eq!(found(r#"{"startTime":1794737700123,"testResults":[]}"#), "1794737700123");
        assert_eq!(found("TAP version 14\nok 1\n"), "");
    }

    #[test]
    fn a_suite_without_a_time_does_not_take_that_of_what_was_printed() {
        assert_eq!(found("<testsuite><testcase name='a'>timestamp=\"1999\"</testcase>"), "");
    }

    fn issues(text: &str, tests: u64) -> Vec<String> {
        let counts = Counts { tests, ..Counts::default() };
        let issues = declared_otherwise(text.as_bytes(), counts).unwrap();
        issues.into_iter().map(|issue| issue.what).collect()
    }

    #[test]
    fn suites_that_hold_what_they_declare_are_fine() {
        let text = "<testsuites><testsuite name='a' tests='3' failures='1' errors='0' skipped='1'>\
            <testcase name='x'/><testcase name='y'><failure/></testcase>\
            <testcase name='z'><skipped/></testcase></testsuite></testsuites>";
        assert!(issues(text, 3).is_empty());
        let nested = format!("<testsuite tests='3'>{text}</testsuite>");
        assert!(issues(&nested, 3).is_empty());
    }

    #[test]
    fn a_test_too_few_is_said_with_the_suite() {
        let text = "<testsuite name='a' tests='2' failures='1'><testcase name='x'/></testsuite>";
        let expected = [
            "the suite `a` declares 2 tests and holds 1",
            "the suite `a` declares 1 failures and errors and holds 0",
        ];
        assert_eq!(issues(text, 1), expected);
    }

    #[test]
    fn summaries_of_json_are_compared() {
        let text = r#"{"results":{"summary":{"tests":3,"failed":0},"tests":[]}}"#;
        assert_eq!(issues(text, 2), ["the summary declares 3 tests, and 2 follow"]);
        let rspec = r#"{"examples":[],"summary":{"example_count":2,"failure_count":0}}"#;
        assert!(issues(rspec, 2).is_empty());
    }
}
