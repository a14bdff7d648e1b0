//! Orders of tests over environments and their copies, with real interpreters.
//!
//! The adapter starts its guard from the running program, and a program of the usual test harness
//! cannot become one. So this is a program of its own, which runs its claims as the harness would.

#[macro_use]
mod claims;
mod continued;
mod looked;
mod scene;
mod typed;

use std::process::ExitCode;

fn main() -> ExitCode {
    flakeproof_runner::process::become_guard_if_asked();
    let claims = [continued::CLAIMS, looked::CLAIMS, typed::CLAIMS];
    claims::run(&claims.concat())
}
