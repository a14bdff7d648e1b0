//! `flakeproof evaluate cannier`, as it is typed.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use flakeproof_core::Seed;
use flakeproof_lab::trade::Technique;

use super::EvaluationFormat;
use super::forest::{BalanceName, ForestProtocolName, MOST_TREES};
use crate::settings::Share;

/// What it costs to find flaky tests when only those are rerun about which a forest is in doubt
/// (CANNIER).
///
/// Tries every pair of thresholds on held-out answers, and shows what can be had for which time:
/// the technique alone, the forest alone, and the balance between them.
#[derive(Debug, Args)]
pub(crate) struct EvaluateCannier {
    #[command(flatten)]
    pub(crate) data: CannierData,
    /// Which technique is made cheaper; `all` are those that the data is enough for.
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub(crate) technique: TechniqueName,
    /// The most runs of a test without a change of its outcome (`rerun`) [default: as often as the
    /// suites were run in their own order].
    #[arg(long, value_name = "N")]
    pub(crate) max_reruns: Option<u32>,
    /// The share of additional failures that is classified again (`idfclass`).
    #[arg(long, value_name = "SHARE", default_value = "20%")]
    pub(crate) recheck: Share,
    /// The most runs that features are averaged over [default: as many as there are, at most 15].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) most_runs: Option<usize>,
    /// Which tests are asked, and which may be learned from.
    #[arg(long, value_name = "NAME", default_value = "random")]
    pub(crate) protocol: ForestProtocolName,
    /// How many folds (`random`).
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) folds: usize,
    /// How often all folds are repeated, each time with other runs and other chance.
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) repeats: usize,
    /// How many trees [default: the best for each problem in the CANNIER paper].
    #[arg(long, value_name = "N",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST_TREES))]
    pub(crate) trees: Option<usize>,
    /// How to balance the classes before learning.
    #[arg(long, value_name = "NAME", default_value = "smote")]
    pub(crate) balance: BalanceName,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// Draw the front into this file; with several techniques, into one file for each.
    #[arg(long, value_name = "SVG")]
    pub(crate) svg: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}

/// What is known about the tests.
#[derive(Debug, Args)]
pub(crate) struct CannierData {
    /// A table of features, as `flakeproof features --export` writes it. Repeatable.
    #[arg(long, value_name = "CSV", num_args = 1.., requires = "outcomes", help_heading = DATA)]
    pub(crate) features: Vec<PathBuf>,
    /// A table of probabilities instead of features: project, test, problem, probability, and where
    /// wanted repeat, runs, seconds. Repeatable.
    #[arg(long, value_name = "CSV", num_args = 1.., requires = "outcomes",
          conflicts_with_all = ["features", "history"], help_heading = DATA)]
    pub(crate) probabilities: Vec<PathBuf>,
    /// A table of outcomes: project, test, `baseline_runs`, `baseline_failures`, and where known
    /// `shuffled_runs`, `shuffled_failures`, polluter. Repeatable.
    #[arg(long, value_name = "CSV", num_args = 1.., help_heading = DATA)]
    pub(crate) outcomes: Vec<PathBuf>,
    /// A table of who changes whose outcome (`pairwise`): project, polluter, victim. Repeatable.
    #[arg(long, value_name = "CSV", num_args = 1.., help_heading = DATA)]
    pub(crate) pairs: Vec<PathBuf>,
    /// The features and outcomes of this project's own runs.
    #[arg(long, help_heading = DATA)]
    pub(crate) history: bool,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE", help_heading = DATA)]
    pub(crate) store: Option<PathBuf>,
}

const DATA: &str = "What to learn from";

/// Which technique is made cheaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TechniqueName {
    /// Run a test until its outcome changes.
    Rerun,
    /// Classify a test that failed in some order, as iDFlakies does.
    Idfclass,
    /// Run each test before each other.
    Pairwise,
    /// All for which there is enough data.
    All,
}

impl TechniqueName {
    /// The techniques that are meant.
    pub(crate) fn techniques(self) -> &'static [Technique] {
        match self {
            Self::Rerun => &[Technique::Rerun],
            Self::Idfclass => &[Technique::Classification],
            Self::Pairwise => &[Technique::Pairwise],
            Self::All => &Technique::ALL,
        }
    }
}
