//! Where to spend time: which test to run next.
//!
//! [`Planner`] is ours; its yardstick is CANNIER (Parry et al., 2023), which runs all tests of an
//! ambiguous region equally often.

mod kinship;
mod planner;
mod rates;

pub use kinship::Kinship;
pub use planner::{Candidate, Hidden, Pick, Planner};
pub use rates::FailureRates;
