//! Limits of this process, which those that it starts inherit, and what they used.

use std::io::Result;

use nix::sys::resource::{UsageWho, getrusage};
use rustix::fs::{Mode, RawMode};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};

use crate::process::Usage;

/// The unit of the most memory that the kernel tells.
const UNIT_OF_MEMORY: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };

/// Set the rights that new files do not get.
pub(crate) fn set_umask(mask: u32) -> Result<()> {
    // Its nine bits fit into the type of every system.
    umask(Mode::from_bits_truncate(mask as RawMode));
    Ok(())
}

/// How many files may be open.
pub(crate) fn descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Limit how many files may be open.
pub(crate) fn limit_descriptors(limit: u64) -> Result<()> {
    // Runtimes such as those of Go and Java raise what they may to what they might.
    let both = Rlimit { current: Some(limit), maximum: Some(limit) };
    Ok(setrlimit(Resource::Nofile, both)?)
}

/// How many MiB of memory a process may have.
pub(crate) fn megabytes() -> u64 {
    getrlimit(Resource::As).current.map_or(u64::MAX, |bytes| bytes >> 20)
}

/// Limit how many MiB of memory a process may have.
pub(crate) fn limit_memory(megabytes: u64) -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::As);
    Ok(setrlimit(Resource::As, Rlimit { current: Some(megabytes << 20), maximum })?)
}

/// What children of this process used that have ended; `None` where the system does not tell.
pub(crate) fn used_by_ended_children() -> Option<Usage> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    // 32 bits on some systems, 64 on others.
    let count = |it: nix::libc::c_long| u64::try_from(it).unwrap_or_default();
    Some(Usage {
        reads: count(usage.block_reads()),
        writes: count(usage.block_writes()),
        context_switches: count(usage.voluntary_context_switches())
            + count(usage.involuntary_context_switches()),
        max_memory: count(usage.max_rss()) * UNIT_OF_MEMORY,
    })
}
