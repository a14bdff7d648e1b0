//! `flakeproof evaluate peeler`.
use crate::cli::EvaluatePeeler;
use crate::problem::Problem;
use flakeproof_core::ExitCode;
pub(super) fn run(_typed: &EvaluatePeeler) -> Result<ExitCode, Problem> {
    Ok(ExitCode::Clean)
}
