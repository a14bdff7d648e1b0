//! One file or folder per command, each thin: ask the rooms, hand the answer to `view`.

pub(crate) mod cause;
pub(crate) mod doctor;
pub(crate) mod evaluate;
pub(crate) mod features;
pub(crate) mod fix;
pub(crate) mod graph;
pub(crate) mod hunt;
pub(crate) mod ingest;
pub(crate) mod init;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod predict;
pub(crate) mod quarantine;
pub(crate) mod report;
pub(crate) mod repro;
pub(crate) mod run;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod shard;
pub(crate) mod shell;
pub(crate) mod store;
pub(crate) mod train;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod worker;
