//! `flakeproof train peeler`: a network learns from the paths of tests whose flakiness is known.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::ExitCode;
use flakeproof_learn::ensemble::Readings;
use flakeproof_learn::evaluate::HeldOut;
use flakeproof_learn::flast::{Aim, HoldOut, Level, ThresholdLevels};
use flakeproof_learn::labelled;
use flakeproof_learn::network::{MemberLog, NetworkParams};
use serde::Serialize;

use super::ensemble::largest_hold_out;
use crate::cli::{TrainPeeler, share};
use crate::models::network_teacher::NetworkTeacher;
use crate::models::{kept_models, labelled_tests};
use crate::problem::Problem;
use crate::view::{self, TrainedReader};

/// What a network says about itself.
#[derive(Serialize)]
struct About<'a> {
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

/// Run the command.
pub(super) fn run(typed: &TrainPeeler) -> Result<ExitCode, Problem> {
    let careful = share(typed.precision, "--precision")?;
    let tests = labelled_tests::of_files(&typed.data, &typed.without)?;
    let tests = labelled_tests::chosen(&typed.code, tests)?;
    let read = labelled_tests::read_sources(&typed.code, tests, Vec::new())?;
    let readings = &read.readings;
    let begin = Instant::now();
    let mut teacher = NetworkTeacher::new(&read, &typed.network, typed.seed)?;
    let hold_out = typed.hold_out.map_or_else(|| largest_hold_out(readings), HoldOut::from);
    let all: Vec<u32> = (0..).take(readings.tests().len()).collect();
    let mut progress = view::Steps::start(teacher.params.members * teacher.params.epochs, "epochs");
    let taught = teacher.teach(&all, hold_out, &mut |now| {
        now.finished.iter().for_each(|_| progress.step());
    });
    progress.end();
    let taught = taught?;
    let output = typed.output.clone().unwrap_or_else(|| kept_models::PEELER.into());
    let about = About {
        name: kept_models::name(typed.name.as_deref(), &output),
        hold_out,
        average_precision: taught.held_out.average_precision(),
        thresholds: thresholds(&taught.held_out, careful),
        ..About::from_readings(readings, &teacher.params)
    };
    let bytes = taught
        .fitted
        .network
        .to_file(&about)
        .map_err(|error| Problem::broken(error.to_string(), "please report this as a bug"))?;
    kept_models::write(&output, &bytes, typed.output.is_none())?;
    about.show(&output, bytes.len(), &taught.fitted.log, begin.elapsed());
    Ok(ExitCode::Clean)
}

impl<'a> About<'a> {
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
