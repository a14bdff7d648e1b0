//! Whether a report holds what it says it holds.
//!
//! Suites of JUnit XML and the summaries of JSON reports say how many tests there are and how many
//! failed. Where that is not what follows, the report was cut, merged badly or edited.

use std::io::{self, BufRead};

use serde::Deserialize;

use super::Format;
use super::json_skeleton::CutStrings;
use super::reported::{Issue, Issues};
use super::xml::{Piece, Pieces, Tag, Texts};

/// What a report declares otherwise than it is.
///
/// # Errors
/// When the input cannot be read.
pub fn declared_otherwise(mut input: impl BufRead, tests: Counts) -> io::Result<Vec<Issue>> {
    let mut issues = Issues::default();
    match Format::of(input.fill_buf()?) {
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
                    (b"testcase", None) => case = Some(Case::of(tag, depth)),
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
    fn of(tag: Tag<'_>, depth: usize) -> Self {
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
