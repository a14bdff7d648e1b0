//! `flakeproof quarantine add`.

use std::collections::BTreeSet;
use std::path::Path;

use flakeproof_core::{ExitCode, History, Notice, QuarantineEntry};
use flakeproof_runner::git::Repository;

use crate::cli::QuarantineAdd;
use crate::problem::Problem;
use crate::session::history;
use crate::settings::{QuarantineFile, today};
use crate::view;

/// Put a test into quarantine.
pub(super) fn run(
    typed: &QuarantineAdd,
    file: &QuarantineFile,
    folder: &Path,
) -> Result<ExitCode, Problem> {
    if typed.test.trim().is_empty() {
        return Err(Problem::usage("a test has a name", "`flakeproof list` names the flaky ones"));
    }
    let today = today();
    let entry = QuarantineEntry {
        id: meant(&typed.test, folder)?,
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
    let doubt = doubt_of(&entry, folder, &file.path)?;
    file.add(entry.clone())?;
    view::quarantined(&entry, &file.path);
    view::notices(doubt.as_slice());
    Ok(ExitCode::Clean)
}

/// The id that was typed, or that of the only test of the history that ends like it.
fn meant(typed: &str, folder: &Path) -> Result<String, Problem> {
    let Some(history) = history::find(None, folder)? else { return Ok(typed.to_owned()) };
    let timeline = history.timeline().map_err(|error| history::unreadable(&error))?;
    let (stem, parameters) = typed.strip_suffix("[*]").map_or((typed, ""), |stem| (stem, "[*]"));
    let stems = timeline.tests.iter().map(|it| match parameters {
        "" => it.test.as_str(),
        _ => it.test.as_str().split('[').next().unwrap_or_default(),
    });
    let ends: BTreeSet<&str> = stems.filter(|id| id.ends_with(stem)).collect();
    match ends.iter().next() {
        Some(only) if ends.len() == 1 => Ok(format!("{only}{parameters}")),
        _ => Ok(typed.to_owned()),
    }
}

/// What to say about an entry that covers no test of the history: a slip of the pen excuses nobody.
fn doubt_of(
    entry: &QuarantineEntry,
    folder: &Path,
    file: &Path,
) -> Result<Option<Notice>, Problem> {
    let Some(history) = history::find(None, folder)? else { return Ok(None) };
    let timeline = history.timeline().map_err(|error| history::unreadable(&error))?;
    let tests = || timeline.tests.iter().map(|it| &it.test);
    if timeline.tests.is_empty() || tests().any(|test| entry.covers(test)) {
        return Ok(None);
    }
    let typed = entry.id.trim_end_matches("[*]");
    let meant = tests().find(|test| test.as_str().contains(typed));
    let next = match meant {
        Some(test) => {
            format!("did you mean `{test}`? then correct the entry in {}", file.display())
        }
        None => "a test that never ran here is not there yet; else look at its id".to_owned(),
    };
    let what = format!("the history has no test `{}`", entry.id);
    Ok(Some(Notice { what, next }))
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
