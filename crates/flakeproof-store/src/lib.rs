//! The history of runs: what ran, how it ended, and what was found.
//!
//! [`SqliteHistory`] keeps it in a file that several processes may write at the same time and that
//! a killed process leaves intact. [`MemoryHistory`] stands in where nothing can be written. Both
//! are a [`flakeproof_core::History`] and pass the same tests (`tests/contract`).
//!
//! All SQL of flakeproof is in this crate, as text that can be pasted into the `sqlite3` shell.

mod causes;
mod digests;
mod export;
mod history_file;
mod hunts;
mod marks;
mod memory;
mod past;
mod prune;
mod runs;
mod sqlite;
mod stats;

pub use export::{Cell, Column, ColumnType, ExportError, StoredTable};
pub use memory::MemoryHistory;
pub use prune::{Compaction, Depth, Pruned, Pruning};
pub use sqlite::SqliteHistory;
pub use stats::{StoreStats, TableStats};
