//! `flakeproof list`: the known flaky tests of the project.

use flakeproof_core::{ExitCode, History, HistoryError, KnownFlaky, Scores};
use flakeproof_store::SqliteHistory;

use crate::cli::{ListArguments, ListFormat};
use crate::problem::Problem;
use crate::session::{current_folder, history};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ListArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let (hunted, scores) = match history::find(typed.store.as_deref(), &folder)? {
        Some(history) => read(&history).map_err(|error| history::unreadable(&error))?,
        None => (Vec::new(), Scores::default()),
    };
    match typed.output_format {
        ListFormat::Text => view::known_flaky(&hunted, &scores),
        ListFormat::Json => view::known_flaky_json(&hunted, &scores),
    }
    Ok(ExitCode::Clean)
}

fn read(history: &SqliteHistory) -> Result<(Vec<KnownFlaky>, Scores), HistoryError> {
    let hunted = history.known_flaky()?;
    let mut scores = Scores::from_timeline(&history.timeline()?);
    scores.add_hunted(&hunted);
    Ok((hunted, scores))
}
