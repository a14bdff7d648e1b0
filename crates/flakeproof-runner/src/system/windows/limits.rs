//! Limits of a process, which Windows has none of.

use std::io::{Error, ErrorKind, Result};

use crate::process::Usage;

fn refused(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("Windows has no {what}"))
}

/// Set the rights that new files do not get.
pub(crate) fn set_umask(_: u32) -> Result<()> {
    Err(refused("umask"))
}

/// How many files may be open.
pub(crate) fn descriptors() -> u64 {
    u64::MAX
}

/// Limit how many files may be open.
pub(crate) fn limit_descriptors(_: u64) -> Result<()> {
    Err(refused("limit of open files"))
}

/// How many MiB of memory a process may have.
pub(crate) fn megabytes() -> u64 {
    u64::MAX
}

/// Limit how many MiB of memory a process may have.
pub(crate) fn limit_memory(_: u64) -> Result<()> {
    Err(refused("limit of memory for a process that runs already"))
}

/// What ended children used is told by nobody here.
pub(crate) fn used_by_ended_children() -> Option<Usage> {
    None
}
