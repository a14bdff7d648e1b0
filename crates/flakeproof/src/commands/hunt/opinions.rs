//! What models say about each test: by its source, before anything was run or measured, and by the
//! features that were measured.

use std::collections::HashMap;
use std::path::Path;

use flakeproof_core::{Features, History, MeanFeatures, Notice, Suite, TestId, Thresholds};
use flakeproof_learn::cannier::{self, ForestModel};

use crate::cli::ThresholdChoice;
use crate::models::decision::Decision;
use crate::models::model::{self, ModelSource};

use crate::models::predictor::{self, Detail};
use crate::models::test_reader::TestReader;
use crate::problem::Problem;
use crate::source::project_source::ProjectSource;
use crate::source::source_cache::SourceCache;
use crate::source::source_tests::{self, SourceTest};

/// What the source of each test says, in the suite's order.
#[derive(Debug)]
pub(super) struct BySource {
    /// How likely it is flaky. All cases of a test have its probability, and a test without source
    /// the mean of the others.
    pub(super) flaky: Vec<f64>,
    /// Where it is written, if that was found.
    pub(super) written: Vec<Option<SourceTest>>,
    /// Whether the model calls it flaky.
    pub(super) is_suspicious: Vec<bool>,
    /// The model that says so.
    pub(super) model: String,
    /// What the reader should know about it.
    pub(super) notices: Vec<Notice>,
}

impl BySource {
    /// Ask the project's own model, else the one inside the program. The places of the tests are
    /// relative to `root`; the model is looked for in `folder`.
    pub(super) fn ask(suite: &Suite, root: &Path, folder: &Path) -> Result<Self, Problem> {
        let source = ModelSource::choose(None, folder)?;
        let model = source.open()?;
        // A file that cannot be read leaves its tests without source; they still run.
        let files = source_tests::files_of(suite, root);
        let cache = SourceCache::of(folder);
        let read = ProjectSource::read_with_tests(&files, root, cache);
        let (found, project) = read.unwrap_or_default();
        // A hunt has time for all of them: it only wants to know whom to run first.
        let decision = Decision::by_threshold(&model, ThresholdChoice::Balanced);
        let reader = TestReader::new(&project, &found.tests);
        let said = predictor::predict(&source, &model, &reader, &decision, Detail::OfSuspects);
        project.save();
        let places = source_tests::places_of(suite, &found.tests);
        let probabilities: Vec<Option<f64>> =
            places.iter().map(|place| place.map(|at| said.tests[at].probability)).collect();
        let is_suspicious =
            places.iter().map(|place| place.is_some_and(|at| said.tests[at].flaky)).collect();
        let written = places.iter().map(|place| place.map(|at| found.tests[at].clone())).collect();
        Ok(Self {
            flaky: with_gaps_filled(&probabilities, share(model.tests().1, model.tests().0)),
            written,
            is_suspicious,
            model: if source.is_shipped() {
                "the model inside flakeproof".to_owned()
            } else {
                source.name()
            },
            notices: said.notices,
        })
    }
}

/// What is not known is as likely as the rest on average; where nothing is known, as `usual`.
fn with_gaps_filled(probabilities: &[Option<f64>], usual: f64) -> Vec<f64> {
    let known: Vec<f64> = probabilities.iter().flatten().copied().collect();
    let mean = match known.len() {
        0 => usual,
        many => known.iter().sum::<f64>() / length(many),
    };
    probabilities.iter().map(|it| it.unwrap_or(mean)).collect()
}

fn share(part: usize, whole: usize) -> f64 {
    length(part) / length(whole.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "no suite has 2^52 tests")]
fn length(number: usize) -> f64 {
    number as f64
}

/// What the project's forests say. A forest that knows the features of no test says nothing.
#[derive(Debug, Default)]
pub(super) struct ByFeatures {
    forests: Vec<(cannier::Problem, ForestSays)>,
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
    pub(super) fn ask(
        suite: &Suite,
        folder: &Path,
        history: &dyn History,
    ) -> Result<Self, Problem> {
        // Features that cannot be read are not known; trouble with the history is told elsewhere.
        let measured = means(history);
        let features: Vec<Option<&Features>> =
            suite.tests.iter().map(|test| measured.get(&test.id)).collect();
        let mut forests = Vec::new();
        if features.iter().all(Option::is_none) {
            return Ok(Self::default());
        }
        for question in cannier::Problem::ALL {
            let Some(path) = model::forest_in(question, folder) else { continue };
            let model = model::open_forest(&path)?;
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
    pub(super) fn on(&self, question: cannier::Problem) -> Option<&ForestSays> {
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
    pub(super) fn with(mut self, question: cannier::Problem, answers: &[Option<f64>]) -> Self {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use flakeproof_core::SuiteTest;

    use super::*;

    #[test]
    fn a_test_without_source_is_as_likely_as_the_rest() {
        assert_eq!(with_gaps_filled(&[Some(0.25), None, Some(0.75)], 0.9), [0.25, 0.5, 0.75]);
        assert_eq!(with_gaps_filled(&[None, None], 0.1), [0.1, 0.1]);
    }

    #[test]
    fn every_test_of_a_suite_has_a_probability_and_cases_share_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let source = "import time\ndef test_a(n):\n    time.sleep(n)\ndef test_b():\n    pass\n";
        fs::write(folder.path().join("test_x.py"), source).unwrap();
        let ids = ["test_x.py::test_a[1]", "test_x.py::test_a[2]", "test_x.py::test_b", "made::up"];
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        let suite = Suite { tests: ids.iter().map(test).collect(), problems: Vec::new() };
        let said = BySource::ask(&suite, folder.path(), folder.path()).unwrap();
        assert_eq!(said.flaky.len(), 4);
        assert_eq!(said.flaky[0].to_bits(), said.flaky[1].to_bits());
        assert!(said.flaky.iter().all(|it| (0.0..=1.0).contains(it)), "{:?}", said.flaky);
        assert!(said.written[3].is_none());
        assert!(said.notices.iter().any(|it| it.what.contains("learned from Java")));
    }
}
