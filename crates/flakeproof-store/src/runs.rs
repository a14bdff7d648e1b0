//! Runs, their executions, what was found and what was measured, as rows.

use std::collections::HashMap;
use std::time::Duration;

use flakeproof_core::{
    Attempt, ExitCode, Feature, FeatureRecord, Features, Kind, Origin, RunRecord, Signature,
    TestFinding, TestId, Verdict,
};
use rusqlite::types::Type;
use rusqlite::{
    Connection, OptionalExtension, Row, Transaction, named_params, params, params_from_iter,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The number of the rules of evidence by which findings are made now.
pub(crate) const RULES: i64 = 2;

/// The key of a row of `run`.
pub(crate) type RunNumber = i64;

/// The numbers of tests that were met already.
#[derive(Debug, Default)]
pub(crate) struct TestNumbers(HashMap<TestId, i64>);

impl TestNumbers {
    /// The number of a test, whose row is made if it is missing.
    pub(crate) fn number_of(
        &mut self,
        transaction: &Transaction<'_>,
        test: &TestId,
    ) -> rusqlite::Result<i64> {
        if let Some(number) = self.0.get(test) {
            return Ok(*number);
        }
        let number = test_number(transaction, test)?;
        self.0.insert(test.clone(), number);
        Ok(number)
    }
}

const INSERT_RUN: &str = "
    INSERT INTO run (id, started, command, seed, revision, branch, tree, surroundings, version,
                     origin, job, folder, rules)
    VALUES (:id, :started, :command, :seed, :revision, :branch, :tree, :surroundings, :version,
            :origin, :job, :folder, :rules)";

/// Open a run. One of the same id whose reports were not read to their end is replaced.
pub(crate) fn insert_run(
    transaction: &Transaction<'_>,
    run: &RunRecord,
) -> rusqlite::Result<RunNumber> {
    if run.origin != Origin::Run {
        remove_unfinished(transaction, &run.id)?;
    }
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
        ":origin": run.origin.word(),
        ":job": run.origin.job(),
        ":folder": run.folder,
        ":rules": RULES,
    })
}

fn remove_unfinished(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    const FIND: &str =
        "SELECT number FROM run WHERE id = ?1 AND origin = 'reports' AND state = 'open'";
    let half: Option<RunNumber> = transaction.query_row(FIND, [id], |row| row.get(0)).optional()?;
    if let Some(run) = half {
        transaction.execute("DELETE FROM execution WHERE run = ?1", [run])?;
        transaction.execute("DELETE FROM run WHERE number = ?1", [run])?;
    }
    Ok(())
}

const INSERT_EXECUTION: &str = "
    INSERT INTO execution (run, test, attempt, stage, isolation, position, outcome, microseconds,
                           signature, message)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// Keep an attempt at a test.
pub(crate) fn insert_execution(
    transaction: &Transaction<'_>,
    run: RunNumber,
    test: i64,
    attempt: &Attempt,
) -> rusqlite::Result<()> {
    let execution = &attempt.execution;
    let failure = execution.failure.as_ref();
    let signature =
        failure.map(|failure| signature_number(transaction, &failure.signature)).transpose()?;
    // By place: to find ten names takes as long as to keep the row.
    transaction.prepare_cached(INSERT_EXECUTION)?.execute(params![
        run,
        test,
        attempt.number,
        attempt.stage.word(),
        attempt.isolation.word(),
        attempt.position,
        execution.outcome.word(),
        i64::try_from(execution.duration.as_micros()).unwrap_or(i64::MAX),
        signature,
        failure.map(|failure| failure.message.as_str()),
    ])?;
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

/// Close a run.
pub(crate) fn close_run(
    transaction: &Transaction<'_>,
    run: RunNumber,
    took: Duration,
    exit: Option<ExitCode>,
) -> rusqlite::Result<()> {
    transaction.prepare_cached(CLOSE_RUN)?.execute(named_params! {
        ":run": run,
        ":exit_code": exit.map(ExitCode::number),
        ":seconds": format!("{:.3}", took.as_secs_f64()),
    })?;
    Ok(())
}

const INSERT_FINDING: &str = "
    INSERT INTO finding (run, test, verdict, kind, evidence)
    VALUES (:run, :test, :verdict, :kind, :evidence)";

/// Keep what was found about a test; returns the test's number.
pub(crate) fn insert_finding(
    transaction: &Transaction<'_>,
    run: RunNumber,
    finding: &TestFinding,
) -> rusqlite::Result<i64> {
    let test = test_number(transaction, &finding.id)?;
    transaction.prepare_cached(INSERT_FINDING)?.execute(named_params! {
        ":run": run,
        ":test": test,
        ":verdict": finding.verdict.map(Verdict::word),
        ":kind": finding.kind.map(Kind::word),
        ":evidence": json(&finding.evidence)?,
    })?;
    Ok(test)
}

/// Keep the features of one test in a run.
pub(crate) fn insert_features(
    transaction: &Transaction<'_>,
    run: i64,
    test: i64,
    features: &Features,
) -> rusqlite::Result<()> {
    let names = Features::NAMES.join(", ");
    let places = vec!["?"; Features::NAMES.len()].join(", ");
    let insert = format!("INSERT INTO feature (run, test, {names}) VALUES (?, ?, {places})");
    let place = [run.into(), test.into()].into_iter();
    let values = features.values().iter().map(|value| rusqlite::types::Value::from(*value));
    transaction.prepare_cached(&insert)?.execute(params_from_iter(place.chain(values)))?;
    Ok(())
}

/// The features on the code that was measured last, by run and test.
pub(crate) fn features_of_last_code(
    connection: &Connection,
) -> rusqlite::Result<Vec<FeatureRecord>> {
    let names: Vec<String> = Features::NAMES.iter().map(|name| format!("feature.{name}")).collect();
    let select = format!(
        "SELECT test.id, dense_rank() OVER (ORDER BY feature.run), {}
           FROM feature
           JOIN test ON test.number = feature.test
           JOIN run ON run.number = feature.run
           JOIN run AS last ON last.number = (SELECT max(run) FROM feature)
          WHERE run.tree = last.tree
            AND run.surroundings ->> 'runtime' = last.surroundings ->> 'runtime'
            AND run.surroundings ->> 'packages' = last.surroundings ->> 'packages'
          ORDER BY feature.run, feature.test",
        names.join(", ")
    );
    connection.prepare_cached(&select)?.query_map([], feature_record)?.collect()
}

fn feature_record(row: &Row<'_>) -> rusqlite::Result<FeatureRecord> {
    let test: String = row.get(0)?;
    let mut features = Features::default();
    for (column, feature) in (2..).zip(Feature::ALL) {
        features.set(feature, row.get(column)?);
    }
    Ok(FeatureRecord { test: TestId::from(test), run: row.get(1)?, features })
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
