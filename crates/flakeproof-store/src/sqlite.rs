//! A history in one SQLite file.
//!
//! What [`record`](flakeproof_core::History::record) returned from survives a killed process, and
//! several processes may write at once: each call is one transaction that takes the write lock at
//! its start, so it waits for others there and nowhere else. Tests and signatures are stored once
//! and referred to by number.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use flakeproof_core::{
    Attempt, FeatureRecord, Features, Findings, History, HistoryError, HuntFindings, HuntRecord,
    Kind, KnownFlaky, PassRecord, RunRecord, Signature, Tally, TestFinding, TestId, TrackRecord,
    TrialRecord, Verdict,
};
use rusqlite::types::Type;
use rusqlite::{
    Connection, OptionalExtension, Row, Transaction, TransactionBehavior, named_params,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::features;
use crate::hunts::{self, HuntNumber};
use crate::opening;
use crate::place::Place;

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
    place: Place,
    open: Option<RunNumber>,
    open_hunt: Option<HuntNumber>,
}

/// The key of a row of `run`.
type RunNumber = i64;

impl SqliteHistory {
    /// Open the history in the file `path`, or make the file. Its folder must exist.
    ///
    /// # Errors
    /// `Newer` when a newer version wrote it, `Unreadable` when it is damaged or something else,
    /// `Unwritable` when it cannot be made or written.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        let place = Place::new(path)?;
        let connection = opening::open(&place)?;
        Ok(Self { connection, place, open: None, open_hunt: None })
    }

    /// Open the history of the project in `folder`: `folder/.flakeproof/history.db`.
    ///
    /// A missing `.flakeproof` is made, with a `.gitignore` that hides all that is in it.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn in_project(folder: &Path) -> Result<Self, HistoryError> {
        let ours = folder.join(".flakeproof");
        opening::make_project_folder(&ours)?;
        Self::open(&ours.join("history.db"))
    }

    fn open_run(&self) -> Result<RunNumber, HistoryError> {
        self.open.ok_or_else(|| self.place.unwritable("no run is open"))
    }

    fn open_hunt(&self) -> Result<HuntNumber, HistoryError> {
        self.open_hunt.ok_or_else(|| self.place.unwritable("no hunt is open"))
    }

    /// Make all changes of `work`, or none of them.
    fn write<T>(
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
        in_transaction().map_err(|error| self.place.fault(&error))
    }
}

impl History for SqliteHistory {
    fn begin(&mut self, run: &RunRecord) -> Result<(), HistoryError> {
        let number = self.write(|transaction| insert_run(transaction, run))?;
        self.open = Some(number);
        Ok(())
    }

    fn record(&mut self, attempts: &[Attempt]) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        if attempts.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            attempts.iter().try_for_each(|attempt| insert_execution(transaction, run, attempt))
        })
    }

    fn finish(&mut self, findings: &Findings) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        self.write(|transaction| {
            close_run(transaction, run, findings)?;
            findings.failures().try_for_each(|test| insert_finding(transaction, run, test))
        })?;
        self.open = None;
        Ok(())
    }

    fn last_pass(&self, test: &TestId) -> Result<Option<PassRecord>, HistoryError> {
        let before = self.open.unwrap_or(RunNumber::MAX);
        self.connection
            .prepare_cached(LAST_PASS)
            .and_then(|mut statement| {
                let parameters = named_params! { ":test": test.as_str(), ":before": before };
                statement.query_row(parameters, pass_record).optional()
            })
            .map_err(|error| self.place.fault(&error))
    }

    fn durations(&self) -> Result<BTreeMap<TestId, Duration>, HistoryError> {
        self.connection
            .prepare_cached(DURATIONS)
            .and_then(|mut statement| statement.query_map([], test_duration)?.collect())
            .map_err(|error| self.place.fault(&error))
    }

    fn track_records(&self) -> Result<BTreeMap<TestId, TrackRecord>, HistoryError> {
        self.connection
            .prepare_cached(TRACK_RECORDS)
            .and_then(|mut statement| statement.query_map([], track_record)?.collect())
            .map_err(|error| self.place.fault(&error))
    }

    fn tallies(&self) -> Result<BTreeMap<TestId, Tally>, HistoryError> {
        self.connection
            .prepare_cached(TALLIES)
            .and_then(|mut statement| statement.query_map([], tally)?.collect())
            .map_err(|error| self.place.fault(&error))
    }

    fn record_features(&mut self, measured: &[(TestId, Features)]) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        self.write(|transaction| {
            measured.iter().try_for_each(|(test, of_test)| {
                features::insert(transaction, run, test_number(transaction, test)?, of_test)
            })
        })
    }

    fn features(&self) -> Result<Vec<FeatureRecord>, HistoryError> {
        features::of_last_code(&self.connection).map_err(|error| self.place.fault(&error))
    }

    fn begin_hunt(&mut self, hunt: &HuntRecord) -> Result<(), HistoryError> {
        let number = self.write(|transaction| hunts::open(transaction, hunt))?;
        self.open_hunt = Some(number);
        Ok(())
    }

    fn unfinished_hunt(&self, command: &[String]) -> Result<Option<HuntRecord>, HistoryError> {
        hunts::unfinished(&self.connection, command).map_err(|error| self.place.fault(&error))
    }

    fn record_trial(&mut self, key: &str, trial: &TrialRecord) -> Result<(), HistoryError> {
        let hunt = self.open_hunt()?;
        self.write(|transaction| hunts::put_trial(transaction, hunt, key, trial))
    }

    fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError> {
        let Some(hunt) = self.open_hunt else { return Ok(None) };
        hunts::get_trial(&self.connection, hunt, key).map_err(|error| self.place.fault(&error))
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
        hunts::known_flaky(&self.connection).map_err(|error| self.place.fault(&error))
    }
}

/// Of the states of the code on which a test ran, the last line for it wins: the one on which it was
/// inconsistent, else the one with most runs, else the latest. Code whose state is not wholly known
/// may have changed unseen, and so may what surrounds it.
const TALLIES: &str = "
    SELECT test.id, count(*) AS runs,
           count(*) FILTER (WHERE execution.outcome <> 'passed') AS failures
      FROM execution
      JOIN test ON test.number = execution.test
      JOIN run ON run.number = execution.run
     WHERE execution.stage = 'first' AND execution.outcome <> 'skipped'
       AND run.tree ->> 'is_complete'
     GROUP BY execution.test, run.tree, run.surroundings ->> 'runtime',
              run.surroundings ->> 'packages'
     ORDER BY failures > 0 AND failures < runs, runs, max(run.number)";

fn tally(row: &Row<'_>) -> rusqlite::Result<(TestId, Tally)> {
    let test: String = row.get(0)?;
    Ok((test.into(), Tally { runs: row.get(1)?, failures: row.get(2)? }))
}

const TRACK_RECORDS: &str = "
    SELECT test.id,
           count(*) FILTER (WHERE execution.outcome = 'passed'),
           count(*) FILTER (WHERE execution.outcome NOT IN ('passed', 'skipped')),
           (SELECT count(*) FROM finding
             WHERE finding.test = test.number AND finding.verdict = 'flaky')
      FROM test
      JOIN execution ON execution.test = test.number AND execution.stage = 'first'
     GROUP BY test.number";

fn track_record(row: &Row<'_>) -> rusqlite::Result<(TestId, TrackRecord)> {
    let id: String = row.get(0)?;
    let record = TrackRecord { passes: row.get(1)?, failures: row.get(2)?, flaky: row.get(3)? };
    Ok((id.into(), record))
}

const INSERT_RUN: &str = "
    INSERT INTO run (id, started, command, seed, revision, branch, tree, surroundings, version)
    VALUES (:id, :started, :command, :seed, :revision, :branch, :tree, :surroundings, :version)";

fn insert_run(transaction: &Transaction<'_>, run: &RunRecord) -> rusqlite::Result<RunNumber> {
    transaction.prepare_cached(INSERT_RUN)?.insert(named_params! {
        ":id": run.id,
        ":started": run.started,
        ":command": json(&run.command)?,
        ":seed": run.seed.0.cast_signed(),
        ":revision": run.tree.revision,
        ":branch": run.tree.branch,
        ":tree": json(&run.tree)?,
        ":surroundings": json(&run.surroundings)?,
        ":version": run.version,
    })
}

const INSERT_EXECUTION: &str = "
    INSERT INTO execution (run, test, attempt, stage, isolation, position, outcome, microseconds,
                           signature, message)
    VALUES (:run, :test, :attempt, :stage, :isolation, :position, :outcome, :microseconds,
            :signature, :message)";

fn insert_execution(
    transaction: &Transaction<'_>,
    run: RunNumber,
    attempt: &Attempt,
) -> rusqlite::Result<()> {
    let execution = &attempt.execution;
    let failure = execution.failure.as_ref();
    let signature =
        failure.map(|failure| signature_number(transaction, &failure.signature)).transpose()?;
    transaction.prepare_cached(INSERT_EXECUTION)?.execute(named_params! {
        ":run": run,
        ":test": test_number(transaction, &execution.test)?,
        ":attempt": attempt.number,
        ":stage": attempt.stage.word(),
        ":isolation": attempt.isolation.word(),
        ":position": attempt.position,
        ":outcome": execution.outcome.word(),
        ":microseconds": i64::try_from(execution.duration.as_micros()).unwrap_or(i64::MAX),
        ":signature": signature,
        ":message": failure.map(|failure| failure.message.as_str()),
    })?;
    Ok(())
}

/// The key of a test's row, which is made if it is missing.
pub(crate) fn test_number(transaction: &Transaction<'_>, test: &TestId) -> rusqlite::Result<i64> {
    const FIND: &str = "SELECT number FROM test WHERE id = ?1";
    const INSERT: &str = "INSERT INTO test (id) VALUES (?1)";
    interned(transaction, test.as_str(), FIND, INSERT)
}

/// The key of a signature's row, which is made if it is missing.
fn signature_number(transaction: &Transaction<'_>, signature: &Signature) -> rusqlite::Result<i64> {
    const FIND: &str = "SELECT number FROM signature WHERE text = ?1";
    const INSERT: &str = "INSERT INTO signature (text) VALUES (?1)";
    interned(transaction, signature.as_str(), FIND, INSERT)
}

fn interned(
    transaction: &Transaction<'_>,
    text: &str,
    find: &str,
    insert: &str,
) -> rusqlite::Result<i64> {
    let known = transaction.prepare_cached(find)?.query_row([text], |row| row.get(0)).optional()?;
    match known {
        Some(number) => Ok(number),
        None => transaction.prepare_cached(insert)?.insert([text]),
    }
}

/// The end is reckoned from the start and the duration, so that nobody asks a clock twice.
const CLOSE_RUN: &str = "
    UPDATE run
    SET state = 'finished',
        exit_code = :exit_code,
        finished = strftime('%Y-%m-%dT%H:%M:%fZ', started, :seconds || ' seconds')
    WHERE number = :run";

fn close_run(
    transaction: &Transaction<'_>,
    run: RunNumber,
    findings: &Findings,
) -> rusqlite::Result<()> {
    transaction.prepare_cached(CLOSE_RUN)?.execute(named_params! {
        ":run": run,
        ":exit_code": findings.exit.number(),
        ":seconds": format!("{:.3}", findings.run.duration.as_secs_f64()),
    })?;
    Ok(())
}

const INSERT_FINDING: &str = "
    INSERT INTO finding (run, test, verdict, kind, evidence)
    VALUES (:run, :test, :verdict, :kind, :evidence)";

fn insert_finding(
    transaction: &Transaction<'_>,
    run: RunNumber,
    finding: &TestFinding,
) -> rusqlite::Result<()> {
    transaction.prepare_cached(INSERT_FINDING)?.execute(named_params! {
        ":run": run,
        ":test": test_number(transaction, &finding.id)?,
        ":verdict": finding.verdict.map(Verdict::word),
        ":kind": finding.kind.map(Kind::word),
        ":evidence": json(&finding.evidence)?,
    })?;
    Ok(())
}

/// One look into the index `execution_first_pass`, however long the history is.
const LAST_PASS: &str = "
    SELECT run.id, run.started, run.tree, run.surroundings
    FROM execution JOIN run ON run.number = execution.run
    WHERE execution.test = (SELECT number FROM test WHERE id = :test)
      AND execution.stage = 'first' AND execution.outcome = 'passed'
      AND execution.run < :before
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

/// A value as JSON text.
pub(crate) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// The value of a column that holds JSON text.
pub(crate) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
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
            seed,
            tree: TreeState::default(),
            surroundings: Surroundings::default(),
            version: "0.1.0".into(),
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
