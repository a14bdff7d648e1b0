//! What is said about tests without running them.

use serde::{Deserialize, Serialize};

use crate::{Notice, TestId};

/// What a model says about tests, and what that is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// The version of flakeproof.
    pub version: String,
    /// The model that spoke.
    pub model: ModelFacts,
    /// Every test that was asked about, by file and line.
    pub tests: Vec<Prediction>,
    /// The rules that found something, by id.
    pub rules: Vec<RuleFacts>,
    /// What the reader should know besides.
    pub notices: Vec<Notice>,
}

impl Predictions {
    /// The tests that are called flaky: those that rules found first, then the most probable first.
    #[must_use]
    pub fn suspects(&self) -> Vec<&Prediction> {
        let mut suspects: Vec<&Prediction> = self.tests.iter().filter(|test| test.flaky).collect();
        suspects.sort_by(|a, b| {
            let by_rule = a.rules.is_empty().cmp(&b.rules.is_empty());
            by_rule.then(b.probability.total_cmp(&a.probability))
        });
        suspects
    }

    /// What is known about a rule that found something.
    #[must_use]
    pub fn rule(&self, id: &str) -> Option<&RuleFacts> {
        self.rules.iter().find(|rule| rule.id == id)
    }
}

/// A rule about what makes tests flaky.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFacts {
    /// Its id: `FP020`.
    pub id: String,
    /// What people call it: `sleep-before-assert`.
    pub name: String,
    /// What it looks for, in a sentence.
    pub summary: String,
    /// What to do about it, in the imperative.
    pub advice: String,
}

/// What a rule found in a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleFinding {
    /// The rule: `FP020`.
    pub id: String,
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

/// What a model says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelFacts {
    /// What people call it: the file it was read from, or the one inside the program.
    pub name: String,
    /// The kind of model: `jury` or `flast`.
    pub kind: String,
    /// How it finds neighbours: `rarity`, `paper` or `white-space`.
    pub recipe: String,
    /// How many tests it knows.
    pub tests: usize,
    /// How many of them are flaky.
    pub flaky: usize,
    /// How many projects they come from.
    pub projects: usize,
    /// The digest of its training data.
    pub data: String,
    /// What was held out to measure it: `test`, `class` or `project`.
    pub held_out: String,
    /// The share of held-out tests it called flaky that are, at the threshold in use.
    pub precision: Option<f64>,
    /// The share of held-out flaky tests it called flaky, at the threshold in use.
    pub recall: Option<f64>,
    /// The threshold in use: `balanced`, `careful`, or a number.
    pub threshold: String,
}

/// What a model says about one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// Its id, as its runner writes it.
    pub id: TestId,
    /// The file it stands in, relative to the project.
    pub file: String,
    /// Its first line, counted from 1.
    pub line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The language it is written in.
    pub language: String,
    /// The probability that it is flaky; `null` where no model was asked.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    #[serde(deserialize_with = "number_or_nothing")]
    pub probability: f64,
    /// Whether that is enough to call it flaky, or a rule found something, or its flakiness is known.
    pub flaky: bool,
    /// What rules found in it, by line.
    #[serde(default)]
    pub rules: Vec<RuleFinding>,
    /// What is on record of it by hunts, experiments and runs: how it is flaky (`NOD`, `victim`, `brittle`, `ID`,
    /// `flaky`), or what its failures came to (`broken`, `unexplained`, `mended`, `unrelated`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Why it would be flaky, if it is.
    pub category: Option<String>,
    /// The known tests most similar to it, the nearest first.
    pub neighbours: Vec<SimilarTest>,
    /// What around it speaks for flakiness, the strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// How data flows into its assertions, the paths that count most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<DataPath>,
}

impl Prediction {
    /// Whether a model was asked about it.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        !self.probability.is_nan()
    }
}

/// A number, or not a number where nothing is written.
fn number_or_nothing<'d, D: serde::Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Something about a test, or about the code around it, that speaks for flakiness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// What it is, such as `sockets in its file`.
    pub what: String,
    /// What it adds to the logarithm of the odds.
    pub weight: f64,
}

/// How one value comes to be asserted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataPath {
    /// How much attention the model pays to it, of all paths of the test, from 0 to 1.
    pub attention: f64,
    /// The places the value comes by, from where it begins to the assertion.
    pub steps: Vec<DataStep>,
}

/// A place that a value comes by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataStep {
    /// The file, relative to the project.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// That line, without the blanks around it.
    pub code: String,
    /// The value there, as it stands in the text.
    pub value: String,
    /// What is done with it: the call or the operator that leads to the next place.
    pub operation: Option<String>,
    /// Where that call is declared in the code under test, as `file:line`.
    pub declared: Option<String>,
}

/// A known test that is similar to the one asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimilarTest {
    /// Its id, as its data names it.
    pub id: String,
    /// The project it belongs to.
    pub project: String,
    /// How similar it is, from 0 to 1.
    pub similarity: f64,
    /// Whether it is known to be flaky.
    pub flaky: bool,
    /// Why it is flaky, where that is known.
    pub category: Option<String>,
    /// The words both have, the most telling first.
    pub shared: Vec<String>,
}
