//! A trained forest: what it learned from, what it is worth, and why it says what it says.
//!
//! It is kept with thresholds that say where to stop believing it. For NOD flaky tests they are the
//! knee of CANNIER's front on tests that were held out. They are thresholds on the forest's own answers,
//! as in the paper, not on calibrated probabilities.

use flakeproof_core::{Feature, Features, Seed, Thresholds};
use serde::{Deserialize, Serialize};

use super::dataset::{Dataset, Sample, single};
use super::front::{Delegation, Front, LAST_STEP, Setting, step_of, threshold_of};
use super::pipeline::{
    Answers, ForestProtocol, ForestValidation, ForestValidationParams, LearnError, Pipeline,
};
use super::prices::{MaxReruns, Recheck, Suites};
use super::problem::Problem;
use crate::balance::Balance;
use crate::evaluate::{HeldOut, Isotonic};
use crate::forest::{Forest, Table};
use crate::model_file::ModelFileError;

/// The fewest projects that make leaving one out a fair measure.
const ENOUGH_PROJECTS: usize = 5;

/// What training needs besides the data.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestModelParams {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// How many random folds it is measured on.
    pub folds: usize,
    /// The seed of all chance.
    pub seed: Seed,
    /// What people call the model.
    pub name: String,
}

/// What a model says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AboutForest {
    /// What people call it.
    pub name: String,
    /// The question that it answers.
    pub problem: Problem,
    /// How it learned.
    pub pipeline: Pipeline,
    /// The seed of all chance.
    pub seed: Seed,
    /// The features that it looks at, in this order.
    pub features: Vec<String>,
    /// How many tests it learned from.
    pub tests: usize,
    /// How many of them are positive.
    pub positive: usize,
    /// The projects they come from.
    pub projects: Vec<String>,
    /// The digest of the training data.
    pub data: String,
    /// What it is worth on tests that it did not learn from, the hardest measure first.
    pub worth: Vec<Worth>,
    /// From its answers to probabilities.
    pub calibration: Option<Isotonic>,
    /// Between which of its answers a test is rerun; a file without them is as good as one with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
}

/// What a model is worth on tests that it did not learn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// Which tests were asked.
    pub protocol: ForestProtocol,
    /// In how many folds.
    pub folds: usize,
    /// Matthews' correlation coefficient at one half; `None` where it is not defined.
    pub mcc: Option<f64>,
    /// The area under the precision-recall curve.
    pub average_precision: Option<f64>,
    /// The area under the ROC curve.
    pub roc_auc: Option<f64>,
    /// The mean squared error of its answers.
    pub brier_score: Option<f64>,
}

/// A trained forest.
#[derive(Debug, Clone)]
pub struct ForestModel {
    /// What it says about itself.
    pub about: AboutForest,
    /// The features behind its columns.
    features: Vec<Feature>,
    forest: Forest,
}

/// Why a model says what it says about a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The probability that the test is positive.
    pub probability: f64,
    /// What the forest itself answers, before calibration: the base and all contributions.
    pub answer: f64,
    /// Its mean answer over what it learned from.
    pub base: f64,
    /// Each feature, its value if known, and what it adds to the answer (its SHAP value), the
    /// strongest first.
    pub contributions: Vec<(Feature, Option<f64>, f64)>,
}

impl ForestModelParams {
    /// Learn from all tests, and measure on held-out ones what that is worth. The suites say what
    /// a rerun costs, which the thresholds are chosen by.
    ///
    /// # Errors
    /// When the data cannot be learned from.
    pub fn fit(
        &self,
        data: &Dataset,
        suites: &Suites,
        done: &mut dyn FnMut(),
    ) -> Result<ForestModel, LearnError> {
        let labels = data.labels();
        let positive = labels.iter().filter(|label| **label).count();
        let mut worth = Vec::new();
        let mut calibration = None;
        let mut thresholds = None;
        for params in self.measures(data, positive) {
            let validation = params.run(data, done)?;
            let held_out = HeldOut::new(validation.scored(), labels.len() - positive);
            // The hardest measure is what a probability must keep its word on.
            calibration = calibration.or_else(|| Isotonic::fit(&held_out));
            thresholds = thresholds.or_else(|| choose_thresholds(data, suites, &validation));
            worth.push(Worth::from_validation(params.protocol, &validation));
        }
        let forest = self.pipeline.fit(&data.table(Sample::All)?, &labels, self.seed)?;
        let about = AboutForest {
            name: self.name.clone(),
            problem: data.problem,
            pipeline: self.pipeline,
            seed: self.seed,
            features: data.features.iter().map(|feature| feature.name().to_owned()).collect(),
            tests: data.len(),
            positive,
            projects: data.projects.clone(),
            data: data.digest(),
            worth,
            calibration,
            thresholds,
        };
        Ok(ForestModel { about, features: data.features.clone(), forest })
    }

    /// How often `done` will be called.
    #[must_use]
    pub fn steps(&self, data: &Dataset) -> usize {
        let positive = data.labels().iter().filter(|label| **label).count();
        self.measures(data, positive).iter().map(|params| params.steps(data)).sum()
    }

    /// The hardest measure there is enough data for comes first.
    fn measures(&self, data: &Dataset, positive: usize) -> Vec<ForestValidationParams> {
        let fewer = positive.min(data.len() - positive);
        let random = ForestValidationParams {
            pipeline: self.pipeline,
            protocol: ForestProtocol::Random,
            // A fold without both kinds measures nothing, and SMOTE needs two of a kind to learn.
            folds: self.folds.min(fewer),
            repeats: 1,
            runs: None,
            seed: self.seed.split("worth"),
        };
        let project = ForestValidationParams { protocol: ForestProtocol::Project, ..random };
        let mut measures = Vec::new();
        if data.projects.len() >= ENOUGH_PROJECTS && self.can_balance_without_any_project(data) {
            measures.push(project);
        }
        if fewer > 2 {
            measures.push(random);
        }
        measures
    }

    /// Whether the classes can be balanced whichever project is held out: a project that holds all
    /// rare tests but one leaves that one without a neighbour.
    fn can_balance_without_any_project(&self, data: &Dataset) -> bool {
        let tests: Vec<(u32, bool)> =
            data.project_numbers().into_iter().zip(data.labels()).collect();
        let left = |held_out: u32, kind: bool| {
            tests.iter().filter(|(project, label)| *project != held_out && *label == kind).count()
        };
        self.pipeline.balance == Balance::None
            || (0u32..).zip(&data.projects).all(|(it, _)| left(it, true).min(left(it, false)) != 1)
    }
}

impl Worth {
    fn from_validation(protocol: ForestProtocol, validation: &ForestValidation) -> Self {
        Self {
            protocol,
            folds: validation.folds,
            mcc: validation.overall().mcc,
            average_precision: validation.average_precision(),
            roc_auc: validation.roc_auc(),
            brier_score: validation.brier_score(),
        }
    }
}

impl ForestModel {
    /// The features that it looks at.
    #[must_use]
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Between which of its answers a test must be rerun, or from which on it is a candidate.
    /// `None` where it learned from too few tests to hold some out. They are about
    /// [`Self::answer`].
    #[must_use]
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.about.thresholds
    }

    /// What it answers about one test, before calibration.
    ///
    /// # Errors
    /// When a value is too large for single precision.
    pub fn answer(&self, features: &Features) -> Result<f64, LearnError> {
        Ok(self.forest.predict(&self.row(features)?)?.first().copied().unwrap_or_default())
    }

    fn row(&self, features: &Features) -> Result<Table, LearnError> {
        let row: Vec<f32> = self.features.iter().map(|it| single(features.get(*it))).collect();
        Ok(Table::from_rows(&[row])?)
    }

    /// Say and explain what it thinks of one test.
    ///
    /// # Errors
    /// When a value is too large for single precision.
    pub fn explain(&self, features: &Features) -> Result<Explanation, LearnError> {
        let table = self.row(features)?;
        let answer = self.answer(features)?;
        let shap = self.forest.shap(&table)?;
        let mut contributions: Vec<(Feature, Option<f64>, f64)> = self
            .features
            .iter()
            .zip(shap.row(0))
            .map(|(feature, part)| (*feature, features.get(*feature), *part))
            .collect();
        contributions.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
        let probability =
            self.about.calibration.as_ref().map_or(answer, |steps| steps.probability(answer));
        Ok(Explanation { probability, answer, base: shap.base, contributions })
    }

    /// The bytes of its model file.
    ///
    /// # Errors
    /// When it cannot be written down, which would be a fault of this program.
    pub fn to_file(&self) -> Result<Vec<u8>, ModelFileError> {
        self.forest.to_file(&self.about)
    }

    /// The model in the bytes of a file.
    ///
    /// # Errors
    /// When the file is not a whole, unchanged model of this kind and version, or knows features
    /// that this program does not.
    pub fn of_file(bytes: &[u8]) -> Result<Self, ModelFileError> {
        let (forest, about): (Forest, AboutForest) = Forest::of_file(bytes)?;
        let known = |name: &String| {
            let feature = Feature::ALL.into_iter().find(|it| it.name() == name);
            feature.ok_or_else(|| ModelFileError::Inconsistent(format!("no feature is `{name}`")))
        };
        let features = about.features.iter().map(known).collect::<Result<Vec<_>, _>>()?;
        if forest.features() != features.len() {
            let what = format!("it names {} features for {}", features.len(), forest.features());
            return Err(ModelFileError::Inconsistent(what));
        }
        Ok(Self { about, features, forest })
    }
}

/// The share of victims and polluters that must stay candidates. Which pairs they make is not known
/// when one of two models learns, so there is no front to take a knee from.
const KEPT: f64 = 0.95;

/// The thresholds for a model that was measured so; `None` where nothing tells them.
fn choose_thresholds(
    data: &Dataset,
    suites: &Suites,
    validation: &ForestValidation,
) -> Option<Thresholds> {
    match data.problem {
        Problem::Nod | Problem::NodVsVictim => balanced(data, suites, validation),
        Problem::Victim | Problem::Polluter => keeping_most(&validation.scored()),
    }
}

/// The knee for RERUN, respectively for iDFlakies' classification.
fn balanced(data: &Dataset, suites: &Suites, validation: &ForestValidation) -> Option<Thresholds> {
    let runs = u32::try_from(data.most_runs()).unwrap_or(u32::MAX);
    let answers = Answers::of_validations(data, suites, &[(runs, validation.clone())]).ok()?;
    let delegation = match data.problem {
        Problem::NodVsVictim => {
            Delegation::to_classification(suites, &answers, Recheck::RECOMMENDED)
        }
        Problem::Nod | Problem::Victim | Problem::Polluter => {
            Delegation::to_rerun(suites, &answers, MaxReruns::new(suites.baseline_runs())?)
        }
    };
    let front = Front::new(delegation.original(), &delegation.grid());
    match front.pins.balanced.setting {
        Setting::Between(thresholds) => Some(thresholds),
        Setting::Candidates { .. } => None,
    }
}

/// The highest threshold that enough positive tests reach.
fn keeping_most(scored: &[(f64, bool)]) -> Option<Thresholds> {
    let positive: Vec<usize> =
        scored.iter().filter(|(_, it)| *it).map(|(answer, _)| step_of(*answer)).collect();
    let needed = KEPT * crate::real(positive.len());
    let keeps = |step: &usize| {
        crate::real(positive.iter().filter(|reached| *reached >= step).count()) >= needed
    };
    let step = (0..=LAST_STEP).rev().find(keeps)?;
    Thresholds::candidates_from(threshold_of(step)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nineteen_of_twenty_positive_tests_stay_candidates() {
        let mut scored: Vec<(f64, bool)> = (0..19u32).map(|_| (0.4, true)).collect();
        scored.extend([(0.1, true), (0.9, false), (0.39, false)]);
        assert_eq!(keeping_most(&scored), Thresholds::new(0.4, 1.01).ok());
        scored.push((0.2, true));
        assert_eq!(keeping_most(&scored), Thresholds::new(0.2, 1.01).ok());
    }
}
