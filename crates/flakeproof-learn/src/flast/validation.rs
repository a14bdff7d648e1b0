//! What FLAST is worth on tests it has not learned from.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::Seed;
use serde::{Deserialize, Serialize};

use super::corpus::Corpus;
use super::neighbourhood::{HoldOut, Neighbourhood};
use super::recipe::Recipe;
use super::threshold::Aim;
use crate::evaluate::{Confusion, Fold, HeldOut, Isotonic, average_precision, folds};
use crate::labelled::LabelledTest;

/// Which tests are asked, and which may be learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Random folds with equal shares of flaky tests. Rewards recognising the class.
    Random,
    /// Folds that never part a class.
    Class,
    /// One project is asked, all others are learned from: what a new user gets.
    Project,
}

impl Protocol {
    /// The folds of a corpus. `Project` has as many as there are projects.
    #[must_use]
    pub fn folds(self, corpus: &Corpus<'_>, count: usize, seed: Seed) -> Vec<Fold> {
        let flaky = corpus.labels();
        match self {
            Self::Random => folds::stratified(&flaky, count, seed),
            Self::Class => folds::grouped(&flaky, corpus.class_numbers(), count, seed),
            Self::Project => folds::leave_one_group_out(corpus.project_numbers()),
        }
    }

    /// What is held out inside the training part to choose the threshold: the same unit.
    pub(crate) fn inner(self) -> HoldOut {
        match self {
            Self::Random => HoldOut::Test,
            Self::Class => HoldOut::Class,
            Self::Project => HoldOut::Project,
        }
    }
}

/// How a recipe is to be validated.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationParams {
    /// The variant of FLAST.
    pub recipe: Recipe,
    /// Which tests are asked.
    pub protocol: Protocol,
    /// How many folds.
    pub folds: usize,
    /// The seed of all chance.
    pub seed: Seed,
    /// Whether to say how likely each test is flaky.
    pub with_probabilities: bool,
}

/// What came out: one line for each test that was asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Validation {
    /// How many folds there were.
    pub folds: usize,
    /// What was said about each test, and what is true.
    pub asked: Vec<Asked>,
    /// The time spent learning, over all folds.
    pub learning: Duration,
    /// The time spent predicting, over all folds.
    pub predicting: Duration,
}

/// What was said about one test, and what is true.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its row in the data.
    pub row: u32,
    /// The fold in which it was asked.
    pub fold: usize,
    /// The flaky share of its neighbours' votes.
    pub flaky_share: f64,
    /// How likely it is flaky by that share, calibrated on the training part alone; where that
    /// was asked for.
    pub probability: Option<f64>,
    /// Whether it was called flaky.
    pub predicted: bool,
    /// Whether it is.
    pub flaky: bool,
    /// Whether the predicted category is the true one; `None` where one of them is not known.
    pub is_category_right: Option<bool>,
}

impl ValidationParams {
    /// Cut, learn and ask, fold by fold. `clock` says how much time has passed since any moment.
    #[must_use]
    pub fn run(&self, tests: &[LabelledTest], clock: &dyn Fn() -> Duration) -> Validation {
        let begin = clock();
        let corpus = Corpus::of_tests(tests, self.recipe.cut);
        let cutting = clock().saturating_sub(begin);
        let folds = self.protocol.folds(&corpus, self.folds, self.seed);
        let mut validation = Validation { folds: folds.len(), ..Validation::default() };
        for (number, fold) in folds.into_iter().enumerate() {
            let start = clock();
            // All rows were cut at once; each fold learns from its own part only.
            let share = crate::real(fold.train.len()) / crate::real(tests.len());
            validation.learning += cutting.mul_f64(share);
            let known =
                Neighbourhood::of_rows(&corpus, fold.train.clone(), &self.recipe, self.seed);
            let threshold = self.threshold(&known);
            let probability = self.calibration(&known);
            let learned = clock();
            let opinions = known.ask_rows(&fold.test);
            validation.learning += learned.saturating_sub(start);
            validation.predicting += clock().saturating_sub(learned) + cutting.mul_f64(1.0 - share);
            for (row, opinion) in fold.test.iter().zip(&opinions) {
                let predicted = opinion.flaky_share >= threshold;
                let category = predicted.then(|| known.category(opinion)).flatten();
                let truth = corpus.category(*row);
                validation.asked.push(Asked {
                    row: *row,
                    fold: number,
                    flaky_share: opinion.flaky_share,
                    probability: probability.as_ref().map(|it| it.probability(opinion.flaky_share)),
                    predicted,
                    flaky: corpus.is_flaky(*row),
                    is_category_right: category.zip(truth).map(|((said, _), is)| said == is),
                });
            }
        }
        validation.asked.sort_by_key(|asked| asked.row);
        validation
    }

    /// The threshold, chosen on the training part alone; above every share where nothing will do.
    fn threshold(&self, known: &Neighbourhood<'_, '_>) -> f64 {
        if let Aim::Fixed(threshold) = self.recipe.aim {
            return threshold;
        }
        self.recipe.aim.threshold(&self.held_out(known)).unwrap_or(f64::INFINITY)
    }

    fn calibration(&self, known: &Neighbourhood<'_, '_>) -> Option<Isotonic> {
        self.with_probabilities.then(|| Isotonic::fit(&self.held_out(known))).flatten()
    }

    fn held_out(&self, known: &Neighbourhood<'_, '_>) -> HeldOut {
        known.held_out_shares(self.protocol.inner(), self.seed)
    }
}

impl Validation {
    /// Take in what came out elsewhere: of another project, measured alone.
    pub fn join(&mut self, other: Self) {
        self.folds = self.folds.max(other.folds);
        self.asked.extend(other.asked);
        self.learning += other.learning;
        self.predicting += other.predicting;
    }

    /// How many tests say whether their category was named right.
    #[must_use]
    pub fn categories_told(&self) -> usize {
        self.asked.iter().filter(|asked| asked.is_category_right.is_some()).count()
    }

    /// Predictions against the truth.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        let mut confusion = Confusion::default();
        self.asked.iter().for_each(|asked| confusion.count(asked.predicted, asked.flaky));
        confusion
    }

    /// The area under the precision-recall curve of all shares together.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        let scored: Vec<(f64, bool)> =
            self.asked.iter().map(|asked| (asked.flaky_share, asked.flaky)).collect();
        average_precision(&scored, 1.0)
    }

    /// The share of tests called flaky whose category was named right (the paper's A_FC), among
    /// those whose category is known.
    #[must_use]
    pub fn category_accuracy(&self) -> Option<f64> {
        let told: Vec<bool> =
            self.asked.iter().filter_map(|asked| asked.is_category_right).collect();
        let right = told.iter().filter(|right| **right).count();
        (!told.is_empty()).then(|| crate::real(right) / crate::real(told.len()))
    }

    /// Predictions against the truth for each project, by name.
    #[must_use]
    pub fn by_project(&self, tests: &[LabelledTest]) -> BTreeMap<String, Confusion> {
        let mut projects: BTreeMap<String, Confusion> = BTreeMap::new();
        for asked in &self.asked {
            let project = &tests[asked.row as usize].project;
            projects.entry(project.clone()).or_default().count(asked.predicted, asked.flaky);
        }
        projects
    }
}
