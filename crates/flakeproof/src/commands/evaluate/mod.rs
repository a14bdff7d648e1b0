//! `flakeproof evaluate`: what a model is worth on tests it has not learned from.

mod cannier;
mod flast;
mod held_out;

use flakeproof_core::ExitCode;

use crate::cli::{EvaluateArguments, EvaluateModel};
use crate::problem::Problem;

/// Run the command.
pub(crate) fn run(typed: &EvaluateArguments) -> Result<ExitCode, Problem> {
    match &typed.model {
        EvaluateModel::Flast(typed) => flast::evaluate_flast(typed),
        EvaluateModel::Forest(typed) => cannier::evaluate_forest(typed),
        EvaluateModel::Plan(typed) => flast::evaluate_plan(typed),
        EvaluateModel::Cannier(typed) => cannier::evaluate_cannier(typed),
        EvaluateModel::Peeler(typed) => held_out::evaluate_peeler(typed),
        EvaluateModel::Ensemble(typed) => held_out::evaluate_ensemble(typed),
    }
}
