//! One suite for every adapter: what callers rely on, tried on a real project of its framework.
//!
//! A [`Subject`] is a small project in which each test plays a [`TestRole`]: one passes, one fails,
//! one kills its process, one pollutes another. The claims run it through
//! [`Adapter`](flakeproof_runner::Adapter) and [`Environment`](flakeproof_runner::Environment)
//! alone. A new adapter gets all of them for a folder under `subjects/` and one [`Subject`].
//!
//! Each test of a subject appends `NAME PID` to `../outside/notes` when it starts, so that the
//! claims need not believe what the adapter says about order and processes. A claim that needs
//! what the adapter's [`Capabilities`](flakeproof_runner::Capabilities) deny, or a role that its
//! framework cannot play, is not asked and says so.

mod claim;
mod environments;
mod scene;
mod single_tests;
pub mod subjects;

pub use claim::check;
pub use subjects::{Discovery, Subject, TestRole};
