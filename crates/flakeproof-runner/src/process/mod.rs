//! Processes that die with us.
//!
//! Every command runs under a guard: a small copy of this program that adopts whatever
//! the command leaves behind and kills all of it when flakeproof ends, however it ends.

mod descendants;
mod guard;
mod guarded;
mod tail;

pub use guard::become_guard_if_asked;
pub use guarded::{Death, adopt_orphans, kill_everything_below};
pub(crate) use guarded::{Guarded, Instructions};
pub(crate) use guarded::{dump_stacks, interrupt, kill_group};
