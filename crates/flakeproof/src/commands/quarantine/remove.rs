//! `flakeproof quarantine remove`.

use flakeproof_core::{ExitCode, TestId};

use crate::cli::QuarantineRemove;
use crate::problem::Problem;
use crate::session::naming;
use crate::settings::QuarantineFile;
use crate::view;

/// Take a test out of quarantine: all entries of it, whatever their branch.
pub(super) fn run(typed: &QuarantineRemove, file: &QuarantineFile) -> Result<ExitCode, Problem> {
    let mut ids: Vec<TestId> =
        file.entries.iter().map(|entry| TestId::from(entry.id.as_str())).collect();
    ids.dedup();
    let list = "`flakeproof quarantine list` shows what is in quarantine";
    let at = naming::the_one(&typed.test, &ids.iter().collect::<Vec<_>>(), list)?;
    file.remove(ids[at].as_str())?;
    view::unquarantined(&ids[at], &file.path);
    Ok(ExitCode::Clean)
}
