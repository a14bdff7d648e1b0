//! Real cargo projects, run by the adapter itself and by the program.
//!
//! The adapter starts its guard from the running program, and a program of the usual test harness
//! cannot become one. So this is a program of its own, which runs its claims as the harness would.

#![expect(clippy::panic, reason = "a claim that does not hold panics, and is caught")]

#[macro_use]
#[path = "../pytest_orders/claims.rs"]
mod claims;
mod at_once;
mod dependencies;
mod nextest;
mod orders;
mod outcomes;
mod projects;
mod scene;

use std::process::ExitCode;

fn main() -> ExitCode {
    flakeproof_runner::process::become_guard_if_asked();
    let claims = [
        at_once::CLAIMS,
        dependencies::CLAIMS,
        nextest::CLAIMS,
        orders::CLAIMS,
        outcomes::CLAIMS,
        projects::CLAIMS,
    ];
    claims::run(&claims.concat())
}
