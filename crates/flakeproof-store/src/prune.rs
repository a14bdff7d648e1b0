//! Forgetting: the details of old runs, or old runs wholly.
//!
//! Without its details, a run still counts: its digest says how each test fared, so that scores stay
//! as they are. What is gone is the text of failures, the evidence of verdicts, measured features, and
//! the trials of hunts that are over.
//!
//! Never forgotten are the latest pass of each test, because INTERSECT asks what changed since then,
//! the features of the code that was measured last, and runs that may still be written to.

use std::collections::BTreeSet;

use flakeproof_core::HistoryError;
use rusqlite::{Connection, ErrorCode, Transaction, named_params};

use crate::marks::Unpacking;
use crate::{SqliteHistory, digests, stats};

/// What to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruning {
    /// What started before this day or time, as `2026-11-15` in UTC or as an RFC 3339 time stamp.
    pub before: String,
    /// How much of it.
    pub depth: Depth,
}

/// How much of a run to forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Its details. How each test fared stays.
    Details,
    /// All of it.
    Runs,
}

/// What was forgotten, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs that are old enough.
    pub old_runs: u64,
    /// Runs removed wholly.
    pub runs: u64,
    /// Executions, each with the text of its failure.
    pub executions: u64,
    /// What was said about failures.
    pub findings: u64,
    /// Rows of measured features.
    pub features: u64,
    /// Trials of hunts that are over.
    pub trials: u64,
    /// Tests that nothing refers to any more.
    pub tests: u64,
    /// Texts of failures that nothing refers to any more.
    pub signatures: u64,
    /// Old executions that stay, because each is the latest pass of a test.
    pub kept_passes: u64,
    /// Whether tests that nothing refers to stay because a run is going on.
    pub has_kept_tests: bool,
}

/// How compacting a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compaction {
    /// The file has no gaps any more.
    Done,
    /// Another process uses the file; the gaps are filled by what is written next.
    InUse,
}

impl SqliteHistory {
    /// What [`prune`](Self::prune) would remove. Tests and texts of failures to which nothing would
    /// refer are not counted.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn prune_outlook(&self, pruning: &Pruning) -> Result<Pruned, HistoryError> {
        self.ask(|connection| outlook(connection, pruning))
    }

    /// Forget, all at once or not at all. The file becomes smaller only by
    /// [`compact`](Self::compact).
    ///
    /// # Errors
    /// When the history cannot be written.
    pub fn prune(&mut self, pruning: &Pruning) -> Result<Pruned, HistoryError> {
        // What refers to a row is looked up here, once for all; SQLite would look it up for each row.
        let check = |is_on: bool| {
            move |connection: &Connection| connection.pragma_update(None, "foreign_keys", is_on)
        };
        self.ask(check(false))?;
        let pruned = self.write(|transaction| prune(transaction, pruning));
        self.ask(check(true))?;
        pruned
    }

    /// Give the room that nothing uses back to the file system.
    ///
    /// # Errors
    /// When the history cannot be written, other than because it is in use.
    pub fn compact(&self) -> Result<Compaction, HistoryError> {
        const COMPACT: &str = "VACUUM; PRAGMA wal_checkpoint(TRUNCATE);";
        self.ask(|connection| match connection.execute_batch(COMPACT) {
            Err(error) if is_in_use(&error) => Ok(Compaction::InUse),
            other => other.map(|()| Compaction::Done),
        })
    }
}

fn is_in_use(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The old runs. One that is open stays, unless it was killed: no run of ours takes a week, and when the
/// reports of an open one began to be read nobody knows.
const OLD: &str = "
    CREATE TEMP TABLE old AS
    SELECT number FROM run
     WHERE julianday(started) < julianday(:before)
       AND number IN (SELECT run FROM digest)
       AND (state = 'finished'
            OR (origin = 'run' AND julianday(started) < julianday('now', '-7 days')))";

/// For each test the latest pass that INTERSECT may ask for, if it is old.
const PASSES: &str = "
    CREATE TEMP TABLE kept AS
    SELECT execution.number, execution.run
      FROM test JOIN execution ON execution.number = (
           SELECT latest.number
             FROM execution AS latest JOIN run ON run.number = latest.run
            WHERE latest.test = test.number
              AND latest.stage = 'first' AND latest.outcome = 'passed' AND run.origin = 'run'
            ORDER BY latest.run DESC
            LIMIT 1)
     WHERE execution.run IN (SELECT number FROM old)";

/// Runs on the code that was measured last, whose features are means of all of them.
const MEASURED: &str = "
    CREATE TEMP TABLE measured AS
    SELECT run.number FROM run JOIN run AS last ON last.number = (SELECT max(run) FROM feature)
     WHERE run.tree = last.tree
       AND run.surroundings ->> 'runtime' = last.surroundings ->> 'runtime'
       AND run.surroundings ->> 'packages' = last.surroundings ->> 'packages'";

const EXECUTIONS: &str = "
    FROM execution
    WHERE run IN (SELECT number FROM old) AND number NOT IN (SELECT number FROM kept)";

const FINDINGS: &str = "FROM finding WHERE run IN (SELECT number FROM old)";

const FEATURES: &str = "
    FROM feature
    WHERE run IN (SELECT number FROM old) AND run NOT IN (SELECT number FROM measured)";

const TRIALS: &str = "
    FROM trial
    WHERE hunt IN (SELECT number FROM hunt
                    WHERE state = 'finished'
                      AND julianday(started) < (SELECT julianday(before) FROM limits))";

/// Runs that nothing which stays belongs to.
const RUNS: &str = "
    FROM run
    WHERE number IN (SELECT number FROM old)
      AND number NOT IN (SELECT run FROM kept) AND number NOT IN (SELECT run FROM feature)";

const SIGNATURES: &str = "
    FROM signature
    WHERE number NOT IN (SELECT signature FROM execution WHERE signature IS NOT NULL)";

/// Forget within a transaction.
fn prune(transaction: &Transaction<'_>, pruning: &Pruning) -> rusqlite::Result<Pruned> {
    digests::keep_missing(transaction)?;
    choose(transaction, pruning)?;
    let gone = |what: &str| deleted(transaction, what);
    let mut pruned = chosen(transaction)?;
    pruned.executions = gone(EXECUTIONS)?;
    pruned.findings = gone(FINDINGS)?;
    pruned.features = gone(FEATURES)?;
    pruned.trials = gone(TRIALS)?;
    if pruning.depth == Depth::Runs {
        gone(&format!("FROM brief WHERE run IN (SELECT number {RUNS})"))?;
        gone(&format!("FROM digest WHERE run IN (SELECT number {RUNS})"))?;
        pruned.runs = gone(RUNS)?;
        pruned.has_kept_tests = is_being_written(transaction)?;
        if !pruned.has_kept_tests {
            pruned.tests = remove_tests(transaction)?;
        }
    }
    pruned.signatures = gone(SIGNATURES)?;
    forget_choice(transaction)?;
    Ok(pruned)
}

/// What would be forgotten. Tests and texts that nothing would refer to are not counted.
fn outlook(connection: &Connection, pruning: &Pruning) -> rusqlite::Result<Pruned> {
    choose(connection, pruning)?;
    let count = |what: &str| counted(connection, what);
    let mut pruned = chosen(connection)?;
    pruned.executions = count(EXECUTIONS)?;
    pruned.findings = count(FINDINGS)?;
    pruned.features = count(FEATURES)?;
    pruned.trials = count(TRIALS)?;
    if pruning.depth == Depth::Runs {
        // Features that go do not keep their run.
        let left = "SELECT run FROM feature WHERE run IN (SELECT number FROM measured)";
        pruned.runs = count(&RUNS.replace("SELECT run FROM feature", left))?;
    }
    forget_choice(connection)?;
    Ok(pruned)
}

/// Put what is chosen into temporary tables, which lie outside of the file.
fn choose(connection: &Connection, pruning: &Pruning) -> rusqlite::Result<()> {
    forget_choice(connection)?;
    let before = named_params! { ":before": pruning.before };
    connection.execute("CREATE TEMP TABLE limits AS SELECT :before AS before", before)?;
    connection.execute(OLD, before)?;
    connection.execute(PASSES, [])?;
    connection.execute(MEASURED, [])?;
    Ok(())
}

fn forget_choice(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DROP TABLE IF EXISTS temp.limits;
         DROP TABLE IF EXISTS temp.old;
         DROP TABLE IF EXISTS temp.kept;
         DROP TABLE IF EXISTS temp.measured;",
    )
}

fn chosen(connection: &Connection) -> rusqlite::Result<Pruned> {
    let old_runs = counted(connection, "FROM old")?;
    let kept_passes = counted(connection, "FROM kept")?;
    Ok(Pruned { old_runs, kept_passes, ..Pruned::default() })
}

fn counted(connection: &Connection, what: &str) -> rusqlite::Result<u64> {
    connection.query_row(&format!("SELECT count(*) {what}"), [], stats::count)
}

fn deleted(connection: &Connection, what: &str) -> rusqlite::Result<u64> {
    connection.execute(&format!("DELETE {what}"), []).map(|rows| rows as u64)
}

/// Who writes a run may know the numbers of tests to which nothing refers yet.
fn is_being_written(connection: &Connection) -> rusqlite::Result<bool> {
    const OPEN: &str = "SELECT EXISTS (SELECT 1 FROM run WHERE state = 'open')";
    connection.query_row(OPEN, [], |row| row.get(0))
}

/// Tests that rows or ranges refer to.
const REFERRED: &str = "
    SELECT test FROM execution
    UNION SELECT test FROM finding
    UNION SELECT test FROM feature
    UNION SELECT test FROM hunted
    UNION SELECT test FROM cause
    UNION SELECT number FROM test
          JOIN looked_at ON test.number BETWEEN looked_at.first AND looked_at.last";

/// Remove tests to which neither rows nor digests refer.
fn remove_tests(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let mut referred: BTreeSet<i64> = transaction
        .prepare(REFERRED)?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut statement = transaction.prepare("SELECT run, marks FROM digest")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        for mark in Unpacking::new(0, row.get_ref(1)?.as_blob()?) {
            let (test, _) = mark.map_err(|_| digests::damaged(number))?;
            referred.insert(test);
        }
    }
    let all: Vec<i64> = transaction
        .prepare("SELECT number FROM test")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut remove = transaction.prepare("DELETE FROM test WHERE number = ?1")?;
    let unknown = all.into_iter().filter(|number| !referred.contains(number));
    unknown.map(|number| remove.execute([number]).map(|rows| rows as u64)).sum()
}
