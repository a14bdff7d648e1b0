//! `flakeproof store`: what the history holds, what it forgets, and its tables for other programs.

mod export;
mod parquet;

use std::path::Path;

use flakeproof_core::{ExitCode, HistoryError};
use flakeproof_store::{Compaction, Depth, Pruning, SqliteHistory};
use jiff::{SignedDuration, Timestamp};

use crate::cli::{ListFormat, StoreAction, StoreArguments, StorePrune, StoreStatistics};
use crate::problem::Problem;
use crate::session::{current_folder, history};
use crate::view;

/// What is shown of what pruning would win.
const SHOWN_DAYS: u32 = 90;

/// Run the command.
pub(crate) fn run(typed: &StoreArguments) -> Result<ExitCode, Problem> {
    match &typed.action {
        StoreAction::Stats(typed) => statistics(typed)?,
        StoreAction::Prune(typed) => prune(typed)?,
        StoreAction::Export(typed) => export::run(typed)?,
    }
    Ok(ExitCode::Clean)
}

fn statistics(typed: &StoreStatistics) -> Result<(), Problem> {
    let history = look(typed.store.as_deref())?;
    let stats = history.stats().map_err(|error| unreadable(&error))?;
    let pruning = Pruning { before: days_ago(SHOWN_DAYS), depth: Depth::Details };
    let pruned = history.prune_outlook(&pruning).map_err(|error| unreadable(&error))?;
    let bytes = stats.saving(&pruned);
    let outlook = view::PruneOutlook { pruned, bytes, is_deep: false };
    match typed.output_format {
        ListFormat::Text => view::store_statistics(&stats, &outlook, SHOWN_DAYS),
        ListFormat::Json => view::store_statistics_json(&stats),
    }
    Ok(())
}

fn prune(typed: &StorePrune) -> Result<(), Problem> {
    let before = match (typed.before, typed.keep_days) {
        (Some(day), _) => day.to_string(),
        // One of the two is there, or clap has said so.
        (None, days) => days_ago(days.unwrap_or(u32::MAX)),
    };
    let depth = if typed.runs { Depth::Runs } else { Depth::Details };
    let pruning = Pruning { before, depth };
    if typed.dry_run {
        let history = look(typed.store.as_deref())?;
        let pruned = history.prune_outlook(&pruning).map_err(|error| unreadable(&error))?;
        let stats = history.stats().map_err(|error| unreadable(&error))?;
        let bytes = stats.saving(&pruned);
        view::prune_outlook(&view::PruneOutlook { pruned, bytes, is_deep: typed.runs });
        return Ok(());
    }
    let mut history = open(typed.store.as_deref())?;
    let size = history.bytes();
    let pruned = history.prune(&pruning).map_err(|error| unwritable(&error))?;
    let compaction = history.compact().map_err(|error| unwritable(&error))?;
    let is_compact = compaction == Compaction::Done;
    view::pruned(&pruned, size, history.bytes(), is_compact);
    Ok(())
}

/// The time so many days ago.
fn days_ago(days: u32) -> String {
    let span = SignedDuration::from_hours(i64::from(days) * 24);
    let then = Timestamp::now().checked_sub(span).unwrap_or(Timestamp::MIN);
    then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The history, to look into it. One of an older version is brought up to date.
fn look(store: Option<&Path>) -> Result<SqliteHistory, Problem> {
    let place = place(store)?;
    SqliteHistory::look(&place)
        .or_else(|_| SqliteHistory::open(&place))
        .map_err(|error| unreadable(&error))
}

fn open(store: Option<&Path>) -> Result<SqliteHistory, Problem> {
    SqliteHistory::open(&place(store)?).map_err(|error| unwritable(&error))
}

/// Where the history is; a file that is not there is not made.
fn place(store: Option<&Path>) -> Result<std::path::PathBuf, Problem> {
    let place = history::place(store, &current_folder()?)?;
    if place.is_file() {
        return Ok(place);
    }
    let next = "run your tests with `flakeproof run -- COMMAND`, or name a history with `--store`";
    Err(Problem::usage(format!("there is no history at {}", place.display()), next))
}

fn unreadable(error: &HistoryError) -> Problem {
    Problem::usage(error.to_string(), "name another history with `--store`")
}

fn unwritable(error: &HistoryError) -> Problem {
    Problem::broken(
        error.to_string(),
        "try again when no other process writes; nothing was changed",
    )
}
