//! Training and evaluating FLAST, and the plan of a hunt beside other ways to spend the same runs,
//! as a person reads them and as a program does.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use flakeproof_lab::comparison::{AgainstPoint, BudgetLine, ComparisonResult, Everywhere};
use flakeproof_lab::validation::{FlastValidation, FlastValidationParams, Protocol};
use flakeproof_learn::evaluate::Confusion;
use flakeproof_learn::flast::{AboutFlast, HoldOut, Level};
use flakeproof_report::svg::{Curve, Curves};
use flakeproof_syntax::perturbation::Form;
use serde_json::{Value, json};

use super::perturbed::PerturbedScores;
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
    /// What was said of other forms of the tests, the form, and how many have another text in it.
    of_forms: FlastValidation,
    form: Option<Form>,
    changed: usize,
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
            of_forms: FlastValidation::default(),
            form: None,
            changed: 0,
            projects: Vec::new(),
        }
    }

    /// Take in one validation: of everything, or of one project.
    pub(crate) fn add(&mut self, validation: FlastValidation) {
        self.validation.join(validation);
    }

    /// Tests are asked about in another form, too; so many have another text in it.
    pub(crate) fn perturb(&mut self, form: &Form, changed: usize) {
        self.form = Some(form.clone());
        self.changed += changed;
    }

    /// Take in what was said of other forms.
    pub(crate) fn add_forms(&mut self, of_forms: FlastValidation) {
        self.of_forms.join(of_forms);
    }

    fn perturbed(&self) -> Option<PerturbedScores> {
        Some(PerturbedScores {
            form: self.form.clone()?,
            changed: self.changed,
            confusion: self.of_forms.confusion(),
            average_precision: self.of_forms.average_precision(),
        })
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
            "perturbed": self.perturbed().map(|it| {
                it.json(&self.validation.confusion(), self.validation.average_precision())
            }),
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
    let confusion = evaluation.validation.confusion();
    row(&mut text, "all", &confusion);
    let perturbed = evaluation.perturbed();
    perturbed.iter().for_each(|it| row(&mut text, "all, perturbed", &it.confusion));
    let average_precision = evaluation.validation.average_precision();
    let _ = writeln!(text, "\naverage precision {}", share(average_precision));
    perturbed.iter().for_each(|it| it.add_to(&mut text, &confusion, average_precision));
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

/// What came out of a benchmark.
pub(crate) struct PlanEvaluation {
    pub(crate) protocol: &'static str,
    pub(crate) cost: &'static str,
    pub(crate) tests: usize,
    pub(crate) flaky: usize,
    pub(crate) repeats: u32,
    pub(crate) max_reruns: u32,
    pub(crate) result: ComparisonResult,
}

/// Show it to a person.
pub(crate) fn plan_evaluation(evaluation: &PlanEvaluation) {
    let _ = terminal::out(&evaluation.text());
}

impl PlanEvaluation {
    fn text(&self) -> String {
        let mut text = format!(
            "{STRONG}flaky tests found of {}{STRONG:#}, {} tests, {}, {} cost, mean of {}\n\n",
            self.flaky, self.tests, self.protocol, self.cost, self.repeats
        );
        let _ = writeln!(
            text,
            "{DIM}runs a test    RERUN  CANNIER   plan, no kin     plan   oracle   often failing: \
             believed hidden, true{DIM:#}"
        );
        for line in &self.result.lines {
            let _ = writeln!(
                text,
                "{:>11} {:>8.0} {:>8.0} {:>14.0} {STRONG}{:>8.0}{STRONG:#} {:>8.0} {:>31.1} {:>5.1}",
                line.runs,
                line.rerun,
                line.cannier,
                line.plan_without_kin,
                line.plan,
                line.oracle,
                line.believed_hidden,
                line.hidden
            );
        }
        self.write_against(&mut text);
        text
    }

    fn write_against(&self, text: &mut String) {
        let beaten = self.result.front.iter().filter(|it| is_beaten(it)).count();
        let even = self.result.front.iter().filter(|it| it.point.cost <= 0.0).count();
        let _ = writeln!(
            text,
            "\nCANNIER's own front (at most {} reruns): of {} points the plan finds more at \
             {STRONG}{beaten}{STRONG:#} for the same cost, with the same claims; {even} cost nothing",
            self.max_reruns,
            self.result.front.len(),
        );
        for against in self.result.front.iter().filter(|it| !is_beaten(it) && it.point.cost > 0.0) {
            let point = &against.point;
            let _ = writeln!(
                text,
                "  not at {:.2} to {:.2}: {:.1} beside {:.1}, for {:.0} runs",
                point.thresholds.lower(),
                point.thresholds.upper(),
                against.plan,
                point.found(),
                point.cost
            );
        }
        let Everywhere { points, beaten, smallest_lead } = self.result.everywhere;
        let _ = writeln!(
            text,
            "CANNIER with any lower threshold and any number of reruns, none claimed: the plan finds \
             more at {STRONG}{beaten} of {points}{STRONG:#} points, at worst {smallest_lead:+.1} tests"
        );
        let _ = writeln!(
            text,
            "{DIM}CANNIER in the table has the thresholds and reruns that are best in hindsight; the \
             plan chose nothing in hindsight{DIM:#}"
        );
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> String {
        let lines: Vec<Value> = self.result.lines.iter().map(budget_json).collect();
        let front: Vec<Value> = self.result.front.iter().map(against_json).collect();
        let value = json!({
            "schema": 1, "what": "plan", "protocol": self.protocol, "cost": self.cost,
            "tests": self.tests, "flaky": self.flaky, "repeats": self.repeats,
            "max_reruns": self.max_reruns, "budgets": lines, "front": front,
            "everywhere": {
                "points": self.result.everywhere.points,
                "beaten": self.result.everywhere.beaten,
                "smallest_lead": self.result.everywhere.smallest_lead,
            },
        });
        format!("{value:#}\n")
    }

    /// The same as a picture.
    pub(crate) fn chart(&self) -> Curves {
        let curve = |name: &str, of: &dyn Fn(&BudgetLine) -> f64| Curve {
            name: name.to_owned(),
            points: self.result.lines.iter().map(|line| (f64::from(line.runs), of(line))).collect(),
        };
        Curves {
            title: format!(
                "Flaky tests found of {}, {}, {} cost",
                self.flaky, self.protocol, self.cost
            ),
            x: "runs of each test, on average".to_owned(),
            y: "flaky tests found".to_owned(),
            curves: vec![
                curve("oracle that knows the labels", &|line| line.oracle),
                curve("plan", &|line| line.plan),
                curve("plan without kin", &|line| line.plan_without_kin),
                curve("CANNIER, best in hindsight", &|line| line.cannier),
                curve("RERUN", &|line| line.rerun),
            ],
        }
    }
}

fn budget_json(line: &BudgetLine) -> Value {
    json!({
        "runs": line.runs, "cost": line.cost, "rerun": line.rerun, "cannier": line.cannier,
        "plan_without_kin": line.plan_without_kin, "plan": line.plan, "oracle": line.oracle,
        "often_failing_believed_hidden": line.believed_hidden,
        "often_failing_hidden": line.hidden,
    })
}

fn against_json(against: &AgainstPoint) -> Value {
    let point = &against.point;
    json!({
        "lower": point.thresholds.lower(), "upper": point.thresholds.upper(), "mcc": point.mcc,
        "cost": point.cost, "found": point.found(), "claimed": point.claimed,
        "wrongly_claimed": point.wrongly_claimed, "plan": against.plan,
    })
}

fn is_beaten(against: &AgainstPoint) -> bool {
    against.plan > against.point.found()
}
