//! The little of a test harness that these claims need.

#![expect(clippy::print_stdout, reason = "says which claims hold, as a test harness does")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// A name and what to check.
pub(crate) type Claim = (&'static str, fn());

/// The claims of a file.
macro_rules! claims {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name as fn())),*] };
}

/// Run the claims that the command line asks for.
pub(crate) fn run(claims: &[Claim]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |option: &str| arguments.iter().any(|it| it == option);
    let is_wanted = |name: &str| {
        let mut filters = arguments.iter().filter(|it| !it.starts_with('-')).peekable();
        filters.peek().is_none() || filters.any(|filter| name.contains(filter.as_str()))
    };
    let wanted = claims.iter().filter(|(name, _)| is_wanted(name) && !has("--ignored"));
    if has("--list") {
        wanted.for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    for (name, check) in wanted {
        let holds = catch_unwind(AssertUnwindSafe(check)).is_ok();
        println!("test {name} ... {}", if holds { "ok" } else { "FAILED" });
        failed += usize::from(!holds);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
