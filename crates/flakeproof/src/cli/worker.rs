//! `flakeproof worker`, and `--fleet` of a hunt: what can be typed, and what is meant by it.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use flakeproof_runner::adapters::command::Profiles;
use flakeproof_runner::adapters::usual_command;
use flakeproof_store::{PostgresAddress, StoreLocation};

use super::HuntArguments;
use crate::problem::Problem;
use crate::settings::{ConfigurationFile, HumanDuration, RawSettings, StoreName};

/// Run tests for a hunt that another machine steers.
///
/// `flakeproof hunt --fleet NAME` plans, and any number of workers with the same name run what it asks for.
#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// The name that was given to `flakeproof hunt --fleet`.
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_FLEET")]
    fleet: FleetName,
    /// How long to wait for a hunt, before it begins or if it is not heard of any more [default: 5m].
    #[arg(long, value_name = "TIME")]
    wait: Option<HumanDuration>,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    adapter: Option<String>,
    /// The team's history: `postgres://…`.
    #[arg(long, value_name = "URL", env = "FLAKEPROOF_STORE")]
    store: Option<StoreName>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    show_runner: bool,
    /// The configuration file [default: `flakeproof.toml` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_CONFIG")]
    config: Option<PathBuf>,

    /// The command that runs your tests, as it was given to the hunt [default: pytest].
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What a fleet is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FleetName(String);

/// Longer names are mistakes.
const LONGEST_NAME: usize = 200;

impl FromStr for FleetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = text.chars().all(|it| !it.is_control());
        match text.trim() {
            "" => Err("a fleet needs a name".to_owned()),
            name if name.len() > LONGEST_NAME || !is_plain => {
                Err("the name of a fleet is one short line".to_owned())
            }
            name => Ok(Self(name.to_owned())),
        }
    }
}

impl FleetName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The machines that share a hunt.
#[derive(Debug, Clone)]
pub(crate) struct FleetSettings {
    pub(crate) name: FleetName,
    /// The database with the queue.
    pub(crate) address: PostgresAddress,
    /// After so long who is silent is gone.
    pub(crate) lease: Duration,
}

const LEASE: Duration = Duration::from_secs(30);

/// Shorter leases would end between two beats of a busy machine.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

impl FleetSettings {
    pub(super) fn resolve(
        name: FleetName,
        typed: &HuntArguments,
        store: &StoreLocation,
    ) -> Result<Self, Problem> {
        let lease = typed.fleet_lease.map_or(LEASE, |time| time.0);
        if lease < SHORTEST_LEASE {
            return Err(Problem::usage(
                "after less than a second of silence no machine can be given up",
                "write `--fleet-lease 30s`, or leave it out",
            ));
        }
        Ok(Self { name, address: queue_in(store)?, lease })
    }
}

/// The database that holds the queue of fleets.
fn queue_in(store: &StoreLocation) -> Result<PostgresAddress, Problem> {
    match store {
        StoreLocation::Postgres(address) => Ok((**address).clone()),
        StoreLocation::Objects(_) => Err(Problem::usage(
            format!("a fleet needs PostgreSQL, and the history is {store}"),
            "with an object store, `flakeproof hunt --shard 1/4` on each of four machines shares a hunt",
        )),
        StoreLocation::Project(_) | StoreLocation::File(_) => Err(Problem::usage(
            format!("machines share a hunt in PostgreSQL, and the history is {store}"),
            "name a database with `--store postgres://user@host/database`, or in FLAKEPROOF_STORE",
        )),
    }
}

/// Everything that a worker needs to know.
#[derive(Debug)]
pub(crate) struct WorkerSettings {
    pub(crate) name: FleetName,
    pub(crate) address: PostgresAddress,
    pub(crate) wait: Duration,
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) adapter: Option<String>,
    pub(crate) runners: Profiles,
    pub(crate) is_runner_shown: bool,
}

const WAIT: Duration = Duration::from_secs(5 * 60);

impl WorkerSettings {
    /// Lay the layers over each other.
    pub(crate) fn resolve(typed: &WorkerArguments, folder: &Path) -> Result<Self, Problem> {
        let file = ConfigurationFile::find(typed.config.as_deref(), folder)?;
        let layer = RawSettings {
            store: typed.store.clone(),
            adapter: typed.adapter.clone(),
            show_runner: typed.show_runner.then_some(true),
            ..RawSettings::default()
        };
        let settings = layer.over(file.layer(None)?);
        let store = match settings.store {
            Some(name) => name.locate(folder)?,
            None => StoreLocation::Project(file.project.clone()),
        };
        Ok(Self {
            name: typed.fleet.clone(),
            address: queue_in(&store)?,
            wait: typed.wait.map_or(WAIT, |time| time.0),
            command: match typed.command.as_slice() {
                [] => usual_command(folder),
                command => command.to_vec(),
            },
            folder: folder.to_path_buf(),
            adapter: settings.adapter,
            runners: file.runners(),
            is_runner_shown: settings.show_runner.unwrap_or(false),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_line() {
        let named = |text: &str| text.parse::<FleetName>();
        assert_eq!(named(" nightly ").map(|it| it.0), Ok("nightly".to_owned()));
        for text in ["", " ", "a\nb", &"x".repeat(300)] {
            assert!(named(text).is_err(), "{text:?}");
        }
    }
}
