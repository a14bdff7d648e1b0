//! What the project's forests say about each test, by the features that were measured.

use std::collections::HashMap;
use std::path::Path;

use flakeproof_core::{Features, History, MeanFeatures, Suite, TestId, Thresholds};
use flakeproof_learn::cannier::{ForestModel, Problem as Question};

use crate::models::kept_models;
use crate::problem::Problem;

/// What the project's forests say. A forest that knows the features of no test says nothing.
#[derive(Debug, Default)]
pub(super) struct ByFeatures {
    forests: Vec<(Question, ForestSays)>,
}

/// What one forest says about the tests of a suite, in its order.
#[derive(Debug)]
pub(super) struct ForestSays {
    /// Its file.
    pub(super) name: String,
    /// Between which answers nobody believes it, if that is kept with it.
    pub(super) thresholds: Option<Thresholds>,
    /// `None` for tests whose features are not known.
    pub(super) answers: Vec<Option<Answer>>,
}

/// What a forest says about one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answer {
    /// As the forest says it. Thresholds are about this.
    pub(super) raw: f64,
    /// What that is worth, as a probability.
    pub(super) probability: f64,
}

impl ByFeatures {
    /// Ask every forest in the folder, or above it, about the features that the history holds.
    pub(super) fn of(suite: &Suite, folder: &Path, history: &dyn History) -> Result<Self, Problem> {
        // Features that cannot be read are not known; trouble with the history is told elsewhere.
        let measured = means(history);
        let features: Vec<Option<&Features>> =
            suite.tests.iter().map(|test| measured.get(&test.id)).collect();
        let mut forests = Vec::new();
        if features.iter().all(Option::is_none) {
            return Ok(Self::default());
        }
        for question in Question::ALL {
            let Some(path) = kept_models::forest_in(question, folder) else { continue };
            let model = kept_models::open_forest(&path)?;
            let said = ForestSays {
                name: path.display().to_string(),
                thresholds: model.thresholds(),
                answers: features.iter().map(|it| answer(&model, (*it)?)).collect(),
            };
            forests.push((question, said));
        }
        Ok(Self { forests })
    }

    /// What the forest for a question says, if there is one.
    pub(super) fn on(&self, question: Question) -> Option<&ForestSays> {
        self.forests.iter().find(|(it, _)| *it == question).map(|(_, said)| said)
    }
}

fn means(history: &dyn History) -> HashMap<TestId, Features> {
    let mut means: HashMap<TestId, MeanFeatures> = HashMap::new();
    for record in history.features().unwrap_or_default() {
        means.entry(record.test).or_default().add(&record.features);
    }
    means.into_iter().map(|(test, mean)| (test, mean.mean())).collect()
}

/// A value that the forest cannot take leaves it without an answer.
fn answer(model: &ForestModel, features: &Features) -> Option<Answer> {
    let raw = model.answer(features).ok()?;
    let calibration = model.about.calibration.as_ref();
    Some(Answer { raw, probability: calibration.map_or(raw, |steps| steps.probability(raw)) })
}

#[cfg(test)]
impl ByFeatures {
    /// A forest that gives these answers.
    pub(super) fn with(mut self, question: Question, answers: &[Option<f64>]) -> Self {
        let answer = |it: &Option<f64>| it.map(|raw| Answer { raw, probability: raw });
        self.forests.push((
            question,
            ForestSays {
                name: format!("{}.forest", question.word()),
                thresholds: None,
                answers: answers.iter().map(answer).collect(),
            },
        ));
        self
    }
}
