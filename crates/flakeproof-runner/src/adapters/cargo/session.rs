//! What the environments of one adapter share, and how they start processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::command::CargoCommand;
use super::coverage::Instrumented;
use super::found::Found;
use crate::adapter::{Error, Result};
use crate::adapters::RunRequest;
use crate::agent::Hub;
use crate::process::{Ended, Instructions, run_to_end};

/// Bytes of what cargo prints that are kept: lists of tests and of what was built are long.
const KEPT: usize = 64 * 1024 * 1024;

/// Variables set on top of our own; `None` removes one.
pub(super) type Variables = BTreeMap<String, Option<String>>;

/// What the environments of one adapter share.
#[derive(Debug)]
pub(super) struct Session {
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
    started: AtomicU32,
    scratch: tempfile::TempDir,
}

impl Session {
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
            started: AtomicU32::new(0),
            scratch,
        })
    }

    /// What discovery told.
    pub(super) fn found(&self) -> Result<&Found> {
        self.found.get().ok_or_else(|| Error::Agent("no test was looked for yet".into()))
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
            ("RUST_TEST_THREADS".to_owned(), None),
        ])
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
