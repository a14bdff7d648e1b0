//! Forests, as a person reads them and as a program does.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use flakeproof_core::{Feature, TestId, Thresholds};
use flakeproof_learn::balance::Balance;
use flakeproof_learn::cannier::{
    AboutForest, Dataset, Explanation, ForestProtocol, ForestValidation, ForestValidationParams,
    Pipeline, Problem, ProjectScores,
};
use flakeproof_learn::forest::ForestKind;
use flakeproof_report::svg::Beeswarm;
use serde_json::json;

use super::learning::{megabytes, share};
use super::terminal::{self, BAD, DIM, GOOD, STRONG, count};

/// Features named of an explanation or a picture.
const STRONGEST: usize = 10;
/// The longest bar, in characters.
const BAR: f64 = 20.0;

/// Say what was learned and what it is worth.
pub(crate) fn trained_forest(
    about: &AboutForest,
    without_label: usize,
    path: &Path,
    bytes: usize,
    time: Duration,
) {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{STRONG}{}{STRONG:#}: {}, {} {} of {} tests from {}, {:.1} MB, in {:.1} s",
        path.display(),
        pipeline(about.pipeline),
        about.positive,
        about.problem.positive(),
        about.tests,
        count(about.projects.len(), "project"),
        megabytes(bytes),
        time.as_secs_f64()
    );
    if without_label > 0 {
        let tests = count(without_label, "measured test");
        let _ = writeln!(text, "{DIM}{tests} left out: what they are is not known{DIM:#}");
    }
    if about.worth.is_empty() {
        let _ = writeln!(text, "too few tests to hold some out: nobody knows what it is worth");
    }
    for worth in &about.worth {
        let what = match worth.protocol {
            ForestProtocol::Project => "each project held out".to_owned(),
            ForestProtocol::Random => {
                format!("{} random folds (its own project was seen: flatters)", worth.folds)
            }
        };
        let _ = writeln!(
            text,
            "with {what}: MCC {}, average precision {}, ROC AUC {}",
            share(worth.mcc),
            share(worth.average_precision),
            share(worth.roc_auc)
        );
    }
    if let Some(thresholds) = about.thresholds {
        let _ = writeln!(text, "{}", kept(about, thresholds));
    }
    let _ = writeln!(text, "{DIM}next: `flakeproof explain TEST` shows why it says what{DIM:#}");
    let _ = terminal::out(&text);
}

/// Where to stop believing it.
fn kept(about: &AboutForest, thresholds: Thresholds) -> String {
    let (lower, upper) = (thresholds.lower(), thresholds.upper());
    let what = about.problem.positive();
    match about.problem {
        Problem::Nod | Problem::NodVsVictim if thresholds == Thresholds::RERUN_ALL => {
            "thresholds: none that save anything, every test is worth a rerun".to_owned()
        }
        Problem::Nod | Problem::NodVsVictim if lower >= upper => {
            format!("thresholds: {what} from {upper:.2} on, and nothing worth a rerun")
        }
        Problem::Nod | Problem::NodVsVictim if upper > 1.0 => {
            format!("thresholds: not {what} below {lower:.2}, to be rerun from there on")
        }
        Problem::Nod | Problem::NodVsVictim => format!(
            "thresholds: not {what} below {lower:.2}, {what} from {upper:.2} on, rerun between them"
        ),
        Problem::Victim | Problem::Polluter => {
            format!("threshold: a candidate {what} from {lower:.2} on, which keeps 95 % of them")
        }
    }
}

/// What came out of an evaluation.
pub(crate) struct ForestEvaluation<'a> {
    pub(crate) params: ForestValidationParams,
    pub(crate) data: &'a Dataset,
    pub(crate) validation: ForestValidation,
}

impl ForestEvaluation<'_> {
    /// One JSON document, with a newline at its end.
    pub(crate) fn json(&self) -> String {
        let all = self.validation.overall();
        let value = json!({
            "schema": 1,
            "what": "forest",
            "problem": self.data.problem.word(),
            "pipeline": self.params.pipeline,
            "features": self.data.features.iter().map(|it| it.name()).collect::<Vec<_>>(),
            "seed": self.params.seed,
            "protocol": self.params.protocol,
            "folds": self.validation.folds,
            "repeats": self.params.repeats,
            "runs": self.params.runs,
            "tests": all.tests,
            "positive": all.positive,
            "without_label": self.data.without_label,
            "mcc": all.mcc,
            "average_precision": self.validation.average_precision(),
            "roc_auc": self.validation.roc_auc(),
            "brier_score": self.validation.brier_score(),
            "confusion": { "tn": all.tn, "fn": all.missed, "fp": all.fp, "tp": all.tp },
            "per_project": self.validation.by_project(),
        });
        format!("{value:#}\n")
    }
}

/// Print an evaluation for people, as the paper's tables 6 and 7.
pub(crate) fn forest_evaluation(evaluation: &ForestEvaluation<'_>) {
    let _ = terminal::out(&rendered(evaluation));
}

fn rendered(evaluation: &ForestEvaluation<'_>) -> String {
    let params = &evaluation.params;
    let mut text = String::new();
    let what = match params.protocol {
        ForestProtocol::Random => "random folds: a test meets its own project in training",
        ForestProtocol::Project => "one project left out at a time: what a new project gets",
    };
    let _ = writeln!(
        text,
        "{STRONG}{}{STRONG:#} ({}), {} folds, mean of {}, features of {}, seed {}",
        evaluation.data.problem.word(),
        pipeline(params.pipeline),
        evaluation.validation.folds,
        count(params.repeats, "repetition"),
        count(params.runs.unwrap_or_default(), "run"),
        params.seed
    );
    let _ = writeln!(text, "{DIM}{what}{DIM:#}\n");
    let heads = ["tests", "positive", "TN", "FN", "FP", "TP", "MCC"];
    let heads = heads.map(|head| format!("{head:>8}")).join(" ");
    let _ = writeln!(text, "{:<34} {heads}", "");
    evaluation.validation.by_project().iter().for_each(|scores| row(&mut text, scores));
    row(&mut text, &evaluation.validation.overall());
    let _ = writeln!(
        text,
        "\naverage precision {}, ROC AUC {}, Brier score {}",
        share(evaluation.validation.average_precision()),
        share(evaluation.validation.roc_auc()),
        share(evaluation.validation.brier_score())
    );
    if evaluation.data.without_label > 0 {
        let tests = count(evaluation.data.without_label, "measured test");
        let _ = writeln!(text, "{DIM}{tests} left out: what they are is not known{DIM:#}");
    }
    text
}

fn row(text: &mut String, scores: &ProjectScores) {
    let _ = writeln!(
        text,
        "{:<34} {:>8} {:>8} {:>8.0} {:>8.0} {:>8.0} {:>8.0} {:>8}",
        scores.project,
        scores.tests,
        scores.positive,
        scores.tn,
        scores.missed,
        scores.fp,
        scores.tp,
        share(scores.mcc)
    );
}

/// Say what was drawn, and which features matter most.
pub(crate) fn drawn(swarm: &Beeswarm, path: &Path) {
    let names: Vec<&str> = swarm.rows.iter().take(STRONGEST).map(|row| row.name.as_str()).collect();
    let text = format!(
        "\nthe strongest features: {}\n{DIM}drawn in {}{DIM:#}\n",
        names.join(", ").replace('_', " "),
        path.display()
    );
    let _ = terminal::out(&text);
}

/// Print why a forest says what it says about a test, as bars.
pub(crate) fn forest_explanation(about: &AboutForest, test: &TestId, explanation: &Explanation) {
    let mut text = String::from("\n");
    let worth = about.worth.first().and_then(|worth| worth.mcc);
    let _ = match (&about.calibration, worth) {
        (Some(_), worth) => writeln!(
            text,
            "{STRONG}{:.0} % {}{STRONG:#} by its features, says {} ({}; MCC {} on held-out tests)",
            100.0 * explanation.probability,
            about.problem.positive(),
            about.name,
            pipeline(about.pipeline),
            share(worth)
        ),
        (None, _) => writeln!(
            text,
            "{STRONG}{}?{STRONG:#} by its features, {} answers {:.2} ({}; no probability: it \
             learned from too few tests to hold some out)",
            about.problem.positive(),
            about.name,
            explanation.answer,
            pipeline(about.pipeline)
        ),
    };
    let _ = writeln!(text, "{DIM}{test}{DIM:#}");
    let strongest = explanation.contributions.first().map_or(1.0, |(_, _, part)| part.abs());
    for (feature, value, part) in explanation.contributions.iter().take(STRONGEST) {
        bar(&mut text, *feature, *value, *part, strongest);
    }
    let rest: f64 = explanation.contributions.iter().skip(STRONGEST).map(|(_, _, part)| part).sum();
    let _ = writeln!(
        text,
        "{DIM}starts from {:.3}, the other features add {rest:+.3}; the forest answers {:.3}{DIM:#}",
        explanation.base, explanation.answer
    );
    let _ = terminal::out(&text);
}

fn bar(text: &mut String, feature: Feature, value: Option<f64>, part: f64, strongest: f64) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 20")]
    let length = (BAR * part.abs() / strongest.max(1e-12)).round() as usize;
    let style = if part > 0.0 { BAD } else { GOOD };
    let name = feature.name().replace('_', " ");
    let value = value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    let value = if value.contains('.') {
        value.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        value
    };
    let _ = writeln!(
        text,
        "  {name:<22} {value:>14} {part:>+8.3} {style}{}{style:#}",
        "█".repeat(length)
    );
}

fn pipeline(pipeline: Pipeline) -> String {
    let kind = match pipeline.kind {
        ForestKind::RandomForest => "random forest",
        ForestKind::ExtraTrees => "extra trees",
    };
    let balance = match pipeline.balance {
        Balance::None => "",
        Balance::Smote => ", SMOTE",
        Balance::SmoteEnn => ", SMOTE+ENN",
        Balance::SmoteTomek => ", SMOTE+Tomek",
    };
    format!("{kind}, {} trees{balance}", pipeline.trees)
}
