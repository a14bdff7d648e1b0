//! Where to spend time: which test to run next.
//!
//! [`Planner`] is ours; its baseline is CANNIER (Parry et al., 2023), which runs all tests of an
//! ambiguous region equally often.

mod baseline;
mod group_prior;
mod planner;
mod planner_benchmark;
mod rates;
mod remembered_rates;
mod simulation;

pub use baseline::{Baseline, CannierPoint, front};
pub use group_prior::GroupPrior;
pub use planner::{Candidate, Pick, Planner};
pub use planner_benchmark::{BenchmarkCase, Kin, PlannerBenchmark};
pub use rates::FailureRates;
pub use simulation::{Subject, simulate};
