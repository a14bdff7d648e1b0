//! Every adapter keeps the same promises, tried on a real project of each framework.
//!
//! The adapter starts its guard from the running program, and a program of the usual test harness
//! cannot become one. So this is a program of its own, which runs its claims as the harness would.
//! `cargo test --test conformance -- pytest::` asks for those of one framework. pytest is checked always,
//! of the others a part each day; `FLAKEPROOF_WHOLE_CAMPAIGNS=1` checks all of them.

use std::process::ExitCode;

use flakeproof_testkit::conformance;

fn main() -> ExitCode {
    flakeproof_runner::process::become_guard_if_asked();
    conformance::check(&conformance::subjects::today())
}
