//! `flakeproof train jury`: learn from the source of tests whose flakiness is known.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::{ExitCode, Notice, Seed};
use flakeproof_learn::ensemble::{AboutEnsemble, BaseModel, EnsembleParams, Readings};
use flakeproof_learn::flast::HoldOut;

use crate::cli::{NetworkArguments, TrainEnsemble, share};
use crate::models::labelled_tests::{self, LabelledSources};
use crate::models::{kept_models, network_teacher};
use crate::problem::Problem;
use crate::view::{self, TrainedReader};

/// Run the command.
pub(super) fn run(typed: &TrainEnsemble) -> Result<ExitCode, Problem> {
    let careful_precision = share(typed.precision, "--precision")?;
    let tests = labelled_tests::of_files(&typed.data, &typed.without)?;
    let tests = labelled_tests::chosen(&typed.code, tests)?;
    let texts = match typed.texts.as_slice() {
        [] => Vec::new(),
        files => labelled_tests::of_files(files, &typed.without)?,
    };
    let read = labelled_tests::read_sources(&typed.code, tests, texts)?;
    let output = typed.output.clone().unwrap_or_else(|| kept_models::ENSEMBLE.into());
    let name = kept_models::name(typed.name.as_deref(), &output);
    let begin = Instant::now();
    let hold_out = typed.hold_out.map_or_else(|| largest_hold_out(&read.readings), HoldOut::from);
    let network = (!typed.no_paths).then_some(&typed.network);
    let params = EnsembleParams {
        careful_precision,
        ..ensemble_params(&read, network, hold_out, typed.seed)?
    };
    let ensemble = params.fit(&read.readings, &name).map_err(|error| {
        Problem::usage(
            error.to_string(),
            "add labelled tests, or hold out less at a time: `--hold-out test`",
        )
    })?;
    let bytes = ensemble
        .to_file()
        .map_err(|error| Problem::broken(error.to_string(), "please report this as a bug"))?;
    kept_models::write(&output, &bytes, typed.output.is_none())?;
    show(&ensemble.about, &output, bytes.len(), begin.elapsed());
    Ok(ExitCode::Clean)
}

fn show(about: &AboutEnsemble, path: &Path, bytes: usize, time: Duration) {
    let weights = about.members.iter().zip(about.blend.weights());
    let line =
        |(member, weight): (&BaseModel, &f64)| format!("{:<10} weight {weight:.2}", member.name());
    view::trained_reader(&TrainedReader {
        path,
        bytes,
        tests: about.tests,
        flaky: about.flaky,
        projects: about.projects.len(),
        hold_out: about.hold_out,
        average_precision: about.average_precision,
        thresholds: about.thresholds,
        members: weights.map(line).collect(),
        time,
    });
}

/// The ensemble that is meant. Nobody reads paths where there is none.
pub(in super::super) fn ensemble_params(
    read: &LabelledSources,
    network: Option<&NetworkArguments>,
    hold_out: HoldOut,
    seed: Seed,
) -> Result<EnsembleParams, Problem> {
    let mut params = EnsembleParams { network: None, ..EnsembleParams::new(hold_out, seed) };
    let Some(typed) = network else { return Ok(params) };
    if read.with_path == 0 {
        view::notices(&[Notice {
            what: "no test has a path, so the jury sits without the member that reads them"
                .to_owned(),
            next: "name the source of the projects with `--sources`, or say `--no-paths`"
                .to_owned(),
        }]);
        return Ok(params);
    }
    params.network = Some(typed.params(seed));
    if let Some(file) = &typed.embeddings {
        params.embeddings = Some(network_teacher::read_vectors(file, read.readings.paths())?);
    }
    Ok(params)
}

/// The fewest projects and classes that make leaving one out a fair measure.
const ENOUGH_PROJECTS: usize = 5;
const ENOUGH_CLASSES: usize = 10;

/// The largest unit of which there is enough to hold some out.
pub(super) fn largest_hold_out(readings: &Readings) -> HoldOut {
    let distinct =
        |hold_out| readings.groups_of(hold_out).into_iter().collect::<BTreeSet<u32>>().len();
    let classes = distinct(HoldOut::Class);
    if distinct(HoldOut::Project) >= ENOUGH_PROJECTS {
        HoldOut::Project
    } else if classes >= ENOUGH_CLASSES && classes < readings.tests().len() {
        HoldOut::Class
    } else {
        HoldOut::Test
    }
}
