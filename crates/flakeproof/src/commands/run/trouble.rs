//! What the runner's errors mean to the user, and what to do about them.

use flakeproof_core::ExitCode;
use flakeproof_runner::{Blame, Error};

use crate::problem::Problem;

/// A command that selects nothing.
pub(in crate::commands) fn no_tests(command: &[String]) -> Problem {
    Problem::new(
        ExitCode::NoTests,
        format!("`{}` selects no test", command.join(" ")),
        "check the paths and expressions that select tests after `--`",
    )
}

/// Trouble after tests ran: the runner's own words help.
pub(in crate::commands) fn explain_after_start(error: Error, output: &str) -> Problem {
    let problem = explain(error);
    if problem.details.is_empty() { problem.with_details(last_lines(output, 30)) } else { problem }
}

/// What happened, and what to do next.
pub(in crate::commands) fn explain(error: Error) -> Problem {
    match error {
        Error::Explained { blame, what, next, details } => {
            Problem::new(exit_of(blame), what, next).with_details(details)
        }
        Error::CannotStart { command, cause } => Problem::usage(
            format!("`{command}` cannot be started: {cause}"),
            "check the command after `--`",
        ),
        Error::Cancelled => Problem::new(
            ExitCode::Interrupted,
            "interrupted before any test ran",
            "run it again when you like; nothing was changed",
        ),
        Error::Stopped { reason } => Problem::broken(
            format!("the runner stopped: {reason}"),
            "look at what stops it, with the same command and without flakeproof",
        ),
        Error::Agent(text) => Problem::broken(
            "the test runner, a plugin of it, or flakeproof's agent inside it has a fault",
            "run the same command without flakeproof; if that works, please report this as a bug",
        )
        .with_details(text),
        Error::Io { doing, source } => Problem::broken(
            format!("flakeproof cannot {doing}: {source}"),
            "check free space and permissions of the temporary folder (TMPDIR)",
        ),
        Error::EndedEarly { .. }
        | Error::Refused { .. }
        | Error::CannotCollect { .. }
        | Error::EnvironmentLost { .. }
        | Error::NotPossible { .. }
        | Error::UnknownTest { .. }
        | Error::CollectOnly { .. } => Problem::broken(
            format!("the run broke off: {error}"),
            "run it again; if it happens again, please report this as a bug",
        ),
    }
}

fn exit_of(blame: Blame) -> ExitCode {
    match blame {
        Blame::Usage => ExitCode::Usage,
        Blame::Nobody => ExitCode::Clean,
        Blame::NoTests => ExitCode::NoTests,
        Blame::Runner => ExitCode::Broken,
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
