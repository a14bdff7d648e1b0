//! The history of runs: what ran, how it ended, and what was found.
//!
//! [`SqliteHistory`] keeps it in a file that several processes may write at the same time and that
//! a killed process leaves intact, [`PostgresHistory`] in a database that a team shares, and
//! [`MemoryHistory`] stands in where nothing can be written. All are a [`flakeproof_core::History`] and pass
//! the same tests (`tests/contract`). [`Store`] is one that is open, wherever it is; [`TeamHistory`] has the
//! project's own before the team's, and [`sync`] sends what one knows to another.
//!
//! [`FleetCoordinator`] and [`FleetWorker`] share the trials of a hunt among machines.
//!
//! All SQL of flakeproof is in this crate, as text that can be pasted into a shell of the database.

mod brief;
mod causes;
mod digests;
mod exchange;
mod export;
mod history_file;
mod hunts;
mod location;
mod marks;
mod memory;
mod objects;
mod past;
mod postgres;
mod prune;
mod runs;
mod spans;
mod sqlite;
mod stats;
mod store;
mod team;
mod worded;

pub use exchange::{RunEnd, SyncError, Synced, WholeFinding, WholeHunt, WholeRun, sync};
pub use export::{Cell, Column, ColumnType, ExportError, StoredTable};
pub use location::{LocationError, StoreLocation, StoreUrl, project_folder};
pub use memory::MemoryHistory;
pub use objects::{Folded, ObjectHistory, ObjectsAddress, SharedHunt, Skipped};
pub use postgres::{
    Claim, Collected, CoordinatorPulse, FleetCoordinator, FleetFound, FleetPlan, FleetPulse,
    FleetTaken, FleetUnit, FleetWorker, PostgresAddress, PostgresHistory, QueuedTrial, StuckTrial,
    UnitKept,
};
pub use prune::{Compaction, Depth, Pruned, Pruning};
pub use sqlite::SqliteHistory;
pub use stats::{StoreStats, TableStats};
pub use store::Store;
pub use team::{TeamHistory, Unsent};
