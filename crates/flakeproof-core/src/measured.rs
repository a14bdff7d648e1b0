//! What was measured about one execution, besides its outcome.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Lines;

/// What one execution used and covered, from the start of its set-up to the end of its teardown.
///
/// These are the measurements behind the dynamic features of CANNIER's Table 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// How often a file system had to read, for this process and its children that ended.
    pub read_count: u64,
    /// How often a file system had to write, for this process and its children that ended.
    pub write_count: u64,
    /// How long it took.
    pub run_time: Duration,
    /// How long its main thread waited for disks; `None` where the kernel does not account for it.
    pub wait_time: Option<Duration>,
    /// How often it gave the processor away, children that ended included.
    pub context_switches: u64,
    /// The most threads of the runtime at once.
    pub max_threads: u32,
    /// The most child processes at once; `None` where the system does not tell.
    pub max_children: Option<u32>,
    /// The most memory in use at once, in bytes.
    pub max_memory: u64,
    /// The lines that ran, or why they are not known.
    pub covered: Covered,
}

/// The lines of the project that ran in one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covered {
    /// The lines, by the absolute path of their file.
    Lines(BTreeMap<String, Lines>),
    /// They could not be followed.
    Unknown {
        /// Why not, for people.
        reason: String,
    },
}
