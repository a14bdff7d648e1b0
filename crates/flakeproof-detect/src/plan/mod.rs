//! Where to spend time: which test to run next.
//!
//! [`Planner`] is ours; its yardstick is CANNIER (Parry et al., 2023), which runs all tests of an
//! ambiguous region equally often.

mod contest;
mod kinship;
mod planner;
mod rates;
mod remembered_rates;
mod simulation;
mod yardstick;

pub use contest::{Contest, Entrant, Kin};
pub use kinship::Kinship;
pub use planner::{Candidate, Pick, Planner};
pub use rates::FailureRates;
pub use simulation::{Subject, simulate};
pub use yardstick::{CannierPoint, Yardstick, front};
