//! A test that takes its process with it, in the same words from every adapter.

use std::time::Duration;

use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};

use crate::process::Death;

/// How a process died, for people; `who` says what it was, such as "the JVM".
pub(super) fn describe_death(who: &str, death: Option<Death>) -> String {
    match death {
        Some(Death::Signal(9)) => {
            format!("{who} was killed by SIGKILL, by the out-of-memory killer or by somebody else")
        }
        Some(death @ Death::Signal(_)) => format!("{who} died: {death}"),
        Some(death @ Death::Exit(_)) => format!("{who} ended itself: {death}"),
        None => format!("{who} died in an unknown way"),
    }
}

/// The execution of a test after which its process is gone; without a text, the message is all.
pub(super) fn lost_with_process(
    test: &TestId,
    outcome: Outcome,
    duration: Duration,
    message: String,
    text: String,
) -> Execution {
    let text = if text.trim().is_empty() { message.clone() } else { text };
    // With the test as its place: two crashes are not one failure by that alone.
    let own = Location { file: test.to_string(), line: None };
    Execution {
        failure: Some(Failure {
            phase: Phase::Call,
            signature: Signature::compute(&format!("{outcome}: {message}"), Some(&own)),
            message,
            text,
            location: None,
        }),
        ..Execution::new(test.clone(), outcome, duration)
    }
}
