//! `flakeproof features`, as it is meant.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::Seed;
use flakeproof_runner::adapters::command::Profiles;
use flakeproof_runner::adapters::usual_command;

use super::{ConfigurationFile, RawSettings, Store};
use crate::cli::{FeaturesArguments, FeaturesFormat};
use crate::problem::Problem;

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
    pub(crate) store: Store,
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
                Some(path) => Store::File(folder.join(path)),
                None => Store::Project(file.project),
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
