//! What an ensemble or a network said of tests that it had not learned from, as a person reads it
//! and as a program does.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use flakeproof_core::Seed;
use flakeproof_lab::validation::Protocol;
use flakeproof_learn::evaluate::Confusion;
use serde_json::{Value, json};

use super::learning::{ProjectLine, real, row, scores, share};
use super::predictions::count;
use super::printed;
use super::styles::{DIM, STRONG};

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
        let _ = printed::out(&self.text());
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
        let _ = writeln!(text, "\naverage precision {}", share(self.average_precision));
        for member in &self.members {
            let _ = writeln!(
                text,
                "  {:<10} alone {}, mean weight {:.2}",
                member.name,
                share(member.average_precision),
                member.weight
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
            members: vec![MemberLine { name: "words", average_precision: None, weight: 0.5 }],
            projects: vec![ProjectLine { project: "apple".into(), confusion }],
            shows_projects: true,
            timing: Timing::default(),
        }
    }

    #[test]
    fn people_see_projects_members_and_how_much_was_found() {
        let text = anstream::adapter::strip_str(&evaluation().text()).to_string();
        for word in ["apple", "average precision 0.750", "words      alone –, mean weight 0.50"] {
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
}
