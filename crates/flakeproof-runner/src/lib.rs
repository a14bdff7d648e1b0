//! Runs tests: the only room that starts processes.
//!
//! An [`Adapter`] finds the tests of a project and opens an [`Environment`], which runs them one
//! at a time. Callers use these two and never ask which framework is behind them. [`git`] tells
//! what changed, and [`process`] makes sure that nothing outlives the program.

mod adapter;
pub mod adapters;
mod agent;
mod cancel;
pub mod ci;
pub mod coverage;
mod folders;
pub mod git;
pub mod levers;
mod lock;
mod machine;
mod opens;
mod parallel;
pub mod process;
pub mod reports;
mod shell;
mod system;
mod watched;

pub use adapter::{
    Adapter, Blame, Capabilities, Environment, Error, Granularity, LONGEST_COMMAND, Likeness,
    Measuring, OpenOrders, Orders, Probe, Result, Then, Workers,
};
pub use agent::protocol;
pub use cancel::{Cancel, Canceller};
pub use machine::machine;
pub use parallel::{NoNumber, ParallelJob};
pub use system::time_of_last_change;
pub use watched::{Waiting, Watched};
