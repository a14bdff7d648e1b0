//! The member that reads the text of a test and nothing else.
//!
//! Where only a method is known, what lies around it is not absent but unknown, and members that look
//! there would take the one for the other. This one learns from the texts of all labelled tests, those without a
//! project among them, and has thresholds and probabilities of its own, so it can speak alone.

use serde::{Deserialize, Serialize};

use super::base_model::importance;
use super::model::EnsembleParams;
use super::readings::{Reading, Readings};
use crate::boost::Boosted;
use crate::evaluate::{HeldOut, Isotonic};
use crate::flast::ThresholdLevels;
use crate::model_file::{Aligned, Arrays, ModelFile, ModelFileError};

/// The kind of the file inside the file.
const KIND: &str = "text";

/// Trees over the words and cues of texts.
#[derive(Debug, Clone)]
pub(super) struct TextModel {
    trees: Boosted,
}

/// What it is worth alone, on projects it has not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AboutText {
    /// How many tests it learned from.
    pub tests: usize,
    /// How many of them are flaky.
    pub flaky: usize,
    /// The area under its precision-recall curve on held-out tests.
    pub average_precision: Option<f64>,
    /// From which score on a test is called flaky.
    pub thresholds: ThresholdLevels,
    /// From scores to probabilities.
    pub calibration: Option<Isotonic>,
}

impl TextModel {
    /// Learn from the texts of some tests; nothing where there is nothing to tell apart.
    pub(super) fn fit(params: &EnsembleParams, readings: &Readings, rows: &[u32]) -> Option<Self> {
        let flaky: Vec<bool> = rows.iter().map(|row| readings.is_flaky(*row)).collect();
        let weights = importance(readings, rows);
        let trees = params.boost.fit(&readings.texts, rows, &flaky, &weights).ok()?;
        Some(Self { trees })
    }

    /// The logarithmic odds of some of the tests.
    pub(super) fn ask_rows(&self, readings: &Readings, rows: &[u32]) -> Vec<f64> {
        let rows = rows.iter().map(|row| readings.texts.row(*row as usize));
        self.trees.margins(&rows.collect::<Vec<_>>())
    }

    /// The logarithmic odds of tests.
    pub(super) fn ask(&self, readings: &[&Reading]) -> Vec<f64> {
        self.trees.margins(&texts(readings))
    }

    /// What each number adds to them.
    pub(super) fn contributions(&self, readings: &[&Reading]) -> Vec<Vec<f64>> {
        self.trees.contributions(&texts(readings))
    }

    /// The bytes of a file.
    pub(super) fn to_file(&self) -> Result<Vec<u8>, ModelFileError> {
        let mut arrays = Arrays::default();
        self.trees.save(&mut arrays);
        arrays.into_file(KIND, serde_json::Value::Null)
    }

    /// What is in the bytes of a file.
    pub(super) fn of_file(bytes: &[u8]) -> Result<Self, ModelFileError> {
        let bytes = Aligned::copy_of(bytes);
        Ok(Self { trees: Boosted::load(&ModelFile::open(bytes.bytes(), KIND)?)? })
    }
}

fn texts<'r>(readings: &[&'r Reading]) -> Vec<&'r [f32]> {
    readings.iter().map(|reading| reading.text.as_slice()).collect()
}

/// The score of logarithmic odds.
pub(super) fn score(margin: f64) -> f64 {
    1.0 / (1.0 + (-margin).exp())
}

impl AboutText {
    /// What it is worth by what it said of tests that it had not seen: their scores and the truth.
    pub(super) fn of_held_out(params: &EnsembleParams, said: Vec<(f64, bool)>) -> Self {
        let (tests, flaky) = (said.len(), said.iter().filter(|(_, flaky)| *flaky).count());
        let scored = said.into_iter().map(|(margin, flaky)| (score(margin), flaky)).collect();
        let held_out = HeldOut::new(scored, tests - flaky);
        Self {
            tests,
            flaky,
            average_precision: held_out.average_precision(),
            thresholds: params.thresholds(&held_out),
            calibration: Isotonic::fit(&held_out),
        }
    }
}
