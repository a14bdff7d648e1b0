//! `flakeproof train`, as it is typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use flakeproof_core::Seed;

use super::ensemble::TrainEnsemble;
use super::forest::TrainForest;
use super::learning::{HoldOutChoice, RecipeArguments};
use super::peeler::TrainPeeler;

/// Train a model on tests whose flakiness is known.
#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    #[command(subcommand)]
    pub(crate) model: TrainModel,
}

/// Which model to train.
#[derive(Debug, Subcommand)]
pub(crate) enum TrainModel {
    Flast(TrainFlast),
    Forest(TrainForest),
    Peeler(TrainPeeler),
    #[command(name = "jury", alias = "ensemble")]
    Ensemble(TrainEnsemble),
}

/// Nearest neighbours over the words of a test (FLAST).
///
/// Learns from JSON Lines with `source` and `flaky` (and where known `id`, `project`, `class`,
/// `method`, `category`), from two folders with one test a file, or from the verdicts that
/// `flakeproof run` keeps in the project's history.
#[derive(Debug, Args)]
pub(crate) struct TrainFlast {
    /// A file of labelled tests, JSON Lines, also compressed (`.zst`). Repeatable.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = DATA)]
    pub(crate) data: Vec<PathBuf>,
    /// A folder with one flaky test in each file.
    #[arg(long, value_name = "DIR", requires = "stable", help_heading = DATA)]
    pub(crate) flaky: Option<PathBuf>,
    /// A folder with one test that is not flaky in each file.
    #[arg(long, value_name = "DIR", requires = "flaky", help_heading = DATA)]
    pub(crate) stable: Option<PathBuf>,
    /// The verdicts of this project's own runs, for the tests in the current folder.
    #[arg(long, help_heading = DATA)]
    pub(crate) history: bool,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE", help_heading = DATA)]
    pub(crate) store: Option<PathBuf>,
    /// Leave out this project of the data. Repeatable.
    #[arg(long, value_name = "PROJECT", help_heading = DATA)]
    pub(crate) without: Vec<String>,
    #[command(flatten)]
    pub(crate) recipe: RecipeArguments,
    /// What is held out to choose thresholds [default: the largest unit there is enough of].
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
    /// Where to write the model [default: `.flakeproof/flast.model`, which `predict` looks for].
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
}

const DATA: &str = "What to learn from";
