//! `flakeproof train`: learn from tests whose flakiness is known.

use std::path::Path;
use std::time::Instant;

use flakeproof_core::ExitCode;
use flakeproof_learn::flast::{TrainingError, TrainingParams};
use flakeproof_learn::labelled::LabelledTest;

use super::{current_folder, model, training_data};
use crate::cli::{TrainArguments, TrainFlast, TrainModel, share};
use crate::problem::Problem;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &TrainArguments) -> Result<ExitCode, Problem> {
    match &typed.model {
        TrainModel::Flast(typed) => flast(typed),
    }
}

fn flast(typed: &TrainFlast) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let recipe = typed.recipe.resolve()?;
    let careful_precision = share(typed.precision, "--precision")?;
    let tests = labelled_tests(typed, &folder)?;
    let output = typed.output.clone().unwrap_or_else(|| model::IN_PROJECT.into());
    let name = typed
        .name
        .clone()
        .unwrap_or_else(|| output.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let begin = Instant::now();
    let params = TrainingParams {
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
    let cannot_write = |error: std::io::Error| {
        Problem::broken(
            format!("the model {} cannot be written: {error}", output.display()),
            "name a place that can be written with `-o`",
        )
    };
    write_whole(&output, &bytes).map_err(cannot_write)?;
    if typed.output.is_none() {
        keep_out_of_git(&output);
    }
    let is_found_by_itself = typed.output.is_none();
    view::trained(&model.about, &output, bytes.len(), begin.elapsed(), is_found_by_itself);
    Ok(ExitCode::Clean)
}

fn labelled_tests(typed: &TrainFlast, folder: &Path) -> Result<Vec<LabelledTest>, Problem> {
    let mut tests = training_data::of_files(&typed.data, &typed.without)?;
    if let (Some(flaky), Some(stable)) = (&typed.flaky, &typed.stable) {
        tests.extend(training_data::of_folders(flaky, stable)?);
    }
    if typed.history {
        tests.extend(training_data::of_history(typed.store.as_deref(), folder)?);
    } else if typed.data.is_empty() && typed.flaky.is_none() {
        return Err(Problem::usage(
            "there is nothing to learn from",
            "give `--data FILE`, `--flaky DIR --stable DIR`, or `--history`",
        ));
    }
    Ok(tests)
}

/// The project's own folder for what can be made again is nobody's to commit.
fn keep_out_of_git(model: &Path) {
    if let Some(folder) = model.parent() {
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            // A model that git sees is no reason to fail.
            let _ = std::fs::write(ignore, "*\n");
        }
    }
}

/// Write a file so that nobody ever sees a part of it.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}
