//! `flakeproof evaluate jury` and `flakeproof evaluate peeler`: what the ensemble, and the network
//! alone (Tables II and III of the PEELER paper), are worth on tests they have not learned from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::ExitCode;
use flakeproof_lab::ablation::{without_code, without_inner};
use flakeproof_lab::validation::{
    EnsembleValidation, EnsembleValidationParams, Protocol, confusion_by_project,
};
use flakeproof_learn::ensemble::{BaseModel, Readings};
use flakeproof_learn::evaluate::{Confusion, Fold, average_precision};
use flakeproof_learn::flast::{Aim, Corpus, Recipe};
use flakeproof_learn::labelled::LabelledTest;
use flakeproof_learn::network::MemberLog;
use flakeproof_syntax::perturbation::Form;
use serde_json::json;

use crate::cli::{
    AblationName, EvaluateEnsemble, EvaluatePeeler, EvaluationFormat, LabelledFolds,
    LabelledSourcesArguments, MostSuspects,
};
use crate::commands::train::ensemble_params;
use crate::models::labelled_tests::{self, LabelledSources};
use crate::models::network_teacher::NetworkTeacher;
use crate::problem::Problem;
use crate::view::{self, HeldOutEvaluation, MemberLine, PerturbedScores, ProjectLine, Timing};

/// `evaluate jury`.
pub(super) fn evaluate_ensemble(typed: &EvaluateEnsemble) -> Result<ExitCode, Problem> {
    let form = typed.perturb.form(typed.seed);
    let read = read(&typed.labelled, &typed.code, form.as_ref())?;
    let protocol = Protocol::from(typed.labelled.protocol);
    let network = (!typed.no_paths).then_some(&typed.network);
    let params = EnsembleValidationParams {
        ensemble: ensemble_params(&read, network, protocol.hold_out(), typed.seed)?,
        protocol,
        folds: typed.labelled.folds,
    };
    let begin = Instant::now();
    let told = &mut |fold, folds| view::fold_begins(fold, folds, begin.elapsed());
    let (validation, of_forms) = params
        .run_on_forms(&read.readings, read.originals, told)
        .map_err(|error| too_few(format!("a fold cannot be learned from: {error}")))?;
    if let Some(file) = &typed.predictions {
        write_ensemble(file, &validation, &read.readings)?;
    }
    let evaluation = HeldOutEvaluation {
        what: "jury",
        ablation: None,
        perturbed: form.map(|form| PerturbedScores {
            form,
            changed: read.changed,
            confusion: of_forms.confusion(),
            average_precision: of_forms.average_precision(),
        }),
        protocol,
        folds: validation.folds,
        seed: typed.seed,
        found: read.found,
        with_path: read.with_path,
        confusion: validation.confusion(),
        average_precision: validation.average_precision(),
        standing_out: (protocol == Protocol::Project).then(|| {
            let most = MostSuspects::USUAL.share();
            (most, validation.confusion_of_top(&read.readings, most))
        }),
        members: members(&validation),
        projects: lines(validation.by_project(&read.readings)),
        shows_projects: typed.by_project,
        timing: Timing { reading: read.time, learning: begin.elapsed(), predicting: None },
    };
    show(&evaluation, typed.output_format);
    Ok(ExitCode::Clean)
}

fn write_ensemble(
    file: &Path,
    validation: &EnsembleValidation,
    readings: &Readings,
) -> Result<(), Problem> {
    let lines = validation.asked.iter().map(|asked| PredictionLine {
        id: &readings.tests()[asked.row as usize].id,
        flaky: asked.flaky,
        fold: asked.fold,
        probability: asked.probability,
        predicted: asked.predicted,
        score: asked.score,
    });
    write_predictions(file, lines)
}

/// What each member that sat in an ensemble is worth.
fn members(validation: &EnsembleValidation) -> Vec<MemberLine> {
    let folds = view::real(validation.weights.len().max(1));
    let line = |member: &BaseModel| {
        let weights = validation.weights.iter().flatten().filter(|(it, _)| it == member);
        let weights: Vec<f64> = weights.map(|(_, weight)| *weight).collect();
        MemberLine {
            name: member.name(),
            average_precision: validation.average_precision_of(*member),
            weight: weights.iter().sum::<f64>() / folds,
            sits_in: weights.iter().filter(|weight| **weight > 0.0).count(),
        }
    };
    validation.members.iter().map(line).collect()
}

/// `evaluate peeler`.
pub(super) fn evaluate_peeler(typed: &EvaluatePeeler) -> Result<ExitCode, Problem> {
    let mut log = typed.log.as_deref().map(EpochFile::create).transpose()?;
    let read = read(&typed.labelled, &typed.code, None)?;
    let read = match typed.ablate {
        Some(what) => ablated(read, what),
        None => read,
    };
    let validation = validate(typed, &read, log.as_mut())?;
    if let Some(file) = &typed.predictions {
        write_peeler(file, &validation.asked, &read.readings)?;
    }
    let evaluation = HeldOutEvaluation {
        what: "peeler",
        ablation: typed.ablate.map(AblationName::word),
        perturbed: None,
        protocol: typed.labelled.protocol.into(),
        folds: validation.folds,
        seed: typed.seed,
        found: read.found,
        with_path: read.with_path,
        confusion: validation.confusion(),
        average_precision: validation.average_precision(),
        standing_out: None,
        members: Vec::new(),
        projects: lines(validation.by_project(&read.readings)),
        shows_projects: typed.by_project,
        timing: Timing { reading: read.time, ..validation.timing },
    };
    show(&evaluation, typed.output_format);
    Ok(ExitCode::Clean)
}

fn ablated(mut read: LabelledSources, what: AblationName) -> LabelledSources {
    let paths = match what {
        AblationName::Inner => without_inner(read.readings.paths()),
        AblationName::Cut => without_code(read.readings.paths()),
    };
    read.readings = read.readings.with_paths(paths);
    read
}

/// What the network said of all tests.
#[derive(Default)]
struct PeelerValidation {
    folds: usize,
    asked: Vec<PeelerAsked>,
    timing: Timing,
}

/// What it said of one test.
struct PeelerAsked {
    row: u32,
    fold: usize,
    score: f64,
    predicted: bool,
    flaky: bool,
}

impl PeelerValidation {
    fn confusion(&self) -> Confusion {
        self.asked.iter().map(|asked| (asked.predicted, asked.flaky)).collect()
    }

    fn average_precision(&self) -> Option<f64> {
        let scored: Vec<(f64, bool)> =
            self.asked.iter().map(|asked| (asked.score, asked.flaky)).collect();
        average_precision(&scored, 1.0)
    }

    fn by_project(&self, readings: &Readings) -> BTreeMap<String, Confusion> {
        let predicted = self.asked.iter().map(|asked| (asked.row, asked.predicted));
        confusion_by_project(readings.tests(), predicted)
    }
}

fn validate(
    typed: &EvaluatePeeler,
    read: &LabelledSources,
    mut log: Option<&mut EpochFile>,
) -> Result<PeelerValidation, Problem> {
    let protocol = Protocol::from(typed.labelled.protocol);
    let folds = folds(&read.readings, protocol, typed);
    let mut teacher = NetworkTeacher::new(read, &typed.network, typed.seed)?;
    let mut validation = PeelerValidation { folds: folds.len(), ..PeelerValidation::default() };
    let (begin, mut predicting) = (Instant::now(), Duration::ZERO);
    for (number, fold) in folds.iter().enumerate() {
        view::fold_begins(number, folds.len(), begin.elapsed());
        let start = Instant::now();
        let taught = teacher.teach(&fold.train, protocol.hold_out(), &mut |_| ())?;
        validation.timing.learning += start.elapsed();
        if let Some(log) = &mut log {
            log.add(number, &taught.fitted.log)?;
        }
        // Chosen on the training part alone: no test that is asked has a say.
        let from = Aim::Balance.threshold(&taught.held_out).unwrap_or(f64::INFINITY);
        let start = Instant::now();
        let opinions = taught.fitted.network.ask_all(read.readings.paths(), &fold.test);
        predicting += start.elapsed();
        let asked = fold.test.iter().zip(opinions).map(|(row, opinion)| PeelerAsked {
            row: *row,
            fold: number,
            score: opinion.score,
            predicted: opinion.score >= from,
            flaky: read.readings.tests()[*row as usize].flaky,
        });
        validation.asked.extend(asked);
    }
    validation.timing.predicting = Some(predicting);
    validation.asked.sort_by_key(|asked| asked.row);
    Ok(validation)
}

/// The folds in which an ensemble is measured too, with the same seed.
fn folds(readings: &Readings, protocol: Protocol, typed: &EvaluatePeeler) -> Vec<Fold> {
    let corpus = Corpus::of_tests(readings.tests(), Recipe::rarity().cut);
    protocol.folds(&corpus, typed.labelled.folds, typed.seed)
}

fn write_peeler(file: &Path, asked: &[PeelerAsked], readings: &Readings) -> Result<(), Problem> {
    let lines = asked.iter().map(|asked| PredictionLine {
        id: &readings.tests()[asked.row as usize].id,
        flaky: asked.flaky,
        fold: asked.fold,
        // The network's own, among as many flaky tests as others.
        probability: asked.score,
        predicted: asked.predicted,
        score: asked.score,
    });
    write_predictions(file, lines)
}

/// A file with what each epoch gave, as it is known.
struct EpochFile {
    file: File,
    name: String,
}

impl EpochFile {
    fn create(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| cannot_write(&name, &error))?;
        Ok(Self { file, name })
    }

    fn add(&mut self, fold: usize, members: &[MemberLog]) -> Result<(), Problem> {
        let mut lines = String::new();
        for (member, log) in members.iter().enumerate() {
            for (epoch, gave) in log.epochs.iter().enumerate() {
                let line = json!({
                    "fold": fold,
                    "member": member,
                    "epoch": epoch,
                    "loss": gave.loss,
                    "held_out_average_precision": gave.average_precision,
                    "kept": epoch == log.best,
                });
                lines += &format!("{line}\n");
            }
        }
        let written = self.file.write_all(lines.as_bytes());
        written.map_err(|error| cannot_write(&self.name, &error))
    }
}

fn cannot_write(name: &str, error: &std::io::Error) -> Problem {
    Problem::broken(
        format!("the log {name} cannot be written: {error}"),
        "name a file in a folder that can be written with `--log`",
    )
}

/// Read the tests, if they can be parted as asked.
pub(super) fn read(
    labelled: &LabelledFolds,
    code: &LabelledSourcesArguments,
    form: Option<&Form>,
) -> Result<LabelledSources, Problem> {
    let tests = labelled_tests::of_files(&labelled.data, &labelled.without)?;
    let tests = labelled_tests::chosen(code, tests)?;
    check(&tests, labelled)?;
    labelled_tests::read_sources(code, tests, Vec::new(), form)
}

/// What was said of a test.
struct PredictionLine<'a> {
    pub(super) id: &'a str,
    pub(super) flaky: bool,
    pub(super) fold: usize,
    pub(super) probability: f64,
    predicted: bool,
    pub(super) score: f64,
}

/// Write what was said of each test as CSV.
fn write_predictions<'a>(
    file: &Path,
    lines: impl Iterator<Item = PredictionLine<'a>>,
) -> Result<(), Problem> {
    let mut text = "id,flaky,fold,probability,predicted,score\n".to_owned();
    for line in lines {
        let PredictionLine { id, flaky, fold, probability, predicted, score } = line;
        let _ =
            writeln!(text, "{},{flaky},{fold},{probability:.6},{predicted},{score:.9}", quoted(id));
    }
    std::fs::write(file, text).map_err(|error| {
        Problem::broken(
            format!("{} cannot be written: {error}", file.display()),
            "name a file in a folder that can be written",
        )
    })
}

/// A field of a CSV file.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Lines for the projects.
pub(super) fn lines(projects: BTreeMap<String, Confusion>) -> Vec<ProjectLine> {
    let line = |(project, confusion)| ProjectLine { project, confusion };
    projects.into_iter().map(line).collect()
}

/// Print what came out.
pub(super) fn show(evaluation: &HeldOutEvaluation, format: EvaluationFormat) {
    match format {
        EvaluationFormat::Text => evaluation.print(),
        EvaluationFormat::Json => view::data(evaluation.json().as_bytes()),
    }
}

/// A fold cannot be learned from.
fn too_few(what: String) -> Problem {
    Problem::usage(
        what,
        "give more tests, fewer `--folds`, or another `--protocol`: each part that is held out \
         must leave flaky tests and others to learn from",
    )
}

/// Whether the tests can be parted as asked.
fn check(tests: &[LabelledTest], labelled: &LabelledFolds) -> Result<(), Problem> {
    let flaky = tests.iter().filter(|test| test.flaky).count();
    if flaky == 0 || flaky == tests.len() {
        let all = if flaky == 0 { "not flaky" } else { "flaky" };
        return Err(Problem::usage(
            format!("all {} tests are {all}", tests.len()),
            "an evaluation needs both kinds; add a second file with `--data`",
        ));
    }
    let projects: BTreeSet<&str> = tests.iter().map(|test| test.project.as_str()).collect();
    match Protocol::from(labelled.protocol) {
        // One is asked; of the others, one is held out to choose a threshold.
        Protocol::Project if projects.len() < 3 => Err(Problem::usage(
            format!("{} projects are too few to leave one out", projects.len()),
            "choose `--protocol class` or `--protocol random`, or give three projects or more",
        )),
        Protocol::Project => Ok(()),
        Protocol::Class | Protocol::Random if !(2..=tests.len()).contains(&labelled.folds) => {
            Err(Problem::usage(
                format!("{} folds cannot be made of {} tests", labelled.folds, tests.len()),
                "give `--folds` a number from 2 up to the number of tests",
            ))
        }
        Protocol::Class | Protocol::Random => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_a_comma_stays_one_field() {
        assert_eq!(quoted("a::b#c"), "a::b#c");
        assert_eq!(quoted("t[1, \"x\"]"), "\"t[1, \"\"x\"\"]\"");
    }
}
