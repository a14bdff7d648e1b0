//! `flakeproof train`: learn from tests whose flakiness is known.

mod flast;
mod forest;

use flakeproof_core::ExitCode;

pub(super) use forest::cannot_learn;

use crate::cli::{TrainArguments, TrainModel};
use crate::problem::Problem;

/// Run the command.
pub(crate) fn run(typed: &TrainArguments) -> Result<ExitCode, Problem> {
    match &typed.model {
        TrainModel::Flast(typed) => flast::run(typed),
        TrainModel::Forest(typed) => forest::run(typed),
    }
}
