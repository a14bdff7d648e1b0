//! JUnit XML as Maven Surefire writes it when it reruns failing tests.
//!
//! One `testcase` per test, however often it ran. A flaky test counts as passed and carries its
//! failing runs as `flakyFailure` or `flakyError`; any other failing test carries its first
//! failure as `failure` or `error` and its failing reruns as `rerunFailure` or `rerunError`. A
//! crash and a timeout are errors. A failure that the quarantine excuses is skipped, with the reason:
//! whoever reads the file must come to the same result as the build. The verdict does not depend on what the policy makes of it:
//! a flaky test is flaky here even where flaky tests fail the build.

use flakeproof_core::{Attempt, Findings, Outcome, TestFinding, TestId, Verdict};
use quick_junit::{
    NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestRerun, TestSuite, XmlString,
};

use crate::{Error, Renderer, words};

/// Renders JUnit XML with Surefire's elements for reruns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JunitXml;

impl Renderer for JunitXml {
    fn render(&self, findings: &Findings) -> Result<Vec<u8>, Error> {
        let mut report = Report::new("flakeproof");
        report.set_time(findings.run.duration);
        report.timestamp = findings.run.started.parse().ok();
        report.add_test_suite(suite(findings));
        let mut bytes = Vec::new();
        report.serialize(&mut bytes)?;
        Ok(bytes)
    }
}

fn suite(findings: &Findings) -> TestSuite {
    let run = &findings.run;
    let framework = run.runner.split_whitespace().next().unwrap_or("flakeproof");
    let mut suite = TestSuite::new(xml(framework));
    suite.set_time(run.duration);
    suite.timestamp = run.started.parse().ok();
    let flakes = findings.count(Verdict::Flaky).to_string();
    suite.extra.insert(xml("flakes"), xml(&flakes));
    suite.add_property(property("flakeproof.version", &run.version));
    suite.add_property(property("flakeproof.run", &run.id));
    suite.add_property(property("flakeproof.seed", &run.seed.to_string()));
    if let Some(revision) = &run.revision {
        suite.add_property(property("flakeproof.revision", revision));
    }
    suite.add_test_cases(findings.tests.iter().map(test_case));
    suite
}

fn test_case(test: &TestFinding) -> TestCase {
    let name = Name::new(&test.id);
    let mut case = TestCase::new(xml(name.name), status(test));
    if let Some(class) = &name.class {
        case.set_classname(xml(class));
    }
    if let Some(attempt) = counting_attempt(test) {
        case.set_time(attempt.execution.duration);
    }
    if let Some(verdict) = test.verdict {
        case.add_property(property("flakeproof.verdict", verdict.word()));
    }
    if let Some(kind) = test.kind {
        case.add_property(property("flakeproof.kind", kind.word()));
    }
    case.system_out = match &case.status {
        TestCaseStatus::NonSuccess { .. } => test.first_failure().and_then(output),
        TestCaseStatus::Success { .. } | TestCaseStatus::Skipped { .. } => None,
    };
    case
}

/// The attempt whose time is the test's time: the one whose outcome the report gives.
fn counting_attempt(test: &TestFinding) -> Option<&Attempt> {
    let passing = || test.attempts.iter().find(|it| it.execution.outcome == Outcome::Passed);
    match test.verdict {
        Some(Verdict::Flaky) => passing().or(test.attempts.first()),
        Some(Verdict::Real | Verdict::Unknown | Verdict::NewlyFlaky | Verdict::Unrelated)
        | None => test.attempts.first(),
    }
}

fn status(test: &TestFinding) -> TestCaseStatus {
    if test.verdict == Some(Verdict::Flaky) {
        return TestCaseStatus::Success { flaky_runs: failing(test).map(rerun).collect() };
    }
    if let Some(quarantined) = test.quarantine.as_ref().filter(|_| test.is_excused()) {
        let mut status = TestCaseStatus::skipped();
        status.set_message(xml(&words::quarantined(quarantined)));
        return status;
    }
    let Some(kind) = failure_kind(test.outcome) else {
        return passed_or_skipped(test);
    };
    let mut status = TestCaseStatus::non_success(kind);
    let Some(first) = test.first_failure() else {
        status.set_type(test.outcome.to_string()).set_message(words::outcome(test.outcome));
        return status;
    };
    status.set_type(xml(&failure_type(first))).set_message(xml(&words::failure(first)));
    if let Some(failure) = &first.execution.failure {
        status.set_description(xml(&failure.text));
    }
    status.add_reruns(failing(test).skip(1).map(rerun));
    status
}

fn passed_or_skipped(test: &TestFinding) -> TestCaseStatus {
    if test.outcome != Outcome::Skipped {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::skipped();
    let note = test.attempts.first().and_then(|attempt| attempt.execution.note.as_deref());
    if let Some(note) = note {
        status.set_message(xml(note));
    }
    status
}

fn failing(test: &TestFinding) -> impl Iterator<Item = &Attempt> {
    test.attempts.iter().filter(|attempt| attempt.execution.outcome.is_failure())
}

/// What JUnit calls an outcome that is a failure.
fn failure_kind(outcome: Outcome) -> Option<NonSuccessKind> {
    match outcome {
        Outcome::Failed => Some(NonSuccessKind::Failure),
        Outcome::Errored | Outcome::Crashed | Outcome::TimedOut => Some(NonSuccessKind::Error),
        Outcome::Passed | Outcome::Skipped => None,
    }
}

fn rerun(attempt: &Attempt) -> TestRerun {
    let execution = &attempt.execution;
    let kind = failure_kind(execution.outcome);
    let mut rerun = TestRerun::new(kind.unwrap_or(NonSuccessKind::Failure));
    rerun.set_time(execution.duration);
    rerun.set_type(xml(&failure_type(attempt))).set_message(xml(&words::failure(attempt)));
    if let Some(failure) = &execution.failure {
        rerun.set_stack_trace(xml(&failure.text));
    }
    rerun.system_out = output(attempt);
    rerun
}

/// The exception's name where the message starts with one, else the outcome.
fn failure_type(attempt: &Attempt) -> String {
    let execution = &attempt.execution;
    let exception = || {
        let message = execution.failure.as_ref()?.message.as_str();
        let name = message.split_once(':').map_or(message, |(name, _)| name);
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'));
        is_name.then(|| name.to_owned())
    };
    match execution.outcome {
        Outcome::Crashed | Outcome::TimedOut => execution.outcome.to_string(),
        Outcome::Passed | Outcome::Failed | Outcome::Errored | Outcome::Skipped => {
            exception().unwrap_or_else(|| execution.outcome.to_string())
        }
    }
}

fn output(attempt: &Attempt) -> Option<XmlString> {
    let output = attempt.execution.output.as_str();
    (!output.is_empty()).then(|| xml(output))
}

fn property(name: &str, value: &str) -> Property {
    Property::new(xml(name), xml(value))
}

/// A test's id in the two parts that JUnit knows.
struct Name<'a> {
    class: Option<String>,
    name: &'a str,
}

impl<'a> Name<'a> {
    /// The parts as pytest's own `junitxml` makes them; an id of another shape is all name.
    fn new(id: &'a TestId) -> Self {
        let id = id.as_str();
        let path_end = id.find('[').unwrap_or(id.len());
        let Some(name_start) = id[..path_end].rfind("::") else {
            return Self { class: None, name: id };
        };
        let (path, name) = (&id[..name_start], &id[name_start + 2..]);
        let mut parts = path.split("::");
        let file = parts.next().unwrap_or_default();
        let is_file = file.rsplit('/').next().is_some_and(|last| last.contains('.'));
        if !is_file {
            return Self { class: None, name: id };
        }
        let module = file.strip_suffix(".py").unwrap_or(file).replace('/', ".");
        let class = std::iter::once(module.as_str()).chain(parts).collect::<Vec<_>>().join(".");
        Self { class: Some(class), name }
    }
}

/// Text without colour codes and without the characters that XML 1.0 forbids.
///
/// `XmlString` does the same, but it also drops tabs, and an escape sequence that is never closed
/// takes the rest of the text with it; so it is given text in which there is nothing left to do.
fn xml(text: &str) -> XmlString {
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' if characters.next_if_eq(&'[').is_some() => {
                while characters.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
                characters.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
            }
            '\t' => kept.push_str("    "),
            '\r' => {
                characters.next_if_eq(&'\n');
                kept.push('\n');
            }
            '\u{fffe}' | '\u{ffff}' => {}
            '\n' => kept.push('\n'),
            other if other.is_control() => {}
            other => kept.push(other),
        }
    }
    XmlString::new(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn rendered(findings: &Findings) -> String {
        String::from_utf8(JunitXml.render(findings).unwrap()).unwrap()
    }

    fn split(id: &str) -> (Option<String>, String) {
        let id = TestId::from(id);
        let Name { class, name } = Name::new(&id);
        (class, name.to_owned())
    }

    #[test]
    fn the_whole_report_reads_like_surefires() {
        insta::assert_snapshot!(rendered(&sample::findings()));
    }

    #[test]
    fn a_flaky_test_counts_as_passed() {
        let xml = rendered(&sample::findings());
        assert!(xml.contains(r#"tests="9" skipped="1" failures="1" errors="2""#), "{xml}");
        assert!(xml.contains(r#"flakes="4""#), "{xml}");
    }

    #[test]
    fn ids_of_pytest_are_split_as_pytest_splits_them() {
        for (id, class, name) in [
            ("tests/test_a.py::TestX::test_y[1]", "tests.test_a.TestX", "test_y[1]"),
            ("test_a.py::test_y[a::b/c.py]", "test_a", "test_y[a::b/c.py]"),
            ("docs/guide.rst::guide.rst", "docs.guide.rst", "guide.rst"),
        ] {
            assert_eq!(split(id), (Some(class.to_owned()), name.to_owned()));
        }
    }

    #[test]
    fn ids_of_other_shapes_stay_whole() {
        for id in ["crate::mod::test", "com.acme.FooTest#bar", "test_y[x.py::1]", ""] {
            assert_eq!(split(id), (None, id.to_owned()));
        }
    }

    #[test]
    fn characters_that_xml_forbids_are_dropped() {
        let text = "a\u{0}b\u{8}c\u{b}\u{c}\u{1f}d\u{fffe}e\u{ffff}f\u{7f}\u{85}\u{1f600}<&";
        assert_eq!(xml(text).as_str(), "abcdef\u{1f600}<&");
    }

    #[test]
    fn colour_codes_go_and_the_text_after_a_broken_one_stays() {
        assert_eq!(xml("\u{1b}[1;31mred\u{1b}[0m").as_str(), "red");
        assert_eq!(xml("\u{1b}]0;title without end\nkept").as_str(), "]0;title without end\nkept");
        assert_eq!(xml("cut \u{1b}[3").as_str(), "cut ");
        assert_eq!(xml("\tindented\r\nnext\rlast").as_str(), "    indented\nnext\nlast");
    }

    #[test]
    fn the_type_is_the_exception_where_the_message_names_one() {
        let of = |message: &str| {
            let test = sample::Test::new("t", Outcome::Failed).message(message).end();
            failure_type(&test.attempts[0])
        };
        assert_eq!(of("requests.exceptions.Timeout: 5 s"), "requests.exceptions.Timeout");
        assert_eq!(of("KeyError"), "KeyError");
        assert_eq!(of("assert {1: 2} == 3"), "failed");
    }

    #[test]
    fn a_failure_without_attempts_is_still_a_failure() {
        let mut test = sample::Test::new("t", Outcome::Crashed).verdict(Verdict::Real).end();
        test.attempts.clear();
        let xml = rendered(&sample::findings_of(vec![test]));
        assert!(
            xml.contains(r#"<error message="the process that ran the test died" type="crashed"/>"#),
            "{xml}"
        );
    }
}
