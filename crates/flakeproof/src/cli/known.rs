//! `flakeproof list` and `flakeproof repro`, as they are typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flakeproof_core::Seed;

use crate::settings::{HumanDuration, Isolate};

/// List the flaky tests of this project, by what hunts and runs have shown.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// How to print a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Show a failure of a known flaky test again: replay the order in which a hunt saw it.
///
/// Every replay has an environment of its own. Exits with 1 if the test failed at least once, and
/// with 0 if it never did.
#[derive(Debug, Args)]
pub(crate) struct ReproArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST", required_unless_present = "from", conflicts_with = "from")]
    pub(crate) test: Option<String>,
    /// How often to replay the order.
    #[arg(short = 'n', long, value_name = "N", default_value = "10",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// How fresh environments are made.
    #[arg(long, value_name = "HOW", default_value = "spawn")]
    pub(crate) isolation: Isolate,
    /// Also write all that another machine needs to replay it to this file; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Replay what a bundle holds, and say what differs here.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Run the command of the bundle without asking: you know who made it.
    #[arg(long, requires = "from")]
    pub(crate) yes: bool,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this.
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed that tests see [default: that of the hunt].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,

    /// The command that runs your tests [default: that of the hunt].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
