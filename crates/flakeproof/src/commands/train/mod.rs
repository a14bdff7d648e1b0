//! `flakeproof train`: learn from tests whose flakiness is known.

mod flast;
mod forest;
mod jury;
mod peeler;

use flakeproof_core::ExitCode;

pub(super) use forest::cannot_learn;
pub(super) use jury::jury_params;

use crate::cli::{TrainArguments, TrainModel};
use crate::problem::Problem;

/// Run the command.
pub(crate) fn run(typed: &TrainArguments) -> Result<ExitCode, Problem> {
    match &typed.model {
        TrainModel::Flast(typed) => flast::run(typed),
        TrainModel::Forest(typed) => forest::run(typed),
        TrainModel::Peeler(typed) => peeler::run(typed),
        TrainModel::Jury(typed) => jury::run(typed),
    }
}
