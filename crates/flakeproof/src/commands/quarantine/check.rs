//! `flakeproof quarantine check`: which entries are over, and which tests are mended.

use std::collections::BTreeMap;
use std::path::Path;

use flakeproof_core::statistics::{clean_runs_needed, failure_rate};
use flakeproof_core::{ExitCode, History, QuarantineEntry, Tally, TestId, Timeline, TrackRecord};
use flakeproof_store::SqliteHistory;

use crate::cli::QuarantineCheck;
use crate::problem::Problem;
use crate::session::history;
use crate::settings::{QuarantineFile, today};
use crate::view::{self, Checked, Release};

/// How sure a release must be.
const CONFIDENCE: f64 = 0.95;

/// The rarest failure that is waited for where nobody knows how often a test failed before.
const RARE: f64 = 0.05;

/// Check all entries.
pub(super) fn run(
    typed: &QuarantineCheck,
    file: &QuarantineFile,
    project: &Path,
) -> Result<ExitCode, Problem> {
    let place = history::place(typed.store.as_deref(), project)?;
    let records = if place.is_file() { Some(Records::read(&place)?) } else { None };
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
    fn read(place: &Path) -> Result<Self, Problem> {
        let timeline = SqliteHistory::open(place)
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
