//! Processes that die with us.
//!
//! Every command runs under a guard: a small copy of this program that adopts whatever
//! the command leaves behind and kills all of it when flakeproof ends, however it ends.

mod guarded;
mod own_program;
mod to_end;
mod usage;

pub use guarded::become_guard_if_asked;
pub use guarded::{Death, adopt_orphans, hear_own_signals, kill_everything_below};
pub(crate) use guarded::{Guarded, Instructions, answer_of, try_out};
pub use own_program::{OwnProgram, OwnProgramEnd};
pub(crate) use to_end::USUAL_CAP;
pub(crate) use to_end::{End, Ended, killed_with_its_guard, run_to_end, run_watched};
pub use usage::Usage;
pub(crate) use usage::{Peak, Watch};

pub use crate::system::on_interrupt;
pub(crate) use crate::system::{ask_for_threads, dump_stacks, interrupt, kill_group};
