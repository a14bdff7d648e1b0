//! What the environments of one adapter share, how they start processes, and what cargo's
//! troubles mean to the user.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use flakeproof_core::{Execution, Notice, Surroundings, TestId};

use super::command::CargoCommand;
use super::control::Controls;
use super::found::{Binary, Found, Place};
use super::measure::Instrumented;
use super::piece::TestResult;
use super::switch::{ALLOWANCE, Launches};
use crate::adapter::{Blame, Error, Result};
use crate::adapters::RunRequest;
use crate::agent::Hub;
use crate::process::{Ended, Instructions, run_to_end};
use crate::shell::{digest, digests_of_variables};

/// Bytes of what cargo prints that are kept: lists of tests and of what was built are long.
const KEPT: usize = 64 * 1024 * 1024;

/// Variables set on top of our own; `None` removes one.
pub(super) type Variables = BTreeMap<String, Option<String>>;

/// The variable that says how many tests run at the same time.
pub(super) const THREADS: &str = "RUST_TEST_THREADS";

/// What the environments of one adapter share.
#[derive(Debug)]
pub(super) struct CargoSession {
    pub(super) settings: RunRequest,
    pub(super) command: CargoCommand,
    pub(super) hub: Hub,
    pub(super) found: OnceLock<Found>,
    /// What made the user's own command fail besides its tests.
    pub(super) own_failure: Mutex<Option<String>>,
    /// What cargo printed while it built.
    pub(super) printed: Mutex<String>,
    /// The tests, built to tell which functions run; nothing where that is not possible.
    pub(super) instrumented: OnceLock<Option<Instrumented>>,
    /// Whether the system tells which files are opened.
    pub(super) can_see_opens: OnceLock<bool>,
    /// The orders that the harness can be brought to run.
    pub(super) launches: Launches,
    /// Which tests mind what those orders need.
    pub(super) controls: Controls,
    /// The suite's own order, in the parts that environments of the suite have run.
    pub(super) suite: Mutex<Vec<Vec<Place>>>,
    /// What environments of the suite that ended early left to those after them, by what these begin with.
    pub(super) bequests: Mutex<HashMap<Place, Bequest>>,
    started: AtomicU32,
    scratch: tempfile::TempDir,
}

/// How tests ended that ran beside one that ended their process.
#[derive(Debug, Default)]
pub(super) struct Bequest {
    pub(super) known: HashMap<Place, TestResult>,
    /// What it came to for those that ran when it died.
    pub(super) judged: HashMap<Place, Execution>,
}

impl CargoSession {
    pub(super) fn new(settings: RunRequest, command: CargoCommand) -> Result<Self> {
        let scratch = tempfile::Builder::new()
            .prefix("flakeproof-")
            .tempdir()
            .map_err(Error::io("make a temporary folder"))?;
        Ok(Self {
            hub: Hub::start(scratch.path())?,
            settings,
            command,
            found: OnceLock::new(),
            own_failure: Mutex::new(None),
            printed: Mutex::new(String::new()),
            instrumented: OnceLock::new(),
            can_see_opens: OnceLock::new(),
            launches: Launches::default(),
            controls: Controls::default(),
            suite: Mutex::default(),
            bequests: Mutex::default(),
            started: AtomicU32::new(0),
            scratch,
        })
    }

    /// What discovery told.
    pub(super) fn found(&self) -> Result<&Found> {
        self.found.get().ok_or_else(|| Error::Agent("no test was looked for yet".into()))
    }

    /// How many tests of a binary cargo would run at the same time.
    pub(super) fn at_once(&self, binary: &Binary) -> usize {
        let set = || match binary.variables.get(THREADS) {
            Some(value) => value.clone(),
            None => std::env::var(THREADS).ok(),
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self.command.harness.threads.clone().or_else(set) {
            // What is no number the harness itself refuses, if it is left the choice.
            Some(asked) => asked.parse().ok().filter(|number| *number > 0).unwrap_or(2),
            None => cores(),
        }
    }

    /// A new folder for temporary files.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = tempfile::Builder::new().prefix(name).tempdir_in(self.scratch.path());
        folder.map(tempfile::TempDir::keep).map_err(Error::io("make a temporary folder"))
    }

    /// How to run a command under guard.
    pub(super) fn instructions(
        &self,
        command: Vec<String>,
        folder: &Path,
        variables: Variables,
    ) -> Instructions {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        Instructions {
            command,
            folder: folder.to_path_buf(),
            variables,
            socket: self.hub.socket().to_path_buf(),
            guard_name: format!("guard-{number}"),
            is_shown: false,
            kept: KEPT,
            in_force: self.settings.in_force.clone(),
        }
    }

    /// Run a command to its end.
    pub(super) fn to_end(
        &self,
        instructions: &Instructions,
        limit: Option<Duration>,
    ) -> Result<Ended> {
        run_to_end(&self.hub, instructions, limit, &self.settings.cancel, |_| {})
    }

    /// These tests in an order that processes of the harness can be brought to: those of a binary
    /// together, where the last of them stands. `None` before the first discovery, or for a test that
    /// it did not find.
    pub(super) fn runnable(&self, order: &[TestId]) -> Option<Vec<TestId>> {
        let found = self.found.get()?;
        self.launches.known()?;
        let places: Option<Vec<Place>> =
            order.iter().map(|test| found.places.get(test).copied()).collect();
        let places = places?;
        let mut last_of = HashMap::new();
        for (at, place) in places.iter().enumerate() {
            let is_shared = found.groups[place.group].is_shared();
            last_of.insert(*place, at);
            if is_shared {
                last_of.insert(Place { index: usize::MAX, ..*place }, at);
            }
        }
        let block = |place: &Place| {
            let together = Place { index: usize::MAX, ..*place };
            *last_of.get(&together).or_else(|| last_of.get(place)).unwrap_or(&0)
        };
        let mut blocks: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
        for place in &places {
            blocks.entry(block(place)).or_default().push(*place);
        }
        let settled = blocks.values().flat_map(|block| self.launches.nearest(found, block));
        let id = |place: Place| {
            let group = &found.groups[place.group];
            group.id(&group.tests[place.index])
        };
        Some(settled.map(id).collect())
    }

    /// A word about the tests that do something else where shuffled orders are allowed.
    pub(super) fn who_minds(&self) -> Option<Notice> {
        let found = self.found.get()?;
        let mind = self.controls.that_mind();
        let first = mind.first()?;
        let group = &found.groups[first.group];
        let id = group.id(&group.tests[first.index]);
        let who = match mind.len() {
            1 => format!("`{id}` does"),
            count => format!("`{id}` and {} more do", count - 1),
        };
        Some(Notice {
            what: format!(
                "{who} something else where `{ALLOWANCE}` is set, which other orders need, and so \
                 only the suite's own order and runs alone count"
            ),
            next: "hunt with a nightly toolchain, which needs no such variable".to_owned(),
        })
    }

    /// What tests see of us.
    pub(super) fn variables_for_tests(&self, attempt: u32) -> Variables {
        let some = |name: &str, value: String| (name.to_owned(), Some(value));
        Variables::from([
            some("FLAKEPROOF", "1".to_owned()),
            some("FLAKEPROOF_ATTEMPT", attempt.to_string()),
            some("FLAKEPROOF_RUN_ID", self.settings.run.clone()),
            some("FLAKEPROOF_SEED", self.settings.seed.to_string()),
            // The order of tests is ours, and so is how many run at a time.
            ("RUST_TEST_SHUFFLE".to_owned(), None),
            ("RUST_TEST_SHUFFLE_SEED".to_owned(), None),
            (THREADS.to_owned(), None),
        ])
    }
}

/// The toolchain, the locked dependencies, the features and the variables.
pub(super) fn surroundings_of(session: &CargoSession, found: &Found) -> Surroundings {
    let mut runtime = vec![found.toolchain.clone()];
    let options = session.command.only_building();
    if !options.is_empty() {
        runtime.push(format!("`{}`", options.join(" ")));
    }
    let features: BTreeSet<&str> = found
        .artifacts
        .iter()
        .filter(|artifact| artifact.is_test())
        .flat_map(|artifact| artifact.features.iter().map(String::as_str))
        .collect();
    if !features.is_empty() {
        let features: Vec<&str> = features.into_iter().collect();
        runtime.push(format!("the features {}", features.join(", ")));
    }
    runtime.extend(session.settings.timeout.map(|limit| format!("a time limit of {limit:?}")));
    let lock = std::fs::read(found.metadata.workspace_root.join("Cargo.lock")).unwrap_or_default();
    let packages = digest(&lock);
    Surroundings { runtime, packages, variables: digests_of_variables(), machine: None }
}

/// The project does not compile, or cargo does not like the command.
pub(super) fn not_built(command: &[String], printed: &str) -> Error {
    let command = command.join(" ");
    let is_compiling = ["could not compile", "error[E", "failed to run custom build command"];
    match is_compiling.iter().any(|it| printed.contains(it)) {
        true => Error::Explained {
            blame: Blame::Runner,
            what: "the tests do not compile, so none ran".to_owned(),
            next: format!("mend the errors above; `{command}` shows them as well"),
            details: last_lines(printed, 60),
        },
        false => Error::Explained {
            blame: Blame::Usage,
            what: format!("cargo does not accept `{command}`"),
            next: "mend the command after `--`; everything there goes to cargo as it is".to_owned(),
            details: last_lines(printed, 20),
        },
    }
}

/// There is no project, or cargo cannot read it.
pub(super) fn no_project(printed: &str) -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: "cargo cannot tell what is to be tested".to_owned(),
        next: "run it in the folder of a `Cargo.toml`, or name one with `--manifest-path`; for \
               another runner, name its adapter with `--adapter`"
            .to_owned(),
        details: last_lines(printed, 20),
    }
}

/// The tests were built, and cargo cannot list them.
pub(super) fn not_listed(command: &[String], printed: &str) -> Error {
    Error::Explained {
        blame: Blame::Runner,
        what: format!("`{}` cannot list its tests", command.join(" ")),
        next: "run the same command without flakeproof and with `-- --list` to see the cause"
            .to_owned(),
        details: last_lines(printed, 40),
    }
}

/// The tests are started by a program of the project's choice.
pub(super) fn own_runner() -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: "cargo starts these tests by a `runner` that its configuration names".to_owned(),
        next: "leave out `target.….runner` (or the variable `CARGO_TARGET_…_RUNNER`) for \
               flakeproof: it starts the tests itself"
            .to_owned(),
        details: String::new(),
    }
}

/// cargo itself is not there.
pub(super) fn explained(error: Error) -> Error {
    match error {
        Error::CannotStart { command, cause } => {
            let program = command.split_whitespace().next().unwrap_or(&command);
            Error::Explained {
                blame: Blame::Usage,
                what: format!("`{program}` cannot be started: {cause}"),
                next: "install Rust (https://rustup.rs), or check the command after `--`"
                    .to_owned(),
                details: String::new(),
            }
        }
        other => other,
    }
}

/// Nothing is selected.
pub(super) fn no_tests(command: &[String], has_targets: bool) -> Error {
    let command = command.join(" ");
    let next = match has_targets {
        true => "check the names and `--skip` after the command, and the chosen targets",
        false => "add a test target, or choose another package with `-p`",
    };
    Error::Explained {
        blame: Blame::NoTests,
        what: format!("`{command}` selects no test"),
        next: next.to_owned(),
        details: String::new(),
    }
}

/// nextest is not there, or does not like the command.
pub(super) fn no_nextest(printed: &str) -> Error {
    let is_missing = printed.contains("no such command") || printed.contains("no such subcommand");
    let (what, next) = match is_missing {
        true => (
            "`cargo nextest` is not installed",
            "install it (`cargo install cargo-nextest --locked`), or use `cargo test`",
        ),
        false => (
            "`cargo nextest` cannot list the tests",
            "run `cargo nextest list` with the same options to see the cause",
        ),
    };
    Error::Explained {
        blame: Blame::Usage,
        what: what.to_owned(),
        next: next.to_owned(),
        details: if is_missing { String::new() } else { last_lines(printed, 40) },
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
