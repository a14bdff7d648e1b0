//! CANNIER (Parry et al., 2023): from the features of a test to the probability that it is flaky
//! without cause in the order, a victim, or a polluter; and from those probabilities to what it
//! costs to find the flaky tests when only the doubtful ones are rerun.

mod answers;
mod class_cost;
mod dataset;
mod delegation;
mod front;
mod grid;
mod kept_thresholds;
mod measured_test;
mod model;
mod outcomes;
mod pipeline;
mod problem;
mod reruns;
mod suites;
mod table;
mod validation;

pub use answers::{Answers, AnswersError, AskedTest};
pub use class_cost::Recheck;
pub use dataset::{Dataset, DatasetError, Sample};
pub use delegation::Delegation;
pub use front::{Front, GridPoint, Pins, Setting};
pub use grid::{LAST_STEP, UNREACHED_STEP, step_of, threshold_of};
pub use measured_test::{MeasuredTest, read_features, write_features};
pub use model::{About, Explanation, ForestModel, TrainingParams, Worth};
pub use outcomes::{KnownTest, read_outcomes};
pub use pipeline::{LearnError, Pipeline};
pub use problem::{Label, Problem, TestOutcomes};
pub use reruns::{MaxReruns, exact};
pub use suites::{CostSource, CostedTest, Suites, TimedTest};
pub use table::TableColumns;
pub use validation::{ProjectScores, Protocol, Validation, ValidationParams};

/// Why a line of a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsvError {
    /// The table lacks a column, or has one that nobody knows.
    #[error("{0}")]
    Columns(String),
    /// A line cannot be read.
    #[error("line {line}: {cause}")]
    Line {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        cause: String,
    },
}
