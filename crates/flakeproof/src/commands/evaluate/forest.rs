//! `flakeproof evaluate forest`: what it is worth on tests it has not learned from, and what each
//! feature does to its answers, as a picture.

use std::path::Path;

use flakeproof_core::{ExitCode, Seed};
use flakeproof_learn::cannier::{
    Dataset, ForestProtocol, ForestValidationParams, LearnError, Pipeline, Sample,
};
use flakeproof_learn::forest::Table;
use flakeproof_report::svg::{Beeswarm, Point, Swarm};

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
        beeswarm(data, params.pipeline, params.seed).map_err(|error| cannot_learn(&error))?;
    reports::put(path, swarm.svg().as_bytes())?;
    if format == EvaluationFormat::Text {
        view::drawn(&swarm, path);
    }
    Ok(())
}

/// Tests in the picture at the most; more dots would hide each other.
const MOST_TESTS: usize = 1500;

/// The contributions of all features for the tests of a data set, the strongest feature first.
pub(super) fn beeswarm(
    data: &Dataset,
    pipeline: Pipeline,
    seed: Seed,
) -> Result<Beeswarm, LearnError> {
    let table = data.table(Sample::All)?;
    let forest = pipeline.fit(&table, &data.labels(), seed)?;
    let step = data.len().div_ceil(MOST_TESTS).max(1);
    let rows: Vec<u32> = (0u32..).take(data.len()).step_by(step).collect();
    let asked = table.select(&rows);
    let shap = forest.shap(&asked)?;
    let mut rows: Vec<(f64, Swarm)> = data
        .features
        .iter()
        .enumerate()
        .map(|(column, feature)| {
            let levels = levels(&asked, column);
            let points: Vec<Point> = levels
                .into_iter()
                .enumerate()
                .map(|(row, level)| Point { contribution: shap.row(row)[column], level })
                .collect();
            let strength: f64 = points.iter().map(|point| point.contribution.abs()).sum();
            (strength, Swarm { name: feature.name().to_owned(), points })
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let title = format!(
        "{}: what each feature does to the answer ({} of {} tests)",
        data.problem.word(),
        asked.rows(),
        data.len()
    );
    let axis = format!("SHAP value: towards {} on the right", data.problem.positive());
    Ok(Beeswarm { title, axis, rows: rows.into_iter().map(|(_, swarm)| swarm).collect() })
}

/// The rank of each value in its column, from 0 to 1; `None` where it is missing.
fn levels(table: &Table, column: usize) -> Vec<Option<f64>> {
    let values = &table.columns()[column];
    let mut sorted: Vec<f32> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f32::total_cmp);
    let last = sorted.len().saturating_sub(1).max(1);
    let rank = |value: &f32| sorted.partition_point(|it| it < value);
    #[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^52")]
    let level = |value: &f32| rank(value) as f64 / last as f64;
    values.iter().map(|value| (!value.is_nan()).then(|| level(value))).collect()
}
