//! Forests over features, as they are typed: `flakeproof train forest`, `evaluate forest` and
//! `evaluate cannier`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use flakeproof_core::Seed;
use flakeproof_lab::trade::Technique;
use flakeproof_learn::balance::Balance;
use flakeproof_learn::cannier::{ForestProtocol, Pipeline, Problem};
use flakeproof_learn::forest::ForestKind;

use super::EvaluationFormat;
use crate::settings::{Share, StoreName};

/// What to learn from.
#[derive(Debug, Args)]
pub(crate) struct ForestData {
    /// A table of features, as `flakeproof features --export` writes it. Repeatable.
    #[arg(long, value_name = "CSV", num_args = 1.., requires = "outcomes", help_heading = DATA)]
    pub(crate) features: Vec<PathBuf>,
    /// A table of outcomes: project, test, `baseline_runs`, `baseline_failures`, and where known
    /// `shuffled_runs`, `shuffled_failures`, polluter. Repeatable.
    #[arg(long, value_name = "CSV", num_args = 1.., requires = "features", help_heading = DATA)]
    pub(crate) outcomes: Vec<PathBuf>,
    /// The features and outcomes of this project's own runs.
    #[arg(long, help_heading = DATA)]
    pub(crate) history: bool,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE", help_heading = DATA)]
    pub(crate) store: Option<StoreName>,
}

const DATA: &str = "What to learn from";

/// What to learn, and how.
#[derive(Debug, Args)]
pub(crate) struct PipelineArguments {
    /// What to tell apart.
    #[arg(long, value_name = "NAME")]
    pub(crate) problem: ProblemName,
    /// The kind of forest [default: the best for the problem in the CANNIER paper].
    #[arg(long, value_name = "KIND", help_heading = FOREST)]
    pub(crate) forest: Option<KindName>,
    /// How many trees [default: the best for the problem in the CANNIER paper].
    #[arg(long, value_name = "N", help_heading = FOREST,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST_TREES))]
    pub(crate) trees: Option<usize>,
    /// How to balance the classes before learning.
    #[arg(long, value_name = "NAME", default_value = "smote", help_heading = FOREST)]
    pub(crate) balance: BalanceName,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
}

const FOREST: &str = "The forest";
/// More trees than anyone has a use for, and fewer than fill the memory.
const MOST_TREES: u64 = 10_000;

impl PipelineArguments {
    /// The pipeline that is meant.
    pub(crate) fn pipeline(&self) -> Pipeline {
        let best = Pipeline::best_for(self.problem.into());
        Pipeline {
            kind: self.forest.map_or(best.kind, Into::into),
            trees: self.trees.unwrap_or(best.trees),
            balance: self.balance.into(),
        }
    }
}

/// Random forest or extra trees over the features of a test (CANNIER).
///
/// Measure features with `flakeproof features` first.
#[derive(Debug, Args)]
pub(crate) struct TrainForest {
    #[command(flatten)]
    pub(crate) data: ForestData,
    #[command(flatten)]
    pub(crate) pipeline: PipelineArguments,
    /// On how many random folds to measure what the model is worth.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) folds: usize,
    /// What to call the model [default: the name of its file].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Where to write the model [default: `.flakeproof/PROBLEM.forest`, which `explain` looks for].
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
}

/// Random forest or extra trees over the features of a test (CANNIER).
#[derive(Debug, Args)]
pub(crate) struct EvaluateForest {
    #[command(flatten)]
    pub(crate) data: ForestData,
    #[command(flatten)]
    pub(crate) pipeline: PipelineArguments,
    /// Which tests are asked, and which may be learned from.
    #[arg(long, value_name = "NAME", default_value = "random")]
    pub(crate) protocol: ForestProtocolName,
    /// How many folds (`random`).
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) folds: usize,
    /// How often all folds are repeated, each time with other runs and other chance.
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) repeats: usize,
    /// Over how many runs features are averaged, drawn anew for each repetition.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) runs: usize,
    /// Draw what each feature does to the answers (a beeswarm of SHAP values) into this file.
    #[arg(long, value_name = "SVG")]
    pub(crate) shap: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}

/// What to tell apart.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProblemName {
    /// Flaky in the suite's own order, or not.
    Nod,
    /// Failed in some order: flaky in the suite's own, or a victim of others.
    NodVsVictim,
    /// Its outcome depends on the order, or not.
    Victim,
    /// It changes the outcome of other tests, or not.
    Polluter,
}

impl From<ProblemName> for Problem {
    fn from(name: ProblemName) -> Self {
        match name {
            ProblemName::Nod => Self::Nod,
            ProblemName::NodVsVictim => Self::NodVsVictim,
            ProblemName::Victim => Self::Victim,
            ProblemName::Polluter => Self::Polluter,
        }
    }
}

/// The kind of forest.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum KindName {
    /// The best cut of some features, on rows drawn at random.
    RandomForest,
    /// The best of random cuts, on all rows.
    ExtraTrees,
}

impl From<KindName> for ForestKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::RandomForest => Self::RandomForest,
            KindName::ExtraTrees => Self::ExtraTrees,
        }
    }
}

/// How to balance the classes before learning.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum BalanceName {
    /// Not at all.
    None,
    /// Invent tests of the rare kind between those that there are.
    Smote,
    /// The same, then drop tests whose neighbours disagree.
    SmoteEnn,
    /// The same, then drop pairs of nearest neighbours that disagree.
    SmoteTomek,
}

impl From<BalanceName> for Balance {
    fn from(name: BalanceName) -> Self {
        match name {
            BalanceName::None => Self::None,
            BalanceName::Smote => Self::Smote,
            BalanceName::SmoteEnn => Self::SmoteEnn,
            BalanceName::SmoteTomek => Self::SmoteTomek,
        }
    }
}

/// Which tests are asked, and which may be learned from.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ForestProtocolName {
    /// Random folds, as in the paper; flatters, because a test meets its own project in training.
    Random,
    /// One project is asked, all others are learned from: what a new project gets.
    Project,
}

impl From<ForestProtocolName> for ForestProtocol {
    fn from(name: ForestProtocolName) -> Self {
        match name {
            ForestProtocolName::Random => Self::Random,
            ForestProtocolName::Project => Self::Project,
        }
    }
}

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
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE", help_heading = DATA)]
    pub(crate) store: Option<StoreName>,
}

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
