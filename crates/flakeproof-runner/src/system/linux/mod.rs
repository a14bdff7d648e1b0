//! What only the kernel of Linux can do.

mod held_calls;
mod held_threads;
mod surroundings;

pub(crate) use held_calls::{can_hold_calls, with_held_calls};
pub(crate) use held_threads::{can_hold_threads, hold_thread, let_go_of_thread};
pub(crate) use surroundings::{
    enter_namespaces, fix_addresses, have_files_in_place, keep_to_one_core,
};
