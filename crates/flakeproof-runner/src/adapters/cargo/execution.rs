//! From what a process told to the execution of a test.

use std::time::Duration;

use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};

use super::piece::TestResult;
use super::process::{self, Section};
use super::session::CargoSession;
use crate::adapters::lost::describe_death;
use crate::process::Death;

/// The execution that a process of Rust's own harness tells.
pub(super) fn execution_of(
    session: &CargoSession,
    test: &TestId,
    name: &str,
    told: TestResult,
) -> Execution {
    match told {
        TestResult::Passed(section) => {
            let (_, output) = process::result_of(&section.text, false);
            plain(test, Outcome::Passed, section.duration, output)
        }
        TestResult::Ignored(reason) => {
            let execution = plain(test, Outcome::Skipped, Duration::ZERO, "");
            Execution { note: reason, ..execution }
        }
        TestResult::Failed(section, remark) => {
            let (_, output) = process::result_of(&section.text, false);
            let failure = failure(test, name, output, remark.as_deref());
            // What it printed is the text of its failure.
            let execution = plain(test, Outcome::Failed, section.duration, "");
            Execution { failure: Some(failure), ..execution }
        }
        TestResult::Died(section, death) => crashed(test, &section, died(death)),
        TestResult::DiedAfter(section, death) => {
            let message = format!("the test ended, and then its process died: {death}");
            crashed(test, &section, message)
        }
        TestResult::TimedOut(section, threads) => timed_out(session, test, &section, &threads),
        TestResult::Unclear | TestResult::NeverBegan => {
            crashed(test, &nothing(), "what it printed does not tell".to_owned())
        }
        TestResult::Lost(text, death) => crashed(test, &Section { text, ..nothing() }, died(death)),
    }
}

fn nothing() -> Section {
    Section { text: String::new(), duration: Duration::ZERO }
}

/// An execution in which nothing went wrong, or nothing that is said here.
pub(super) fn plain(
    test: &TestId,
    outcome: Outcome,
    duration: Duration,
    output: &str,
) -> Execution {
    Execution {
        output: output.trim().to_owned(),
        ..Execution::new(test.clone(), outcome, duration)
    }
}

/// A test in which its process died.
pub(super) fn crashed(test: &TestId, section: &Section, message: String) -> Execution {
    let text = format!("{message}\n\n{}", section.text.trim()).trim().to_owned();
    gone(test, Outcome::Crashed, section, message, text)
}

/// A test that was still running at its limit.
pub(super) fn timed_out(
    session: &CargoSession,
    test: &TestId,
    section: &Section,
    threads: &str,
) -> Execution {
    let limit = session.settings.timeout.unwrap_or_default();
    let message = format!("still running after {limit:?}, the time limit for one test");
    let printed = match section.text.trim() {
        "" => "It printed nothing.".to_owned(),
        printed => format!("It had printed:\n{printed}"),
    };
    let text = format!("{message}\n\n{threads}\n{printed}");
    gone(test, Outcome::TimedOut, section, message, text)
}

/// How a process died, for people.
pub(super) fn died(death: Death) -> String {
    describe_death("the process", Some(death))
}

fn gone(
    test: &TestId,
    outcome: Outcome,
    section: &Section,
    message: String,
    text: String,
) -> Execution {
    // With the test as its place: two crashes are not one failure by that alone.
    let own = Location { file: test.to_string(), line: None };
    let signature = Signature::compute(&format!("{outcome}: {message}"), Some(&own));
    let failure = Failure { phase: Phase::Call, message, text, location: None, signature };
    let execution = plain(test, outcome, section.duration, &section.text);
    Execution { failure: Some(failure), ..execution }
}

/// A panic that was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Panic<'a> {
    thread: &'a str,
    location: Option<Location>,
    /// The lines of its message.
    message: Vec<&'a str>,
}

/// The failure of a test that the harness calls failed.
///
/// `printed` is the test's own output; `remark` is what the harness says about it at the end of the
/// run, as that a panic was expected and did not come.
pub(super) fn failure(test: &TestId, name: &str, printed: &str, remark: Option<&str>) -> Failure {
    let panics = panics_in(printed);
    let of_the_test = panics.iter().find(|panic| panic.thread == name).or(panics.last());
    let (message, location) = match (remark, of_the_test) {
        // The panics of a test that should panic are not what is wrong with it.
        (Some(remark), _) => {
            let remark = remark.strip_prefix("note: ").unwrap_or(remark);
            (remark.lines().map(str::trim).collect(), place_in(remark))
        }
        (None, Some(panic)) => (panic.message.clone(), panic.location.clone()),
        (None, None) => (Vec::new(), None),
    };
    let own = Location { file: test.to_string(), line: None };
    let message = match (message.is_empty(), returned_error(printed)) {
        (true, Some(error)) => error,
        _ => in_one_line(&message),
    };
    let signature = Signature::compute(&message, Some(location.as_ref().unwrap_or(&own)));
    let remark = remark.filter(|remark| !printed.contains(remark.trim()));
    let text = [printed.trim(), remark.unwrap_or_default()].join("\n").trim().to_owned();
    Failure { phase: Phase::Call, message, text, location, signature }
}

/// Lines of an error that belong to what it says.
const LINES_OF_AN_ERROR: usize = 8;

/// The error that a test returned: `Error: "bad"`, perhaps with its causes on the lines after it.
fn returned_error(printed: &str) -> Option<String> {
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    let begin = lines.iter().rposition(|line| line.starts_with("Error: "))?;
    let error = lines[begin..].iter().take_while(|line| !line.starts_with("stack backtrace:"));
    let said: Vec<&str> = error.copied().filter(|line| !line.is_empty()).collect();
    Some(said[..said.len().min(LINES_OF_AN_ERROR)].join(" "))
}

/// The message with what was compared, where an assertion says that.
fn in_one_line(message: &[&str]) -> String {
    let first = message.first().copied().unwrap_or("the test failed");
    let compared: Vec<&str> = message
        .iter()
        .skip(1)
        .map(|line| line.trim())
        .filter(|line| {
            ["left: ", "right: ", "panic message: ", "expected substring: "]
                .iter()
                .any(|start| line.starts_with(start))
        })
        .collect();
    match compared.is_empty() {
        true => first.to_owned(),
        false => format!("{first} ({})", compared.join(", ")),
    }
}

/// Every panic that was printed, in order.
fn panics_in(printed: &str) -> Vec<Panic<'_>> {
    let mut panics = Vec::new();
    let mut lines = printed.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((thread, what)) = head_of_panic(line) else { continue };
        if let Some(panic) = panic_in_one_line(thread, what) {
            panics.push(panic);
            continue;
        }
        let mut message = Vec::new();
        while let Some(line) = lines.next_if(|line| !is_after_message(line)) {
            message.push(line);
        }
        panics.push(Panic { thread, location: location(what.trim_end_matches(':')), message });
    }
    panics
}

/// The thread of `thread 'a' (12) panicked at src/lib.rs:3:5:`, and what follows `at`.
fn head_of_panic(line: &str) -> Option<(&str, &str)> {
    let rest = &line[line.find("thread '")? + "thread '".len()..];
    let (before, what) = rest.split_once(" panicked at ")?;
    let (thread, _) = before.rsplit_once('\'')?;
    Some((thread, what))
}

/// A panic as compilers before 1.73 print it: `panicked at 'no', src/lib.rs:3:5`.
fn panic_in_one_line<'a>(thread: &'a str, what: &'a str) -> Option<Panic<'a>> {
    let (message, place) = what.strip_prefix('\'')?.rsplit_once("', ")?;
    Some(Panic { thread, location: location(place), message: vec![message] })
}

fn is_after_message(line: &str) -> bool {
    line.starts_with("note: ") || line.starts_with("stack backtrace:") || line.contains("thread '")
}

/// The place `src/lib.rs:3:5`.
fn location(place: &str) -> Option<Location> {
    let mut parts = place.trim().rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Location { file: file.to_owned(), line: Some(line.parse().ok()?) })
}

/// The place that a remark of the harness names: `did not panic as expected at src/lib.rs:3:5`.
fn place_in(remark: &str) -> Option<Location> {
    location(remark.lines().next()?.rsplit_once(" at ")?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure_in(printed: &str, remark: Option<&str>) -> Failure {
        failure(&"p::tests::a".into(), "tests::a", printed, remark)
    }

    fn at(file: &str, line: u32) -> Option<Location> {
        Some(Location { file: file.into(), line: Some(line) })
    }

    #[test]
    fn a_failed_assertion_has_its_place_and_what_was_compared() {
        let failure = failure_in(
            "noise\n\nthread 'tests::a' (17) panicked at src/lib.rs:16:25:\n\
             assertion `left == right` failed: why\n  left: 1\n right: 2\n\
             note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
            None,
        );
        let message = "assertion `left == right` failed: why (left: 1, right: 2)";
        assert_eq!(failure.message, message);
        assert_eq!(failure.location, at("src/lib.rs", 16));
        assert!(failure.text.starts_with("noise"));
    }

    #[test]
    fn the_panic_of_the_tests_own_thread_comes_first() {
        let failure = failure_in(
            "thread 'pool-1' (3) panicked at src/pool.rs:4:1:\nlost\n\
             thread 'tests::a' (2) panicked at src/lib.rs:9:5:\njoin failed\n",
            None,
        );
        assert_eq!(
            (failure.message.as_str(), failure.location),
            ("join failed", at("src/lib.rs", 9))
        );
    }

    #[test]
    fn old_compilers_print_a_panic_in_one_line() {
        let failure = failure_in("thread 'tests::a' panicked at 'it's no', src/a.rs:3:5\n", None);
        assert_eq!((failure.message.as_str(), failure.location), ("it's no", at("src/a.rs", 3)));
    }

    #[test]
    fn a_panic_that_did_not_come_is_the_failure() {
        let failure =
            failure_in("", Some("note: test did not panic as expected at src/lib.rs:14:32"));
        assert!(failure.message.contains("did not panic as expected"));
        assert_eq!(failure.location, at("src/lib.rs", 14));
    }

    #[test]
    fn a_returned_error_is_the_message() {
        assert_eq!(failure_in("Error: \"bad\"\n", None).message, "Error: \"bad\"");
        let caused = failure_in("Error: cannot read\n\nCaused by:\n    it is corrupt\n", None);
        assert_eq!(caused.message, "Error: cannot read Caused by: it is corrupt");
        assert_eq!(failure_in("", None).message, "the test failed");
    }

    #[test]
    fn numbers_in_a_message_make_no_other_failure() {
        let panic = |port: u16| {
            let printed = format!("thread 'x' (1) panicked at src/a.rs:3:5:\nport {port} in use\n");
            failure_in(&printed, None).signature
        };
        assert_eq!(panic(8080), panic(9090));
    }
}
