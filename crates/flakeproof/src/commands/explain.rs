//! `flakeproof explain`: what is known about one test.

use flakeproof_core::ExitCode;

use super::asking::{self, Detail};
use super::model::ModelSource;
use super::sources::{self, SourceTest};
use super::{current_folder, explain_features, predict};
use crate::cli::{ExplainArguments, PredictionFormat};
use crate::problem::Problem;
use crate::view;

/// Ids named when the one that was typed fits none or several.
const SUGGESTED: usize = 8;

/// Run the command.
pub(crate) fn run(typed: &ExplainArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let source = ModelSource::choose(typed.model.model.as_deref(), &folder)?;
    let model = source.open()?;
    let found = sources::read(&typed.paths, &folder)?;
    if found.tests.is_empty() {
        return Err(sources::no_tests(&typed.paths));
    }
    let test = the_one(&typed.test, &found.tests)?;
    let one = std::slice::from_ref(test);
    let mut predictions =
        asking::ask(&source, &model, one, typed.model.threshold, Detail::OfEveryTest);
    predictions.notices.extend(found.notices);
    match typed.output_format {
        PredictionFormat::Text => {
            view::explanation(&predictions, &test.source, source.is_shipped());
            explain_features::print(&test.id, &folder)?;
        }
        other => view::data(&predict::rendered(&predictions, other)?),
    }
    Ok(ExitCode::Clean)
}

/// The test with this id, or the only one whose id ends like this.
fn the_one<'t>(typed: &str, tests: &'t [SourceTest]) -> Result<&'t SourceTest, Problem> {
    if let Some(test) = tests.iter().find(|test| test.id.as_str() == typed) {
        return Ok(test);
    }
    let fitting: Vec<&SourceTest> =
        tests.iter().filter(|test| test.id.as_str().ends_with(typed)).collect();
    let listed = |tests: &[&SourceTest]| {
        let ids: Vec<&str> = tests.iter().take(SUGGESTED).map(|test| test.id.as_str()).collect();
        ids.join("\n  ")
    };
    match fitting[..] {
        [test] => Ok(test),
        [] => {
            let near: Vec<&SourceTest> =
                tests.iter().filter(|test| test.id.as_str().contains(typed)).collect();
            let next = if near.is_empty() {
                "`flakeproof predict --output-format json` lists every test with its id".to_owned()
            } else {
                format!("did you mean one of these?\n  {}", listed(&near))
            };
            Err(Problem::usage(format!("no test is called `{typed}`"), next))
        }
        _ => Err(Problem::usage(
            format!("{} tests end in `{typed}`", fitting.len()),
            format!("give more of the id:\n  {}", listed(&fitting)),
        )),
    }
}
