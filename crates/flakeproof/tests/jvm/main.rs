//! The adapter of the JVM on real Maven projects, with real JVMs.
//!
//! A program of its own, which can become the guard of what it starts, as `pytest_orders` is.

#[macro_use]
#[path = "../pytest_orders/claims.rs"]
mod claims;
mod builds;
mod environments;
mod features;
mod fix;
mod losses;
mod orders;
mod scene;
mod warm;

use std::process::ExitCode;

fn main() -> ExitCode {
    flakeproof_runner::process::become_guard_if_asked();
    if let Some(missing) = scene::missing() {
        flakeproof_testkit::skipped::note("the JVM's adapter", &format!("there is no {missing}"));
        return ExitCode::SUCCESS;
    }
    let claims = [
        builds::CLAIMS,
        environments::CLAIMS,
        features::CLAIMS,
        fix::CLAIMS,
        losses::CLAIMS,
        orders::CLAIMS,
        warm::CLAIMS,
    ];
    let end = claims::run(&claims.concat());
    environments::STATE.forget();
    losses::KILLERS.forget();
    warm::HOSTILE.forget();
    end
}
