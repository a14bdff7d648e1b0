//! Balance, then learn: one of the paper's pipelines (section 4.2.2), and what it is worth (5.2.1).
//!
//! A pipeline is measured on folds, repeated, each repetition with its own draw of runs. What it
//! says about tests that it has not learned from is the input of the cost model: for each number of
//! runs that features are averaged over there are several sets of answers, one for each repetition
//! of training and asking.

use std::collections::BTreeMap;

use flakeproof_core::Seed;
use serde::{Deserialize, Serialize};

use super::dataset::{Dataset, Sample};
use super::prices::Suites;
use super::problem::Problem;
use crate::balance::{Balance, BalanceError};
use crate::evaluate::{Confusion, Fold, average_precision, brier, folds, roc_auc};
use crate::forest::{
    AskError, Forest, ForestFitError, ForestKind, ForestParams, Table, TableError,
};

/// A balancing technique and a forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The kind of forest.
    pub kind: ForestKind,
    /// How many trees it has.
    pub trees: usize,
    /// How the classes are balanced before it learns.
    pub balance: Balance,
}

/// Why a pipeline cannot learn or answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LearnError {
    /// The classes cannot be balanced.
    #[error(transparent)]
    Balance(#[from] BalanceError),
    /// No forest grows.
    #[error(transparent)]
    Fit(#[from] ForestFitError),
    /// The features are no numbers to learn from.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The features are not those that it learned from.
    #[error(transparent)]
    Ask(#[from] AskError),
}

impl Pipeline {
    /// The paper's best for a problem (Table 5).
    #[must_use]
    pub fn best_for(problem: Problem) -> Self {
        let (kind, trees) = match problem {
            Problem::Nod => (ForestKind::ExtraTrees, 100),
            Problem::NodVsVictim => (ForestKind::RandomForest, 75),
            Problem::Victim => (ForestKind::ExtraTrees, 75),
            Problem::Polluter => (ForestKind::RandomForest, 100),
        };
        Self { kind, trees, balance: Balance::Smote }
    }

    /// Balance and learn.
    ///
    /// # Errors
    /// When the classes cannot be balanced or told apart.
    pub fn fit(self, table: &Table, positive: &[bool], seed: Seed) -> Result<Forest, LearnError> {
        let (table, positive) = self.balance.apply(table, positive, seed.split("balance"))?;
        let params = ForestParams { trees: self.trees, ..ForestParams::new(self.kind, seed) };
        Ok(params.fit(&table, &positive)?)
    }
}

/// Which tests are asked, and which are learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForestProtocol {
    /// Random folds with equal shares, as in the paper; tests meet their own project in training.
    Random,
    /// One project is asked, all others are learned from: what a new project gets.
    Project,
}

/// How to measure a pipeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForestValidationParams {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Which tests are asked.
    pub protocol: ForestProtocol,
    /// How many random folds.
    pub folds: usize,
    /// How often all of it is repeated.
    pub repeats: usize,
    /// Over how many runs features are averaged (`n_F`); all of them if `None`.
    pub runs: Option<usize>,
    /// The seed of all chance.
    pub seed: Seed,
}

/// What came out: the probability of each test in each repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestValidation {
    /// How many folds each repetition had.
    pub folds: usize,
    labels: Vec<bool>,
    projects: Vec<u32>,
    names: Vec<String>,
    probabilities: Vec<Vec<f64>>,
}

/// What came out for one project, or for all: the mean over the repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProjectScores {
    /// The project.
    pub project: String,
    /// How many tests it has.
    pub tests: usize,
    /// How many of them are positive.
    pub positive: usize,
    /// Negative and said so.
    pub tn: f64,
    /// Positive and missed.
    #[serde(rename = "fn")]
    pub missed: f64,
    /// Negative and accused.
    pub fp: f64,
    /// Positive and found.
    pub tp: f64,
    /// Matthews' correlation coefficient; `None` where it is not defined in any repetition.
    pub mcc: Option<f64>,
}

impl ForestValidationParams {
    /// Learn and ask, fold by fold, repetition by repetition. `done` is called after each fold.
    ///
    /// # Errors
    /// When a part of the data cannot be learned from.
    pub fn run(
        &self,
        data: &Dataset,
        done: &mut dyn FnMut(),
    ) -> Result<ForestValidation, LearnError> {
        let labels = data.labels();
        let projects = data.project_numbers();
        let mut validation = ForestValidation {
            folds: 0,
            labels,
            projects,
            names: data.projects.clone(),
            probabilities: Vec::new(),
        };
        for repeat in 0..self.repeats.max(1) {
            let seed = self.seed.split(&format!("repeat {repeat}"));
            let sample = self.runs.map_or(Sample::All, |runs| Sample::Drawn { runs, seed });
            let table = data.table(sample)?;
            let folds = self.divide(&validation, seed);
            validation.folds = folds.len();
            let mut probabilities = vec![0.0; data.len()];
            for (number, fold) in folds.iter().enumerate() {
                let seed = seed.split(&format!("fold {number}"));
                let asked = self.ask(&table, &validation.labels, fold, seed)?;
                for (row, probability) in fold.test.iter().zip(asked) {
                    probabilities[*row as usize] = probability;
                }
                done();
            }
            validation.probabilities.push(probabilities);
        }
        Ok(validation)
    }

    /// How often `done` will be called.
    #[must_use]
    pub fn steps(&self, data: &Dataset) -> usize {
        let folds = match self.protocol {
            ForestProtocol::Random => self.folds,
            ForestProtocol::Project => data.projects.len(),
        };
        folds * self.repeats.max(1)
    }

    fn divide(&self, validation: &ForestValidation, seed: Seed) -> Vec<Fold> {
        match self.protocol {
            ForestProtocol::Random => folds::stratified(&validation.labels, self.folds, seed),
            ForestProtocol::Project => folds::leave_one_group_out(&validation.projects),
        }
    }

    /// The probabilities of the asked rows. Where all others have one label there is nothing to
    /// learn, and every row asked gets that label.
    fn ask(
        &self,
        table: &Table,
        labels: &[bool],
        fold: &Fold,
        seed: Seed,
    ) -> Result<Vec<f64>, LearnError> {
        let known: Vec<bool> = fold.train.iter().map(|row| labels[*row as usize]).collect();
        let positive = known.iter().filter(|label| **label).count();
        if positive == 0 || positive == known.len() {
            let only = if positive == 0 { 0.0 } else { 1.0 };
            return Ok(vec![only; fold.test.len()]);
        }
        let forest = self.pipeline.fit(&table.select(&fold.train), &known, seed)?;
        Ok(forest.predict(&table.select(&fold.test))?)
    }
}

impl ForestValidation {
    /// Each project, and what it came to.
    #[must_use]
    pub fn by_project(&self) -> Vec<ProjectScores> {
        (0u32..)
            .zip(&self.names)
            .map(|(number, name)| self.scores(name, &|row| self.projects[row] == number))
            .filter(|scores| scores.tests > 0)
            .collect()
    }

    /// All tests together.
    #[must_use]
    pub fn overall(&self) -> ProjectScores {
        self.scores("all", &|_| true)
    }

    /// The scores of some rows, each test with at least one half called positive (Equation 9).
    fn scores(&self, name: &str, counts: &dyn Fn(usize) -> bool) -> ProjectScores {
        let rows: Vec<usize> = (0..self.labels.len()).filter(|row| counts(*row)).collect();
        let confusions: Vec<Confusion> = self
            .probabilities
            .iter()
            .map(|probabilities| {
                let mut confusion = Confusion::default();
                rows.iter().for_each(|row| {
                    confusion.count(probabilities[*row] >= 0.5, self.labels[*row]);
                });
                confusion
            })
            .collect();
        let mean = |count: fn(&Confusion) -> usize| {
            let sum: usize = confusions.iter().map(count).sum();
            crate::real(sum) / crate::real(confusions.len().max(1))
        };
        let defined: Vec<f64> = confusions.iter().filter_map(Confusion::defined_mcc).collect();
        ProjectScores {
            project: name.to_owned(),
            tests: rows.len(),
            positive: rows.iter().filter(|row| self.labels[**row]).count(),
            tn: mean(|it| it.true_negatives),
            missed: mean(|it| it.false_negatives),
            fp: mean(|it| it.false_positives),
            tp: mean(|it| it.true_positives),
            mcc: (!defined.is_empty())
                .then(|| defined.iter().sum::<f64>() / crate::real(defined.len())),
        }
    }

    /// The mean over the repetitions of the area under the precision-recall curve.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        self.mean(|scored| average_precision(scored, 1.0))
    }

    /// The mean over the repetitions of the area under the ROC curve.
    #[must_use]
    pub fn roc_auc(&self) -> Option<f64> {
        self.mean(roc_auc)
    }

    /// The mean over the repetitions of the mean squared error of the probabilities.
    #[must_use]
    pub fn brier_score(&self) -> Option<f64> {
        self.mean(brier)
    }

    /// The repetitions, each with the probability of every test, in the order of the data set.
    #[must_use]
    pub fn probabilities(&self) -> &[Vec<f64>] {
        &self.probabilities
    }

    /// Each test's probability in the first repetition, and whether it is positive.
    #[must_use]
    pub fn scored(&self) -> Vec<(f64, bool)> {
        let first = self.probabilities.first().into_iter().flatten().copied();
        first.zip(self.labels.iter().copied()).collect()
    }

    fn mean(&self, score: impl Fn(&[(f64, bool)]) -> Option<f64>) -> Option<f64> {
        let scores: Vec<f64> = self
            .probabilities
            .iter()
            .filter_map(|probabilities| {
                let pairs = probabilities.iter().copied().zip(self.labels.iter().copied());
                score(&pairs.collect::<Vec<_>>())
            })
            .collect();
        (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / crate::real(scores.len()))
    }
}

/// The probabilities of tests for one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// The problem.
    pub problem: Problem,
    /// The tests that were asked about, ascending by their place in the suites.
    asked: Vec<AskedTest>,
    /// For each number of runs, the repetitions, each with a probability for each test.
    by_runs: BTreeMap<u32, Vec<Vec<f64>>>,
}

/// A test that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedTest {
    /// Where it stands in the suites.
    pub at: usize,
    /// Whether it is what the problem asks for.
    pub is_positive: bool,
}

/// Why there are no answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswersError {
    /// No test has a probability and a known answer.
    #[error("no test has both a probability for `{problem}` and outcomes that tell the truth")]
    None {
        /// The problem.
        problem: &'static str,
    },
    /// All tests have the same label.
    #[error("{positive} of {tests} tests are {what}, and a trade needs both kinds")]
    OneClass {
        /// How many tests.
        tests: usize,
        /// How many of them are positive.
        positive: usize,
        /// What a positive one is called.
        what: &'static str,
    },
}

impl Answers {
    /// The answers of validations, each with the number of runs that it averaged features over.
    ///
    /// # Errors
    /// When no test of the data set stands in the suites.
    pub fn of_validations(
        data: &Dataset,
        suites: &Suites,
        validations: &[(u32, ForestValidation)],
    ) -> Result<Self, AnswersError> {
        let numbers = data.project_numbers();
        let rows = data.ids().zip(data.labels()).zip(numbers).enumerate();
        let mut asked: Vec<(usize, AskedTest)> = rows
            .filter_map(|(row, ((test, is_positive), project))| {
                let at = suites.find(&data.projects[project as usize], test)?;
                Some((row, AskedTest { at, is_positive }))
            })
            .collect();
        asked.sort_by_key(|(_, it)| it.at);
        let picked = |all: &Vec<f64>| asked.iter().map(|(row, _)| all[*row]).collect();
        let by_runs = validations
            .iter()
            .map(|(runs, it)| (*runs, it.probabilities().iter().map(picked).collect()))
            .collect();
        let asked = asked.iter().map(|(_, it)| *it).collect();
        Self::new(data.problem, asked, by_runs)
    }

    /// Answers about tests that ascend by their place in the suites: for each number of runs, the
    /// repetitions, each with a probability for each test.
    ///
    /// # Errors
    /// When there is none, or all tests have the same label.
    pub fn new(
        problem: Problem,
        asked: Vec<AskedTest>,
        by_runs: BTreeMap<u32, Vec<Vec<f64>>>,
    ) -> Result<Self, AnswersError> {
        Self { problem, asked, by_runs }.checked()
    }

    fn checked(self) -> Result<Self, AnswersError> {
        let (tests, positive) = (self.tests(), self.positive());
        if tests == 0 || self.by_runs.is_empty() {
            return Err(AnswersError::None { problem: self.problem.word() });
        }
        if positive == 0 || positive == tests {
            let what = self.problem.positive();
            return Err(AnswersError::OneClass { tests, positive, what });
        }
        Ok(self)
    }

    /// How many tests were asked about.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.asked.len()
    }

    /// How many of them are positive.
    #[must_use]
    pub fn positive(&self) -> usize {
        self.asked.iter().filter(|it| it.is_positive).count()
    }

    /// The tests, ascending by their place in the suites.
    #[must_use]
    pub fn asked(&self) -> &[AskedTest] {
        &self.asked
    }

    /// The numbers of runs that features were averaged over, ascending.
    pub fn runs(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_runs.keys().copied()
    }

    /// The repetitions for a number of runs, each with a probability for each test.
    #[must_use]
    pub fn repeats_of(&self, runs: u32) -> &[Vec<f64>] {
        self.by_runs.get(&runs).map_or(&[], Vec::as_slice)
    }

    /// How many sets of answers there are for each number of runs, at the most.
    #[must_use]
    pub fn repeats(&self) -> usize {
        self.by_runs.values().map(Vec::len).max().unwrap_or_default()
    }
}
