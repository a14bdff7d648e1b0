//! A history in one SQLite file.
//!
//! What [`record`](flakeproof_core::History::record) returned from survives a killed process, and
//! several processes may write at once: each call is one transaction that takes the write lock at
//! its start, so it waits for others there and nowhere else. Tests and signatures are stored once
//! and referred to by number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use flakeproof_core::{
    Attempt, CauseRecord, FeatureRecord, Features, Findings, History, HistoryError, HuntFindings,
    HuntOverview, HuntRecord, KnownFlaky, Origin, PassRecord, PastFailure, PastFinding,
    PastOutcome, RunRecord, Stage, TestId, Timeline, TrialRecord,
};
use rusqlite::{
    Connection, OptionalExtension, Row, Transaction, TransactionBehavior, named_params,
};

use crate::history_file::{HistoryFile, PROJECT_FOLDER, make_project_folder};
use crate::hunts::{self, HuntNumber};
use crate::marks::Marks;
use crate::runs::{
    RunNumber, TestNumbers, close_run, features_of_last_code, from_json, insert_execution,
    insert_features, insert_finding, insert_run, test_number,
};
use crate::{causes, digests, past};

/// A history in one SQLite file.
///
/// ```
/// use flakeproof_core::History;
/// use flakeproof_store::SqliteHistory;
///
/// # let project = tempfile::tempdir()?;
/// # let project = project.path();
/// let history = SqliteHistory::in_project(project)?;
/// assert_eq!(history.last_pass(&"test_a.py::test_x".into())?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteHistory {
    connection: Connection,
    file: HistoryFile,
    open: Option<OpenRun>,
    /// The numbers of tests that were met already.
    numbers: TestNumbers,
    open_hunt: Option<HuntNumber>,
}

/// The run that is open, and how its tests fared so far.
#[derive(Debug)]
struct OpenRun {
    number: RunNumber,
    is_own: bool,
    marks: Marks,
}

impl SqliteHistory {
    /// Open the history in the file `path`, or make the file. Its folder must exist.
    ///
    /// # Errors
    /// `Newer` when a newer version wrote it, `Unreadable` when it is damaged or something else,
    /// `Unwritable` when it cannot be made or written.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        let file = HistoryFile::new(path)?;
        let connection = file.open()?;
        Ok(Self { connection, file, open: None, numbers: TestNumbers::default(), open_hunt: None })
    }

    /// Open the history of the project in `folder`: `folder/.flakeproof/history.db`.
    ///
    /// A missing `.flakeproof` is made, with a `.gitignore` that hides all that is in it.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn in_project(folder: &Path) -> Result<Self, HistoryError> {
        let ours = folder.join(PROJECT_FOLDER);
        make_project_folder(&ours)?;
        Self::open(&ours.join("history.db"))
    }

    /// Open an existing history for looking only: nothing that is done with it changes the file.
    ///
    /// # Errors
    /// `Unreadable` when it is missing, damaged or something else, `Newer` when a newer version wrote
    /// it, `Unwritable` when an older one did, which [`open`](Self::open) would bring up to date.
    pub fn look(path: &Path) -> Result<Self, HistoryError> {
        let file = HistoryFile::new(path)?;
        let connection = file.look()?;
        Ok(Self { connection, file, open: None, numbers: TestNumbers::default(), open_hunt: None })
    }

    /// Make the digests of runs that an older version kept, and of runs that were killed long ago, so
    /// that whoever only looks finds them.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub fn make_digests(&self) -> Result<(), HistoryError> {
        self.ask(digests::keep_missing)
    }

    /// A number that differs once another process has written to the history since it was opened.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn stamp(&self) -> Result<i64, HistoryError> {
        self.ask(|connection| connection.pragma_query_value(None, "data_version", |row| row.get(0)))
    }

    /// The file.
    pub(crate) fn file(&self) -> &HistoryFile {
        &self.file
    }

    /// Ask a question that changes nothing.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        question(&self.connection).map_err(|error| self.file.fault(&error))
    }

    fn open_run(&self) -> Result<RunNumber, HistoryError> {
        let open = self.open.as_ref().map(|open| open.number);
        open.ok_or_else(|| self.file.unwritable("no run is open"))
    }

    fn open_hunt(&self) -> Result<HuntNumber, HistoryError> {
        self.open_hunt.ok_or_else(|| self.file.unwritable("no hunt is open"))
    }

    /// Make all changes of `work`, or none of them.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        let in_transaction = || {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        in_transaction().map_err(|error| self.file.fault(&error))
    }
}

impl History for SqliteHistory {
    fn begin(&mut self, run: &RunRecord) -> Result<(), HistoryError> {
        // Between two runs, tests to which nothing refers may have been removed.
        self.numbers = TestNumbers::default();
        let number = self.write(|transaction| insert_run(transaction, run))?;
        let is_own = run.origin == Origin::Run;
        self.open = Some(OpenRun { number, is_own, marks: Marks::default() });
        Ok(())
    }

    fn record(&mut self, attempts: &[Attempt]) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        let is_own = self.open.as_ref().is_some_and(|open| open.is_own);
        if attempts.is_empty() {
            return Ok(());
        }
        let mut numbers = std::mem::take(&mut self.numbers);
        let tests = self.write(|transaction| {
            let insert = |attempt: &Attempt| {
                let test = numbers.number_of(transaction, &attempt.execution.test)?;
                // A plain pass that was read from a report is in the digest, and nobody asks for more.
                let is_telling =
                    attempt.stage != Stage::First || attempt.execution.outcome.is_failure();
                if is_own || is_telling {
                    insert_execution(transaction, run, test, attempt)?;
                }
                Ok(test)
            };
            attempts.iter().map(insert).collect::<rusqlite::Result<Vec<i64>>>()
        })?;
        // Only numbers that were committed are remembered.
        self.numbers = numbers;
        if let Some(open) = &mut self.open {
            tests.iter().zip(attempts).for_each(|(test, attempt)| open.marks.count(*test, attempt));
        }
        Ok(())
    }

    fn finish(&mut self, findings: &Findings) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        let mut marks = self.open.take().map(|open| open.marks).unwrap_or_default();
        self.write(|transaction| {
            close_run(transaction, run, findings.run.duration, Some(findings.exit))?;
            for test in findings.failures() {
                let number = insert_finding(transaction, run, test)?;
                test.verdict.into_iter().for_each(|verdict| marks.judge(number, verdict));
            }
            digests::put(transaction, run, &marks)
        })
    }

    fn close(&mut self, took: Duration) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        let marks = self.open.take().map(|open| open.marks).unwrap_or_default();
        self.write(|transaction| {
            close_run(transaction, run, took, None)?;
            digests::put(transaction, run, &marks)
        })
    }

    fn has_run(&self, id: &str) -> Result<bool, HistoryError> {
        const FIND: &str =
            "SELECT 1 FROM run WHERE id = ?1 AND (origin = 'run' OR state = 'finished')";
        self.connection
            .prepare_cached(FIND)
            .and_then(|mut statement| statement.exists([id]))
            .map_err(|error| self.file.fault(&error))
    }

    fn timeline(&self) -> Result<Timeline, HistoryError> {
        self.ask(digests::timeline)
    }

    fn brief_timeline(&self, with: &[TestId]) -> Result<Timeline, HistoryError> {
        self.ask(|connection| digests::brief_timeline(connection, with))
    }

    fn last_pass(&self, test: &TestId) -> Result<Option<PassRecord>, HistoryError> {
        let before = self.open.as_ref().map_or(RunNumber::MAX, |open| open.number);
        self.connection
            .prepare_cached(LAST_PASS)
            .and_then(|mut statement| {
                let parameters = named_params! { ":test": test.as_str(), ":before": before };
                statement.query_row(parameters, pass_record).optional()
            })
            .map_err(|error| self.file.fault(&error))
    }

    fn unsettle(&mut self) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        self.write(|transaction| {
            transaction.execute("UPDATE run SET is_settled = 0 WHERE number = ?1", [run])?;
            Ok(())
        })
    }

    fn past_outcomes(&self, test: &TestId) -> Result<Vec<PastOutcome>, HistoryError> {
        let before = self.open.as_ref().map_or(RunNumber::MAX, |open| open.number);
        self.ask(|connection| past::outcomes(connection, test, before))
    }

    fn durations(&self) -> Result<BTreeMap<TestId, Duration>, HistoryError> {
        self.connection
            .prepare_cached(DURATIONS)
            .and_then(|mut statement| statement.query_map([], test_duration)?.collect())
            .map_err(|error| self.file.fault(&error))
    }

    fn record_features(&mut self, measured: &[(TestId, Features)]) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        self.write(|transaction| {
            measured.iter().try_for_each(|(test, of_test)| {
                insert_features(transaction, run, test_number(transaction, test)?, of_test)
            })
        })
    }

    fn features(&self) -> Result<Vec<FeatureRecord>, HistoryError> {
        features_of_last_code(&self.connection).map_err(|error| self.file.fault(&error))
    }

    fn begin_hunt(&mut self, hunt: &HuntRecord) -> Result<(), HistoryError> {
        let number = self.write(|transaction| hunts::open(transaction, hunt))?;
        self.open_hunt = Some(number);
        Ok(())
    }

    fn unfinished_hunt(&self, command: &[String]) -> Result<Option<HuntRecord>, HistoryError> {
        hunts::unfinished(&self.connection, command).map_err(|error| self.file.fault(&error))
    }

    fn record_trial(&mut self, key: &str, trial: &TrialRecord) -> Result<(), HistoryError> {
        let hunt = self.open_hunt()?;
        self.write(|transaction| hunts::put_trial(transaction, hunt, key, trial))
    }

    fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError> {
        let Some(hunt) = self.open_hunt else { return Ok(None) };
        hunts::get_trial(&self.connection, hunt, key).map_err(|error| self.file.fault(&error))
    }

    fn finish_hunt(&mut self, findings: &HuntFindings) -> Result<(), HistoryError> {
        let hunt = self.open_hunt()?;
        self.write(|transaction| hunts::finish(transaction, hunt, findings))?;
        if hunts::is_over(findings) {
            self.open_hunt = None;
        }
        Ok(())
    }

    fn known_flaky(&self) -> Result<Vec<KnownFlaky>, HistoryError> {
        hunts::known_flaky(&self.connection).map_err(|error| self.file.fault(&error))
    }

    fn keep_cause(&mut self, cause: &CauseRecord) -> Result<(), HistoryError> {
        self.write(|transaction| causes::put(transaction, cause))
    }

    fn causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        self.ask(causes::latest)
    }

    fn unfinished_cause(
        &self,
        test: &TestId,
        command: &[String],
    ) -> Result<Option<CauseRecord>, HistoryError> {
        self.ask(|connection| causes::unfinished(connection, test, command))
    }

    fn past_findings(&self) -> Result<BTreeMap<TestId, Vec<PastFinding>>, HistoryError> {
        self.ask(past::findings)
    }

    fn past_failures(
        &self,
        of: Option<&BTreeSet<TestId>>,
    ) -> Result<BTreeMap<TestId, Vec<PastFailure>>, HistoryError> {
        self.ask(|connection| past::failures(connection, of))
    }

    fn latest_hunt(&self) -> Result<Option<HuntOverview>, HistoryError> {
        self.ask(past::latest_hunt)
    }
}

/// One look into the index `execution_first_pass`, however long the history is.
const LAST_PASS: &str = "
    SELECT run.id, run.started, run.tree, run.surroundings
    FROM execution JOIN run ON run.number = execution.run
    WHERE execution.test = (SELECT number FROM test WHERE id = :test)
      AND execution.stage = 'first' AND execution.outcome = 'passed'
      AND execution.run < :before AND run.origin = 'run' AND run.is_settled = 1
      AND run.folder = coalesce((SELECT folder FROM run WHERE number = :before), run.folder)
    ORDER BY execution.run DESC
    LIMIT 1";

fn pass_record(row: &Row<'_>) -> rusqlite::Result<PassRecord> {
    Ok(PassRecord {
        run: row.get(0)?,
        started: row.get(1)?,
        tree: from_json(row, 2)?,
        surroundings: from_json(row, 3)?,
    })
}

/// One look into the index `execution_pass` for each test.
const DURATIONS: &str = "
    SELECT test.id, execution.microseconds
    FROM test JOIN execution ON execution.number = (
        SELECT number FROM execution
        WHERE test = test.number AND outcome = 'passed'
        ORDER BY number DESC
        LIMIT 1)";

fn test_duration(row: &Row<'_>) -> rusqlite::Result<(TestId, Duration)> {
    let test: String = row.get(0)?;
    let microseconds: i64 = row.get(1)?;
    Ok((test.into(), Duration::from_micros(microseconds.unsigned_abs())))
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Seed, Surroundings, TreeState};

    use super::*;

    fn run(id: &str, seed: Seed) -> RunRecord {
        RunRecord {
            id: id.into(),
            started: "2026-11-15T02:53:00Z".into(),
            command: vec!["pytest".into()],
            folder: String::new(),
            seed,
            tree: TreeState::default(),
            surroundings: Surroundings::default(),
            version: "0.1.0".into(),
            origin: Origin::default(),
        }
    }

    fn history() -> (tempfile::TempDir, SqliteHistory) {
        let folder = tempfile::tempdir().unwrap();
        let history = SqliteHistory::in_project(folder.path()).unwrap();
        (folder, history)
    }

    fn plan(history: &SqliteHistory, query: &str) -> String {
        let mut statement =
            history.connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
        let parameters = vec![1; statement.parameter_count()];
        let steps = statement
            .query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>("detail"))
            .unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_seed_comes_back_as_it_was() {
        let (_folder, mut history) = history();
        for seed in [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
            history.begin(&run(&seed.to_string(), Seed(seed))).unwrap();
            let (stored, shown): (i64, String) = history
                .connection
                .query_row(
                    "SELECT seed, printf('%llu', seed) FROM run ORDER BY number DESC",
                    [],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .unwrap();
            assert_eq!((stored.cast_unsigned(), shown), (seed, seed.to_string()));
        }
    }

    #[test]
    fn the_last_pass_is_found_by_its_index() {
        let (_folder, history) = history();
        let plan = plan(&history, LAST_PASS);
        assert!(plan.contains("USING COVERING INDEX execution_first_pass (test=? AND run<?)"));
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
    }

    #[test]
    fn durations_are_found_by_their_index() {
        let (_folder, history) = history();
        let plan = plan(&history, DURATIONS);
        assert!(plan.contains("INDEX execution_pass (test=?)"), "{plan}");
        assert!(!plan.contains("SCAN execution") && !plan.contains("TEMP B-TREE"), "{plan}");
    }

    #[test]
    fn the_settings_that_the_promises_rest_on_are_made() {
        let (_folder, history) = history();
        let pragma = |name: &str| {
            let value = history.connection.pragma_query_value(None, name, |row| row.get(0));
            match value.unwrap() {
                rusqlite::types::Value::Text(text) => text,
                rusqlite::types::Value::Integer(number) => number.to_string(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(pragma("journal_mode"), "wal");
        assert_eq!(pragma("synchronous"), "1");
        assert_eq!(pragma("busy_timeout"), "10000");
        assert_eq!(pragma("foreign_keys"), "1");
    }

    #[test]
    fn all_attempts_of_a_call_are_kept_or_none() {
        let (_folder, mut history) = history();
        history.begin(&run("1", Seed(7))).unwrap();
        let error = history.write(|transaction| {
            test_number(transaction, &"test_a".into())?;
            transaction.execute("INSERT INTO test (id) VALUES ('test_a')", [])
        });
        assert!(matches!(error, Err(HistoryError::Unwritable { .. })));
        let tests: i64 = history
            .connection
            .query_row("SELECT count(*) FROM test", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tests, 0);
    }
}
