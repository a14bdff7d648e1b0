//! Trouble as the user reads it: what happened, and what to do next.

use flakeproof_core::ExitCode;
use flakeproof_runner::{Blame, Error};

/// What happened, and what to do next. Every error of a command ends as one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What happened and where, as one sentence.
    pub(crate) what: String,
    /// What others said about it, verbatim: the end of an output, a traceback.
    pub(crate) details: String,
    /// What to do next.
    pub(crate) next: String,
    /// How the program ends.
    pub(crate) exit: ExitCode,
}

impl Problem {
    /// A mistake on the command line or in the configuration.
    pub(crate) fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, what, next)
    }

    /// A fault of the tool or of the runner.
    pub(crate) fn broken(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(ExitCode::Broken, what, next)
    }

    /// A problem with this exit code.
    pub(crate) fn new(exit: ExitCode, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), details: String::new(), next: next.into(), exit }
    }

    /// The same problem with what others said about it.
    pub(crate) fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = details.into();
        self
    }
}

/// A command that selects nothing.
pub(crate) fn no_tests(command: &[String]) -> Problem {
    Problem::new(
        ExitCode::NoTests,
        format!("`{}` selects no test", command.join(" ")),
        "check the paths and expressions that select tests after `--`",
    )
}

/// Trouble after tests ran: the runner's own words help.
pub(crate) fn explain_after_start(error: Error, output: &str) -> Problem {
    let problem = explain(error);
    if problem.details.is_empty() { problem.with_details(last_lines(output, 30)) } else { problem }
}

/// What happened, and what to do next.
pub(crate) fn explain(error: Error) -> Problem {
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

/// The last line that says something.
pub(crate) fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given").trim()
}
