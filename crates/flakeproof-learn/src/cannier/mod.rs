//! CANNIER (Parry et al., 2023): from the features of a test to the probability that it is flaky
//! without cause in the order, a victim, or a polluter; and from those probabilities to what it
//! costs to find the flaky tests when only the doubtful ones are rerun.

mod dataset;
mod front;
mod model;
mod pipeline;
mod prices;
mod problem;
mod tables;

pub use dataset::{Dataset, DatasetError, Sample};
pub use front::{
    Delegation, Front, GridPoint, LAST_STEP, Pins, Setting, UNREACHED_STEP, step_of, threshold_of,
};
pub use model::{AboutForest, Explanation, ForestModel, ForestModelParams, Worth};
pub use pipeline::{
    Answers, AnswersError, AskedTest, ForestProtocol, ForestValidation, ForestValidationParams,
    LearnError, Pipeline, ProjectScores,
};
pub use prices::{CostSource, CostedTest, MaxReruns, Recheck, Suites, TimedTest, exact};
pub use problem::{Label, Problem, TestOutcomes};
pub use tables::{
    CsvError, KnownTest, MeasuredTest, TableColumns, read_features, read_outcomes, write_features,
};
