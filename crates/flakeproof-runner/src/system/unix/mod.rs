//! Unix: Linux, and what macOS has in common with it.

mod files;
mod limits;
mod processes;
mod signals;
mod streams;

pub use files::time_of_last_change;
pub(crate) use files::{
    bytes_of, identity, is_program, janitor, link, make_program, path_of, text_of, times_in_index,
    witness_of,
};
pub(crate) use limits::{
    descriptors, limit_descriptors, limit_memory, megabytes, set_umask, used_by_ended_children,
};
pub(crate) use processes::{
    adopt_orphans, below_guards, below_us, bury, kill, name_of, shell_line, under_own_group,
    under_own_name, wait_for_all,
};
pub use signals::on_interrupt;
pub(crate) use signals::{
    KILLED, ask_for_threads, dump_stacks, go_on, hear_own_signals, interrupt, kill_group,
    let_children_hear_every_signal, signal_name, stop,
};
pub(crate) use streams::{LocalListener, LocalStream, OwnedStream, is_ready, read};
