//! What a CI system says about the run that it is in the middle of: revision, branch, job, attempt.
//!
//! Every system says it in environment variables, each with names of its own. They are a table
//! here, and reading it is a function of the variables alone.

mod facts;
mod systems;

pub use facts::CiFacts;
