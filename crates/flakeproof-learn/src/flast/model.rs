//! A trained FLAST: known tests, what was learned about them, and what it is worth.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use flakeproof_core::Seed;
use serde::{Deserialize, Serialize};

use super::corpus::Corpus;
use super::neighbourhood::{HoldOut, Neighbourhood, Space};
use super::recipe::{Aim, Recipe};
use crate::evaluate::{HeldOut, Isotonic};
use crate::labelled::{self, LabelledTest};
use crate::model_file::{Arrays, ModelFile, ModelFileError};

/// The kind of these model files.
pub const KIND: &str = "flast";

/// What training needs besides the tests.
#[derive(Debug, Clone, PartialEq)]
pub struct FlastParams {
    /// The variant of FLAST.
    pub recipe: Recipe,
    /// The seed of all chance.
    pub seed: Seed,
    /// What is held out to choose thresholds; by itself the largest unit there is enough of.
    pub hold_out: Option<HoldOut>,
    /// The precision of the careful threshold.
    pub careful_precision: f64,
    /// What people call the model.
    pub name: String,
}

/// Why nothing can be learned from some tests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrainingError {
    /// All tests have the same label.
    #[error("all {tests} tests are {label}, and a model needs both kinds")]
    OneClass {
        /// How many there are.
        tests: usize,
        /// What all of them are.
        label: &'static str,
    },
    /// There are fewer tests than neighbours to vote.
    #[error("{tests} labelled tests are too few for {neighbours} neighbours to vote")]
    TooFew {
        /// How many there are.
        tests: usize,
        /// How many neighbours vote.
        neighbours: usize,
    },
}

/// What a model says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AboutFlast {
    /// What people call it.
    pub name: String,
    /// The variant of FLAST.
    pub recipe: Recipe,
    /// The seed of all chance.
    pub seed: Seed,
    /// How many tests it knows.
    pub tests: usize,
    /// How many of them are flaky.
    pub flaky: usize,
    /// The projects they come from.
    pub projects: Vec<String>,
    /// The digest of the training data.
    pub data: String,
    /// What was held out to measure it and to choose thresholds.
    pub hold_out: HoldOut,
    /// The area under its precision-recall curve on held-out tests.
    pub average_precision: Option<f64>,
    /// From which flaky share on a test is called flaky.
    pub thresholds: ThresholdLevels,
    /// From flaky shares to probabilities; without it the share is the probability.
    pub calibration: Option<Isotonic>,
}

/// From which flaky share on a test is called flaky; `None` where no threshold achieves the aim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThresholdLevels {
    /// The best balance of precision and recall.
    pub balanced: Option<Level>,
    /// Few false alarms.
    pub careful: Option<Level>,
    /// The precision that the careful threshold was chosen for.
    pub careful_precision: f64,
}

/// A threshold, and what it reached on held-out tests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The lowest flaky share that is called flaky.
    pub from: f64,
    /// The share of tests called flaky that are.
    pub precision: Option<f64>,
    /// The share of flaky tests that were called so.
    pub recall: Option<f64>,
    /// Matthews' correlation coefficient.
    pub mcc: f64,
}

/// A trained FLAST.
#[derive(Debug)]
pub struct Flast<'a> {
    /// What it says about itself.
    pub about: AboutFlast,
    corpus: Corpus<'a>,
    /// Made when it is first asked for.
    space: OnceLock<Arc<Space>>,
}

impl FlastParams {
    /// Learn from labelled tests.
    ///
    /// # Errors
    /// When the tests are too few or all alike.
    pub fn fit(&self, tests: &[LabelledTest]) -> Result<Flast<'static>, TrainingError> {
        let flaky = tests.iter().filter(|test| test.flaky).count();
        if tests.len() <= self.recipe.neighbours {
            let neighbours = self.recipe.neighbours;
            return Err(TrainingError::TooFew { tests: tests.len(), neighbours });
        }
        if flaky == 0 || flaky == tests.len() {
            let label = if flaky == 0 { "not flaky" } else { "flaky" };
            return Err(TrainingError::OneClass { tests: tests.len(), label });
        }
        let corpus = Corpus::of_tests(tests, self.recipe.cut);
        let hold_out = self.hold_out.unwrap_or_else(|| largest_hold_out(&corpus));
        let (space, data) = rayon::join(
            || Arc::new(Space::of_all(&corpus, &self.recipe, self.seed)),
            || labelled::digest(tests),
        );
        let neighbourhood = Neighbourhood::in_space(&corpus, &self.recipe, Arc::clone(&space));
        let held_out = neighbourhood.held_out_shares(hold_out, self.seed);
        let about = AboutFlast {
            name: self.name.clone(),
            recipe: self.recipe.clone(),
            seed: self.seed,
            tests: tests.len(),
            flaky,
            projects: corpus.project_names(),
            data,
            hold_out,
            average_precision: held_out.average_precision(),
            thresholds: self.thresholds(&held_out),
            calibration: match self.recipe.aim {
                Aim::Fixed(_) => None,
                Aim::Balance | Aim::Precision(_) => Isotonic::fit(&held_out),
            },
        };
        Ok(Flast { about, corpus, space: space.into() })
    }

    fn thresholds(&self, held_out: &HeldOut) -> ThresholdLevels {
        let careful = match self.recipe.aim {
            Aim::Fixed(_) => Aim::Fixed(CAREFUL_SIGMA),
            Aim::Balance | Aim::Precision(_) => Aim::Precision(self.careful_precision),
        };
        let level = |aim: Aim| aim.threshold(held_out).map(|from| Level::at(from, held_out));
        ThresholdLevels {
            balanced: level(self.recipe.aim),
            careful: level(careful),
            careful_precision: self.careful_precision,
        }
    }
}

/// The paper's threshold for users who want few false alarms.
const CAREFUL_SIGMA: f64 = 0.95;

/// The fewest projects and classes that make leaving one out a fair measure.
const ENOUGH_PROJECTS: usize = 5;
const ENOUGH_CLASSES: usize = 10;

fn largest_hold_out(corpus: &Corpus<'_>) -> HoldOut {
    let distinct = |numbers: &[u32]| numbers.iter().collect::<HashSet<_>>().len();
    let classes = distinct(corpus.class_numbers());
    if distinct(corpus.project_numbers()) >= ENOUGH_PROJECTS {
        HoldOut::Project
    } else if classes >= ENOUGH_CLASSES && classes < corpus.len() {
        HoldOut::Class
    } else {
        HoldOut::Test
    }
}

impl Level {
    pub(crate) fn at(from: f64, held_out: &HeldOut) -> Self {
        let confusion = held_out.confusion(from);
        Self {
            from,
            precision: confusion.precision(),
            recall: confusion.recall(),
            mcc: confusion.mcc(),
        }
    }
}

impl AboutFlast {
    /// The probability that a test with this flaky share is flaky.
    #[must_use]
    pub fn probability(&self, flaky_share: f64) -> f64 {
        self.calibration.as_ref().map_or(flaky_share, |steps| steps.probability(flaky_share))
    }
}

impl<'a> Flast<'a> {
    /// The known tests in their space, ready to be asked.
    #[must_use]
    pub fn neighbourhood(&self) -> Neighbourhood<'_, 'a> {
        let AboutFlast { recipe, seed, .. } = &self.about;
        let space = self.space.get_or_init(|| Arc::new(Space::of_all(&self.corpus, recipe, *seed)));
        Neighbourhood::in_space(&self.corpus, recipe, Arc::clone(space))
    }

    /// The known tests.
    #[must_use]
    pub fn corpus(&self) -> &Corpus<'a> {
        &self.corpus
    }

    /// The bytes of its model file.
    ///
    /// # Errors
    /// When it cannot be written down, which would be a fault of this program.
    pub fn to_file(&self) -> Result<Vec<u8>, ModelFileError> {
        let about = serde_json::to_value(&self.about)
            .map_err(|error| ModelFileError::Inconsistent(error.to_string()))?;
        let mut arrays = Arrays::default();
        self.corpus.save(&mut arrays);
        arrays.into_file(KIND, about)
    }

    /// The model in the bytes of a file, used where they lie.
    ///
    /// # Errors
    /// When the file is not a whole, unchanged model of this kind and version.
    pub fn of_file(bytes: &'a [u8]) -> Result<Self, ModelFileError> {
        let file = ModelFile::open(bytes, KIND)?;
        let about: AboutFlast = serde_json::from_value(file.header.model.clone())
            .map_err(|error| ModelFileError::Inconsistent(error.to_string()))?;
        let corpus = Corpus::load(&file)?;
        Ok(Self { about, corpus, space: OnceLock::new() })
    }
}
