//! `flakeproof evaluate forest`: what it is worth on tests it has not learned from.

use std::path::Path;

use flakeproof_core::ExitCode;
use flakeproof_learn::cannier::{Dataset, ForestProtocol, ForestValidationParams};

use super::super::swarm;
use super::super::train::cannot_learn;
use crate::cli::{EvaluateForest, EvaluationFormat};
use crate::models::forest_data;
use crate::problem::Problem;
use crate::session::{current_folder, reports};
use crate::view::{self, ForestEvaluation};

/// Run the command.
pub(super) fn run(typed: &EvaluateForest) -> Result<ExitCode, Problem> {
    let data = forest_data::read(&typed.data, typed.pipeline.problem.into(), &current_folder()?)?;
    let params = ForestValidationParams {
        pipeline: typed.pipeline.pipeline(),
        protocol: typed.protocol.into(),
        folds: typed.folds,
        repeats: typed.repeats.max(1),
        runs: Some(typed.runs.max(1)),
        seed: typed.pipeline.seed,
    };
    check(&data, &params)?;
    let mut progress = view::Steps::start(params.steps(&data), "folds");
    let validation =
        params.run(&data, &mut || progress.step()).map_err(|error| cannot_learn(&error))?;
    progress.end();
    let evaluation = ForestEvaluation { params, data: &data, validation };
    match typed.output_format {
        EvaluationFormat::Text => view::forest_evaluation(&evaluation),
        EvaluationFormat::Json => view::data(evaluation.json().as_bytes()),
    }
    if let Some(path) = &typed.shap {
        draw(&data, &params, path, typed.output_format)?;
    }
    Ok(ExitCode::Clean)
}

/// Whether the data can be parted as the protocol wants it.
pub(super) fn check(data: &Dataset, params: &ForestValidationParams) -> Result<(), Problem> {
    let positive = data.labels().iter().filter(|label| **label).count();
    let fewer = positive.min(data.len() - positive);
    match params.protocol {
        ForestProtocol::Random if !(2..=fewer).contains(&params.folds) => Err(Problem::usage(
            format!("{} folds cannot each have one of {fewer} tests", params.folds),
            "give fewer `--folds`, but at least 2, or more tests of the rarer kind",
        )),
        ForestProtocol::Project if data.projects.len() < 2 => Err(Problem::usage(
            "all tests belong to one project, so none can be left out",
            "give the tables of several projects, or use `--protocol random`",
        )),
        ForestProtocol::Random | ForestProtocol::Project => Ok(()),
    }
}

/// The beeswarm of a forest that learned from all tests and all runs, as in the paper (5.2.3).
fn draw(
    data: &Dataset,
    params: &ForestValidationParams,
    path: &Path,
    format: EvaluationFormat,
) -> Result<(), Problem> {
    let swarm =
        swarm::of(data, params.pipeline, params.seed).map_err(|error| cannot_learn(&error))?;
    reports::put(path, swarm.svg().as_bytes())?;
    if format == EvaluationFormat::Text {
        view::drawn(&swarm, path);
    }
    Ok(())
}
