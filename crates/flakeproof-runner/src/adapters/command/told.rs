//! From what a report tells to what happened to a test.

use std::path::Path;
use std::sync::LazyLock;

use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};
use regex::Regex;

use crate::reports::{ReportedFailure, ReportedTest};

/// A file of the project and a line in a failure's text.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"([A-Za-z0-9_./@+-]+\.[A-Za-z]{1,5})[:(](\d{1,7})")
        .expect("the pattern is fixed and compiles")
});

/// The execution that a report tells of.
pub(super) fn execution(test: &TestId, reported: ReportedTest, folder: &Path) -> Execution {
    let ReportedTest { outcome, duration, mut failure, output, file, line, .. } = reported;
    if let Some(failure) = &mut failure
        && failure.text.trim().is_empty()
        && failure.message.trim().is_empty()
    {
        // CTest: what it printed is all there is.
        failure.text.clone_from(&output);
    }
    let own = file.map(|file| Location { file, line });
    let (failure, note) = match failure {
        Some(told) if outcome.is_failure() => {
            (Some(failure_of(test, outcome, told, own, folder)), None)
        }
        None if outcome.is_failure() => {
            let told = ReportedFailure { message: "no message".into(), ..Default::default() };
            (Some(failure_of(test, outcome, told, own, folder)), None)
        }
        told => (None, told.map(|told| told.message).filter(|message| !message.is_empty())),
    };
    Execution {
        test: test.clone(),
        outcome,
        duration: duration.unwrap_or_default(),
        failure,
        note,
        output,
        dependencies: None,
        measured: None,
    }
}

/// An execution that no report tells of.
pub(super) fn untold(
    test: &TestId,
    outcome: Outcome,
    message: &str,
    text: String,
    duration: std::time::Duration,
) -> Execution {
    let here = Location { file: test.to_string(), line: None };
    Execution {
        test: test.clone(),
        outcome,
        duration,
        failure: Some(Failure {
            phase: if outcome == Outcome::Errored { Phase::Setup } else { Phase::Call },
            message: message.to_owned(),
            signature: Signature::of(message, Some(&here)),
            text: if text.trim().is_empty() { message.to_owned() } else { text },
            location: None,
        }),
        note: None,
        output: String::new(),
        dependencies: None,
        measured: None,
    }
}

/// Two reports of one test, as of a test and its parts: a failure wins over a pass, a pass over a
/// skip, and of two failures the first, with the text of both.
pub(super) fn merge(first: &mut Execution, second: Execution) {
    let rank = |outcome: Outcome| match outcome {
        Outcome::Skipped => 0,
        Outcome::Passed => 1,
        Outcome::Failed | Outcome::Errored => 2,
        Outcome::TimedOut | Outcome::Crashed => 3,
    };
    first.duration = first.duration.max(second.duration);
    let (one, two) = (rank(first.outcome), rank(second.outcome));
    if two > one {
        first.outcome = second.outcome;
        first.note = second.note;
        first.failure = match (first.failure.take(), second.failure) {
            (Some(mut one), Some(two)) => {
                one.text = format!("{}\n{}", one.text, two.text);
                Some(one)
            }
            (one, two) => two.or(one),
        };
    } else if let (2.., Some(one), Some(two)) = (two, &mut first.failure, second.failure) {
        one.text = format!("{}\n{}", one.text, two.text);
    }
    if !second.output.is_empty() && !first.output.contains(&second.output) {
        first.output.push_str(&second.output);
    }
}

fn failure_of(
    test: &TestId,
    outcome: Outcome,
    told: ReportedFailure,
    own: Option<Location>,
    folder: &Path,
) -> Failure {
    let ReportedFailure { message, kind, text } = told;
    // Some runners put the name of the test on a line before what went wrong.
    let says_something = |line: &&str| !line.trim().is_empty() && line.trim() != test.as_str();
    let line = |text: &str| text.lines().find(says_something).map(str::to_owned);
    let first = line(&message).or_else(|| line(&text)).unwrap_or_else(|| "no message".to_owned());
    let first = first.trim();
    let message = match kind.is_empty() || first.contains(kind.as_str()) || kind.contains(' ') {
        true => first.to_owned(),
        false => format!("{kind}: {first}"),
    };
    let text = if text.trim().is_empty() { message.clone() } else { text };
    let location = place_in(&text, folder);
    // Without a place, the words alone are not enough: every test of some runners just "Failed".
    let here = Location { file: test.to_string(), line: None };
    let signature = Signature::of(&message, Some(location.as_ref().unwrap_or(&here)));
    let phase = if outcome == Outcome::Errored { Phase::Setup } else { Phase::Call };
    Failure { phase, message, text, location: location.or(own), signature }
}

/// The first place in a text that is a file of the project's own.
fn place_in(text: &str, folder: &Path) -> Option<Location> {
    let is_foreign =
        |file: &str| ["node_modules/", "vendor/", "/gems/"].iter().any(|part| file.contains(part));
    PLACE.captures_iter(text).take(200).find_map(|captures| {
        let file = captures.get(1)?.as_str();
        let relative = Path::new(file).strip_prefix(folder).unwrap_or(Path::new(file));
        let is_own = relative.is_relative() && folder.join(relative).is_file();
        let line = captures.get(2)?.as_str().parse().ok();
        (is_own && !is_foreign(file)).then(|| Location {
            file: relative.to_string_lossy().trim_start_matches("./").to_owned(),
            line,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: Outcome, message: &str) -> Execution {
        let failure =
            ReportedFailure { message: message.into(), text: message.into(), ..Default::default() };
        let reported = ReportedTest { outcome, failure: Some(failure), ..ReportedTest::named("t") };
        execution(&TestId::from("t"), reported, Path::new("/nowhere"))
    }

    #[test]
    fn a_failing_part_fails_the_test_and_a_skipped_one_does_not_skip_it() {
        let mut test = told(Outcome::Failed, "part");
        merge(&mut test, told(Outcome::Passed, ""));
        assert_eq!(test.outcome, Outcome::Failed);
        let mut test = told(Outcome::Skipped, "part");
        merge(&mut test, told(Outcome::Passed, ""));
        assert_eq!(test.outcome, Outcome::Passed);
        let mut test = told(Outcome::Failed, "part");
        merge(&mut test, told(Outcome::Crashed, "whole"));
        assert_eq!(test.outcome, Outcome::Crashed);
        assert_eq!(test.failure.unwrap().message, "part");
    }

    #[test]
    fn failures_without_a_place_are_not_alike() {
        let failed = |id: &str| {
            let reported = ReportedTest {
                outcome: Outcome::Failed,
                failure: Some(ReportedFailure { message: "Failed".into(), ..Default::default() }),
                ..ReportedTest::named(id)
            };
            execution(&TestId::from(id), reported, Path::new("/nowhere")).failure.unwrap()
        };
        assert_ne!(failed("a").signature, failed("b").signature);
    }
}
