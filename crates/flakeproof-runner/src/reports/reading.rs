//! From a report to its format and its tests.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::reported::{Issue, Issues, ReportedTest};
use super::{go, json, junit, tap};

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
    pub fn of(beginning: &[u8]) -> Self {
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
    match Format::of(beginning) {
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
    match super::Format::of(beginning) {
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
}
