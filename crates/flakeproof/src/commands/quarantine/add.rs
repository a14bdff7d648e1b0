//! `flakeproof quarantine add`.

use std::path::Path;

use flakeproof_core::{ExitCode, QuarantineEntry};
use flakeproof_runner::git::Repository;

use crate::cli::QuarantineAdd;
use crate::problem::Problem;
use crate::settings::{QuarantineFile, today};
use crate::view;

/// Put a test into quarantine.
pub(super) fn run(
    typed: &QuarantineAdd,
    file: &QuarantineFile,
    folder: &Path,
) -> Result<ExitCode, Problem> {
    let today = today();
    let entry = QuarantineEntry {
        id: typed.test.clone(),
        owner: owner(typed, folder)?,
        reason: typed.reason.clone(),
        issue: typed.issue.clone(),
        branch: typed.branch.clone(),
        added: today.clone(),
        expires: typed.expires.0.clone(),
    };
    if entry.is_expired(&today) {
        return Err(Problem::usage(
            format!("{} is over already", entry.expires),
            "name a day to come with `--expires`",
        ));
    }
    let same = |it: &&QuarantineEntry| it.id == entry.id && it.branch == entry.branch;
    if let Some(there) = file.entries.iter().find(same) {
        return Err(Problem::usage(
            format!("`{}` is in quarantine already, until {}", there.id, there.expires),
            format!("change its entry in {}", file.path.display()),
        ));
    }
    file.add(entry.clone())?;
    view::quarantined(&entry, &file.path);
    Ok(ExitCode::Clean)
}

/// Who was named, or who git says is typing.
fn owner(typed: &QuarantineAdd, folder: &Path) -> Result<String, Problem> {
    let known = || Repository::containing(folder).ok()?.user();
    typed.owner.clone().or_else(known).ok_or_else(|| {
        Problem::usage(
            "an entry needs somebody who will mend the test",
            "add `--owner NAME`, or tell git who you are (`git config user.name NAME`)",
        )
    })
}
