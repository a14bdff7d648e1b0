//! Processes that die with us.
//!
//! Every command runs under a guard: a small copy of this program that adopts whatever
//! the command leaves behind and kills all of it when flakeproof ends, however it ends.

mod descendants;
mod guard;
mod guarded;
mod orphans;
mod tail;
mod to_end;

pub use guard::become_guard_if_asked;
pub use guarded::{Death, adopt_orphans, kill_everything_below};
pub(crate) use guarded::{Guarded, Instructions};
pub(crate) use guarded::{ask_for_threads, dump_stacks, interrupt, kill_group};
pub(crate) use tail::USUAL_CAP;
pub(crate) use to_end::{End, Ended, killed_with_its_guard, run_to_end};
