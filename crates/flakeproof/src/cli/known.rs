//! What is done with known flaky tests, as it is typed: `flakeproof list`, `repro` and `verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flakeproof_core::Seed;

use crate::settings::{Confidence, HumanDuration, Isolate, Reporter, Was};

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

/// Prove that a flaky test is mended: run it until clean runs or a failure decide.
///
/// The test runs as it used to fail: a victim after its polluters, a brittle test alone, each time
/// in a fresh environment. How many clean runs that takes follows from how often it failed before,
/// and is said at the start. Exits with 0 if it is fixed, with 1 if it failed, with 5 if neither
/// can be said, and with 4 if there is no such test.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// How often it failed before: `3%`, `0.03` or `1/30` [default: what the last hunt saw].
    #[arg(long, value_name = "RATE")]
    pub(crate) was: Option<Was>,
    /// How sure the verdict must be.
    #[arg(long, value_name = "N%", default_value = "95%")]
    pub(crate) confidence: Confidence,
    /// Stop after this time, with what can be said so far.
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_BUDGET")]
    pub(crate) budget: Option<HumanDuration>,
    /// How fresh environments are made; what forks say is confirmed in new processes.
    #[arg(long, value_name = "HOW", default_value = "fork")]
    pub(crate) isolation: Isolate,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this.
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Write a report: `json=FILE`; `-` is stdout. Repeatable.
    #[arg(long, value_name = "TYPE=PATH")]
    pub(crate) reporter: Vec<Reporter>,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed that tests see [default: that of the hunt].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,

    /// The command that runs your tests [default: that of the hunt, else pytest].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
