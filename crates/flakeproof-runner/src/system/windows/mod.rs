//! Windows: job objects for process groups, the console for signals, the loopback for sockets.
//!
//! What Windows does not tell (when a file was last changed in any way, which machine this is) is answered
//! so that no verdict can rest on it.

mod console;
mod files;
mod job;
mod limits;
mod processes;
mod streams;

pub use console::on_interrupt;
pub(crate) use console::{
    KILLED, ask_for_threads, dump_stacks, hear_own_signals, interrupt,
    let_children_hear_every_signal, signal_name,
};
pub use files::time_of_last_change;
pub(crate) use files::{
    bytes_of, identity, is_program, janitor, link, make_program, path_of, text_of, times_in_index,
    witness_of,
};
pub(crate) use job::{adopt_orphans, below_us};
pub(crate) use limits::{
    descriptors, limit_descriptors, limit_memory, megabytes, set_umask, used_by_ended_children,
};
pub(crate) use processes::{
    below_guards, bury, go_on, kill, kill_group, name_of, shell_line, stop, under_own_group,
    under_own_name, wait_for_all,
};
pub(crate) use streams::{LocalListener, LocalStream, OwnedStream, is_ready, read};
