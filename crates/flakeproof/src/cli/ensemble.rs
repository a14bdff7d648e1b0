//! `flakeproof train jury` and `flakeproof evaluate jury`, as they are typed.

use std::path::PathBuf;

use clap::Args;
use flakeproof_core::Seed;

use super::evaluate::{EvaluationFormat, LabelledFolds};
use super::learning::HoldOutChoice;
use super::peeler::NetworkArguments;

/// Where the code of labelled tests is, and which of them are meant.
#[derive(Debug, Args)]
pub(crate) struct LabelledSourcesArguments {
    /// A folder with the source of each project, in folders named as the projects in the data.
    /// Without it only the tests' own text is read.
    #[arg(long, value_name = "DIR")]
    pub(crate) sources: Option<PathBuf>,
    /// Only the tests whose ids stand in this file, one a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) only_ids: Option<PathBuf>,
}

/// Several models that read a test's source, and what each is worth (an ensemble).
///
/// Neighbours (FLAST), words, smells, and the paths of the test's graph (PEELER). Learns from JSON
/// Lines with `source`, `flaky`, `project`, `class` and `method`; with `--sources` also from the
/// code around the tests.
#[derive(Debug, Args)]
pub(crate) struct TrainEnsemble {
    /// A file of labelled tests, JSON Lines, also compressed (`.zst`). Repeatable.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// More labelled tests, of which only the text is read: they are known as neighbours. Repeatable.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) texts: Vec<PathBuf>,
    /// Leave out this project of the data. Repeatable.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) without: Vec<String>,
    #[command(flatten)]
    pub(crate) code: LabelledSourcesArguments,
    /// Leave out the member that reads paths, which takes most of the time.
    #[arg(long)]
    pub(crate) no_paths: bool,
    #[command(flatten)]
    pub(crate) network: NetworkArguments,
    /// What is held out to choose weights and thresholds [default: the largest unit there is enough
    /// of].
    #[arg(long, value_name = "WHAT")]
    pub(crate) hold_out: Option<HoldOutChoice>,
    /// The share of alarms that must be right at the `careful` threshold.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    pub(crate) precision: f64,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// What to call the model [default: the name of its file].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Where to write the model [default: `.flakeproof/jury.model`].
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
}

/// Several models that read a test's source, and what each is worth (an ensemble).
#[derive(Debug, Args)]
pub(crate) struct EvaluateEnsemble {
    #[command(flatten)]
    pub(crate) labelled: LabelledFolds,
    #[command(flatten)]
    pub(crate) code: LabelledSourcesArguments,
    /// Leave out the member that reads paths, which takes most of the time.
    #[arg(long)]
    pub(crate) no_paths: bool,
    #[command(flatten)]
    pub(crate) network: NetworkArguments,
    /// Also show each project.
    #[arg(long)]
    pub(crate) by_project: bool,
    /// Write what was said of each test into this file.
    #[arg(long, value_name = "CSV")]
    pub(crate) predictions: Option<PathBuf>,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}
