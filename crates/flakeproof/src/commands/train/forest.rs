//! `flakeproof train forest`: learn from the features of tests whose outcomes are known.

use std::time::Instant;

use flakeproof_core::ExitCode;
use flakeproof_learn::cannier::{ForestModelParams, LearnError, Suites};
use flakeproof_learn::forest::ForestFitError;

use crate::cli::TrainForest;
use crate::models::{forest_data, kept_models};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::view;

/// Run the command.
pub(super) fn run(typed: &TrainForest) -> Result<ExitCode, Problem> {
    let question = typed.pipeline.problem.into();
    let (measured, known) = forest_data::read_tables(&typed.data, &current_folder()?)?;
    let data = forest_data::join(question, &measured, &known)?;
    let suites = Suites::of_features(&measured, &known);
    let output = typed.output.clone().unwrap_or_else(|| kept_models::forest(question));
    let begin = Instant::now();
    let params = ForestModelParams {
        pipeline: typed.pipeline.pipeline(),
        folds: typed.folds.max(2),
        seed: typed.pipeline.seed,
        name: kept_models::name(typed.name.as_deref(), &output),
    };
    let mut progress = view::Steps::start(params.steps(&data), "folds");
    let model = params
        .fit(&data, &suites, &mut || progress.step())
        .map_err(|error| cannot_learn(&error))?;
    progress.end();
    let bytes = model
        .to_file()
        .map_err(|error| Problem::broken(error.to_string(), "please report this as a bug"))?;
    let is_found_by_itself = typed.output.is_none();
    kept_models::write(&output, &bytes, is_found_by_itself)?;
    view::trained_forest(&model.about, data.without_label, &output, bytes.len(), begin.elapsed());
    Ok(ExitCode::Clean)
}

/// The data is read, but nothing can be learned from it.
pub(in super::super) fn cannot_learn(error: &LearnError) -> Problem {
    let next = match error {
        LearnError::Balance(_) => {
            "add tests of the rarer kind, or learn without balancing: `--balance none`"
        }
        LearnError::Fit(ForestFitError::NoTrees) => "give `--trees` a number from 1",
        LearnError::Fit(ForestFitError::TooLarge { .. }) => "give fewer tests or features",
        // There were tests of both kinds before.
        LearnError::Fit(ForestFitError::NoRows | ForestFitError::OneClass { .. }) => {
            "balancing dropped too many tests: `--balance smote` drops none"
        }
        LearnError::Fit(ForestFitError::NoColumns | ForestFitError::Lengths { .. }) => {
            "please report this as a bug"
        }
        LearnError::Table(_) | LearnError::Ask(_) => "measure the features again",
    };
    Problem::usage(error.to_string(), next)
}
