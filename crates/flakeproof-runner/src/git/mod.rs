//! The change, as git knows it.
//!
//! [`Repository`] answers two questions for INTERSECT: what is the code now
//! ([`Repository::tree_state`], written down with every run), and what differs between the code
//! now and the code at a [`Base`](flakeproof_core::Base) ([`Repository::change_since`]). A file
//! that might differ counts as changed; what cannot be known is an error, never an empty change.
//! git is only asked: nothing is fetched, no lock is taken, nothing is written.

mod change;
mod differing;
mod digest;
mod listing;
mod patch;
mod path;
mod program;
mod raw_diff;
mod repository;
#[cfg(test)]
mod sandbox;
mod state;
mod tracked;

pub use change::NoChange;
pub use repository::{NoRepository, Repository};
