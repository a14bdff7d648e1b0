//! Models that read source, as they are typed: `flakeproof train` and `evaluate`, of `jury` and of
//! its network alone, `peeler`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use flakeproof_core::Seed;
use flakeproof_learn::network::NetworkParams;

use super::learning::{
    EvaluationFormat, HoldOutChoice, LabelledFolds, LearnedArguments, PerturbArguments,
};

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
    #[command(flatten)]
    pub(crate) learned: LearnedArguments,
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
    #[command(flatten)]
    pub(crate) perturb: PerturbArguments,
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

const NETWORK: &str = "The network that reads paths";

/// What the network is to be like.
#[derive(Debug, Args)]
pub(crate) struct NetworkArguments {
    /// How many numbers stand for a word [default: 64].
    #[arg(long, value_name = "N", help_heading = NETWORK, conflicts_with = "embeddings",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub(crate) dimension: Option<usize>,
    /// The width of all layers [default: 32].
    #[arg(long, value_name = "N", help_heading = NETWORK,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub(crate) hidden: Option<usize>,
    /// How often all tests are learned from at most [default: 5].
    #[arg(long, value_name = "N", help_heading = NETWORK,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub(crate) epochs: Option<usize>,
    /// How many networks answer together [default: 5].
    #[arg(long, value_name = "N", help_heading = NETWORK,
          value_parser = RangedU64ValueParser::<usize>::new().range(2..=100))]
    pub(crate) members: Option<usize>,
    /// Vectors of words in the text format of word2vec, such as code2vec's `token_vecs.txt`
    /// [default: learned from the methods of the projects that are learned from].
    #[arg(long, value_name = "FILE", help_heading = NETWORK)]
    pub(crate) embeddings: Option<PathBuf>,
}

impl NetworkArguments {
    /// The network that is meant.
    pub(crate) fn params(&self, seed: Seed) -> NetworkParams {
        let usual = NetworkParams::new(seed);
        NetworkParams {
            dimension: self.dimension.unwrap_or(usual.dimension),
            hidden: self.hidden.unwrap_or(usual.hidden),
            epochs: self.epochs.unwrap_or(usual.epochs),
            members: self.members.unwrap_or(usual.members),
            ..usual
        }
    }
}

/// A network over the paths of a test's dependency graph (PEELER).
///
/// Learns from JSON Lines with `flaky`, `project`, `class` and `method`, and from the source of
/// the projects.
#[derive(Debug, Args)]
pub(crate) struct TrainPeeler {
    /// A file of labelled tests, JSON Lines, also compressed (`.zst`). Repeatable.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// Leave out this project of the data. Repeatable.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) without: Vec<String>,
    #[command(flatten)]
    pub(crate) code: LabelledSourcesArguments,
    #[command(flatten)]
    pub(crate) network: NetworkArguments,
    /// What is held out to stop in time and to choose thresholds [default: the largest unit there is
    /// enough of].
    #[arg(long, value_name = "WHAT")]
    pub(crate) hold_out: Option<HoldOutChoice>,
    #[command(flatten)]
    pub(crate) learned: LearnedArguments,
    /// Where to write the model [default: `.flakeproof/peeler.model`].
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
}

/// A network over the paths of a test's dependency graph (PEELER).
#[derive(Debug, Args)]
pub(crate) struct EvaluatePeeler {
    #[command(flatten)]
    pub(crate) labelled: LabelledFolds,
    #[command(flatten)]
    pub(crate) code: LabelledSourcesArguments,
    #[command(flatten)]
    pub(crate) network: NetworkArguments,
    /// Take a part of the paths away, to see what it is worth (Table III of the paper).
    #[arg(long, value_name = "WHAT")]
    pub(crate) ablate: Option<AblationName>,
    /// Also show each project.
    #[arg(long)]
    pub(crate) by_project: bool,
    /// Write what was said of each test into this file.
    #[arg(long, value_name = "CSV")]
    pub(crate) predictions: Option<PathBuf>,
    /// Write what each epoch of each member gave into this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}

/// What is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AblationName {
    /// What happens inside the test: only calls into the code under test remain.
    Inner,
    /// The code under test: calls into it are like other operations.
    Cut,
}

impl AblationName {
    /// As it is typed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Inner => "inner",
            Self::Cut => "cut",
        }
    }
}
