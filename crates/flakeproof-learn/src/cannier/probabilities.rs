//! Probabilities that some model gave, as a table: instead of features to learn from.
//!
//! Columns: `project`, `test`, `problem` (`nod`, `nod-vs-victim`, `victim` or `polluter`),
//! `probability`, and where wanted `repeat` (1 if there is one set of answers only), `runs` (over
//! how many runs features were averaged: 1 unless said, 0 for a model that needs no run) and
//! `seconds` (what a run of the test costs).

use serde::Deserialize;

use super::CsvError;
use super::outcomes::KnownTest;
use super::problem::Problem;
use super::suites::{CostSource, Suites, Timed};
use super::table::{self, Columns};

/// What some model says about a test.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenProbability {
    /// The project of the test.
    pub project: String,
    /// Its id.
    pub test: String,
    /// The question.
    pub problem: Problem,
    /// The probability that it is positive.
    pub probability: f64,
    /// The set of answers that this one belongs to.
    pub repeat: u32,
    /// Over how many runs features were averaged.
    pub runs: u32,
    /// What one run of the test costs.
    pub seconds: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    project: String,
    test: String,
    problem: Problem,
    probability: f64,
    repeat: Option<u32>,
    runs: Option<u32>,
    seconds: Option<f64>,
}

const COLUMNS: Columns = Columns {
    of: "probabilities",
    known: &["project", "test", "problem", "probability", "repeat", "runs", "seconds"],
    needed: &["test", "problem", "probability"],
};

/// Read a table of probabilities.
///
/// # Errors
/// When a column is missing or unknown, or at the first line that cannot be read.
pub fn read_probabilities(text: &str) -> Result<Vec<GivenProbability>, CsvError> {
    table::read(text, &COLUMNS, |line: Line| {
        if !(0.0..=1.0).contains(&line.probability) {
            return Err(format!("the probability {} is not from 0 to 1", line.probability));
        }
        if line.seconds.is_some_and(|seconds| !seconds.is_finite() || seconds < 0.0) {
            return Err("`seconds` is no time".to_owned());
        }
        Ok(GivenProbability {
            project: line.project,
            test: line.test,
            problem: line.problem,
            probability: line.probability,
            repeat: line.repeat.unwrap_or(1),
            runs: line.runs.unwrap_or(1),
            seconds: line.seconds,
        })
    })
}

impl Suites {
    /// The tests of a table of probabilities, each run at the cost that it gives.
    #[must_use]
    pub fn of_probabilities(given: &[GivenProbability], known: &[KnownTest]) -> Self {
        let timed = given.iter().map(|it| Timed {
            project: &it.project,
            test: &it.test,
            seconds: it.seconds,
        });
        Self::of(timed, known, CostSource::Given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_one_set_of_answers_from_one_run() {
        let text = "project,test,problem,probability\np,a,nod-vs-victim,0.25\n";
        let read = read_probabilities(text).expect("one line");
        assert_eq!((read[0].problem, read[0].probability), (Problem::NodVsVictim, 0.25));
        assert_eq!((read[0].repeat, read[0].runs, read[0].seconds), (1, 1, None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| read_probabilities(text).expect_err("it is wrong").to_string();
        let head = "test,problem,probability";
        let too_high = error(&format!("{head}\na,nod,1.5\n"));
        assert_eq!(too_high, "line 2: the probability 1.5 is not from 0 to 1");
        assert!(error(&format!("{head}\na,nod,high\n")).starts_with("line 2: "));
        assert!(error(&format!("{head}\na,odd,0.5\n")).contains("odd"));
        assert!(error(&format!("{head},seconds\na,nod,0.5,-1\n")).contains("`seconds` is no time"));
        assert_eq!(
            error("test,problem\na,nod\n"),
            "there is no column `probability` in the first line"
        );
        assert!(error(&format!("{head},colour\na,nod,1,red\n")).contains("colour"));
    }
}
