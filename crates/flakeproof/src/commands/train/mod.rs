//! `flakeproof train`: learn from tests whose flakiness is known.

mod ensemble;
mod flast;
mod forest;
mod peeler;

use flakeproof_core::ExitCode;

pub(super) use ensemble::ensemble_params;
pub(super) use forest::cannot_learn;

use crate::cli::{TrainArguments, TrainModel};
use crate::problem::Problem;

/// Run the command.
pub(crate) fn run(typed: &TrainArguments) -> Result<ExitCode, Problem> {
    match &typed.model {
        TrainModel::Flast(typed) => flast::run(typed),
        TrainModel::Forest(typed) => forest::run(typed),
        TrainModel::Peeler(typed) => peeler::run(typed),
        TrainModel::Ensemble(typed) => ensemble::run(typed),
    }
}
