//! From the agent's messages to executions and errors.

use std::path::Path;
use std::time::Duration;

use flakeproof_core::{Execution, Failure, Location, Signature, TestId};

use super::measured::MeasuredFiles;
use crate::adapter::{Error, Result};
use crate::agent::protocol::{FailureMessage, FromAgent, ResultMessage};

/// The error in a message that is no answer to what was asked.
pub(super) fn unexpected(message: FromAgent) -> Error {
    match message {
        FromAgent::Spoilt { reason } => Error::EnvironmentLost {
            cause: format!("what earlier tests had set up could not be torn down: {reason}"),
        },
        FromAgent::Trouble { text } => Error::Agent(text),
        other => Error::Agent(format!("an unexpected message: {other:?}")),
    }
}

/// The execution that a message reports; places below the root are written relative to it.
pub(super) fn execution(
    test: &TestId,
    message: ResultMessage,
    root: &str,
    files: &mut MeasuredFiles,
) -> Result<Execution> {
    let duration = Duration::try_from_secs_f64(message.seconds).unwrap_or_default();
    let measured = message.measured.map(|measured| files.read(measured, duration)).transpose()?;
    Ok(Execution {
        test: test.clone(),
        outcome: message.outcome,
        duration,
        failure: message.failure.map(|failure| self::failure(failure, root)),
        note: message.note,
        output: message.output,
        dependencies: message.dependencies,
        measured: measured.map(Box::new),
    })
}

/// The failure that a message reports.
fn failure(message: FailureMessage, root: &str) -> Failure {
    let location = message.file.map(|file| {
        let relative = Path::new(&file).strip_prefix(root).ok().and_then(Path::to_str);
        Location { file: relative.unwrap_or(&file).to_owned(), line: message.line }
    });
    Failure {
        phase: message.phase,
        signature: Signature::of(&message.message, location.as_ref()),
        message: message.message.lines().next().unwrap_or_default().to_owned(),
        text: message.text,
        location,
    }
}
