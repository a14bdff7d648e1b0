//! `flakeproof fix`: what was typed.

use clap::Args;
use flakeproof_core::Seed;

use crate::settings::{Confidence, HumanDuration, Reporter, StoreName};

/// Mend a flaky test: patches from what a hunt or `cause` found, shown when proven.
///
/// Every patch is tried in a copy of the project. It is shown if the test then passes where it used to
/// fail as often as `verify` asks, if the other tests of the files it changes have the outcome they had,
/// and if the tests it changes still notice a fault in the code. Exits with 0 if a patch is proven, with 5
/// if none is, with 4 if there is no such test.
#[derive(Debug, Args)]
pub(crate) struct FixArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// Write the first proven patch to your files.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Commit the first proven patch to a new branch of this name; your files stay as they are.
    #[arg(long, value_name = "NAME", conflicts_with = "apply")]
    pub(crate) branch: Option<String>,
    /// How sure the proof must be.
    #[arg(long, value_name = "N%", default_value = "95%")]
    pub(crate) confidence: Confidence,
    /// Stop after this time, with what is proven so far; 0 is never.
    #[arg(long, value_name = "TIME", default_value = "10m", env = "FLAKEPROOF_BUDGET")]
    pub(crate) budget: HumanDuration,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this; 0 is never.
    #[arg(long, value_name = "TIME", default_value = "60s", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: HumanDuration,
    /// Write a report: `json=FILE`; `-` is stdout. Repeatable.
    #[arg(long, value_name = "TYPE=PATH")]
    pub(crate) reporter: Vec<Reporter>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed that tests see [default: that of the hunt].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,

    /// The command that runs your tests; where no hunt knows the test, one is made with it.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
