//! What is done with the history and the flaky tests in it, as it is typed: `flakeproof list`,
//! `repro`, `verify`, `report`, `store`, `ingest`, and `validate` for the files that `ingest`
//! reads.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use flakeproof_core::Seed;
use jiff::civil::Date;

use super::cause::LeverToPull;
use crate::settings::{Confidence, HumanDuration, Isolate, Reporter, StoreName, Was};

/// List the flaky tests of this project, by what hunts and runs have shown.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only tests that this user or team owns by `CODEOWNERS`, such as `@shop/payments`.
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// Show tests that were renamed or moved under the ids that runs recorded, each by itself.
    #[arg(long)]
    pub(crate) as_recorded: bool,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
}

/// Under which ids tests are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Under their present ones, with the runs of those that they had before.
    Current,
    /// Under those that runs recorded.
    AsRecorded,
}

impl Naming {
    /// What was asked for.
    pub(crate) fn asked_for(is_as_recorded: bool) -> Self {
        if is_as_recorded { Self::AsRecorded } else { Self::Current }
    }
}

/// How to print a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Show a failure of a known flaky test again: replay the order in which a hunt saw it, or run it under
/// the lever that `cause` found.
///
/// Every replay has an environment of its own. Exits with 1 if the test failed at least once, and
/// with 0 if it never did.
#[derive(Debug, Args)]
pub(crate) struct ReproArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST", required_unless_present = "from", conflicts_with = "from")]
    pub(crate) test: Option<String>,
    /// How often to replay the order.
    #[arg(short = 'n', long, value_name = "N", default_value = "10",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// How fresh environments are made.
    #[arg(long, value_name = "HOW", default_value = "spawn")]
    pub(crate) isolation: Isolate,
    /// Run it under a lever, such as `zone=Asia/Kolkata`, or `none` [default: the cause that was found].
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) lever: Option<LeverToPull>,
    /// Also write all that another machine needs to replay it to this file; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Replay what a bundle holds, and say what differs here.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Run the command of the bundle without asking: you know who made it.
    #[arg(long, requires = "from")]
    pub(crate) yes: bool,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this [default: never].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed that tests see [default: that of the hunt].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,

    /// The command that runs your tests [default: that of the hunt].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Prove that a flaky test is mended: run it until clean runs or a failure decide.
///
/// The test runs as it used to fail: under the lever that `cause` found, a victim after its polluters,
/// a brittle test alone, each time in a fresh environment. How many clean runs that takes follows from how often it failed before,
/// and is said at the start. Exits with 0 if it is fixed, with 1 if it failed, with 5 if neither
/// can be said, and with 4 if there is no such test.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// How often it failed before: `3%`, `0.03` or `1/30` [default: what the last hunt saw].
    #[arg(long, value_name = "RATE")]
    pub(crate) was: Option<Was>,
    /// How sure the verdict must be.
    #[arg(long, value_name = "N%", default_value = "95%")]
    pub(crate) confidence: Confidence,
    /// Run it under a lever, such as `zone=Asia/Kolkata`, or `none` [default: the cause that was found].
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) lever: Option<LeverToPull>,
    /// Stop after this time, with what can be said so far [default: when it is decided].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_BUDGET")]
    pub(crate) budget: Option<HumanDuration>,
    /// How fresh environments are made; what forks say is confirmed in new processes.
    #[arg(long, value_name = "HOW", default_value = "fork")]
    pub(crate) isolation: Isolate,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this [default: never].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Write a report: `json=FILE`; `-` is stdout. Repeatable.
    #[arg(long, value_name = "TYPE=PATH")]
    pub(crate) reporter: Vec<Reporter>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed that tests see [default: that of the hunt].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,

    /// The command that runs your tests [default: that of the hunt, else pytest].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Tell what is flaky now and what it costs, from the history of runs.
///
/// Without a file to write, the report is one HTML page in `.flakeproof/report.html`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Write a report, such as `html=FILE`; `-` is stdout [default: `.flakeproof/report.html`].
    /// Repeatable.
    #[arg(long, value_name = "TYPE=PATH")]
    pub(crate) reporter: Vec<OverviewReporter>,
    /// What `--reporter html=FILE` was called before.
    #[arg(long, value_name = "FILE", hide = true)]
    html: Option<PathBuf>,
    /// What `--reporter markdown=FILE` was called before.
    #[arg(long, value_name = "FILE", hide = true)]
    markdown: Option<PathBuf>,
    /// What `--reporter gitlab-note=FILE` was called before.
    #[arg(long, value_name = "FILE", hide = true)]
    gitlab_note: Option<PathBuf>,
    /// What `--reporter gitlab-quality=FILE` was called before.
    #[arg(long, value_name = "FILE", hide = true)]
    gitlab_quality: Option<PathBuf>,
    /// What `--reporter json=FILE` was called before.
    #[arg(long, value_name = "FILE", hide = true)]
    json: Option<PathBuf>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Do not ask models about the source of flaky tests.
    #[arg(long)]
    pub(crate) no_source: bool,
    /// Show tests that were renamed or moved under the ids that runs recorded, each by itself.
    #[arg(long)]
    pub(crate) as_recorded: bool,
}

impl ReportArguments {
    /// Every report that was asked for, by whichever name.
    pub(crate) fn reporters(&self) -> Vec<OverviewReporter> {
        let before = [
            (OverviewForm::Html, &self.html),
            (OverviewForm::Markdown, &self.markdown),
            (OverviewForm::GitlabNote, &self.gitlab_note),
            (OverviewForm::GitlabQuality, &self.gitlab_quality),
            (OverviewForm::Json, &self.json),
        ];
        let before = before
            .into_iter()
            .filter_map(|(form, path)| Some(OverviewReporter { form, path: path.clone()? }));
        self.reporter.iter().cloned().chain(before).collect()
    }
}

/// A report on what is flaky now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OverviewReporter {
    pub(crate) form: OverviewForm,
    pub(crate) path: PathBuf,
}

/// A form of the report on what is flaky now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverviewForm {
    /// One self-contained page.
    Html,
    /// For a comment on a pull request.
    Markdown,
    /// For a comment on a merge request of GitLab.
    GitlabNote,
    /// A code quality report of GitLab.
    GitlabQuality,
    /// All of it, for programs.
    Json,
    /// What is new, as a JSON Feed.
    JsonFeed,
    /// What is new, as an Atom feed.
    Atom,
}

impl FromStr for OverviewReporter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = "write html=FILE, markdown=FILE, gitlab-note=FILE, gitlab-quality=FILE, json=FILE, \
                      json-feed=FILE or atom=FILE";
        let (form, path) = text
            .split_once('=')
            .filter(|(_, path)| !path.is_empty())
            .ok_or_else(|| format!("`{text}` names no file: {advice}"))?;
        let form = match form {
            "html" => OverviewForm::Html,
            "markdown" => OverviewForm::Markdown,
            "gitlab-note" => OverviewForm::GitlabNote,
            "gitlab-quality" => OverviewForm::GitlabQuality,
            "json" => OverviewForm::Json,
            "json-feed" => OverviewForm::JsonFeed,
            "atom" => OverviewForm::Atom,
            other => return Err(format!("there is no reporter `{other}`: {advice}")),
        };
        Ok(Self { form, path: path.into() })
    }
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
    Sync(StoreSync),
    Compact(StoreCompact),
}

/// Fold the many small segments of an object store into fewer large ones.
///
/// Each large one is written and read back before any small one goes. Jobs may write meanwhile.
#[derive(Debug, Args)]
pub(crate) struct StoreCompact {
    /// The history: `s3://…`, `gs://…`, `az://…` or `file://…` [default: the one that is configured].
    #[arg(long, value_name = "URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
}

/// Tell what the history holds and how much room it takes.
#[derive(Debug, Args)]
pub(crate) struct StoreStatistics {
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
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
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
}

/// Write a table of the history for other programs.
#[derive(Debug, Args)]
pub(crate) struct StoreExport {
    /// The file to write; `-` is stdout.
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// How to write it [default: by the file's ending, else csv].
    #[arg(long, alias = "format", value_name = "FORMAT")]
    pub(crate) output_format: Option<ExportFormat>,
    /// What to write.
    #[arg(long, value_name = "TABLE", default_value = "executions")]
    pub(crate) table: ExportTable,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
}

/// Send what one history knows to another that does not know it: runs, hunts and experiments.
///
/// Each travels whole and once, by its id: sending again sends nothing. A run that was not finished is
/// sent as far as it got.
#[derive(Debug, Args)]
pub(crate) struct StoreSync {
    /// The history to read: a file or a URL [default: the project's own, `.flakeproof/history.db`].
    #[arg(value_name = "FROM", requires = "to")]
    pub(crate) from: Option<StoreName>,
    /// The history to write: a file or a URL [default: the one that is configured].
    #[arg(value_name = "TO")]
    pub(crate) to: Option<StoreName>,
    /// The history to write, in place of TO.
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
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
    #[arg(long, alias = "format", value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
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
    #[arg(long, alias = "format", value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}
