//! What models say about the source of flaky tests, and about their measured features.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flakeproof_core::{Features, MeanFeatures, Overview, Reason, TestId};
use flakeproof_learn::cannier::Problem as Question;

use super::super::model::ModelSource;
use super::super::predictor::{self, Detail};
use super::super::project_source::ProjectSource;
use super::super::sources::{self, SourceTest};
use super::super::{forest_data, kept_models};
use super::suspects;
use crate::cli::ThresholdChoice;
use crate::problem::Problem;
use crate::session::history;

/// So many tests are explained; nobody reads more.
const MOST: usize = 200;

/// Add what models say about the flaky tests whose source is in the folder.
pub(super) fn explain(overview: &mut Overview, folder: &Path) -> Result<(), Problem> {
    let tests: BTreeSet<TestId> = suspects(overview).into_iter().take(MOST).collect();
    if tests.is_empty() {
        return Ok(());
    }
    add_predictions(overview, &tests, folder)?;
    add_features(overview, &tests, folder)
}

fn add_predictions(
    overview: &mut Overview,
    tests: &BTreeSet<TestId>,
    folder: &Path,
) -> Result<(), Problem> {
    let paths = [PathBuf::from(".")];
    let wanted: BTreeSet<&str> = tests.iter().map(without_parameters).collect();
    let mut found = sources::read(&paths, folder)?.tests;
    found.retain(|test: &SourceTest| wanted.contains(test.id.as_str()));
    if found.is_empty() {
        return Ok(());
    }
    let source = ModelSource::choose(None, folder)?;
    let model = source.open()?;
    let project = || ProjectSource::read(&paths, folder);
    let threshold = ThresholdChoice::Balanced;
    let said =
        predictor::predict(&source, &model, &found, threshold, Detail::OfEveryTest, project)?;
    let by_id: BTreeMap<&str, _> = said.tests.iter().map(|it| (it.id.as_str(), it)).collect();
    for test in tests {
        if let Some(prediction) = by_id.get(without_parameters(test)) {
            overview.details.entry(test.clone()).or_default().prediction =
                Some((*prediction).clone());
        }
    }
    Ok(())
}

/// A test made of parameters is written once.
fn without_parameters(test: &TestId) -> &str {
    test.as_str().split_once('[').map_or(test.as_str(), |(name, _)| name)
}

/// What the project's forest says about measured features, if it has one.
fn add_features(
    overview: &mut Overview,
    tests: &BTreeSet<TestId>,
    folder: &Path,
) -> Result<(), Problem> {
    let in_project = |question| kept_models::forest_in(question, folder);
    let Some(path) = Question::ALL.into_iter().find_map(in_project) else { return Ok(()) };
    if !history::place(None, folder)?.is_file() {
        return Ok(());
    }
    let mut means: BTreeMap<TestId, MeanFeatures> = BTreeMap::new();
    for record in forest_data::features_of(None, folder)? {
        if tests.contains(&record.test) {
            means.entry(record.test).or_default().add(&record.features);
        }
    }
    let model = kept_models::open_forest(&path)?;
    for (test, mean) in means {
        let features: Features = mean.mean();
        // A test that lacks what this forest needs is left without bars.
        let Ok(explanation) = model.explain(&features) else { continue };
        let reasons = explanation.contributions.into_iter().map(|(feature, value, weight)| {
            let what = match value {
                Some(value) => format!("{} = {value:.4}", feature.name()),
                None => format!("{} is not known", feature.name()),
            };
            Reason { what, weight }
        });
        overview.details.entry(test).or_default().features = reasons.collect();
    }
    Ok(())
}
