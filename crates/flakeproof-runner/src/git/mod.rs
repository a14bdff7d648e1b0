//! The change, as git knows it.
//!
//! [`Repository`] answers two questions for INTERSECT: what is the code now
//! ([`Repository::tree_state`], written down with every run), and what differs between the code
//! now and the code at a [`Base`](flakeproof_core::Base) ([`Repository::change_since`]). A file
//! that might differ counts as changed; what cannot be known is an error, never an empty change.
//! A third, for features: how often was each line modified lately ([`Repository::churn`]); a fourth, for
//! renamed tests: which files are where since ([`Repository::moves_between`]).
//! git is only asked: nothing is fetched, no lock is taken, nothing is written in the project.
//! [`Repository::check_out`] puts another revision beside it. [`Tidying`] removes
//! what tests leave on disk, by what git says.

mod beginning;
mod branch;
mod change;
mod checkout;
mod churn;
mod differing;
mod line_log;
mod listing;
mod moves;
mod patch;
mod program;
mod repository;
#[cfg(test)]
mod sandbox;
mod state;
mod tidy;

pub use beginning::{Asker, NoBeginning};
pub use branch::BranchError;
pub use change::NoChange;
pub use checkout::{Checkout, NoCheckout, is_of_another_work_tree, is_own, is_own_code};
pub use churn::Churn;
pub use moves::FileMove;
pub use repository::{NoRepository, Repository};
pub use tidy::{CannotTidy, Tidying};
