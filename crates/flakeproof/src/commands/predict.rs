//! `flakeproof predict`: which tests look flaky, from their source alone.

use std::path::Path;

use flakeproof_core::{ExitCode, Predictions};
use flakeproof_report::{Error, GithubAnnotations, GithubSummary, Json, Renderer, Sarif};

use crate::cli::{PredictArguments, PredictionFormat};
use crate::models::model::ModelSource;
use crate::models::predictor::{self, Detail};
use crate::problem::Problem;
use crate::session::{current_folder, reports};
use crate::source::changed_tests::ChangedTests;
use crate::source::project_source::ProjectSource;
use crate::source::source_tests;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &PredictArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let source = ModelSource::choose(typed.model.model.as_deref(), &folder)?;
    let model = source.open()?;
    let mut found = source_tests::read(&typed.paths, &folder)?;
    if found.tests.is_empty() {
        view::notices(&found.notices);
        return Err(source_tests::no_tests(&typed.paths));
    }
    if let Some(base) = &typed.diff {
        let changed = ChangedTests::since(base, &folder)?;
        found.tests.retain(|test| changed.holds(test));
    }
    let project = || ProjectSource::read(&typed.paths, &folder);
    let threshold = typed.model.threshold;
    let mut predictions =
        predictor::predict(&source, &model, &found.tests, threshold, Detail::OfSuspects, project)?;
    predictions.notices.extend(found.notices);
    // The terminal comes first: a report that cannot be written loses nothing.
    let is_stdout_taken = typed.reporter.iter().any(|it| it.path == Path::new("-"));
    match typed.output_format {
        PredictionFormat::Text => {
            let shown = view::Shown {
                sources: found.tests.iter().map(|test| test.source.as_str()).collect(),
                most: typed.show,
                is_model_shipped: source.is_shipped(),
                is_stdout_taken,
            };
            view::predictions(&predictions, &shown);
        }
        other => view::data(&rendered(&predictions, other)?),
    }
    for reporter in &typed.reporter {
        reports::put(&reporter.path, &rendered(&predictions, reporter.format)?)?;
    }
    let has_suspects = predictions.tests.iter().any(|test| test.flaky);
    let fails = has_suspects && typed.fail_on_suspects;
    Ok(if fails { ExitCode::Failures } else { ExitCode::Clean })
}

/// The predictions in a format for programs.
pub(super) fn rendered(
    predictions: &Predictions,
    format: PredictionFormat,
) -> Result<Vec<u8>, Problem> {
    let rendered: Result<Vec<u8>, Error> = match format {
        PredictionFormat::Json | PredictionFormat::Text => Json.render(predictions),
        PredictionFormat::Sarif => Sarif.render(predictions),
        PredictionFormat::Github => {
            GithubAnnotations { folder: reports::below_workspace() }.render(predictions)
        }
        PredictionFormat::Markdown => GithubSummary.render(predictions),
    };
    rendered.map_err(|error| reports::cannot_render(&error))
}
