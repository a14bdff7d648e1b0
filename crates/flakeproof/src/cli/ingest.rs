//! `flakeproof ingest` and `flakeproof validate`, as they are typed.

use std::path::PathBuf;

use clap::Args;

use super::ListFormat;

/// Read the reports of a CI run into the history: JUnit XML in every dialect, CTRF, TAP, TRX, and
/// the JSON of go, jest, vitest and RSpec.
///
/// All files of one call are one run, such as the shards of a job. Revision, branch, job, attempt
/// and time come from the environment of the common CI systems; what you name wins. Reading the
/// same reports again adds nothing.
#[derive(Debug, Args)]
pub(crate) struct IngestArguments {
    /// Reports, folders to search for them, patterns such as `**/TEST-*.xml`; `-` is stdin.
    #[arg(value_name = "FILES", required_unless_present = "rules")]
    pub(crate) files: Vec<String>,
    /// The revision that ran. Without one, failures and passes of these reports prove nothing.
    #[arg(long, value_name = "REV", env = "FLAKEPROOF_REVISION")]
    pub(crate) revision: Option<String>,
    /// The branch that ran.
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_BRANCH")]
    pub(crate) branch: Option<String>,
    /// The job that ran; runs of different jobs are not compared with each other.
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_JOB")]
    pub(crate) job: Option<String>,
    /// When it started, as RFC 3339 or seconds since 1970 [default: what the reports say].
    #[arg(long, value_name = "TIME")]
    pub(crate) started: Option<String>,
    /// Make every file a run of its own.
    #[arg(long, conflicts_with = "attempts")]
    pub(crate) each: bool,
    /// The files are attempts at the same tests, on the same code and the same kind of machine.
    #[arg(long)]
    pub(crate) attempts: bool,
    /// Keep ids as they are, with addresses, ports and dates in their parameters.
    #[arg(long)]
    pub(crate) raw_ids: bool,
    /// Show what would be kept, and which ids are rewritten, and keep nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the rules by which ids are rewritten, and end.
    #[arg(long)]
    pub(crate) rules: bool,
    /// How to print the result.
    #[arg(long, alias = "output-format", value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ListFormat,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// Say what is wrong with reports: cut, miscounted, unreadable, without names or times.
///
/// Exits with 0 if nothing is, and with 1 if something is.
#[derive(Debug, Args)]
pub(crate) struct ValidateArguments {
    /// Reports, folders to search for them, patterns such as `**/TEST-*.xml`; `-` is stdin.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// How to print the result.
    #[arg(long, alias = "output-format", value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ListFormat,
}
