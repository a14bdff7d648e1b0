//! `flakeproof doctor`: what can be used here, and what is missing for the rest.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flakeproof_core::ExitCode;
use flakeproof_runner::adapters;
use flakeproof_runner::levers::{self, Machine};
use flakeproof_store::Store;

use crate::cli::{DoctorArguments, ListFormat};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::settings::{ConfigurationFile, StoreName, locate};
use crate::view::{self, Checkup, Found, HistoryFound};

/// A program that some part of ours needs.
struct Needed {
    name: &'static str,
    /// What makes it say its version.
    version: &'static [&'static str],
    /// What works with it.
    serves: &'static str,
}

const fn needed(
    name: &'static str,
    version: &'static [&'static str],
    serves: &'static str,
) -> Needed {
    Needed { name, version, serves }
}

/// The programs of the runners that have an adapter.
const RUNNERS: [Needed; 8] = [
    needed("python3", &["--version"], "pytest, unittest"),
    needed("pytest", &["--version"], "pytest"),
    needed("node", &["--version"], "jest, vitest, mocha, node:test, Playwright"),
    needed("java", &["-version"], "JUnit, TestNG"),
    needed("mvn", &["-v"], "JUnit and TestNG with Maven"),
    needed("gradle", &["--version"], "JUnit and TestNG with Gradle"),
    needed("go", &["version"], "go test"),
    needed("cargo", &["--version"], "cargo test, cargo nextest"),
];

/// The programs without which something is not seen or cannot be tried.
const HELPERS: [Needed; 4] = [
    needed("git", &["--version"], "what changed, and runs on the code before it"),
    needed("strace", &["-V"], "files and connections of Go, Rust and JavaScript tests"),
    needed("faketime", &["--version"], "the lever `clock`"),
    needed("localedef", &["--version"], "the lever `locale` where a locale is not installed"),
];

/// Run the command.
pub(crate) fn run(typed: &DoctorArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let configuration = ConfigurationFile::find(None, &folder)?;
    let machine = Machine::probe();
    let checkup = Checkup {
        version: env!("CARGO_PKG_VERSION"),
        program: std::env::current_exe().ok(),
        others: other_installations(),
        project: configuration.project.clone(),
        configuration: configuration.place().map(Path::to_path_buf),
        command: adapters::usual_command(&folder),
        runners: RUNNERS.iter().map(look_for).collect(),
        helpers: HELPERS.iter().map(look_for).collect(),
        levers: levers::all()
            .iter()
            .map(|lever| (lever.name(), lever.settings(&machine).map(|settings| settings.len())))
            .collect(),
        history: look_into(typed.store.as_ref(), &folder)?,
    };
    match typed.output_format {
        ListFormat::Text => view::checkup(&checkup),
        ListFormat::Json => view::checkup_json(&checkup),
    }
    Ok(ExitCode::Clean)
}

fn look_for(needed: &Needed) -> Found {
    Found { name: needed.name, serves: needed.serves, version: version(needed) }
}

/// The first line that a program says about its version, wherever it says it.
fn version(needed: &Needed) -> Option<String> {
    let mut command = Command::new(needed.name);
    let output = command.args(needed.version).stdin(Stdio::null()).output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let line = said.lines().map(str::trim).find(|line| line.chars().any(|it| it.is_ascii_digit()));
    Some(line.unwrap_or("a version that it does not tell").to_owned())
}

/// Programs of our name on the path that are not this one: two versions in one project disagree.
fn other_installations() -> Vec<PathBuf> {
    let own = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("flakeproof{}", std::env::consts::EXE_SUFFIX);
    let mut others: Vec<PathBuf> = std::env::split_paths(&path)
        .map(|folder| folder.join(&name))
        .filter_map(|file| std::fs::canonicalize(file).ok())
        .filter(|file| Some(file) != own.as_ref())
        .collect();
    others.sort();
    others.dedup();
    others
}

/// What the history holds; nothing is made where there is none.
fn look_into(store: Option<&StoreName>, folder: &Path) -> Result<HistoryFound, Problem> {
    let place = locate(store, folder)?;
    if !place.may_be_there() {
        return Ok(HistoryFound::Missing(place.to_string()));
    }
    let stats = Store::look(&place).and_then(|history| history.stats());
    Ok(match stats {
        Ok(stats) => HistoryFound::There(stats),
        Err(error) => HistoryFound::Unreadable(place.to_string(), error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert_eq!(version(&needed("no-such-program-of-ours", &["--version"], "")), None);
    }

    #[test]
    fn the_version_is_the_first_line_with_a_number() {
        let said = version(&needed("sh", &["-c", "echo Welcome; echo 'tool 1.2.3'"], ""));
        assert_eq!(said.as_deref(), Some("tool 1.2.3"));
    }
}
