//! `flakeproof explain`: what is known about one test, or what a word of the output means.

use flakeproof_core::{ExitCode, KnownFlaky};
use serde_json::{Value, json};

use super::{explain_features, glossary, predict};
use crate::cli::{ExplainArguments, PredictionFormat};
use crate::models::model::ModelSource;
use crate::models::predictor::{self, Detail};
use crate::problem::Problem;
use crate::session::{current_folder, history, naming};
use crate::source::project_source::ProjectSource;
use crate::source::source_tests;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ExplainArguments) -> Result<ExitCode, Problem> {
    if let Some(meaning) = glossary::meaning(&typed.test) {
        view::data(format!("{meaning}\n").as_bytes());
        return Ok(ExitCode::Clean);
    }
    let folder = current_folder()?;
    let source = ModelSource::choose(typed.model.model.as_deref(), &folder)?;
    let model = source.open()?;
    let hunted = hunted(&typed.test, history::flaky_tests(None, &folder)?);
    let is_text = typed.output_format == PredictionFormat::Text;
    let found = source_tests::read(&typed.paths, &folder)?;
    let test = match naming::the_one_written(&typed.test, &found.tests) {
        Ok(test) => test,
        // Tests can be made at run time; then the hunt knows them, and the source does not.
        Err(_) if is_text && !hunted.is_empty() => {
            hunted.iter().for_each(view::known_test);
            return Ok(ExitCode::Clean);
        }
        Err(_) if found.tests.is_empty() => return Err(source_tests::no_tests(&typed.paths)),
        Err(problem) => return Err(problem),
    };
    let one = std::slice::from_ref(test);
    let project = || ProjectSource::read(&typed.paths, &folder);
    let threshold = typed.model.threshold;
    let mut predictions =
        predictor::predict(&source, &model, one, threshold, Detail::OfEveryTest, project)?;
    predictions.notices.extend(found.notices);
    match typed.output_format {
        PredictionFormat::Text => {
            hunted.iter().for_each(view::known_test);
            view::explanation(&predictions, &test.source, source.is_shipped());
            explain_features::print(&test.id, &folder)?;
        }
        PredictionFormat::Json => {
            let document = predict::rendered(&predictions, PredictionFormat::Json)?;
            view::data(&with_hunt(&document, &hunted));
        }
        other => view::data(&predict::rendered(&predictions, other)?),
    }
    Ok(ExitCode::Clean)
}

/// What hunts know of the test; of each of its cases if none was named.
fn hunted(typed: &str, known: Vec<KnownFlaky>) -> Vec<KnownFlaky> {
    let is_meant = |id: &str| {
        let test = if typed.contains('[') { id } else { id.split_once('[').map_or(id, |it| it.0) };
        test == typed
            || test.ends_with(&format!("::{typed}"))
            || test.ends_with(&format!("/{typed}"))
    };
    known.into_iter().filter(|it| is_meant(it.test.id.as_str())).collect()
}

/// The document with what hunts found about the test and its cases.
fn with_hunt(document: &[u8], hunted: &[KnownFlaky]) -> Vec<u8> {
    let Ok(Value::Object(mut members)) = serde_json::from_slice(document) else {
        return document.to_vec();
    };
    let hunted: Vec<Value> = hunted.iter().map(view::known_as_json).collect();
    members.insert("hunted".to_owned(), json!(hunted));
    format!("{:#}\n", Value::Object(members)).into_bytes()
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{HuntRecord, HuntedTest};

    use super::*;

    fn found(typed: &str) -> Vec<String> {
        let known = |id: &&str| KnownFlaky {
            hunt: HuntRecord {
                id: String::new(),
                started: String::new(),
                command: Vec::new(),
                fingerprint: String::new(),
                seed: String::new(),
                settings: String::new(),
                version: String::new(),
            },
            test: HuntedTest::new((*id).into(), None),
        };
        let all = ["t/a.py::test_x", "t/a.py::test_y[1]", "t/a.py::test_y[2]", "t/b.py::my_test_x"];
        let known = all.iter().map(known).collect();
        hunted(typed, known).into_iter().map(|it| it.test.id.to_string()).collect()
    }

    #[test]
    fn a_case_is_one_and_a_test_is_all_its_cases() {
        assert_eq!(found("t/a.py::test_y"), ["t/a.py::test_y[1]", "t/a.py::test_y[2]"]);
        assert_eq!(found("test_y[2]"), ["t/a.py::test_y[2]"]);
        assert_eq!(found("test_x"), ["t/a.py::test_x"]);
    }
}
