//! One folder for each framework, and the choice among them.

pub mod cargo;
pub mod command;
pub mod go;
pub mod jvm;
mod launcher;
mod lost;
pub mod node;
pub mod pytest;

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::Seed;

use crate::adapter::{Adapter, Blame, Capabilities, Error, Result};
use crate::cancel::Cancel;
use crate::levers::InForce;

/// What to run and how.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The user's own command.
    pub command: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// The adapter that the user names; without one, the command decides.
    pub adapter: Option<String>,
    /// How long one test may take.
    pub timeout: Option<Duration>,
    /// The run's id, for the tests to see.
    pub run: String,
    /// The seed of all chance that the adapter gives to tests.
    pub seed: Seed,
    /// Whether what the runner prints is shown as it comes.
    pub is_output_shown: bool,
    /// Runners that the project describes itself.
    pub profiles: command::Profiles,
    /// Whether the whole suite is run next, so that finding its tests may run it.
    pub is_whole_suite_next: bool,
    /// Which build its tests may come from.
    pub builds: Builds,
    /// Ends the work early.
    pub cancel: Cancel,
    /// What is changed about the processes that it starts.
    pub in_force: InForce,
}

/// Which build tests may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builds {
    /// One that is done now: no verdict rests on another.
    New,
    /// Also an earlier one of which everything that is seen says that it would be the same.
    NewOrKept,
}

/// An adapter as the list below has it.
struct Known {
    /// What the user calls it.
    name: &'static str,
    /// Which word of a command is its runner's program.
    recognises: fn(&[String]) -> Option<usize>,
    /// The command that runs the tests of a project in this folder, if it is one of its projects.
    usual_command: fn(&Path) -> Option<Vec<String>>,
    open: fn(RunRequest) -> Result<Box<dyn Adapter>>,
    /// What it can do where nothing in a project stands in the way, for each of its runners.
    capabilities: fn() -> Vec<Capabilities>,
}

/// Every adapter. The one whose program comes first in a command takes it, for what comes after
/// it are its arguments.
const KNOWN: [&Known; 6] =
    [&jvm::KNOWN, &cargo::KNOWN, &pytest::KNOWN, &go::KNOWN, &node::KNOWN, &command::KNOWN];

/// The adapter for a request; nothing is started yet.
///
/// A command that was described, or whose adapter is named, is run as it is. Any other must name its
/// runner, or be a script that does.
///
/// # Errors
/// When there is no adapter of the wanted name, when the command hides its runner, or when the
/// adapter cannot be prepared.
pub fn open(mut request: RunRequest) -> Result<Box<dyn Adapter>> {
    if command::is_described(&request) {
        return (command::KNOWN.open)(request);
    }
    if let Some(name) = &request.adapter {
        return (named(name)?.open)(request);
    }
    let behind = launcher::look_behind(&request.command, &request.folder)?;
    request.command = behind.command;
    match behind.notice {
        None => (behind.known.open)(request),
        Some(notice) => node::of_script(request, notice),
    }
}

/// The command that most likely runs the tests of the project in this folder.
#[must_use]
pub fn usual_command(folder: &Path) -> Vec<String> {
    let usual = KNOWN.iter().find_map(|known| (known.usual_command)(folder));
    usual.unwrap_or_else(|| vec!["pytest".to_owned()])
}

/// The name of the adapter whose runner a command names.
#[must_use]
pub fn name_for(command: &[String]) -> Option<&'static str> {
    of_command(command).map(|known| known.name)
}

/// The names of all adapters.
#[must_use]
pub fn names() -> Vec<&'static str> {
    KNOWN.iter().map(|known| known.name).collect()
}

/// What each adapter can do with each of its runners where nothing in a project stands in the way,
/// by the adapter's name.
#[must_use]
pub fn capabilities() -> Vec<(&'static str, Capabilities)> {
    let of = |known: &Known| {
        let name = known.name;
        (known.capabilities)().into_iter().map(move |can| (name, can))
    };
    KNOWN.iter().flat_map(|known| of(known)).collect()
}

fn named(name: &str) -> Result<&'static Known> {
    let found = KNOWN.iter().find(|known| known.name == name);
    found.copied().ok_or_else(|| Error::Explained {
        blame: Blame::Usage,
        what: format!("there is no adapter `{name}`"),
        next: format!("use one of {}, or let the command decide", names().join(", ")),
        details: String::new(),
    })
}

/// The adapter whose runner a command names.
fn of_command(command: &[String]) -> Option<&'static Known> {
    let recognised = KNOWN.iter().filter_map(|known| Some(((known.recognises)(command)?, *known)));
    recognised.min_by_key(|(at, _)| *at).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_its_program_and_not_by_its_arguments() {
        for (command, name) in [
            ("pytest", "pytest"),
            ("py.test -x", "pytest"),
            ("venv/bin/pytest tests/jest", "pytest"),
            ("python3.12 -m pytest go test", "pytest"),
            ("uv run pytest", "pytest"),
            ("poetry run pytest tests/test_cargo.py", "pytest"),
            ("go test ./pytest/...", "go"),
            ("go test ./tools/pytest", "go"),
            ("npx jest pytest.test.js", "node"),
            ("npx jest pytest", "node"),
            ("npx vitest run pytest", "node"),
            ("npx mocha pytest", "node"),
            ("node --test pytest.test.mjs", "node"),
            ("cargo test pytest", "cargo"),
            ("mvn test -Dtest=pytest", "jvm"),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(of_command(&words).map(|known| known.name), Some(name), "{command}");
        }
    }

    #[test]
    fn a_name_that_nobody_has_is_answered_with_those_there_are() {
        let Err(Error::Explained { blame, next, .. }) = named("nose") else { panic!() };
        assert_eq!(blame, Blame::Usage);
        assert!(next.contains("pytest"), "{next}");
    }
}
