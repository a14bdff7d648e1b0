//! Training and evaluating, as a person reads them and as a program does.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use flakeproof_lab::validation::{FlastValidation, FlastValidationParams, Protocol};
use flakeproof_learn::evaluate::Confusion;
use flakeproof_learn::flast::{AboutFlast, HoldOut, Level};
use serde_json::{Value, json};

use super::terminal::{self, DIM, STRONG, count};

/// Say what was learned and what it is worth.
pub(crate) fn trained(
    about: &AboutFlast,
    path: &Path,
    bytes: usize,
    time: Duration,
    is_found_by_itself: bool,
) {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{STRONG}{}{STRONG:#}: {} flaky of {} tests from {}, {:.1} MB, in {:.1} s",
        path.display(),
        about.flaky,
        about.tests,
        count(about.projects.len(), "project"),
        megabytes(bytes),
        time.as_secs_f64()
    );
    let unit = match about.hold_out {
        HoldOut::Test => "each test held out (its class was seen: expect less on new classes)",
        HoldOut::Class => "each class held out",
        HoldOut::Project => "each project held out",
    };
    let _ = writeln!(text, "with {unit}:");
    let mut level = |name: &str, level: Option<Level>, otherwise: &str| {
        let _ = match level {
            Some(level) => writeln!(
                text,
                "  {name:<9} precision {}, recall {}, MCC {:.2}",
                share(level.precision),
                share(level.recall),
                level.mcc
            ),
            None => writeln!(text, "  {name:<9} {otherwise}"),
        };
    };
    level("balanced", about.thresholds.balanced, "nothing is found");
    let target = about.thresholds.careful_precision;
    level(
        "careful",
        about.thresholds.careful,
        &format!("no threshold has {:.0} % of its alarms right", 100.0 * target),
    );
    let _ = if is_found_by_itself {
        writeln!(text, "{DIM}next: `flakeproof predict`, which finds it by itself{DIM:#}")
    } else {
        writeln!(text, "{DIM}next: `flakeproof predict --model {}`{DIM:#}", path.display())
    };
    let _ = terminal::out(&text);
}

/// What came out of an evaluation.
pub(crate) struct Evaluation {
    params: FlastValidationParams,
    is_within_project: bool,
    shows_projects: bool,
    validation: FlastValidation,
    pub(crate) projects: Vec<ProjectLine>,
}

/// What came out for one project.
pub(crate) struct ProjectLine {
    pub(crate) project: String,
    pub(crate) confusion: Confusion,
}

impl Evaluation {
    pub(crate) fn new(
        params: &FlastValidationParams,
        is_within_project: bool,
        shows_projects: bool,
    ) -> Self {
        Self {
            params: params.clone(),
            is_within_project,
            shows_projects,
            validation: FlastValidation::default(),
            projects: Vec::new(),
        }
    }

    /// Take in one validation: of everything, or of one project.
    pub(crate) fn add(&mut self, validation: FlastValidation) {
        self.validation.join(validation);
    }

    fn microseconds_per_prediction(&self) -> f64 {
        1e6 * self.validation.predicting.as_secs_f64() / real(self.validation.asked.len().max(1))
    }

    fn protocol(&self) -> &'static str {
        match self.params.protocol {
            Protocol::Random => "random",
            Protocol::Class => "class",
            Protocol::Project => "project",
        }
    }

    /// One JSON document, with a newline at its end.
    pub(crate) fn json(&self) -> String {
        let line = |line: &ProjectLine| {
            let mut value = scores(&line.confusion);
            value["project"] = json!(line.project);
            value
        };
        let mut value = scores(&self.validation.confusion());
        let about = json!({
            "schema": 1,
            "what": "flast",
            "recipe": self.params.recipe,
            "seed": self.params.seed,
            "protocol": self.protocol(),
            "within_project": self.is_within_project,
            "folds": self.validation.folds,
            "average_precision": self.validation.average_precision(),
            "category_accuracy": self.validation.category_accuracy(),
            "categories_told": self.validation.categories_told(),
            "seconds": {
                "train": self.validation.learning.as_secs_f64(),
                "predict": self.validation.predicting.as_secs_f64(),
            },
            "microseconds_per_prediction": self.microseconds_per_prediction(),
            "per_project": self.projects.iter().map(line).collect::<Vec<_>>(),
        });
        if let (Value::Object(value), Value::Object(about)) = (&mut value, about) {
            value.extend(about);
        }
        format!("{value:#}\n")
    }
}

pub(super) fn scores(confusion: &Confusion) -> Value {
    let flaky = confusion.true_positives + confusion.false_negatives;
    json!({
        "tests": flaky + confusion.false_positives + confusion.true_negatives,
        "flaky": flaky,
        "precision": confusion.precision(),
        "recall": confusion.recall(),
        "f1": confusion.f1(),
        "mcc": confusion.mcc(),
        "confusion": confusion,
    })
}

/// Print an evaluation for people.
pub(crate) fn evaluation(evaluation: &Evaluation) {
    let _ = terminal::out(&rendered(evaluation));
}

fn rendered(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let what = match evaluation.params.protocol {
        Protocol::Random => "random folds: a test meets its own class in training",
        Protocol::Class => "folds by class: no test meets its own class in training",
        Protocol::Project => "one project left out at a time: what a new user gets",
    };
    let within = if evaluation.is_within_project { ", within each project" } else { "" };
    let _ = writeln!(
        text,
        "{STRONG}flast{STRONG:#} ({}, {} neighbours), {} folds{within}, seed {}",
        evaluation.params.recipe.name,
        evaluation.params.recipe.neighbours,
        evaluation.validation.folds,
        evaluation.params.seed
    );
    let _ = writeln!(text, "{DIM}{what}{DIM:#}\n");
    let _ = writeln!(
        text,
        "{:<34} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}   {:>5} {:>5} {:>5} {:>6}",
        "", "tests", "flaky", "P", "R", "F1", "MCC", "TP", "FP", "FN", "TN"
    );
    if evaluation.shows_projects {
        for line in &evaluation.projects {
            row(&mut text, &line.project, &line.confusion);
        }
    }
    row(&mut text, "all", &evaluation.validation.confusion());
    let _ =
        writeln!(text, "\naverage precision {}", share(evaluation.validation.average_precision()));
    if let Some(accuracy) = evaluation.validation.category_accuracy() {
        let _ = writeln!(
            text,
            "category right     {accuracy:.3} of {} (A_FC)",
            count(evaluation.validation.categories_told(), "flaky test")
        );
    }
    let _ = writeln!(
        text,
        "{DIM}{:.2} s learning, {:.2} s predicting, {:.0} µs a prediction{DIM:#}",
        evaluation.validation.learning.as_secs_f64(),
        evaluation.validation.predicting.as_secs_f64(),
        evaluation.microseconds_per_prediction()
    );
    text
}

pub(super) fn row(text: &mut String, name: &str, confusion: &Confusion) {
    let flaky = confusion.true_positives + confusion.false_negatives;
    let _ = writeln!(
        text,
        "{name:<34} {:>6} {flaky:>6} {:>6} {:>6} {:>6.3} {:>6.3}   {:>5} {:>5} {:>5} {:>6}",
        flaky + confusion.false_positives + confusion.true_negatives,
        share(confusion.precision()),
        share(confusion.recall()),
        confusion.f1(),
        confusion.mcc(),
        confusion.true_positives,
        confusion.false_positives,
        confusion.false_negatives,
        confusion.true_negatives
    );
}

pub(super) fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

pub(super) fn megabytes(bytes: usize) -> f64 {
    real(bytes) / 1e6
}
