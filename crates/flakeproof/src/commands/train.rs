//! `flakeproof train`: learn from tests whose flakiness is known. FLAST learns from their words,
//! forests from their features, the network from the paths in their source, and the ensemble from
//! all of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::{ExitCode, Notice, Seed};
use flakeproof_learn::cannier::{ForestModelParams, LearnError, Suites};
use flakeproof_learn::ensemble::{AboutEnsemble, BaseModel, EnsembleParams, Readings};
use flakeproof_learn::evaluate::HeldOut;
use flakeproof_learn::flast::{Aim, FlastParams, HoldOut, Level, ThresholdLevels, TrainingError};
use flakeproof_learn::forest::ForestFitError;
use flakeproof_learn::labelled::{self, LabelledTest};
use flakeproof_learn::network::{MemberLog, NetworkParams};
use serde::Serialize;

use crate::cli::{
    NetworkArguments, TrainArguments, TrainEnsemble, TrainFlast, TrainForest, TrainModel,
    TrainPeeler,
};
use crate::models::labelled_tests::{self, LabelledSources};
use crate::models::network_teacher::{self, NetworkTeacher};
use crate::models::{forest_data, model};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::view::{self, TrainedReader};

/// Run the command.
pub(crate) fn run(typed: &TrainArguments) -> Result<ExitCode, Problem> {
    match &typed.model {
        TrainModel::Flast(typed) => train_flast(typed),
        TrainModel::Forest(typed) => train_forest(typed),
        TrainModel::Peeler(typed) => train_peeler(typed),
        TrainModel::Ensemble(typed) => train_ensemble(typed),
    }
}

/// `train flast`: learn from the words of tests.
fn train_flast(typed: &TrainFlast) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let recipe = typed.recipe.resolve()?;
    let careful_precision = typed.learned.careful_precision()?;
    let tests = labelled_tests(typed, &folder)?;
    let output = typed.output.clone().unwrap_or_else(|| model::FLAST.into());
    let name = model::name_of(typed.learned.name.as_deref(), &output);
    let begin = Instant::now();
    let params = FlastParams {
        recipe,
        seed: typed.learned.seed,
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
    model::write_model(&output, &bytes, is_found_by_itself)?;
    view::trained(&model.about, &output, bytes.len(), begin.elapsed(), is_found_by_itself);
    Ok(ExitCode::Clean)
}

fn labelled_tests(typed: &TrainFlast, folder: &Path) -> Result<Vec<LabelledTest>, Problem> {
    let mut tests = labelled_tests::of_files(&typed.data, &typed.without)?;
    if let (Some(flaky), Some(stable)) = (&typed.flaky, &typed.stable) {
        tests.extend(labelled_tests::of_folders(flaky, stable)?);
    }
    if typed.history {
        let known = labelled_tests::of_history(typed.store.as_ref(), folder, &tests)?;
        tests.extend(known);
    } else if typed.data.is_empty() && typed.flaky.is_none() {
        return Err(Problem::usage(
            "there is nothing to learn from",
            "give `--data FILE`, `--flaky DIR --stable DIR`, or `--history`",
        ));
    }
    Ok(tests)
}

/// `train forest`: learn from the features of tests whose outcomes are known.
fn train_forest(typed: &TrainForest) -> Result<ExitCode, Problem> {
    let question = typed.pipeline.problem.into();
    let (measured, known) = forest_data::read_tables(&typed.data, &current_folder()?)?;
    let data = forest_data::join(question, &measured, &known)?;
    let suites = Suites::of_features(&measured, &known);
    let output = typed.output.clone().unwrap_or_else(|| model::forest_path(question));
    let begin = Instant::now();
    let params = ForestModelParams {
        pipeline: typed.pipeline.pipeline(),
        folds: typed.folds.max(2),
        seed: typed.pipeline.seed,
        name: model::name_of(typed.name.as_deref(), &output),
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
    model::write_model(&output, &bytes, is_found_by_itself)?;
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

/// `train jury`: learn from the source of tests.
fn train_ensemble(typed: &TrainEnsemble) -> Result<ExitCode, Problem> {
    let careful_precision = typed.learned.careful_precision()?;
    let tests = labelled_tests::of_files(&typed.data, &typed.without)?;
    let tests = labelled_tests::chosen(&typed.code, tests)?;
    let texts = match typed.texts.as_slice() {
        [] => Vec::new(),
        files => labelled_tests::of_files(files, &typed.without)?,
    };
    let read = labelled_tests::read_sources(&typed.code, tests, texts, None)?;
    let output = typed.output.clone().unwrap_or_else(|| model::ENSEMBLE.into());
    let name = model::name_of(typed.learned.name.as_deref(), &output);
    let begin = Instant::now();
    let hold_out = typed.hold_out.map_or_else(|| largest_hold_out(&read.readings), HoldOut::from);
    let network = (!typed.no_paths).then_some(&typed.network);
    let params = EnsembleParams {
        careful_precision,
        ..ensemble_params(&read, network, hold_out, typed.learned.seed)?
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
    model::write_model(&output, &bytes, typed.output.is_none())?;
    show(&ensemble.about, &output, bytes.len(), begin.elapsed());
    Ok(ExitCode::Clean)
}

fn show(about: &AboutEnsemble, path: &Path, bytes: usize, time: Duration) {
    let weights = about.members.iter().zip(about.blend.weights());
    let line = |(member, weight): (&BaseModel, &f64)| match *weight > 0.0 {
        true => format!("{:<10} weight {weight:.2}", member.name()),
        false => format!("{:<10} sits out: it does not help on what was held out", member.name()),
    };
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
        text: about.text.as_ref().map(|text| (text.average_precision, text.thresholds)),
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
fn largest_hold_out(readings: &Readings) -> HoldOut {
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

/// What a network says about itself.
#[derive(Serialize)]
struct AboutNetwork<'a> {
    name: String,
    params: &'a NetworkParams,
    tests: usize,
    flaky: usize,
    projects: BTreeSet<&'a str>,
    /// The digest of the training data.
    data: String,
    hold_out: HoldOut,
    average_precision: Option<f64>,
    thresholds: ThresholdLevels,
}

/// `train peeler`: let a network learn from the paths of tests.
fn train_peeler(typed: &TrainPeeler) -> Result<ExitCode, Problem> {
    let careful = typed.learned.careful_precision()?;
    let tests = labelled_tests::of_files(&typed.data, &typed.without)?;
    let tests = labelled_tests::chosen(&typed.code, tests)?;
    let read = labelled_tests::read_sources(&typed.code, tests, Vec::new(), None)?;
    let readings = &read.readings;
    let begin = Instant::now();
    let mut teacher = NetworkTeacher::new(&read, &typed.network, typed.learned.seed)?;
    let hold_out = typed.hold_out.map_or_else(|| largest_hold_out(readings), HoldOut::from);
    let all: Vec<u32> = (0..).take(readings.tests().len()).collect();
    let mut progress = view::Steps::start(teacher.params.members * teacher.params.epochs, "epochs");
    let taught = teacher.teach(&all, hold_out, &mut |now| {
        now.finished.iter().for_each(|_| progress.step());
    });
    progress.end();
    let taught = taught?;
    let output = typed.output.clone().unwrap_or_else(|| model::PEELER.into());
    let about = AboutNetwork {
        name: model::name_of(typed.learned.name.as_deref(), &output),
        hold_out,
        average_precision: taught.held_out.average_precision(),
        thresholds: thresholds(&taught.held_out, careful),
        ..AboutNetwork::from_readings(readings, &teacher.params)
    };
    let bytes = taught
        .fitted
        .network
        .to_file(&about)
        .map_err(|error| Problem::broken(error.to_string(), "please report this as a bug"))?;
    model::write_model(&output, &bytes, typed.output.is_none())?;
    about.show(&output, bytes.len(), &taught.fitted.log, begin.elapsed());
    Ok(ExitCode::Clean)
}

impl<'a> AboutNetwork<'a> {
    /// What is known before anything is learned.
    fn from_readings(readings: &'a Readings, params: &'a NetworkParams) -> Self {
        let tests = readings.tests();
        Self {
            name: String::new(),
            params,
            tests: tests.len(),
            flaky: tests.iter().filter(|test| test.flaky).count(),
            projects: tests.iter().map(|test| test.project.as_str()).collect(),
            data: labelled::digest(tests),
            hold_out: HoldOut::Test,
            average_precision: None,
            thresholds: ThresholdLevels { balanced: None, careful: None, careful_precision: 1.0 },
        }
    }

    fn show(&self, path: &Path, bytes: usize, log: &[MemberLog], time: Duration) {
        view::trained_reader(&TrainedReader {
            path,
            bytes,
            tests: self.tests,
            flaky: self.flaky,
            projects: self.projects.len(),
            hold_out: self.hold_out,
            average_precision: self.average_precision,
            thresholds: self.thresholds,
            text: None,
            members: log.iter().map(line).collect(),
            time,
        });
    }
}

fn thresholds(held_out: &HeldOut, careful_precision: f64) -> ThresholdLevels {
    let level = |aim: Aim| {
        let from = aim.threshold(held_out)?;
        let confusion = held_out.confusion(from);
        let (precision, recall) = (confusion.precision(), confusion.recall());
        Some(Level { from, precision, recall, mcc: confusion.mcc() })
    };
    ThresholdLevels {
        balanced: level(Aim::Balance),
        careful: level(Aim::Precision(careful_precision)),
        careful_precision,
    }
}

/// A line about a member.
fn line(log: &MemberLog) -> String {
    let best = log.epochs.get(log.best);
    let precision = best.and_then(|epoch| epoch.average_precision);
    format!(
        "epoch {} of {}, loss {:.3}, average precision on its part {}",
        log.best + 1,
        log.epochs.len(),
        best.map_or(f64::NAN, |epoch| epoch.loss),
        precision.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"))
    )
}
