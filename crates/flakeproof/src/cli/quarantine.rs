//! `flakeproof quarantine`, as it is typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ListFormat;
use crate::settings::LastDay;

/// Keep known flaky tests from failing the build, for a while and on the record.
///
/// Entries live in `flakeproof-quarantine.toml` beside the project's configuration, to be reviewed like
/// code. A quarantined test still runs under `flakeproof run`; its failure is excused unless it fails
/// every time.
#[derive(Debug, Args)]
pub(crate) struct QuarantineArguments {
    #[command(subcommand)]
    pub(crate) action: QuarantineAction,
}

/// What to do with the quarantine.
#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineAction {
    Add(QuarantineAdd),
    Remove(QuarantineRemove),
    List(QuarantineList),
    Check(QuarantineCheck),
}

/// Put a test into quarantine.
#[derive(Debug, Args)]
pub(crate) struct QuarantineAdd {
    /// The test's id, or the end of one that the history has; `test_x[*]` is `test_x` with every
    /// parameter.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Who will mend it [default: you, as git knows you].
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// Where it is followed up.
    #[arg(long, value_name = "URL")]
    pub(crate) issue: Option<String>,
    /// The only branch on which it holds; `*` stands for anything.
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// The last day, or the number of days from today.
    #[arg(long, value_name = "DAY|Nd", default_value = "30d")]
    pub(crate) expires: LastDay,
}

/// Take a test out of quarantine.
#[derive(Debug, Args)]
pub(crate) struct QuarantineRemove {
    /// The id of an entry, or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
}

/// List what is in quarantine.
#[derive(Debug, Args)]
pub(crate) struct QuarantineList {
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}

/// Check the quarantine: fail on expired entries, and name those that the evidence says are mended.
#[derive(Debug, Args)]
pub(crate) struct QuarantineCheck {
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
}
