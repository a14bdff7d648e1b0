//! What only the kernel of Linux can do, refused: levers that need it are named as not to be had here.

use std::io::{Error, ErrorKind, Result};

use crate::levers::{FileInPlace, HeldCalls, Namespaces};

fn refused(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("only Linux {what}"))
}

/// Run on one core only.
pub(crate) fn keep_to_one_core() -> Result<()> {
    Err(refused("lets a process choose its cores"))
}

/// Have code and data always at the same place in memory.
pub(crate) fn fix_addresses() -> Result<()> {
    Err(refused("lets a process fix its addresses"))
}

/// Enter namespaces of our own.
pub(crate) fn enter_namespaces(_: Namespaces) -> Result<()> {
    Err(refused("has namespaces"))
}

/// Have files seen in the place of others, by this process and all that it starts.
pub(crate) fn have_files_in_place(_: &[FileInPlace]) -> Result<()> {
    Err(refused("has namespaces"))
}

/// Run something whose system calls, and those of all that it starts, are answered from here.
pub(crate) fn with_held_calls<T: Send>(
    _: &HeldCalls,
    _: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    Err(can_hold_calls().err().unwrap_or_else(|| refused("tells of system calls")))
}

/// Whether this system lets a process hear of calls.
pub(crate) fn can_hold_calls() -> Result<()> {
    Err(refused("tells of system calls"))
}

/// Stop one thread and no other; whether that was possible.
pub(crate) fn hold_thread(_: i32) -> bool {
    false
}

/// Let a thread that is held go on.
pub(crate) fn let_go_of_thread(_: i32) {}

/// Whether we may hold threads of processes that we started.
pub(crate) fn can_hold_threads() -> std::result::Result<(), String> {
    Err(refused("lets single threads be held").to_string())
}
