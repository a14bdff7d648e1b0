//! `flakeproof quarantine`: known flaky tests that do not fail the build for a while. Tests are put
//! in and taken out, and a check says which entries are over and which tests are mended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flakeproof_core::statistics::{clean_runs_needed, failure_rate};
use flakeproof_core::{ExitCode, Notice, QuarantineEntry, Tally, TestId, Timeline, TrackRecord};
use flakeproof_runner::git::Repository;
use flakeproof_store::{Store, StoreLocation};

use crate::cli::{
    ListFormat, QuarantineAction, QuarantineAdd, QuarantineArguments, QuarantineCheck,
    QuarantineFile, QuarantineRemove, today,
};
use crate::problem::Problem;
use crate::session::{current_folder, history, naming};
use crate::settings::{ConfigurationFile, locate};
use crate::view::{self, Checked, Release};

/// Run the command.
pub(crate) fn run(typed: &QuarantineArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let project = ConfigurationFile::find(None, &folder)?.project;
    let file = QuarantineFile::read(&project)?;
    match &typed.action {
        QuarantineAction::Add(typed) => add(typed, &file, &folder),
        QuarantineAction::Remove(typed) => remove(typed, &file),
        QuarantineAction::List(typed) => {
            match typed.output_format {
                ListFormat::Text => view::quarantine(&file.entries, &today()),
                ListFormat::Json => view::quarantine_json(&file.entries, &today()),
            }
            Ok(ExitCode::Clean)
        }
        QuarantineAction::Check(typed) => check(typed, &file, &project),
    }
}

/// Put a test into quarantine.
pub(super) fn add(
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
    let Some(history) = history::hint(folder)? else { return Ok(typed.to_owned()) };
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
    let Some(history) = history::hint(folder)? else { return Ok(None) };
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

/// Take a test out of quarantine: all entries of it, whatever their branch.
pub(super) fn remove(typed: &QuarantineRemove, file: &QuarantineFile) -> Result<ExitCode, Problem> {
    let mut ids: Vec<TestId> =
        file.entries.iter().map(|entry| TestId::from(entry.id.as_str())).collect();
    ids.dedup();
    let list = "`flakeproof quarantine list` shows what is in quarantine";
    let at = naming::the_one(&typed.test, &ids.iter().collect::<Vec<_>>(), list)?;
    file.remove(ids[at].as_str())?;
    view::unquarantined(&ids[at], &file.path);
    Ok(ExitCode::Clean)
}

/// How sure a release must be.
const CONFIDENCE: f64 = 0.95;

/// The rarest failure that is waited for where nobody knows how often a test failed before.
const RARE: f64 = 0.05;

/// Check all entries.
pub(super) fn check(
    typed: &QuarantineCheck,
    file: &QuarantineFile,
    project: &Path,
) -> Result<ExitCode, Problem> {
    let place = locate(typed.store.as_ref(), project)?;
    let records = if place.may_be_there() { Some(Records::read(&place)?) } else { None };
    let today = today();
    let mut checked = Vec::new();
    for entry in &file.entries {
        let release = records.as_ref().map(|records| records.release_of(entry)).transpose()?;
        checked.push(Checked { entry, is_expired: entry.is_expired(&today), release });
    }
    view::quarantine_check(&checked, &file.path);
    let has_expired = checked.iter().any(|it| it.is_expired);
    Ok(if has_expired { ExitCode::Failures } else { ExitCode::Clean })
}

/// What the history knows.
struct Records {
    timeline: Timeline,
    all: BTreeMap<TestId, TrackRecord>,
}

impl Records {
    fn read(place: &StoreLocation) -> Result<Self, Problem> {
        let timeline = Store::open(place)
            .and_then(|history| history.timeline())
            .map_err(|error| unreadable(&error))?;
        let all = timeline.track_records();
        Ok(Self { timeline, all })
    }

    /// Whether the runs since an entry was made say that its test is mended.
    ///
    /// Runs count from the day after: on the day itself the test may have failed before it was
    /// put here.
    fn release_of(&self, entry: &QuarantineEntry) -> Result<Release, Problem> {
        let after = format!("{}T24", entry.added);
        let since = self.timeline.tallies_since(&after);
        let mut now = Tally::default();
        for (_, tally) in since.iter().filter(|(test, _)| entry.covers(test)) {
            now.runs += tally.runs;
            now.failures += tally.failures;
        }
        let mut before = Tally::default();
        for (_, record) in self.all.iter().filter(|(test, _)| entry.covers(test)) {
            before.runs += record.passes + record.failures;
            before.failures += record.failures;
        }
        before.runs = before.runs.saturating_sub(now.runs);
        before.failures = before.failures.saturating_sub(now.failures);
        let rate = match before.failures {
            0 => RARE,
            _ => failure_rate(before).mean,
        };
        Ok(Release { now, needed: clean_runs_needed(rate, CONFIDENCE) })
    }
}

fn unreadable(error: &flakeproof_core::HistoryError) -> Problem {
    Problem::usage(error.to_string(), "name another history with `--store`")
}
