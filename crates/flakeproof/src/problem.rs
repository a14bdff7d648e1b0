//! Trouble as the user reads it.

use flakeproof_core::ExitCode;

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
