//! `flakeproof evaluate peeler`: what the network alone is worth on tests it has not learned from
//! (Tables II and III of the PEELER paper).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::ExitCode;
use flakeproof_lab::ablation::{without_code, without_inner};
use flakeproof_lab::validation::{Protocol, confusion_by_project};
use flakeproof_learn::ensemble::Readings;
use flakeproof_learn::evaluate::{Confusion, Fold, average_precision};
use flakeproof_learn::flast::{Aim, Corpus, Recipe};
use flakeproof_learn::network::MemberLog;
use serde_json::json;

use super::held_out::{self, PredictionLine};
use crate::cli::{AblationName, EvaluatePeeler};
use crate::models::labelled_tests::LabelledSources;
use crate::models::network_teacher::NetworkTeacher;
use crate::problem::Problem;
use crate::view::{self, HeldOutEvaluation, Timing};

/// Run the command.
pub(super) fn run(typed: &EvaluatePeeler) -> Result<ExitCode, Problem> {
    let mut log = typed.log.as_deref().map(EpochFile::create).transpose()?;
    let read = held_out::read(&typed.labelled, &typed.code)?;
    let read = match typed.ablate {
        Some(what) => ablated(read, what),
        None => read,
    };
    let validation = validate(typed, &read, log.as_mut())?;
    if let Some(file) = &typed.predictions {
        write(file, &validation.asked, &read.readings)?;
    }
    let evaluation = HeldOutEvaluation {
        what: "peeler",
        ablation: typed.ablate.map(AblationName::word),
        protocol: typed.labelled.protocol.into(),
        folds: validation.folds,
        seed: typed.seed,
        found: read.found,
        with_path: read.with_path,
        confusion: validation.confusion(),
        average_precision: validation.average_precision(),
        members: Vec::new(),
        projects: held_out::lines(validation.by_project(&read.readings)),
        shows_projects: typed.by_project,
        timing: Timing { reading: read.time, ..validation.timing },
    };
    held_out::show(&evaluation, typed.output_format);
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

fn write(file: &Path, asked: &[PeelerAsked], readings: &Readings) -> Result<(), Problem> {
    let lines = asked.iter().map(|asked| PredictionLine {
        id: &readings.tests()[asked.row as usize].id,
        flaky: asked.flaky,
        fold: asked.fold,
        // The network's own, among as many flaky tests as others.
        probability: asked.score,
        predicted: asked.predicted,
        score: asked.score,
    });
    held_out::write_predictions(file, lines)
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
