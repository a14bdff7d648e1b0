//! `flakeproof evaluate`, as it is typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use flakeproof_core::Seed;
use flakeproof_lab::validation::Protocol;

use super::cannier::EvaluateCannier;
use super::ensemble::EvaluateEnsemble;
use super::forest::EvaluateForest;
use super::learning::RecipeArguments;
use super::peeler::EvaluatePeeler;
use super::plan::EvaluatePlan;

/// Measure what a model is worth on tests it has not learned from.
#[derive(Debug, Args)]
pub(crate) struct EvaluateArguments {
    #[command(subcommand)]
    pub(crate) model: EvaluateModel,
}

/// Which model to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum EvaluateModel {
    Flast(EvaluateFlast),
    Forest(EvaluateForest),
    Plan(EvaluatePlan),
    Cannier(EvaluateCannier),
    Peeler(EvaluatePeeler),
    #[command(name = "jury", alias = "ensemble")]
    Ensemble(EvaluateEnsemble),
}

/// Nearest neighbours over the words of a test (FLAST).
#[derive(Debug, Args)]
pub(crate) struct EvaluateFlast {
    #[command(flatten)]
    pub(crate) labelled: LabelledFolds,
    /// Learn and ask within each project alone, as the FLAST paper does.
    #[arg(long)]
    pub(crate) within_project: bool,
    /// Also show each project.
    #[arg(long)]
    pub(crate) by_project: bool,
    #[command(flatten)]
    pub(crate) recipe: RecipeArguments,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}

/// Labelled tests, and how they are parted.
#[derive(Debug, Args)]
pub(crate) struct LabelledFolds {
    /// A file of labelled tests, JSON Lines, also compressed (`.zst`). Repeatable.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// Leave out this project of the data. Repeatable.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) without: Vec<String>,
    /// Which tests are asked, and which may be learned from.
    #[arg(long, value_name = "NAME", default_value = "project")]
    pub(crate) protocol: ProtocolName,
    /// How many folds (`random` and `class`).
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) folds: usize,
}

/// Which tests are asked, and which may be learned from.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProtocolName {
    /// Random folds; flatters, because a test meets its own class in training.
    Random,
    /// Folds that never part a class.
    Class,
    /// One project is asked, all others are learned from: what a new user gets.
    Project,
}

impl From<ProtocolName> for Protocol {
    fn from(name: ProtocolName) -> Self {
        match name {
            ProtocolName::Random => Self::Random,
            ProtocolName::Class => Self::Class,
            ProtocolName::Project => Self::Project,
        }
    }
}

/// How to print the result of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvaluationFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}
