//! The events of `go test -json`, one object on a line.
//!
//! A test's outcome is its last event, and its failure is what it printed. Subtests are tests of
//! their own (`TestA/one`). A package that fails while none of its tests does, because it does not
//! compile or its `TestMain` exits, is an issue: no test can be blamed. A test that began and did
//! not end took its process with it.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::time::Duration;

use flakeproof_core::Outcome;
use serde::Deserialize;

use super::reported::{self, Issues, LONGEST_NAME, LONGEST_TEXT, ReportedFailure, ReportedTest};

/// The longest line that is looked at.
const LONGEST_LINE: u64 = 1024 * 1024;

/// So many tests may run at once before the report is called broken.
const MOST_RUNNING: usize = 100_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(alias = "ImportPath")]
    package: String,
    test: String,
    elapsed: f64,
    output: String,
}

/// Read a stream of events, test by test.
pub(super) fn read(
    mut input: impl BufRead,
    issues: &mut Issues,
    sink: &mut dyn FnMut(ReportedTest),
) -> io::Result<()> {
    let mut reader = GoReader::default();
    let mut line = Vec::new();
    let mut number = 0;
    while next_line(&mut input, &mut line)? {
        number += 1;
        match serde_json::from_slice::<GoEvent>(&line) {
            Ok(event) => reader.hear(event, number, issues, sink),
            // The go command itself prints plain lines, above all when it cannot build.
            Err(_) => reader.hear_plainly(&String::from_utf8_lossy(&line)),
        }
    }
    reader.finish(number, issues, sink);
    Ok(())
}

/// The next line without its end; what is too long of it is passed over. `false` at the end.
pub(super) fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut limited = io::Read::take(&mut *input, LONGEST_LINE);
    if limited.read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(true);
    }
    // Too long, or the last one.
    loop {
        let piece = input.fill_buf()?;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let count = end.map_or(piece.len(), |at| at + 1);
        let is_at_end = piece.is_empty();
        input.consume(count);
        if end.is_some() || is_at_end {
            return Ok(true);
        }
    }
}

#[derive(Default)]
struct GoReader {
    /// What tests that run, or packages (with an empty test), printed so far.
    printed: HashMap<(String, String), String>,
    /// When tests that run began, counted in tests.
    begun: HashMap<(String, String), u64>,
    next_to_begin: u64,
    /// Failures of tests in each package.
    failures: HashMap<String, Failures>,
    /// What the go command printed outside of any package.
    plain: String,
}

/// The failures of tests in one package.
#[derive(Clone, Copy, Default)]
struct Failures {
    any: bool,
    any_panic: bool,
}

impl Failures {
    /// Whether they explain that the package failed, after what it printed outside of tests.
    ///
    /// A test binary whose tests fail ends with 1. With another code, or after a panic in
    /// `TestMain`, something else failed too, unless one of the tests panicked.
    fn explain(self, printed: &str) -> bool {
        let is_usual = |line: &str| {
            line.strip_prefix("exit status ").is_none_or(|code| code.trim() == "1")
                && !line.starts_with("signal: ")
                && !is_of_a_panic(line)
        };
        self.any_panic || (self.any && printed.lines().all(is_usual))
    }
}

fn is_of_a_panic(printed: &str) -> bool {
    printed.lines().any(|line| line.starts_with("panic: ") || line.starts_with("fatal error: "))
}

impl GoReader {
    fn hear(
        &mut self,
        event: GoEvent,
        line: u64,
        issues: &mut Issues,
        sink: &mut dyn FnMut(ReportedTest),
    ) {
        let GoEvent { action, mut package, mut test, elapsed, output } = event;
        reported::cut(&mut package, LONGEST_NAME);
        reported::cut(&mut test, LONGEST_NAME);
        let key = (package, test);
        let has_room = self.printed.len() < MOST_RUNNING;
        match (action.as_str(), key.1.is_empty()) {
            ("output" | "build-output", _) if has_room || self.printed.contains_key(&key) => {
                reported::append(self.printed.entry(key).or_default(), &output, LONGEST_TEXT);
            }
            ("run" | "start" | "cont" | "pause", false) if has_room => {
                self.printed.entry(key.clone()).or_default();
                let next = self.next_to_begin;
                self.next_to_begin += u64::from(*self.begun.entry(key).or_insert(next) == next);
            }
            ("pass" | "fail" | "skip", false) => {
                let outcome = outcome_of(&action);
                let printed = self.printed.remove(&key).unwrap_or_default();
                let failures = self.failures.entry(key.0.clone()).or_default();
                failures.any |= outcome.is_failure();
                failures.any_panic |= outcome.is_failure() && is_of_a_panic(&printed);
                let begun = self.begun.remove(&key);
                let mut test = reported(key, outcome, printed);
                test.begun = begun;
                test.duration = Duration::try_from_secs_f64(elapsed).ok();
                sink(test);
            }
            ("fail", true) | ("build-fail", _) => self.package_failed(&key.0, line, issues, sink),
            ("pass", true) => self.package_passed(&key.0, line, issues),
            ("skip", true) => drop(self.printed.remove(&key)),
            _ => {}
        }
    }

    fn hear_plainly(&mut self, line: &str) {
        reported::append(&mut self.plain, line, LONGEST_TEXT);
        reported::append(&mut self.plain, "\n", LONGEST_TEXT);
    }

    /// A package passed, if its binary says so itself: one that calls the system to end it says nothing,
    /// and its other tests never ran.
    fn package_passed(&mut self, package: &str, line: u64, issues: &mut Issues) {
        let own = self.printed.remove(&(package.to_owned(), String::new())).unwrap_or_default();
        let has_ended = own.lines().any(|line| line.ends_with("PASS") || line.ends_with("FAIL"));
        // Reports without what tests print, or with more of it than is kept, cannot tell.
        let can_tell = !own.is_empty() && own.len() < LONGEST_TEXT / 2;
        if self.failures.contains_key(package) && can_tell && !has_ended {
            issues.serious(line, format!("{package} ends before all of its tests ran:\n{own}"));
        }
    }

    /// A package failed: with a test that is at fault, or without one.
    fn package_failed(
        &mut self,
        package: &str,
        line: u64,
        issues: &mut Issues,
        sink: &mut dyn FnMut(ReportedTest),
    ) {
        let own = self.printed.remove(&(package.to_owned(), String::new())).unwrap_or_default();
        let mut unfinished: Vec<(String, String)> =
            self.printed.keys().filter(|key| key.0 == package).cloned().collect();
        unfinished.sort_unstable();
        let failures = self.failures.get(package).copied().unwrap_or_default();
        for key in &unfinished {
            let printed = self.printed.remove(key).unwrap_or_default();
            sink(reported(key.clone(), Outcome::Crashed, printed));
        }
        if unfinished.is_empty() && !failures.explain(&own) {
            issues.serious(line, format!("{package} fails outside of its tests:\n{own}"));
        }
    }

    fn finish(self, line: u64, issues: &mut Issues, sink: &mut dyn FnMut(ReportedTest)) {
        let mut unfinished: Vec<_> = self.printed.into_iter().collect();
        unfinished.sort_unstable();
        for (key, printed) in unfinished {
            if !key.1.is_empty() {
                issues.serious(line, format!("the report ends inside of `{}`", key.1));
                sink(reported(key, Outcome::Crashed, printed));
            }
        }
        // Before version 1.24, go prints like this which packages it could not build.
        if let Some(failed) = self.plain.lines().find(|line| line.starts_with("FAIL\t")) {
            issues.serious(line, format!("{failed}\n{}", self.plain.trim_end()));
        } else if !self.plain.trim().is_empty() {
            issues.note(line, format!("the go command prints:\n{}", self.plain.trim_end()));
        }
    }
}

fn outcome_of(action: &str) -> Outcome {
    match action {
        "pass" => Outcome::Passed,
        "skip" => Outcome::Skipped,
        _ => Outcome::Failed,
    }
}

/// What a test that ended like this, and printed this, is told as.
pub(crate) fn of_go_test(
    package: &str,
    name: &str,
    outcome: Outcome,
    printed: String,
) -> ReportedTest {
    reported((package.to_owned(), name.to_owned()), outcome, printed)
}

fn reported((package, name): (String, String), outcome: Outcome, printed: String) -> ReportedTest {
    let is_frame = |line: &&str| {
        let line = line.trim_start();
        !["=== ", "--- ", "PASS", "FAIL"].iter().any(|mark| line.starts_with(mark))
            && !line.is_empty()
    };
    let message = printed.lines().find(is_frame).unwrap_or("no message").trim().to_owned();
    let failure = outcome.is_failure() || outcome == Outcome::Skipped;
    let text = if outcome.is_failure() { printed.clone() } else { String::new() };
    ReportedTest {
        suite: package,
        outcome,
        failure: failure.then(|| ReportedFailure { message, kind: String::new(), text }),
        output: printed,
        ..ReportedTest::named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_of(package_output: &str, test_output: &str) -> Vec<String> {
        let event = |action: &str, test: &str, output: &str| {
            serde_json::json!({"Action": action, "Package": "p", "Test": test, "Output": output})
                .to_string()
        };
        let lines = [
            event("run", "TestA", ""),
            event("output", "TestA", test_output),
            event("fail", "TestA", ""),
            event("output", "", package_output),
            event("fail", "", ""),
        ];
        let mut issues = Issues::default();
        read(lines.join("\n").as_bytes(), &mut issues, &mut |_| {}).expect("it is all there");
        issues.into_vec().into_iter().map(|issue| issue.what).collect()
    }

    #[test]
    fn a_binary_that_ends_before_its_last_test_has_not_passed() {
        let issues = |printed: &str| {
            let event = |action: &str, test: &str, output: &str| {
                let all = serde_json::json!({"Action": action, "Package": "p", "Test": test, "Output": output});
                all.to_string()
            };
            let lines = [
                event("run", "TestA", ""),
                event("pass", "TestA", ""),
                event("output", "", printed),
                event("pass", "", ""),
            ];
            let mut issues = Issues::default();
            read(lines.join("\n").as_bytes(), &mut issues, &mut |_| {}).expect("it is all there");
            issues.into_vec().len()
        };
        assert_eq!(issues("PASS\nok  \tp\t0.1s\n"), 0);
        assert_eq!(issues("left overPASS\nok  \tp\t0.1s\n"), 0);
        assert_eq!(issues("ok  \tp\t0.1s\n"), 1);
    }

    #[test]
    fn a_failing_test_does_not_explain_another_end_of_its_binary() {
        assert!(read_of("FAIL\nexit status 1\nFAIL\tp\t0.1s\n", "bad\n").is_empty());
        assert_eq!(read_of("FAIL\nexit status 3\nFAIL\tp\t0.1s\n", "bad\n").len(), 1);
        assert_eq!(read_of("FAIL\npanic: in TestMain\nexit status 2\n", "bad\n").len(), 1);
        assert!(read_of("exit status 2\nFAIL\tp\t0.1s\n", "panic: boom\n").is_empty());
    }
}
