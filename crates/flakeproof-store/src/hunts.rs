//! Hunts, their trials and what they found, in the database.
//!
//! A trial is a line of letters, one for each test, so that a thousand runs of ten thousand tests
//! take some ten megabytes. Of the tests that are not flaky only the numbers are kept.

use std::time::Duration;

use flakeproof_core::{
    HuntEnd, HuntFindings, HuntRecord, HuntSummary, HuntedTest, KnownFlaky, TrialRecord,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use crate::runs::{from_json, json, test_number};

/// The key of a row of `hunt`.
pub(crate) type HuntNumber = i64;

const INSERT_HUNT: &str = "
    INSERT INTO hunt (id, started, command, fingerprint, seed, settings, version)
    VALUES (:id, :started, :command, :fingerprint, :seed, :settings, :version)";

/// The key of the hunt's row, which is made if it is missing.
pub(crate) fn open(
    transaction: &Transaction<'_>,
    hunt: &HuntRecord,
) -> rusqlite::Result<HuntNumber> {
    let known = transaction
        .prepare_cached("SELECT number FROM hunt WHERE id = ?1")?
        .query_row([&hunt.id], |row| row.get(0))
        .optional()?;
    if let Some(number) = known {
        return Ok(number);
    }
    transaction.prepare_cached(INSERT_HUNT)?.insert(named_params! {
        ":id": hunt.id,
        ":started": hunt.started,
        ":command": json(&hunt.command)?,
        ":fingerprint": hunt.fingerprint,
        ":seed": hunt.seed,
        ":settings": hunt.settings,
        ":version": hunt.version,
    })
}

const UNFINISHED: &str = "
    SELECT id, started, command, fingerprint, seed, settings, version
    FROM hunt
    WHERE state = 'open' AND command = ?1
    ORDER BY number DESC
    LIMIT 1";

/// The latest hunt of a command that was not finished.
pub(crate) fn unfinished(
    connection: &Connection,
    command: &[String],
) -> rusqlite::Result<Option<HuntRecord>> {
    let command = json(&command)?;
    connection.prepare_cached(UNFINISHED)?.query_row([command], hunt_record).optional()
}

/// The first seven columns of a row as a hunt.
pub(crate) fn hunt_record(row: &Row<'_>) -> rusqlite::Result<HuntRecord> {
    Ok(HuntRecord {
        id: row.get(0)?,
        started: row.get(1)?,
        command: from_json(row, 2)?,
        fingerprint: row.get(3)?,
        seed: row.get(4)?,
        settings: row.get(5)?,
        version: row.get(6)?,
    })
}

const PUT_TRIAL: &str = "
    INSERT OR REPLACE INTO trial (hunt, key, letters, failures, executions, microseconds)
    VALUES (:hunt, :key, :letters, :failures, :executions, :microseconds)";

/// Keep a trial.
pub(crate) fn put_trial(
    transaction: &Transaction<'_>,
    hunt: HuntNumber,
    key: &str,
    trial: &TrialRecord,
) -> rusqlite::Result<()> {
    transaction.prepare_cached(PUT_TRIAL)?.execute(named_params! {
        ":hunt": hunt,
        ":key": key,
        ":letters": trial.letters(),
        ":failures": json(&trial.failures)?,
        ":executions": trial.executions,
        ":microseconds": microseconds(trial.duration),
    })?;
    Ok(())
}

const GET_TRIAL: &str = "
    SELECT letters, failures, executions, microseconds
    FROM trial
    WHERE hunt = ?1 AND key = ?2";

/// The trial with this key.
pub(crate) fn get_trial(
    connection: &Connection,
    hunt: HuntNumber,
    key: &str,
) -> rusqlite::Result<Option<TrialRecord>> {
    connection
        .prepare_cached(GET_TRIAL)?
        .query_row(rusqlite::params![hunt, key], trial_record)
        .optional()
}

/// The first four columns of a row as a trial.
pub(crate) fn trial_record(row: &Row<'_>) -> rusqlite::Result<TrialRecord> {
    let letters: String = row.get(0)?;
    let taken: i64 = row.get(3)?;
    Ok(TrialRecord {
        outcomes: TrialRecord::outcomes_of(&letters).ok_or_else(|| unknown_letter(0))?,
        failures: from_json(row, 1)?,
        executions: row.get(2)?,
        duration: Duration::from_micros(taken.unsigned_abs()),
    })
}

fn unknown_letter(column: usize) -> rusqlite::Error {
    let why = "a letter stands for no outcome";
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

/// Keep what a hunt found, in place of what it had found before.
pub(crate) fn finish(
    transaction: &Transaction<'_>,
    hunt: HuntNumber,
    findings: &HuntFindings,
) -> rusqlite::Result<()> {
    for table in ["hunted", "looked_at"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE hunt = ?1"), [hunt])?;
    }
    close(transaction, hunt, findings)?;
    let mut numbers = Vec::new();
    for test in decided(findings) {
        let number = test_number(transaction, &test.id)?;
        numbers.push(number);
        if let Some(kind) = test.kind {
            transaction
                .prepare_cached(
                    "INSERT INTO hunted (hunt, test, kind, found) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(rusqlite::params![hunt, number, kind.word(), json(test)?])?;
        }
    }
    for (first, last) in ranges(numbers) {
        transaction
            .prepare_cached("INSERT INTO looked_at (hunt, first, last) VALUES (?1, ?2, ?3)")?
            .execute([hunt, first, last])?;
    }
    Ok(())
}

/// The tests that a hunt has an opinion about: as long as it is not finished, a test that has not
/// shown itself may still do so.
pub(crate) fn decided(findings: &HuntFindings) -> impl Iterator<Item = &HuntedTest> {
    let is_over = is_over(findings);
    let is_decided =
        move |test: &&HuntedTest| test.kind.is_some() || (is_over && test.all().runs > 0);
    findings.tests.iter().filter(is_decided)
}

/// Whether a hunt ended by itself.
pub(crate) fn is_over(findings: &HuntFindings) -> bool {
    match findings.end {
        HuntEnd::Finished => true,
        HuntEnd::BudgetSpent | HuntEnd::Interrupted => false,
    }
}

/// What a hunt took and why it ended.
pub(crate) fn summary_of(findings: &HuntFindings) -> HuntSummary {
    HuntSummary { tests: findings.tests.len(), cost: findings.cost.clone(), end: findings.end }
}

const CLOSE: &str = "
    UPDATE hunt
    SET state = :state, executions = :executions, microseconds = :microseconds, summary = :summary
    WHERE number = :hunt";

/// Nobody takes up a finished hunt, so the trials of those before this one make room.
const FORGET: &str = "
    DELETE FROM trial
    WHERE hunt IN (SELECT number FROM hunt WHERE state = 'finished' AND number < ?1)";

fn close(
    transaction: &Transaction<'_>,
    hunt: HuntNumber,
    findings: &HuntFindings,
) -> rusqlite::Result<()> {
    transaction.prepare_cached(CLOSE)?.execute(named_params! {
        ":hunt": hunt,
        ":state": if is_over(findings) { "finished" } else { "open" },
        ":executions": i64::try_from(findings.cost.executions).unwrap_or(i64::MAX),
        ":microseconds": microseconds(findings.cost.time),
        ":summary": json(&summary_of(findings))?,
    })?;
    transaction.prepare_cached(FORGET)?.execute([hunt])?;
    Ok(())
}

/// Numbers as ranges, both ends included.
pub(crate) fn ranges(mut numbers: Vec<i64>) -> Vec<(i64, i64)> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// Of each test what the latest hunt says that has an opinion about it.
const KNOWN_FLAKY: &str = "
    SELECT hunt.id, hunt.started, hunt.command, hunt.fingerprint, hunt.seed, hunt.settings,
           hunt.version, hunted.found
    FROM hunted
    JOIN hunt ON hunt.number = hunted.hunt
    JOIN test ON test.number = hunted.test
    WHERE NOT EXISTS (
        SELECT 1 FROM looked_at
        WHERE looked_at.hunt > hunted.hunt
          AND hunted.test BETWEEN looked_at.first AND looked_at.last)
    ORDER BY test.id";

/// Every test that is known to be flaky, by its id.
pub(crate) fn known_flaky(connection: &Connection) -> rusqlite::Result<Vec<KnownFlaky>> {
    let known =
        |row: &Row<'_>| Ok(KnownFlaky { hunt: hunt_record(row)?, test: from_json(row, 7)? });
    connection.prepare_cached(KNOWN_FLAKY)?.query_map([], known)?.collect()
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range() {
        assert_eq!(ranges(vec![7, 1, 2, 3, 9, 8, 2]), [(1, 3), (7, 9)]);
        assert_eq!(ranges(vec![]), []);
    }
}
