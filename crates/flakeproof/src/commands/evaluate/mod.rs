//! `flakeproof evaluate`: what a model is worth on tests it has not learned from.

mod cannier;
mod flast;
mod forest;
mod held_out;
mod plan;

use flakeproof_core::ExitCode;

use crate::cli::{EvaluateArguments, EvaluateModel};
use crate::problem::Problem;

/// Run the command.
pub(crate) fn run(typed: &EvaluateArguments) -> Result<ExitCode, Problem> {
    match &typed.model {
        EvaluateModel::Flast(typed) => flast::run(typed),
        EvaluateModel::Forest(typed) => forest::run(typed),
        EvaluateModel::Plan(typed) => plan::run(typed),
        EvaluateModel::Cannier(typed) => cannier::run(typed),
        EvaluateModel::Peeler(typed) => held_out::evaluate_peeler(typed),
        EvaluateModel::Ensemble(typed) => held_out::evaluate_ensemble(typed),
    }
}
