//! What the tests of this workspace share. Not published.
//!
//! [`python`] finds or makes interpreters with the packages a test needs; [`Project`] is a
//! throw-away project on which the real program is run.

#![expect(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "test support fails a test by panicking"
)]

mod project;
pub mod python;
pub mod scripted;
pub mod skipped;

pub use project::{Project, Ran};
