//! `flakeproof report`, as it is typed.

use std::path::PathBuf;

use clap::Args;

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
