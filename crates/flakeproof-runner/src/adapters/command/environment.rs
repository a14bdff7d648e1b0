//! Tests run by processes of the runner.
//!
//! A process of a runner cannot be talked to: it is told which tests to run, and reports when all
//! of them have ended. So there are three ways to run what is announced. The whole suite runs as
//! the user's own command would run it, in one go, and what it said is handed out test by test.
//! Some tests run in one process where the runner keeps their order. All others run in a process
//! each, and share nothing but what lies outside of processes. Where the user's own run has only a part
//! of the suite, that part runs in one go as well, by the runner's own way to be told some tests.
//!
//! The sentences by which runners say that they fail for something else than their tests.
//!
//! A runner has one exit code for all that can go wrong. Where tests fail as well, only what it
//! prints tells that there is more. A test that prints such a sentence makes a red run that has
//! failures stay red: the safe side.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use flakeproof_core::{
    Execution, Failure, Isolation, Location, Outcome, Phase, Signature, State, TestId, headline,
};
use regex::Regex;

use super::session::CommandSession;
use crate::adapter::{Environment, Error, Measuring, Probe, Result, Then};
use crate::reports::{ReportedFailure, ReportedTest};

/// A place where tests are run.
#[derive(Debug)]
pub(super) struct CommandEnvironment {
    session: Arc<CommandSession>,
    isolation: Isolation,
    announced: Vec<TestId>,
    /// What a process for all that was announced came to; `None` before it ran.
    together: Option<HashMap<TestId, Execution>>,
    /// Tests whose process has ended with others in it.
    gone: HashSet<TestId>,
}

impl CommandEnvironment {
    pub(super) fn new(session: &Arc<CommandSession>, isolation: Isolation) -> Self {
        Self {
            session: Arc::clone(session),
            isolation,
            announced: Vec::new(),
            together: None,
            gone: HashSet::new(),
        }
    }

    /// Whether what is announced is all that the user's own command runs.
    fn is_own_run(&self) -> Result<bool> {
        Ok(self.isolation == Isolation::Same && self.session.is_own_run(&self.announced)?)
    }

    /// What a process with other tests in it says about this one.
    fn run_with_others(&mut self, test: &TestId) -> Result<Option<Execution>> {
        if self.isolation == Isolation::Same {
            if !self.session.has_run_all() && self.is_own_run()? {
                self.session.run_all(&self.announced)?;
            }
            if let Some(execution) = self.session.take(test) {
                self.gone.insert(test.clone());
                return Ok(Some(execution));
            }
        }
        if self.announced.len() < 2 || !self.session.profile().keeps_order() {
            return Ok(None);
        }
        let together = match &mut self.together {
            Some(together) => together,
            None => {
                let ran = self.session.run_in_order(&self.announced, self.isolation)?;
                self.together.insert(ran)
            }
        };
        let execution = together.remove(test);
        if execution.is_some() {
            self.gone.insert(test.clone());
        }
        Ok(execution)
    }
}

impl Environment for CommandEnvironment {
    fn expect(&mut self, upcoming: &[TestId], _: Then) -> Result<()> {
        if self.together.is_some() {
            return Err(Error::NotPossible {
                what: "another order in this environment".into(),
                why: "the runner's process has ended".into(),
            });
        }
        for test in upcoming {
            self.session.fields(test)?;
        }
        self.announced = upcoming.to_vec();
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        self.session.fields(test)?;
        if self.gone.contains(test) {
            return Err(Error::EnvironmentLost {
                cause: "the runner's process has ended, and with it what its tests left".into(),
            });
        }
        // What a test uses is told by a process that has no other in it.
        let with_others = match probe.features {
            Measuring::On => None,
            Measuring::Off => self.run_with_others(test)?,
        };
        match with_others {
            Some(execution) => Ok(execution),
            None => self.session.run_alone(test, probe, self.isolation),
        }
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        Err(Error::NotPossible {
            what: "a snapshot".into(),
            why: "a runner's process cannot be copied".into(),
        })
    }

    fn look(&mut self) -> Result<State> {
        Err(Error::NotPossible {
            what: "a look at what tests leave behind".into(),
            why: "a runner's process cannot be asked".into(),
        })
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// A file of the project and a line in a failure's text.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"([A-Za-z0-9_./@+-]+\.[A-Za-z]{1,5})[:(](\d{1,7})")
        .expect("the pattern is fixed and compiles")
});

/// The execution that a report tells of.
pub(in crate::adapters) fn execution(
    test: &TestId,
    reported: ReportedTest,
    folder: &Path,
) -> Execution {
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
        failure,
        note,
        output,
        ..Execution::new(test.clone(), outcome, duration.unwrap_or_default())
    }
}

/// An execution that no report tells of.
pub(in crate::adapters) fn untold(
    test: &TestId,
    outcome: Outcome,
    message: &str,
    text: String,
    duration: std::time::Duration,
) -> Execution {
    let here = Location { file: test.to_string(), line: None };
    Execution {
        failure: Some(Failure {
            phase: if outcome == Outcome::Errored { Phase::Setup } else { Phase::Call },
            message: message.to_owned(),
            signature: Signature::compute(message, Some(&here)),
            text: if text.trim().is_empty() { message.to_owned() } else { text },
            location: None,
        }),
        ..Execution::new(test.clone(), outcome, duration)
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
    let said = |text: &str| {
        let lines: Vec<&str> = text.lines().filter(says_something).collect();
        Some(headline(&lines.join("\n"))).filter(|it| !it.is_empty())
    };
    let first = said(&message).or_else(|| said(&text)).unwrap_or_else(|| "no message".to_owned());
    let message = match kind.is_empty() || first.contains(kind.as_str()) || kind.contains(' ') {
        true => first,
        false => format!("{kind}: {first}"),
    };
    let text = if text.trim().is_empty() { message.clone() } else { text };
    let location = place_in(&text, folder);
    // Without a place, the words alone are not enough: every test of some runners just "Failed".
    let here = Location { file: test.to_string(), line: None };
    let signature = Signature::compute(&message, Some(location.as_ref().unwrap_or(&here)));
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

/// A line contains all of one of these.
const SENTENCES: [&[&str]; 8] = [
    // jest
    &["Jest: ", "coverage threshold for"],
    &["Jest: Coverage data for"],
    // vitest, c8, nyc
    &["ERROR: Coverage for", "does not meet"],
    &["Vitest caught", "unhandled error"],
    // node:test
    &["coverage does not meet threshold"],
    // SimpleCov
    &["is below the expected minimum coverage"],
    // go
    &["testing: race detected outside of test execution"],
    // RSpec
    &["error", "occurred outside of examples"],
];

/// The line in which a runner says so.
pub(super) fn said(output: &str) -> Option<&str> {
    let is_sentence =
        |line: &&str| SENTENCES.iter().any(|parts| parts.iter().all(|part| line.contains(part)));
    output.lines().find(is_sentence).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution_with(outcome: Outcome, message: &str) -> Execution {
        let failure =
            ReportedFailure { message: message.into(), text: message.into(), ..Default::default() };
        let reported = ReportedTest { outcome, failure: Some(failure), ..ReportedTest::named("t") };
        execution(&TestId::from("t"), reported, Path::new("/nowhere"))
    }

    #[test]
    fn a_failing_part_fails_the_test_and_a_skipped_one_does_not_skip_it() {
        let mut test = execution_with(Outcome::Failed, "part");
        merge(&mut test, execution_with(Outcome::Passed, ""));
        assert_eq!(test.outcome, Outcome::Failed);
        let mut test = execution_with(Outcome::Skipped, "part");
        merge(&mut test, execution_with(Outcome::Passed, ""));
        assert_eq!(test.outcome, Outcome::Passed);
        let mut test = execution_with(Outcome::Failed, "part");
        merge(&mut test, execution_with(Outcome::Crashed, "whole"));
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

    #[test]
    fn a_coverage_threshold_is_told_from_failing_tests() {
        let line = "Jest: \"global\" coverage threshold for statements (90%) not met: 50%";
        assert_eq!(said(&format!("FAIL a.test.js\n{line}\n")), Some(line));
        assert_eq!(said("Tests: 1 failed, 2 passed"), None);
    }
}
