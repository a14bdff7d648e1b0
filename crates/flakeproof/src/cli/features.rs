//! `flakeproof features`, as it is typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flakeproof_core::Seed;

use crate::settings::HumanDuration;

/// Measure the features of each test from which models learn: what it uses, covers and contains.
///
/// The command after `--` is run as it is, and its tests in their own order:
/// `flakeproof features -- pytest -q tests`. Without one it is `pytest`.
#[derive(Debug, Args)]
pub(crate) struct FeaturesArguments {
    /// How often to run the suite; features are the mean over the runs.
    #[arg(short = 'n', long, value_name = "N", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: FeaturesFormat,
    /// Also write the features of every test and run to this file, as Parquet if it ends in
    /// `.parquet`, else as CSV; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// Run nothing: read the features that the source tells, of the tests in these files and folders
    /// [default: the current folder]. In Go, Java, JavaScript, Python, Rust and TypeScript.
    #[arg(long = "static", value_name = "PATHS", num_args = 0.., conflicts_with_all = ["compare", "command", "runs"])]
    pub(crate) source: Option<Vec<PathBuf>>,
    /// What to call the project [default: the name of its folder].
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
    /// Also run the suite once without measuring, and say what measuring costs.
    #[arg(long)]
    pub(crate) compare: bool,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this.
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed of all chance, to repeat a measurement.
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,
    /// Use this profile of the configuration file.
    #[arg(short = 'P', long, value_name = "NAME", env = "FLAKEPROOF_PROFILE")]
    pub(crate) profile: Option<String>,
    /// The configuration file.
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// The command that runs your tests [default: pytest].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// How to print features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeaturesFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}
