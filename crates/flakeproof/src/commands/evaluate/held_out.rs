//! What evaluations of models that read source share: the tests that are asked, and what is written
//! of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use flakeproof_lab::validation::Protocol;
use flakeproof_learn::evaluate::Confusion;
use flakeproof_learn::labelled::LabelledTest;

use crate::cli::{EvaluationFormat, LabelledFolds, LabelledSourcesArguments};
use crate::models::labelled_tests::{self, LabelledSources};
use crate::problem::Problem;
use crate::view::{self, HeldOutEvaluation, ProjectLine};

/// Read the tests, if they can be parted as asked.
pub(super) fn read(
    labelled: &LabelledFolds,
    code: &LabelledSourcesArguments,
) -> Result<LabelledSources, Problem> {
    let tests = labelled_tests::of_files(&labelled.data, &labelled.without)?;
    let tests = labelled_tests::chosen(code, tests)?;
    check(&tests, labelled)?;
    labelled_tests::read_sources(code, tests, Vec::new())
}

/// What was said of a test.
pub(super) struct PredictionLine<'a> {
    pub(super) id: &'a str,
    pub(super) flaky: bool,
    pub(super) fold: usize,
    pub(super) probability: f64,
    pub(super) predicted: bool,
    pub(super) score: f64,
}

/// Write what was said of each test as CSV.
pub(super) fn write_predictions<'a>(
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
pub(super) fn too_few(what: String) -> Problem {
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
