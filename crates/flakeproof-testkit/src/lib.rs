//! What the tests of this workspace share. Not published.
//!
//! [`python`] finds or makes interpreters with the packages a test needs, [`node`] fetches packages
//! of Node, [`postgres`] starts a database server and [`s3`] an object store; [`surroundings`] makes a machine in CI look like any other; [`Project`] is a throw-away
//! project on which the real program is run; [`conformance`] is the suite that every adapter must
//! pass.

#![expect(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "test support fails a test by panicking"
)]

pub mod campaign;
pub mod conformance;
pub mod node;
pub mod postgres;
mod project;
pub mod python;
pub mod s3;
pub mod scripted;
pub mod skipped;
pub mod surroundings;

pub use project::{Project, Ran, assert_says, finish, started_by};
