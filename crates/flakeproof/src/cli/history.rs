//! What is done with the history, as it is typed: `flakeproof report`, `store`, `ingest`, and
//! `validate` for the files that `ingest` reads.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::civil::Date;

use super::ListFormat;

/// Tell what is flaky now and what it costs, from the history of runs.
///
/// Without a file to write, the report is one HTML page in `.flakeproof/report.html`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Write one self-contained HTML page; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write Markdown for a comment on a pull request; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write Markdown for a comment on a merge request of GitLab; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) gitlab_note: Option<PathBuf>,
    /// Write a code quality report for GitLab; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) gitlab_quality: Option<PathBuf>,
    /// Write all of it for programs; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
    /// Do not ask models about the source of flaky tests.
    #[arg(long)]
    pub(crate) no_source: bool,
}

/// Look after the history: its size, what to forget, its tables for other programs.
#[derive(Debug, Args)]
pub(crate) struct StoreArguments {
    #[command(subcommand)]
    pub(crate) action: StoreAction,
}

/// What to do with the history.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreAction {
    Stats(StoreStatistics),
    Prune(StorePrune),
    Export(StoreExport),
}

/// Tell what the history holds and how much room it takes.
#[derive(Debug, Args)]
pub(crate) struct StoreStatistics {
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// Forget the details of old runs, and make the file smaller.
///
/// How each test fared in each run stays, and so do scores; the texts of failures, the evidence of
/// verdicts, measured features and the trials of finished hunts go. The latest pass of each test always
/// stays: what changed since then shows whether a failure can be real.
#[derive(Debug, Args)]
pub(crate) struct StorePrune {
    /// Forget what is older than so many days.
    #[arg(long, value_name = "N", required_unless_present = "before", conflicts_with = "before",
          value_parser = clap::value_parser!(u32).range(0..=36500))]
    pub(crate) keep_days: Option<u32>,
    /// Forget what started before this day (in UTC).
    #[arg(long, value_name = "DAY")]
    pub(crate) before: Option<Date>,
    /// Forget old runs wholly, also in scores, with tests that only they knew.
    #[arg(long)]
    pub(crate) runs: bool,
    /// Tell what would go, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// Write a table of the history for other programs.
#[derive(Debug, Args)]
pub(crate) struct StoreExport {
    /// The file to write; `-` is stdout.
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// How to write it [default: what the file's ending says, else CSV].
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormat>,
    /// What to write.
    #[arg(long, value_name = "TABLE", default_value = "executions")]
    pub(crate) table: ExportTable,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// How to write a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Comma-separated values, with the names of columns in the first line.
    Csv,
    /// Parquet.
    Parquet,
}

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportTable {
    /// Each attempt at each test in each run.
    Executions,
    /// Each run.
    Runs,
    /// Each test with its scores.
    Tests,
    /// Each verdict on a failure, with its evidence.
    Findings,
}

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
