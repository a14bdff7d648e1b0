//! Decides what a failing test is.
//!
//! [`triage`] is the technique of the rerun thesis (Eloussi 2015, Figures 3.1 and 3.2), written
//! against [`Adapter`](flakeproof_runner::Adapter) and
//! [`Environment`](flakeproof_runner::Environment) only. [`intersect`] is its last step: whether
//! what a test touches and what changed meet, and [`change`] says what did. [`hunt`] looks for flaky tests before they fail a build,
//! [`plan`] says where to look next, [`verify`] proves that a flaky test is mended, and [`cause`] what
//! makes it fail. [`provoke`] looks for tests that pass here and would fail elsewhere.

mod build_files;
pub mod cause;
pub mod change;
pub mod hunt;
pub mod intersect;
pub mod plan;
mod pollution;
pub mod provoke;
mod side_by_side;
pub mod triage;
pub mod verify;
