//! What differs between systems, behind one door: everything else is written once.
//!
//! `unix` and `windows` have the same names with the same promises. What only the kernel of Linux can do
//! is in `linux`, and refused in words elsewhere. A platform is added here, and nowhere else.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(target_os = "linux"))]
use elsewhere as kernel;
#[cfg(target_os = "linux")]
use linux as kernel;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use kernel::{
    can_hold_calls, can_hold_threads, enter_namespaces, fix_addresses, have_files_in_place,
    hold_thread, keep_to_one_core, let_go_of_thread, with_held_calls,
};
pub(crate) use system::{
    KILLED, LocalListener, LocalStream, OwnedStream, adopt_orphans, ask_for_threads, below_guards,
    below_us, bury, bytes_of, descriptors, dump_stacks, go_on, hear_own_signals, identity,
    interrupt, is_program, is_ready, janitor, kill, kill_group, let_children_hear_every_signal,
    limit_descriptors, limit_memory, link, make_program, megabytes, name_of, path_of, read,
    set_umask, shell_line, signal_name, stop, text_of, times_in_index, under_own_group,
    under_own_name, used_by_ended_children, wait_for_all, witness_of,
};
pub use system::{on_interrupt, time_of_last_change};

/// Whether something of a group is still alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    Living,
}

/// How long something may be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Not,
    AsLongAsItTakes,
}

/// When a file was changed in any way, and when its content was, as git's index has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexTimes {
    pub(crate) changed: (i64, i64),
    pub(crate) modified: i64,
}
