//! `flakeproof doctor`, `init`, `completions` and `man`, as they are typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ListFormat;
use crate::settings::StoreName;

/// Say what works here: runners, history, levers, and what is missing for the rest.
///
/// Looks only: nothing of the project is run and nothing is written.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
}

/// Write a commented configuration and a job for the CI service of this project.
///
/// Shows each file first and asks; what is there already is left alone.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The CI service [default: the one whose files or remote the project has].
    #[arg(long, value_name = "SERVICE")]
    pub(crate) ci: Option<CiName>,
    /// Write without asking.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show what would be written, and write nothing.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// The command that runs the tests [default: the usual one of the project's files].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// A CI service that a job can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CiName {
    Github,
    Gitlab,
    Circleci,
    Buildkite,
    None,
}

/// Print what makes a shell complete commands and options.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: ShellName,
}

/// A shell that completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellName {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
    Nushell,
}

/// Print the manual page of this program, or write those of all its commands.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write one page for each command into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}
