//! Removing what tests leave on disk, if that was asked for, and saying so.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use flakeproof_core::Notice;
use flakeproof_runner::git::{CannotTidy, Tidying};
use flakeproof_runner::{Error, Result};

use flakeproof_store::StoreLocation;

use super::kept_hunt::KeptHunt;
use crate::cli::HuntSettings;
use crate::problem::Problem;
use crate::settings::ConfigurationFile;

/// Paths that are named; the rest is counted.
const NAMED: usize = 5;

/// Removes what tests leave on disk, and remembers what that was.
pub(super) struct DiskCleaner {
    /// `None` if nobody asked for it.
    tidying: Option<Tidying>,
    removed: Mutex<BTreeSet<String>>,
}

impl DiskCleaner {
    /// Look at what is there, before the first test runs and after all were collected.
    pub(super) fn prepare(
        session: &KeptHunt,
        settings: &HuntSettings,
    ) -> std::result::Result<Self, Problem> {
        let project = ConfigurationFile::find(None, &settings.folder).map(|it| it.project);
        let project = project.unwrap_or_else(|_| settings.folder.clone());
        let named = match &settings.store {
            StoreLocation::File(path) => Some(path.clone()),
            StoreLocation::Project(folder) => Some(folder.join(".flakeproof")),
            StoreLocation::Postgres(_) | StoreLocation::Objects(_) => None,
        };
        let kept = named.into_iter().chain([project.join(".flakeproof")]);
        let kept = kept.map(|path| path.canonicalize().unwrap_or(path)).collect();
        let tidying = session.asked.tidy.then(|| Tidying::begin(&settings.folder, kept));
        let tidying = tidying.transpose().map_err(|error| explain(&error))?;
        Ok(Self { tidying, removed: Mutex::default() })
    }

    pub(super) fn is_used(&self) -> bool {
        self.tidying.is_some()
    }

    /// Remove what is left.
    pub(super) fn tidy(&self) -> Result<()> {
        let Some(tidying) = &self.tidying else { return Ok(()) };
        let removed = tidying
            .tidy()
            .map_err(|error| Error::io("tidy up after the tests")(std::io::Error::other(error)))?;
        self.removed.lock().unwrap_or_else(PoisonError::into_inner).extend(removed);
        Ok(())
    }

    /// What the reader should know, once the last test has run.
    pub(super) fn notices(&self) -> Vec<Notice> {
        let Some(tidying) = &self.tidying else { return Vec::new() };
        // Who was interrupted leaves something, too.
        let last = self.tidy();
        let removed = self.removed.lock().unwrap_or_else(PoisonError::into_inner);
        let left: Vec<String> = removed.iter().filter(|it| !is_bytecode(it)).cloned().collect();
        let mut notices = Vec::new();
        if !left.is_empty() {
            notices.push(Notice {
                what: format!("tests left files or folders, which were removed: {}", some(&left)),
                next: "let the tests that write them remove them, or use temporary folders".into(),
            });
        }
        let edited = tidying.edited_since().unwrap_or_default();
        if !edited.is_empty() {
            notices.push(Notice {
                what: format!("tests changed files that git tracks: {}", some(&edited)),
                next: "they were not touched; `git diff` shows the change".into(),
            });
        }
        notices.extend(last.err().map(|error| Notice {
            what: format!("what the last tests left could not be removed: {error}"),
            next: "look at `git status`".into(),
        }));
        notices
    }
}

/// What the interpreter itself leaves.
fn is_bytecode(path: &str) -> bool {
    path.split('/').any(|part| part == "__pycache__")
}

fn some(paths: &[String]) -> String {
    let named = paths.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn explain(error: &CannotTidy) -> Problem {
    match error {
        CannotTidy::NoRepository(why) => Problem::usage(
            format!("`--tidy` needs git to know what belongs to the project: {why}"),
            "commit the project (`git init`, `git add .`, `git commit`), or hunt without `--tidy`",
        ),
        CannotTidy::GitFailed { .. } | CannotTidy::Unlisted { .. } => Problem::broken(
            format!("`--tidy` cannot begin: {error}"),
            "make everything in the folder readable, or hunt without `--tidy`",
        ),
    }
}
