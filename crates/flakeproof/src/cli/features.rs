//! `flakeproof features`: what can be typed, and what is meant by it and by the settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use flakeproof_core::Seed;
use flakeproof_runner::adapters::command::Profiles;
use flakeproof_runner::adapters::usual_command;

use crate::problem::Problem;
use crate::settings::{ConfigurationFile, HumanDuration, RawSettings, StoreName};
use flakeproof_store::StoreLocation;

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
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Also run the suite once without measuring, and say what measuring costs.
    #[arg(long)]
    pub(crate) compare: bool,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Kill a test that runs longer than this [default: never].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    pub(crate) show_runner: bool,
    /// The seed of all chance, to repeat a measurement [default: a new one].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,
    /// Use this profile of the configuration file.
    #[arg(short = 'P', long, value_name = "NAME", env = "FLAKEPROOF_PROFILE")]
    pub(crate) profile: Option<String>,
    /// The configuration file [default: `flakeproof.toml` in the project].
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

/// Everything that a measurement needs to know.
#[derive(Debug)]
pub(crate) struct FeaturesSettings {
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) adapter: Option<String>,
    /// Runners that the project describes itself.
    pub(crate) runners: Profiles,
    /// What the project is called.
    pub(crate) project: String,
    /// Where what is measured is kept.
    pub(crate) store: StoreLocation,
    pub(crate) timeout: Option<Duration>,
    pub(crate) runs: u32,
    /// Whether to run the suite without measuring, too.
    pub(crate) is_compared: bool,
    pub(crate) format: FeaturesFormat,
    pub(crate) export: Option<PathBuf>,
    pub(crate) is_runner_shown: bool,
    pub(crate) seed: Option<Seed>,
}

impl FeaturesSettings {
    /// Lay the layers over each other.
    pub(crate) fn resolve(typed: &FeaturesArguments, folder: &Path) -> Result<Self, Problem> {
        let file = ConfigurationFile::find(typed.config.as_deref(), folder)?;
        let own = RawSettings {
            adapter: typed.adapter.clone(),
            timeout: typed.timeout,
            show_runner: typed.show_runner.then_some(true),
            store: typed.store.clone(),
            ..RawSettings::default()
        };
        let settings = own.over(file.layer(typed.profile.as_deref())?);
        let name = file.project.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            command: match typed.command.as_slice() {
                [] => usual_command(folder),
                command => command.to_vec(),
            },
            folder: folder.to_path_buf(),
            adapter: settings.adapter,
            runners: file.runners(),
            project: typed.project.clone().or(name).unwrap_or_default(),
            store: match settings.store {
                Some(name) => name.locate(folder)?,
                None => StoreLocation::Project(file.project),
            },
            timeout: settings.timeout.map(|time| time.0).filter(|time| !time.is_zero()),
            runs: typed.runs,
            is_compared: typed.compare,
            format: typed.output_format,
            export: typed.export.clone(),
            is_runner_shown: settings.show_runner.unwrap_or(false),
            seed: typed.seed,
        })
    }
}
