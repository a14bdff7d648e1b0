//! What the project's forests say about a test, and why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flakeproof_core::{Features, MeanFeatures, Notice, TestId};
use flakeproof_learn::cannier::{Explanation, ForestModel, Problem as Question};

use crate::models::{forest_data, kept_models};
use crate::problem::Problem;
use crate::session::history;
use crate::view;

/// Print what each forest of the project says about the test. Without a forest there is nothing to
/// say; with one, but without features of the test, how to get them.
pub(super) fn print(test: &TestId, folder: &Path) -> Result<(), Problem> {
    let in_project = |question| kept_models::forest_in(question, folder);
    let models: Vec<PathBuf> = Question::ALL.into_iter().filter_map(in_project).collect();
    if models.is_empty() {
        return Ok(());
    }
    let cases = measured_cases(test, folder)?;
    if cases.is_empty() {
        view::notices(&[Notice {
            what: "the project has a forest, but the features of this test are not known".into(),
            next: "measure them: `flakeproof features -- pytest …`".into(),
        }]);
        return Ok(());
    }
    for path in models {
        let model = kept_models::open_forest(&path)?;
        let (case, explanation) = most_suspicious(&model, &cases)?;
        view::forest_explanation(&model.about, case, &explanation);
    }
    Ok(())
}

/// The mean features of the test, of each of its cases if it has parameters.
fn measured_cases(test: &TestId, folder: &Path) -> Result<BTreeMap<TestId, Features>, Problem> {
    if !history::place(None, folder)?.is_file() {
        return Ok(BTreeMap::new());
    }
    let is_case = |id: &TestId| {
        id == test
            || id.as_str().strip_prefix(test.as_str()).is_some_and(|rest| rest.starts_with('['))
    };
    let mut cases: BTreeMap<TestId, MeanFeatures> = BTreeMap::new();
    for record in forest_data::features_of(None, folder)? {
        if is_case(&record.test) {
            cases.entry(record.test).or_default().add(&record.features);
        }
    }
    Ok(cases.into_iter().map(|(id, mean)| (id, mean.mean())).collect())
}

/// The case with the highest probability, explained.
fn most_suspicious<'c>(
    model: &ForestModel,
    cases: &'c BTreeMap<TestId, Features>,
) -> Result<(&'c TestId, Explanation), Problem> {
    let mut most: Option<(&TestId, Explanation)> = None;
    for (id, features) in cases {
        let explanation = model.explain(features).map_err(|error| {
            Problem::usage(error.to_string(), "measure the features of the test again")
        })?;
        if most.as_ref().is_none_or(|(_, it)| explanation.answer > it.answer) {
            most = Some((id, explanation));
        }
    }
    most.ok_or_else(|| Problem::broken("no case of the test was measured", "please report this"))
}
