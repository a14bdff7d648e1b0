//! What forests learn from: features and outcomes, from files or from the history.

use std::path::{Path, PathBuf};

use flakeproof_core::{FeatureRecord, History, HistoryError, Tally};
use flakeproof_learn::cannier::{
    self, CsvError, Dataset, DatasetError, KnownTest, MeasuredTest, TestOutcomes, read_features,
    read_outcomes,
};
use flakeproof_store::Store;

use crate::cli::ForestData;
use crate::problem::Problem;
use crate::settings::{StoreName, locate};

/// Tests with their features, and tests with their outcomes.
pub(crate) type Tables = (Vec<MeasuredTest>, Vec<KnownTest>);

/// The data that was named, for one problem.
pub(crate) fn read(
    typed: &ForestData,
    question: cannier::Problem,
    folder: &Path,
) -> Result<Dataset, Problem> {
    let (measured, known) = read_tables(typed, folder)?;
    join(question, &measured, &known)
}

/// The tables and the history that were named.
pub(crate) fn read_tables(typed: &ForestData, folder: &Path) -> Result<Tables, Problem> {
    let mut measured = tables(&typed.features, read_features)?;
    let mut known = tables(&typed.outcomes, read_outcomes)?;
    if typed.history {
        let history = open(typed.store.as_ref(), folder)?;
        let (features, outcomes) =
            of_history(&*history, folder).map_err(|error| unreadable(&error))?;
        measured.extend(features);
        known.extend(outcomes);
    } else if typed.features.is_empty() {
        return Err(Problem::usage(
            "there is nothing to learn from",
            "give `--features CSV --outcomes CSV`, or `--history`",
        ));
    }
    Ok((measured, known))
}

/// Features and outcomes together, for one problem.
pub(crate) fn join(
    question: cannier::Problem,
    measured: &[MeasuredTest],
    known: &[KnownTest],
) -> Result<Dataset, Problem> {
    Dataset::join(question, measured, known).map_err(|error| {
        let next = match &error {
            DatasetError::Empty => "measure features with `flakeproof features` first",
            DatasetError::NothingInCommon { .. } => {
                "project and test must be spelled alike in both tables, and history knows the \
                 outcomes of tests on code whose state git knows"
            }
            DatasetError::NoFeature { .. } => "measure them with `flakeproof features`",
            DatasetError::Unobserved { .. } => {
                "give a table of `--outcomes` with the columns that tell it, or run the suite more \
                 often on the same code: `flakeproof features -n 5`"
            }
            DatasetError::OneClass { .. } => "add tests of the kind that is missing, or more runs",
        };
        Problem::usage(error.to_string(), next)
    })
}

/// The features that the project's history holds.
pub(crate) fn features_of(
    store: Option<&StoreName>,
    folder: &Path,
) -> Result<Vec<FeatureRecord>, Problem> {
    open(store, folder)?.features().map_err(|error| unreadable(&error))
}

/// The lines of all these tables.
pub(crate) fn tables<T>(
    paths: &[PathBuf],
    read: impl Fn(&str) -> Result<Vec<T>, CsvError>,
) -> Result<Vec<T>, Problem> {
    let mut all = Vec::new();
    for path in paths {
        let wrong = |cause: &dyn std::fmt::Display| {
            Problem::usage(
                format!("{}: {cause}", path.display()),
                "give a table of comma-separated values whose first line names the columns",
            )
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        all.extend(read(&text).map_err(|error| wrong(&error))?);
    }
    Ok(all)
}

fn open(store: Option<&StoreName>, folder: &Path) -> Result<Store, Problem> {
    let place = locate(store, folder)?;
    if !place.may_be_there() {
        return Err(Problem::usage(
            format!("there is no history at {place}"),
            "measure your tests with `flakeproof features` first, or name it with `--store`",
        ));
    }
    Store::open(&place).map_err(|error| unreadable(&error))
}

fn of_history(history: &dyn History, folder: &Path) -> Result<Tables, HistoryError> {
    let project = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let measured = history.features()?.into_iter().map(|it| MeasuredTest {
        project: project.clone(),
        test: it.test.to_string(),
        run: it.run,
        features: it.features,
    });
    let known = history.timeline()?.tallies().into_iter().map(|(test, tally)| KnownTest {
        project: project.clone(),
        test: test.to_string(),
        outcomes: TestOutcomes {
            // A single run cannot show that a test is not flaky.
            baseline: if tally.runs > 1 { tally } else { Tally::default() },
            ..TestOutcomes::default()
        },
    });
    Ok((measured.collect(), known.collect()))
}

fn unreadable(error: &HistoryError) -> Problem {
    Problem::usage(error.to_string(), "name the history with `--store`, or use tables")
}
