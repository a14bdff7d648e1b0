//! The history of runs: what ran, how it ended, and what was found.
//!
//! [`SqliteHistory`] keeps it in a file that several processes may write at the same time and that
//! a killed process leaves intact. [`MemoryHistory`] stands in where nothing can be written. Both
//! are a [`flakeproof_core::History`] and pass the same tests (`tests/contract.rs`).
//!
//! All SQL of flakeproof is in this crate, as text that can be pasted into the `sqlite3` shell.

mod features;
mod hunts;
mod memory;
mod memory_hunts;
mod migrations;
mod opening;
mod place;
mod sqlite;

pub use memory::MemoryHistory;
pub use sqlite::SqliteHistory;
