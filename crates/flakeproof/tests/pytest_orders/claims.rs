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
    let asked = Asked::read(std::env::args().skip(1));
    let wanted = claims.iter().filter(|(name, _)| asked.includes(name));
    if asked.has("--list") {
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

/// What the command line asks for.
#[derive(Default)]
struct Asked {
    options: Vec<String>,
    skipped: Vec<String>,
    names: Vec<String>,
}

impl Asked {
    /// Read the arguments of the usual harness, of which most change nothing here.
    fn read(mut arguments: impl Iterator<Item = String>) -> Self {
        let mut asked = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--skip" => asked.skipped.extend(arguments.next()),
                "--color" | "--format" | "--logfile" | "--shuffle-seed" | "--test-threads"
                | "-Z" => drop(arguments.next()),
                option if option.starts_with('-') => asked.options.push(argument),
                _ => asked.names.push(argument),
            }
        }
        asked
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|it| it == option)
    }

    fn includes(&self, name: &str) -> bool {
        let is_named = self.names.is_empty() || self.names.iter().any(|it| name.contains(it));
        is_named && !self.skipped.iter().any(|it| name.contains(it)) && !self.has("--ignored")
    }
}
