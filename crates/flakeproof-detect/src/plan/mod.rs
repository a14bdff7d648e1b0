//! Where to spend time: which test to run next.
//!
//! [`Planner`] is ours; CANNIER (Parry et al., 2023), beside which it is measured, runs all tests of
//! an ambiguous region equally often.

mod group_prior;
mod planner;
mod rates;

pub use group_prior::GroupPrior;
pub use planner::{Candidate, Pick, Planner};
pub use rates::FailureRates;
