//! `flakeproof evaluate jury`: what it is worth on tests it has not learned from.

use std::path::Path;
use std::time::Instant;

use flakeproof_core::ExitCode;
use flakeproof_lab::validation::{EnsembleValidation, EnsembleValidationParams, Protocol};
use flakeproof_learn::ensemble::{BaseModel, Readings};

use super::super::train::ensemble_params;
use super::held_out::{self, PredictionLine};
use crate::cli::EvaluateEnsemble;
use crate::problem::Problem;
use crate::view::{self, HeldOutEvaluation, MemberLine, Timing};

/// Run the command.
pub(super) fn run(typed: &EvaluateEnsemble) -> Result<ExitCode, Problem> {
    let read = held_out::read(&typed.labelled, &typed.code)?;
    let protocol = Protocol::from(typed.labelled.protocol);
    let network = (!typed.no_paths).then_some(&typed.network);
    let params = EnsembleValidationParams {
        ensemble: ensemble_params(&read, network, protocol.hold_out(), typed.seed)?,
        protocol,
        folds: typed.labelled.folds,
    };
    let begin = Instant::now();
    let told = &mut |fold, folds| view::fold_begins(fold, folds, begin.elapsed());
    let validation = params
        .run(&read.readings, told)
        .map_err(|error| held_out::too_few(format!("a fold cannot be learned from: {error}")))?;
    if let Some(file) = &typed.predictions {
        write(file, &validation, &read.readings)?;
    }
    let evaluation = HeldOutEvaluation {
        what: "jury",
        ablation: None,
        protocol,
        folds: validation.folds,
        seed: typed.seed,
        found: read.found,
        with_path: read.with_path,
        confusion: validation.confusion(),
        average_precision: validation.average_precision(),
        members: members(&validation),
        projects: held_out::lines(validation.by_project(&read.readings)),
        shows_projects: typed.by_project,
        timing: Timing { reading: read.time, learning: begin.elapsed(), predicting: None },
    };
    held_out::show(&evaluation, typed.output_format);
    Ok(ExitCode::Clean)
}

fn write(file: &Path, validation: &EnsembleValidation, readings: &Readings) -> Result<(), Problem> {
    let lines = validation.asked.iter().map(|asked| PredictionLine {
        id: &readings.tests()[asked.row as usize].id,
        flaky: asked.flaky,
        fold: asked.fold,
        probability: asked.probability,
        predicted: asked.predicted,
        score: asked.score,
    });
    held_out::write_predictions(file, lines)
}

/// What each member that sat in an ensemble is worth.
fn members(validation: &EnsembleValidation) -> Vec<MemberLine> {
    let folds = view::real(validation.weights.len().max(1));
    let line = |(at, member): (usize, &BaseModel)| MemberLine {
        name: member.name(),
        average_precision: validation.average_precision_of(*member),
        weight: validation.weights.iter().filter_map(|it| it.get(at)).sum::<f64>() / folds,
    };
    validation.members.iter().enumerate().map(line).collect()
}
