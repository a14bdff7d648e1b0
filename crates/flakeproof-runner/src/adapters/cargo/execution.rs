//! From what a process told to the execution of a test.

use std::time::Duration;

use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};

use super::panics;
use super::piece::Told;
use super::session::Session;
use super::watch::{self, Section};
use crate::process::Death;

/// The execution that a process of Rust's own harness tells.
pub(super) fn of(session: &Session, test: &TestId, name: &str, told: Told) -> Execution {
    match told {
        Told::Passed(section) => {
            let (_, output) = watch::result_of(&section.text, false);
            plain(test, Outcome::Passed, section.duration, output)
        }
        Told::Ignored(reason) => {
            let execution = plain(test, Outcome::Skipped, Duration::ZERO, "");
            Execution { note: reason, ..execution }
        }
        Told::Failed(section, remark) => {
            let (_, output) = watch::result_of(&section.text, false);
            let failure = panics::failure(test, name, output, remark.as_deref());
            let execution = plain(test, Outcome::Failed, section.duration, output);
            Execution { failure: Some(failure), ..execution }
        }
        Told::Died(section, death) => crashed(test, &section, died(death)),
        Told::DiedAfter(section, death) => {
            let message = format!("the test ended, and then its process died: {death}");
            crashed(test, &section, message)
        }
        Told::TimedOut(section, threads) => timed_out(session, test, &section, &threads),
        Told::Unclear => crashed(test, &nothing(), "what it printed does not tell".to_owned()),
        Told::Lost(text, death) => crashed(test, &Section { text, ..nothing() }, died(death)),
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
        test: test.clone(),
        outcome,
        duration,
        failure: None,
        note: None,
        output: output.trim().to_owned(),
        dependencies: None,
        measured: None,
    }
}

/// A test in which its process died.
pub(super) fn crashed(test: &TestId, section: &Section, message: String) -> Execution {
    let text = format!("{message}\n\n{}", section.text.trim()).trim().to_owned();
    gone(test, Outcome::Crashed, section, message, text)
}

/// A test that was still running at its limit.
pub(super) fn timed_out(
    session: &Session,
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
    match death {
        Death::Signal(9) => "the process was killed by SIGKILL, by the out-of-memory killer or by \
            somebody else"
            .to_owned(),
        Death::Signal(_) => format!("the process died: {death}"),
        Death::Exit(_) => format!("the process ended itself: {death}"),
    }
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
    let signature = Signature::of(&format!("{outcome}: {message}"), Some(&own));
    let failure = Failure { phase: Phase::Call, message, text, location: None, signature };
    let execution = plain(test, outcome, section.duration, &section.text);
    Execution { failure: Some(failure), ..execution }
}
