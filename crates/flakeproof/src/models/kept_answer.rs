//! What a model said of all tests of a project, kept until a file, the model or the question changes: then
//! it need not even be opened.

use flakeproof_core::{DataPath, ModelFacts, Notice, Prediction, Reason, SimilarTest};
use serde::{Deserialize, Serialize};

use super::model::ModelSource;
use super::predictor::{Answer, Detail};
use super::test_reader::TestReader;
use crate::cli::{MostSuspects, ThresholdChoice};
use crate::source::source_tests::SourceTest;

/// What is asked of a model about all tests of a project.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    pub(crate) choice: ThresholdChoice,
    pub(crate) most: Option<MostSuspects>,
    pub(crate) detail: Detail,
}

/// What is kept of an answer.
#[derive(Serialize, Deserialize)]
struct KeptAnswer {
    model: ModelFacts,
    /// What the reader should know, before and behind what is to be known of the project.
    notices: [Vec<(String, String)>; 2],
    is_of_project: bool,
    tests: Vec<KeptPrediction>,
}

/// What is kept of a prediction: what its test does not say itself.
#[derive(Serialize, Deserialize)]
struct KeptPrediction {
    probability: f64,
    flaky: bool,
    category: Option<String>,
    neighbours: Vec<SimilarTest>,
    reasons: Vec<Reason>,
    paths: Vec<DataPath>,
}

impl Question {
    /// The answer that was kept.
    pub(crate) fn kept(&self, source: &ModelSource, reader: &TestReader<'_>) -> Option<Answer> {
        let kept: KeptAnswer = reader.source.kept(&self.name(source))?;
        if kept.tests.len() != reader.tests.len() {
            return None;
        }
        let [before, behind] = kept
            .notices
            .map(|notices| notices.into_iter().map(|(what, next)| Notice { what, next }).collect());
        let tests = reader.tests.iter().zip(kept.tests);
        let tests = tests.map(|(test, kept)| kept.of_test(test)).collect();
        let KeptAnswer { model, is_of_project, .. } = kept;
        Some(Answer { model, before, behind, is_of_project, tests })
    }

    /// Keep an answer about all tests of a project.
    pub(crate) fn keep(&self, source: &ModelSource, reader: &TestReader<'_>, answer: &Answer) {
        let kept = |it: &Notice| (it.what.clone(), it.next.clone());
        let notices = [&answer.before, &answer.behind].map(|it| it.iter().map(kept).collect());
        let tests = answer.tests.iter().map(KeptPrediction::new).collect();
        let (model, is_of_project) = (answer.model.clone(), answer.is_of_project);
        let kept = KeptAnswer { model, notices, is_of_project, tests };
        reader.keep(&self.name(source), &kept);
    }

    /// What it is kept under.
    fn name(&self, source: &ModelSource) -> String {
        let Self { choice, most, detail } = self;
        let choice = match choice {
            ThresholdChoice::Probability(from) => format!("{:x}", from.to_bits()),
            ThresholdChoice::Balanced | ThresholdChoice::Careful => format!("{choice:?}"),
        };
        let (digest, name) = (source.digest(), source.name());
        format!("answer {choice} {most:?} {detail:?} {digest} {name}")
    }
}

impl KeptPrediction {
    fn new(prediction: &Prediction) -> Self {
        Self {
            probability: prediction.probability,
            flaky: prediction.flaky,
            category: prediction.category.clone(),
            neighbours: prediction.neighbours.clone(),
            reasons: prediction.reasons.clone(),
            paths: prediction.paths.clone(),
        }
    }

    fn of_test(self, test: &SourceTest) -> Prediction {
        Prediction {
            id: test.id.clone(),
            file: test.file.clone(),
            line: test.first_line,
            end_line: test.last_line,
            language: test.language.name().to_owned(),
            probability: self.probability,
            flaky: self.flaky,
            category: self.category,
            neighbours: self.neighbours,
            rules: Vec::new(),
            known: None,
            reasons: self.reasons,
            paths: self.paths,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_is_asked_otherwise_is_kept_elsewhere() {
        let source = ModelSource::choose(None, Path::new("/nonexistent")).expect("it is inside");
        let usual = Question {
            choice: ThresholdChoice::Balanced,
            most: None,
            detail: Detail::SuspectsAlone,
        };
        let others = [
            Question { choice: ThresholdChoice::Careful, ..usual },
            Question { choice: ThresholdChoice::Probability(0.5), ..usual },
            Question { choice: ThresholdChoice::Probability(0.6), ..usual },
            Question { most: Some(MostSuspects::ALL), ..usual },
            Question { detail: Detail::OfSuspects, ..usual },
        ];
        let mut names = vec![usual.name(&source)];
        names.extend(others.iter().map(|other| other.name(&source)));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 6);
    }
}
