//! `flakeproof verify`, as it is typed.

use std::path::PathBuf;

use clap::Args;
use flakeproof_core::Seed;

use crate::settings::{Confidence, HumanDuration, Isolate, Reporter, Was};

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
