//! `flakeproof train flast`: learn from the words of tests whose flakiness is known.

use std::path::Path;
use std::time::Instant;

use flakeproof_core::ExitCode;
use flakeproof_learn::flast::{FlastParams, TrainingError};
use flakeproof_learn::labelled::LabelledTest;

use crate::cli::{TrainFlast, share};
use crate::models::{kept_models, labelled_tests};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::view;

/// Run the command.
pub(super) fn run(typed: &TrainFlast) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let recipe = typed.recipe.resolve()?;
    let careful_precision = share(typed.precision, "--precision")?;
    let tests = labelled_tests(typed, &folder)?;
    let output = typed.output.clone().unwrap_or_else(|| kept_models::FLAST.into());
    let name = kept_models::name(typed.name.as_deref(), &output);
    let begin = Instant::now();
    let params = FlastParams {
        recipe,
        seed: typed.seed,
        hold_out: typed.hold_out.map(Into::into),
        careful_precision,
        name,
    };
    let model = params.fit(&tests).map_err(|error| {
        let next = match error {
            TrainingError::OneClass { .. } => "add labelled tests of the kind that is missing",
            TrainingError::TooFew { .. } => "add labelled tests, or let fewer vote with `-k`",
        };
        Problem::usage(error.to_string(), next)
    })?;
    let bytes = model
        .to_file()
        .map_err(|error| Problem::broken(error.to_string(), "please report this as a bug"))?;
    let is_found_by_itself = typed.output.is_none();
    kept_models::write(&output, &bytes, is_found_by_itself)?;
    view::trained(&model.about, &output, bytes.len(), begin.elapsed(), is_found_by_itself);
    Ok(ExitCode::Clean)
}

fn labelled_tests(typed: &TrainFlast, folder: &Path) -> Result<Vec<LabelledTest>, Problem> {
    let mut tests = labelled_tests::of_files(&typed.data, &typed.without)?;
    if let (Some(flaky), Some(stable)) = (&typed.flaky, &typed.stable) {
        tests.extend(labelled_tests::of_folders(flaky, stable)?);
    }
    if typed.history {
        tests.extend(labelled_tests::of_history(typed.store.as_deref(), folder)?);
    } else if typed.data.is_empty() && typed.flaky.is_none() {
        return Err(Problem::usage(
            "there is nothing to learn from",
            "give `--data FILE`, `--flaky DIR --stable DIR`, or `--history`",
        ));
    }
    Ok(tests)
}
