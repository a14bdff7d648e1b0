//! Experiments that say what makes a test fail, in the database.

use flakeproof_core::{CauseRecord, TestId};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use crate::runs::{from_json, json, test_number};

const PUT: &str = "
    INSERT INTO cause (id, started, command, seed, test, found, progress)
    VALUES (:id, :started, :command, :seed, :test, :found, :progress)
    ON CONFLICT (id) DO UPDATE SET found = excluded.found, progress = excluded.progress";

/// Keep an experiment, in place of what was kept of it before.
pub(crate) fn put(transaction: &Transaction<'_>, cause: &CauseRecord) -> rusqlite::Result<()> {
    let test = test_number(transaction, &cause.test)?;
    transaction.prepare_cached(PUT)?.execute(named_params! {
        ":id": cause.id,
        ":started": cause.started,
        ":command": json(&cause.command)?,
        ":seed": cause.seed,
        ":test": test,
        ":found": cause.found.as_ref().map(json).transpose()?,
        ":progress": json(&cause.progress)?,
    })?;
    Ok(())
}

const LATEST: &str = "
    SELECT cause.id, started, command, seed, test.id, found, progress
    FROM cause JOIN test ON test.number = cause.test
    WHERE cause.number IN (SELECT max(number) FROM cause WHERE found IS NOT NULL GROUP BY test)
    ORDER BY test.id";

/// The latest answer about each test.
pub(crate) fn latest(connection: &Connection) -> rusqlite::Result<Vec<CauseRecord>> {
    connection.prepare_cached(LATEST)?.query_map([], cause_record)?.collect()
}

const ALL: &str = "
    SELECT cause.id, started, command, seed, test.id, found, progress
    FROM cause JOIN test ON test.number = cause.test
    ORDER BY cause.number";

/// Every experiment, oldest first.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<CauseRecord>> {
    connection.prepare_cached(ALL)?.query_map([], cause_record)?.collect()
}

const UNFINISHED: &str = "
    SELECT cause.id, started, command, seed, test.id, found, progress
    FROM cause JOIN test ON test.number = cause.test
    WHERE test.id = ?1 AND command = ?2
    ORDER BY cause.number DESC
    LIMIT 1";

/// The latest experiment with a test, if it was not finished.
pub(crate) fn unfinished(
    connection: &Connection,
    test: &TestId,
    command: &[String],
) -> rusqlite::Result<Option<CauseRecord>> {
    let found = connection
        .prepare_cached(UNFINISHED)?
        .query_row((test.as_str(), json(&command)?), cause_record)
        .optional()?;
    Ok(found.filter(|cause| cause.found.is_none()))
}

fn cause_record(row: &Row<'_>) -> rusqlite::Result<CauseRecord> {
    let test: String = row.get(4)?;
    let found: Option<String> = row.get(5)?;
    Ok(CauseRecord {
        id: row.get(0)?,
        started: row.get(1)?,
        command: from_json(row, 2)?,
        seed: row.get(3)?,
        test: test.as_str().into(),
        found: found.map(|_| from_json(row, 5)).transpose()?,
        progress: from_json(row, 6)?,
    })
}
