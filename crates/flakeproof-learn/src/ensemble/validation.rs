//! What an ensemble is worth on tests it has not learned from.

use std::collections::BTreeMap;

use super::base_model::BaseModel;
use super::params::{EnsembleError, EnsembleParams};
use super::readings::Readings;
use crate::evaluate::{Confusion, average_precision};
use crate::flast::{Corpus, Protocol};

/// How an ensemble is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct EnsembleValidationParams {
    /// What the ensemble is like. What it holds out inside is what the protocol holds out outside.
    pub ensemble: EnsembleParams,
    /// Which tests are asked, and which may be learned from.
    pub protocol: Protocol,
    /// How many folds.
    pub folds: usize,
}

/// What an ensemble said of tests that it had not learned from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EnsembleValidation {
    /// How many folds there were.
    pub folds: usize,
    /// One entry for each test, by row.
    pub asked: Vec<ScoredTest>,
    /// Who sat in the ensemble.
    pub members: Vec<BaseModel>,
    /// The weights of the members in each fold.
    pub weights: Vec<Vec<f64>>,
}

/// What was said of one test.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredTest {
    /// The row of the test.
    pub row: u32,
    /// The fold it was asked in.
    pub fold: usize,
    /// The score of the ensemble.
    pub score: f64,
    /// The probability that it is flaky.
    pub probability: f64,
    /// What each member said.
    pub said: Vec<f64>,
    /// Whether it was called flaky.
    pub predicted: bool,
    /// Whether it is.
    pub flaky: bool,
}

impl EnsembleValidationParams {
    /// Measure. `progress` is told the number of folds that are done, and of all.
    ///
    /// # Errors
    /// When a fold has too few tests to learn from.
    pub fn run(
        &self,
        readings: &Readings,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<EnsembleValidation, EnsembleError> {
        let corpus = Corpus::of_tests(&readings.tests, self.ensemble.recipe.cut);
        let folds = self.protocol.folds(&corpus, self.folds, self.ensemble.seed);
        let ensemble = EnsembleParams { hold_out: self.protocol.inner(), ..self.ensemble.clone() };
        let mut validation =
            EnsembleValidation { folds: folds.len(), ..EnsembleValidation::default() };
        for (number, fold) in folds.iter().enumerate() {
            progress(number, folds.len());
            let (members, about) = ensemble.learn(readings, &corpus, &fold.train, "")?;
            let tests = &fold.test;
            let opinions = ensemble.neighbours(&corpus, &fold.train, tests);
            let said = members.ask_rows(readings, &opinions, tests);
            let from = about.thresholds.balanced.map_or(f64::INFINITY, |level| level.from);
            for (at, row) in tests.iter().enumerate() {
                let said: Vec<f64> = said.iter().map(|scores| scores[at]).collect();
                let score = about.blend.ask(&said.iter().copied().map(Some).collect::<Vec<_>>()).0;
                validation.asked.push(ScoredTest {
                    row: *row,
                    fold: number,
                    score,
                    probability: about.probability(score),
                    said,
                    predicted: score >= from,
                    flaky: readings.tests[*row as usize].flaky,
                });
            }
            validation.weights.push(about.blend.weights().to_vec());
            validation.members = about.members;
        }
        progress(folds.len(), folds.len());
        validation.asked.sort_by_key(|asked| asked.row);
        Ok(validation)
    }
}

impl EnsembleValidation {
    /// What was said against what is true.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        let mut confusion = Confusion::default();
        self.asked.iter().for_each(|asked| confusion.count(asked.predicted, asked.flaky));
        confusion
    }

    /// The area under the precision-recall curve.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        let scored: Vec<(f64, bool)> =
            self.asked.iter().map(|asked| (asked.score, asked.flaky)).collect();
        average_precision(&scored, 1.0)
    }

    /// The same for one member alone.
    #[must_use]
    pub fn average_precision_of(&self, member: BaseModel) -> Option<f64> {
        let at = self.members.iter().position(|it| *it == member)?;
        let scored: Vec<(f64, bool)> = self
            .asked
            .iter()
            .filter_map(|asked| Some((*asked.said.get(at)?, asked.flaky)))
            .collect();
        average_precision(&scored, 1.0)
    }

    /// What was said against what is true, in each project.
    #[must_use]
    pub fn by_project(&self, readings: &Readings) -> BTreeMap<String, Confusion> {
        let mut projects: BTreeMap<String, Confusion> = BTreeMap::new();
        for asked in &self.asked {
            let project = &readings.tests[asked.row as usize].project;
            projects.entry(project.clone()).or_default().count(asked.predicted, asked.flaky);
        }
        projects
    }
}
