//! `flakeproof evaluate plan`, as it is typed.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use flakeproof_core::Seed;

use super::EvaluationFormat;
use super::evaluate::LabelledFolds;

/// The planner of `hunt` against plain reruns, CANNIER and an oracle.
///
/// Nothing is run: chance decides, by the `failing_runs` and `passing_runs` of each test in the data.
#[derive(Debug, Args)]
pub(crate) struct EvaluatePlan {
    #[command(flatten)]
    pub(crate) labelled: LabelledFolds,
    /// What a run of each test costs.
    #[arg(long, value_name = "NAME", default_value = "equal")]
    pub(crate) cost: CostName,
    /// How often CANNIER runs an ambiguous test, at most.
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = RangedU64ValueParser::<u32>::new().range(2..=1_000_000))]
    pub(crate) max_reruns: u32,
    /// Over how many repetitions, each with other chance, the plan is averaged.
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = RangedU64ValueParser::<u32>::new().range(1..=1000))]
    pub(crate) repeats: u32,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// Draw what each strategy finds for its runs into this file.
    #[arg(long, value_name = "SVG")]
    pub(crate) svg: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}

/// What a run of a test costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostName {
    /// The same for every test.
    Equal,
    /// Drawn by the seed: a few tests cost far more than the others (Pareto, shape 1.5, mean 1).
    HeavyTailed,
}

impl CostName {
    /// The word that names it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::HeavyTailed => "heavy-tailed",
        }
    }
}
