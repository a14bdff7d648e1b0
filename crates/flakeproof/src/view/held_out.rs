//! An ensemble or a network: what it said of tests that it had not learned from, as a person reads
//! it and as a program does, and what it is when it has learned.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use flakeproof_core::Seed;
use flakeproof_lab::validation::Protocol;
use flakeproof_learn::evaluate::Confusion;
use flakeproof_learn::flast::{HoldOut, Level, ThresholdLevels};
use serde_json::{Value, json};

use super::learning::{ProjectLine, megabytes, real, row, scores, share};
use super::perturbed::PerturbedScores;
use super::terminal::{self, DIM, STRONG, count};

/// Say what was read.
pub(crate) fn read_sources(tests: usize, found: usize, with_path: usize, time: Duration) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(
        err,
        "{DIM}{}: {found} found in sources, {with_path} with a path, in {:.1} s{DIM:#}",
        count(tests, "test"),
        time.as_secs_f64()
    );
}

/// Say which fold begins.
pub(crate) fn fold_begins(number: usize, folds: usize, elapsed: Duration) {
    if number < folds {
        let mut err = anstream::stderr().lock();
        let seconds = elapsed.as_secs_f64();
        let _ = writeln!(err, "{DIM}fold {} of {folds}, after {seconds:.0} s{DIM:#}", number + 1);
    }
}

/// What came out.
pub(crate) struct HeldOutEvaluation {
    /// The kind of model.
    pub(crate) what: &'static str,
    /// What it was given less of, if anything.
    pub(crate) ablation: Option<&'static str>,
    pub(crate) protocol: Protocol,
    pub(crate) folds: usize,
    pub(crate) seed: Seed,
    /// How many tests were found in sources, and how many have a path.
    pub(crate) found: usize,
    pub(crate) with_path: usize,
    pub(crate) confusion: Confusion,
    pub(crate) average_precision: Option<f64>,
    /// What remains when only few tests of a project may be suspects, and how few, where whole projects
    /// are held out.
    pub(crate) standing_out: Option<(f64, Confusion)>,
    /// What came out for other forms of the tests, if they were asked about.
    pub(crate) perturbed: Option<PerturbedScores>,
    pub(crate) members: Vec<MemberLine>,
    pub(crate) projects: Vec<ProjectLine>,
    pub(crate) shows_projects: bool,
    pub(crate) timing: Timing,
}

/// What one member of an ensemble is worth.
pub(crate) struct MemberLine {
    pub(crate) name: &'static str,
    /// Asked alone.
    pub(crate) average_precision: Option<f64>,
    /// Its mean weight in the folds.
    pub(crate) weight: f64,
    /// In how many of them it sits.
    pub(crate) sits_in: usize,
}

/// How long it took.
#[derive(Default)]
pub(crate) struct Timing {
    pub(crate) reading: Duration,
    /// Learning, and where it was not measured alone, predicting too.
    pub(crate) learning: Duration,
    pub(crate) predicting: Option<Duration>,
}

impl HeldOutEvaluation {
    fn protocol(&self) -> &'static str {
        match self.protocol {
            Protocol::Random => "random",
            Protocol::Class => "class",
            Protocol::Project => "project",
        }
    }

    fn tests(&self) -> usize {
        let it = &self.confusion;
        it.true_positives + it.false_positives + it.false_negatives + it.true_negatives
    }

    fn microseconds_per_prediction(&self) -> Option<f64> {
        let time = self.timing.predicting?;
        Some(1e6 * time.as_secs_f64() / real(self.tests().max(1)))
    }

    /// One JSON document, with a newline at its end.
    pub(crate) fn json(&self) -> String {
        let project = |line: &ProjectLine| {
            let mut value = scores(&line.confusion);
            value["project"] = json!(line.project);
            value
        };
        let member = |line: &MemberLine| {
            json!({
                "member": line.name,
                "average_precision": line.average_precision,
                "mean_weight": line.weight,
                "sits_in": line.sits_in,
            })
        };
        let mut value = scores(&self.confusion);
        let about = json!({
            "schema": 1,
            "what": self.what,
            "ablation": self.ablation,
            "seed": self.seed,
            "protocol": self.protocol(),
            "folds": self.folds,
            "found_in_sources": self.found,
            "with_path": self.with_path,
            "average_precision": self.average_precision,
            "standing_out": self.standing_out.as_ref().map(|(most, confusion)| {
                let mut value = scores(confusion);
                value["most"] = json!(most);
                value
            }),
            "perturbed": self
                .perturbed
                .as_ref()
                .map(|it| it.json(&self.confusion, self.average_precision)),
            "members": self.members.iter().map(member).collect::<Vec<_>>(),
            "seconds": {
                "read": self.timing.reading.as_secs_f64(),
                "train": self.timing.learning.as_secs_f64(),
                "predict": self.timing.predicting.map(|time| time.as_secs_f64()),
            },
            "microseconds_per_prediction": self.microseconds_per_prediction(),
            "per_project": self.projects.iter().map(project).collect::<Vec<_>>(),
        });
        if let (Value::Object(value), Value::Object(about)) = (&mut value, about) {
            value.extend(about);
        }
        format!("{value:#}\n")
    }

    /// Print it for people.
    pub(crate) fn print(&self) {
        let _ = terminal::out(&self.text());
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let what = match self.protocol {
            Protocol::Random => "random folds: a test meets its own class in training",
            Protocol::Class => "folds by class: no test meets its own class in training",
            Protocol::Project => "one project left out at a time: what a new user gets",
        };
        let less = self.ablation.map_or_else(String::new, |less| format!(" without {less}"));
        let _ = writeln!(
            text,
            "{STRONG}{}{STRONG:#}{less}, {} folds, seed {}",
            self.what, self.folds, self.seed
        );
        let _ = writeln!(text, "{DIM}{what}{DIM:#}\n");
        let _ = writeln!(
            text,
            "{:<34} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}   {:>5} {:>5} {:>5} {:>6}",
            "", "tests", "flaky", "P", "R", "F1", "MCC", "TP", "FP", "FN", "TN"
        );
        if self.shows_projects {
            for line in &self.projects {
                row(&mut text, &line.project, &line.confusion);
            }
        }
        row(&mut text, "all", &self.confusion);
        if let Some((most, confusion)) = &self.standing_out {
            row(&mut text, &format!("all, at most {:.0} %", 100.0 * most), confusion);
        }
        let perturbed = self.perturbed.iter();
        perturbed.clone().for_each(|it| row(&mut text, "all, perturbed", &it.confusion));
        let _ = writeln!(text, "\naverage precision {}", share(self.average_precision));
        perturbed.for_each(|it| it.add_to(&mut text, &self.confusion, self.average_precision));
        for member in &self.members {
            let _ = writeln!(
                text,
                "  {:<10} alone {}, mean weight {:.2}, sits in {} of {} folds",
                member.name,
                share(member.average_precision),
                member.weight,
                member.sits_in,
                self.folds
            );
        }
        self.add_times(&mut text);
        text
    }

    fn add_times(&self, text: &mut String) {
        let (reading, learning) = (self.timing.reading, self.timing.learning);
        let _ = write!(
            text,
            "{DIM}{} of {} in sources, {} with a path; {:.1} s reading, {:.1} s learning",
            self.found,
            count(self.tests(), "test"),
            self.with_path,
            reading.as_secs_f64(),
            learning.as_secs_f64()
        );
        let _ = match (self.timing.predicting, self.microseconds_per_prediction()) {
            (Some(time), Some(each)) => writeln!(
                text,
                ", {:.1} s predicting, {each:.0} µs a prediction{DIM:#}",
                time.as_secs_f64()
            ),
            _ => writeln!(text, " and predicting{DIM:#}"),
        };
    }
}

/// A model that was written.
pub(crate) struct TrainedReader<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: usize,
    pub(crate) tests: usize,
    pub(crate) flaky: usize,
    pub(crate) projects: usize,
    pub(crate) hold_out: HoldOut,
    pub(crate) average_precision: Option<f64>,
    pub(crate) thresholds: ThresholdLevels,
    /// A line about each member.
    pub(crate) members: Vec<String>,
    /// What the member is worth that reads texts alone, if there is one.
    pub(crate) text: Option<(Option<f64>, ThresholdLevels)>,
    pub(crate) time: Duration,
}

/// Say what was learned and what it is worth.
pub(crate) fn trained_reader(trained: &TrainedReader<'_>) {
    let _ = terminal::out(&text(trained));
}

fn text(trained: &TrainedReader<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{STRONG}{}{STRONG:#}: {} flaky of {} tests from {}, {:.1} MB, in {:.1} s",
        trained.path.display(),
        trained.flaky,
        trained.tests,
        count(trained.projects, "project"),
        megabytes(trained.bytes),
        trained.time.as_secs_f64()
    );
    let unit = match trained.hold_out {
        HoldOut::Test => "tests held out (their classes were seen: expect less on new classes)",
        HoldOut::Class => "whole classes held out",
        HoldOut::Project => "whole projects held out",
    };
    let _ = writeln!(text, "with {unit}: average precision {}", share(trained.average_precision));
    levels(&mut text, trained.thresholds);
    text.push_str("members:\n");
    for member in &trained.members {
        let _ = writeln!(text, "  {member}");
    }
    if let Some((average_precision, thresholds)) = trained.text {
        let worth = share(average_precision);
        let _ = writeln!(text, "where only the text of a test is known: average precision {worth}");
        levels(&mut text, thresholds);
    }
    text
}

fn levels(text: &mut String, thresholds: ThresholdLevels) {
    let ThresholdLevels { balanced, careful, careful_precision } = thresholds;
    level(text, "balanced", balanced, "nothing is found");
    let none = format!("no threshold has {:.0} % of its alarms right", 100.0 * careful_precision);
    level(text, "careful", careful, &none);
}

fn level(text: &mut String, name: &str, level: Option<Level>, otherwise: &str) {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation() -> HeldOutEvaluation {
        let confusion = Confusion {
            true_positives: 3,
            false_positives: 1,
            false_negatives: 1,
            true_negatives: 5,
        };
        HeldOutEvaluation {
            what: "jury",
            ablation: None,
            protocol: Protocol::Project,
            folds: 2,
            seed: Seed(1),
            found: 9,
            with_path: 8,
            confusion,
            average_precision: Some(0.75),
            standing_out: None,
            perturbed: None,
            members: vec![MemberLine {
                name: "words",
                average_precision: None,
                weight: 0.5,
                sits_in: 1,
            }],
            projects: vec![ProjectLine { project: "apple".into(), confusion }],
            shows_projects: true,
            timing: Timing::default(),
        }
    }

    #[test]
    fn people_see_projects_members_and_how_much_was_found() {
        let text = anstream::adapter::strip_str(&evaluation().text()).to_string();
        let member = "words      alone –, mean weight 0.50, sits in 1 of 2 folds";
        for word in ["apple", "average precision 0.750", member] {
            assert!(text.contains(word), "{text}");
        }
        assert!(text.contains("9 of 10 tests in sources, 8 with a path"), "{text}");
    }

    #[test]
    fn programs_see_the_same() {
        let json: Value = serde_json::from_str(&evaluation().json()).expect("it is JSON");
        assert_eq!((&json["what"], &json["tests"]), (&json!("jury"), &json!(10)));
        assert_eq!(json["members"][0]["member"], "words");
        assert_eq!(json["per_project"][0]["confusion"]["tp"], 3);
    }

    #[test]
    fn a_threshold_that_nothing_reaches_is_said_in_words() {
        let level = Level { from: 0.5, precision: Some(0.8), recall: Some(0.6), mcc: 0.65 };
        let trained = TrainedReader {
            path: Path::new("m"),
            bytes: 2_000_000,
            tests: 20,
            flaky: 5,
            projects: 1,
            hold_out: HoldOut::Class,
            average_precision: Some(0.7),
            thresholds: ThresholdLevels {
                balanced: Some(level),
                careful: None,
                careful_precision: 0.9,
            },
            members: vec!["words      weight 1.00".into()],
            text: None,
            time: Duration::from_secs(3),
        };
        let said = anstream::adapter::strip_str(&text(&trained)).to_string();
        let expected = "m: 5 flaky of 20 tests from 1 project, 2.0 MB, in 3.0 s\n\
                        with whole classes held out: average precision 0.700\n\
                        \x20 balanced  precision 0.800, recall 0.600, MCC 0.65\n\
                        \x20 careful   no threshold has 90 % of its alarms right\n\
                        members:\n\
                        \x20 words      weight 1.00\n";
        assert_eq!(said, expected);
    }
}
