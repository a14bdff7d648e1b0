//! A project whose tests play known roles.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::Outcome;

/// A project on disk, written for one framework, and what is known about it.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What the claims call it; its files lie in `subjects/` under this name.
    pub name: &'static str,
    /// Programs without which it cannot run here.
    pub tools: &'static [&'static str],
    /// The command of its users.
    pub command: Vec<String>,
    /// What to do once in the copied folder, such as fetching the framework.
    pub prepare: fn(&Path) -> Result<(), String>,
    /// Its tests in the order of its own runner, with the names they note.
    pub tests: &'static [(Role, &'static str)],
    /// The file in which [`Role::Fails`] is written.
    pub file: &'static str,
    /// The file of the project whose code [`Role::Touches`] calls.
    pub touched: &'static str,
    /// What the framework and its build tool write into the project's folder.
    pub written: &'static [&'static str],
    /// What it costs to find its tests.
    pub discovery: Discovery,
    /// A time limit that only a hanging test reaches.
    pub limit: Duration,
    /// Outcomes other than the usual ones, where the framework cannot tell apart.
    pub differing: &'static [(Role, Outcome)],
}

/// What it costs to find the tests of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discovery {
    /// Little: each claim that asks for the suite's own environment has an adapter of its own.
    Cheap,
    /// A build tool runs for seconds: claims share one adapter where they can.
    Dear,
}

/// What a test of a subject does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Passes.
    Passes,
    /// Calls code of the project, as the next three do, and fails with `MESSAGE`.
    Fails,
    /// Is skipped.
    Skipped,
    /// Would pass, but its set-up fails.
    ErrorsInSetup,
    /// Kills its own process.
    Crashes,
    /// Ends its own process with exit code 0, before it is done.
    Exits,
    /// Starts a child, notes it as `child`, and waits for something that never comes.
    Hangs,
    /// Prints `STDOUT` and `STDERR`.
    Prints,
    /// Leaves something in the memory of its process, and passes.
    Polluter,
    /// Fails where the polluter ran in the same process.
    Victim,
    /// The first of two tests of a class that notes `+class` and `-class` around them.
    CountedFirst,
    /// The second of them.
    CountedSecond,
    /// A test with a parameter.
    ParameterOne,
    /// The same with another.
    ParameterTwo,
    /// A passing test whose id has blanks, or letters beyond ASCII.
    OddName,
    /// Notes `variables:FLAKEPROOF,RUN_ID,SEED,ATTEMPT`.
    SeesVariables,
    /// Calls code of the project outside the tests.
    Touches,
}

/// What [`Role::Fails`] says.
pub(super) const MESSAGE: &str = "expected 1 but was 2";
/// What [`Role::Prints`] says on stdout.
pub(super) const STDOUT: &str = "said on stdout";
/// What [`Role::Prints`] says on stderr.
pub(super) const STDERR: &str = "said on stderr";

impl Role {
    /// The name that a test in this role notes.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Fails => "fails",
            Self::Skipped => "skipped",
            Self::ErrorsInSetup => "errors_in_setup",
            Self::Crashes => "crashes",
            Self::Exits => "exits",
            Self::Hangs => "hangs",
            Self::Prints => "prints",
            Self::Polluter => "polluter",
            Self::Victim => "victim",
            Self::CountedFirst => "counted_first",
            Self::CountedSecond => "counted_second",
            Self::ParameterOne => "parameter_one",
            Self::ParameterTwo => "parameter_two",
            Self::OddName => "odd_name",
            Self::SeesVariables => "sees_variables",
            Self::Touches => "touches",
        }
    }

    /// Whether its process goes on after it.
    pub(super) fn is_survived(self) -> bool {
        !matches!(self, Self::Crashes | Self::Exits | Self::Hangs)
    }

    /// Whether its body runs.
    pub(super) fn notes(self) -> bool {
        !matches!(self, Self::Skipped | Self::ErrorsInSetup)
    }

    /// How it ends when it runs in the suite's order.
    fn usual_outcome(self) -> Outcome {
        match self {
            Self::Fails | Self::Victim => Outcome::Failed,
            Self::Skipped => Outcome::Skipped,
            Self::ErrorsInSetup => Outcome::Errored,
            Self::Crashes | Self::Exits => Outcome::Crashed,
            Self::Hangs => Outcome::TimedOut,
            Self::Passes
            | Self::Prints
            | Self::Polluter
            | Self::CountedFirst
            | Self::CountedSecond
            | Self::ParameterOne
            | Self::ParameterTwo
            | Self::OddName
            | Self::SeesVariables
            | Self::Touches => Outcome::Passed,
        }
    }
}

impl Subject {
    /// Where its files lie.
    pub(super) fn source(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects").join(self.name)
    }

    /// How a test in this role ends after the tests before it.
    pub(super) fn outcome(&self, role: Role) -> Outcome {
        let differing = self.differing.iter().find(|(it, _)| *it == role);
        differing.map_or_else(|| role.usual_outcome(), |(_, outcome)| *outcome)
    }

    /// Which of its programs is missing here.
    pub(super) fn missing_tool(&self) -> Option<&'static str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |tool: &str| std::env::split_paths(&path).any(|it| it.join(tool).is_file());
        self.tools.iter().copied().find(|tool| !is_there(tool))
    }
}
