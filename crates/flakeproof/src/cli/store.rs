//! `flakeproof store`, as it is typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::civil::Date;

use super::ListFormat;

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
