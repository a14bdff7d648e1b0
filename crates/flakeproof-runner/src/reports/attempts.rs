//! From what a report tells of a test to the attempts that were made at it.

use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, Failure, Isolation, Location, Outcome, Phase, Signature, Stage, TestId,
};

use super::reported::{ReportedFailure, ReportedTest};

/// The longest text of a failure that is kept, in bytes: enough for its message.
const LONGEST_MESSAGE: usize = 2_000;

/// The attempts at a test, earliest first, the first of which has this number.
///
/// What a runner repeated until it passed failed before; what failed every time failed first.
#[must_use]
pub fn attempts(
    test: ReportedTest,
    id: &TestId,
    number: u32,
    isolation: Isolation,
) -> Vec<Attempt> {
    let ReportedTest { outcome, duration, failure, reruns, output, file, line, .. } = test;
    let location = file.map(|file| Location { file, line });
    let decided = (outcome, duration, failure, output);
    let repeated =
        reruns.into_iter().map(|it| (it.outcome, it.duration, Some(it.failure), it.output));
    let told: Vec<_> = match outcome.is_failure() {
        true => std::iter::once(decided).chain(repeated).collect(),
        false => repeated.chain(std::iter::once(decided)).collect(),
    };
    let attempt = |(at, (outcome, duration, failure, output)): (u32, Told)| Attempt {
        stage: if number + at == 1 { Stage::First } else { Stage::Postponed },
        isolation: if at == 0 { isolation } else { Isolation::Same },
        number: number + at,
        position: None,
        execution: execution(id, outcome, duration, failure, &output, location.as_ref()),
    };
    (0..).zip(told).map(attempt).collect()
}

type Told = (Outcome, Option<Duration>, Option<ReportedFailure>, String);

fn execution(
    id: &TestId,
    outcome: Outcome,
    duration: Option<Duration>,
    told: Option<ReportedFailure>,
    output: &str,
    own: Option<&Location>,
) -> Execution {
    let (failure, note) = match told {
        _ if outcome == Outcome::Passed => (None, None),
        told if outcome.is_failure() => {
            (Some(failure(id, outcome, told.unwrap_or_default(), output, own)), None)
        }
        told => (None, told.map(|told| told.message).filter(|message| !message.is_empty())),
    };
    Execution {
        test: id.clone(),
        outcome,
        duration: duration.unwrap_or_default(),
        failure,
        note,
        output: String::new(),
        dependencies: None,
        measured: None,
    }
}

fn failure(
    id: &TestId,
    outcome: Outcome,
    told: ReportedFailure,
    output: &str,
    own: Option<&Location>,
) -> Failure {
    let ReportedFailure { message, kind, text } = told;
    let line =
        |text: &str| text.lines().map(str::trim).find(|it| !it.is_empty()).map(str::to_owned);
    let first = line(&message).or_else(|| line(&text)).or_else(|| line(output));
    let first = first.unwrap_or_else(|| "no message".to_owned());
    let mut message = match kind.is_empty() || first.contains(kind.as_str()) || kind.contains(' ') {
        true => first,
        false => format!("{kind}: {first}"),
    };
    super::reported::cut(&mut message, LONGEST_MESSAGE);
    // Without a place, the words alone are not enough: every test of some runners just "Failed".
    let here = Location { file: id.to_string(), line: None };
    Failure {
        phase: if outcome == Outcome::Errored { Phase::Setup } else { Phase::Call },
        signature: Signature::of(&message, Some(&here)),
        message,
        text: String::new(),
        location: own.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::reported::ReportedAttempt;
    use super::*;

    fn outcomes(outcome: Outcome, reruns: usize) -> Vec<(u32, Stage, Outcome)> {
        let mut test = ReportedTest::named("a");
        test.outcome = outcome;
        let rerun = ReportedAttempt {
            outcome: Outcome::Errored,
            duration: None,
            failure: ReportedFailure::default(),
            output: String::new(),
        };
        test.reruns = vec![rerun; reruns];
        let attempts = attempts(test, &"a".into(), 1, Isolation::Same);
        attempts.iter().map(|it| (it.number, it.stage, it.execution.outcome)).collect()
    }

    #[test]
    fn a_test_that_passed_when_repeated_failed_first() {
        let expected =
            [(1, Stage::First, Outcome::Errored), (2, Stage::Postponed, Outcome::Passed)];
        assert_eq!(outcomes(Outcome::Passed, 1), expected);
    }

    #[test]
    fn a_test_that_failed_every_time_failed_first() {
        let expected =
            [(1, Stage::First, Outcome::Failed), (2, Stage::Postponed, Outcome::Errored)];
        assert_eq!(outcomes(Outcome::Failed, 1), expected);
    }
}
