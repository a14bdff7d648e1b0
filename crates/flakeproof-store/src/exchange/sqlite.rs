//! Whole runs and hunts out of an SQLite file, and into one.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use flakeproof_core::{
    CauseRecord, Feature, Features, FlakyKind, HistoryError, HuntRecord, Isolation, Kind, Origin,
    Outcome, RunRecord, Seed, Stage, TestId, TrialRecord, Verdict,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::{KeptAttempt, RunEnd, WholeFinding, WholeHunt, WholeRun};
use crate::hunts::ranges;
use crate::marks::{Marks, Unpacking};
use crate::past::worded;
use crate::runs::{
    RunNumber, from_json, insert_execution, insert_features, insert_run, json, test_number,
};
use crate::worded::Worded;
use crate::{SqliteHistory, causes, digests, hunts};

impl SqliteHistory {
    /// All runs, oldest first, and whether each is finished. Reports that were not read to their end are
    /// none.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(crate) fn run_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        const STATES: &str = "
            SELECT id, state = 'finished' FROM run
             WHERE origin = 'run' OR state = 'finished' ORDER BY number";
        self.ask(|connection| states(connection, STATES))
    }

    /// The run with this id.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(crate) fn whole_run(&self, id: &str) -> Result<Option<WholeRun>, HistoryError> {
        self.ask(|connection| {
            // What others write meanwhile does not show.
            let snapshot = connection.unchecked_transaction()?;
            let run = whole_run(&snapshot, id)?;
            snapshot.finish()?;
            Ok(run)
        })
    }

    /// Keep a run, unless it is there and finished; says whether it was kept.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub(crate) fn put_run(&mut self, run: &WholeRun) -> Result<bool, HistoryError> {
        self.put_run_with(run, &mut TestNumbers::default())
    }

    /// The same for one of many runs, which have most tests in common.
    ///
    /// # Errors
    /// When the history cannot be written; the numbers hold no longer then.
    pub(crate) fn put_run_with(
        &mut self,
        run: &WholeRun,
        tests: &mut TestNumbers,
    ) -> Result<bool, HistoryError> {
        self.write(|transaction| put_run(transaction, run, tests))
    }

    /// All hunts, oldest first, and whether each is over.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(crate) fn hunt_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        self.ask(|connection| {
            states(connection, "SELECT id, state = 'finished' FROM hunt ORDER BY number")
        })
    }

    /// The hunt with this id.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(crate) fn whole_hunt(&self, id: &str) -> Result<Option<WholeHunt>, HistoryError> {
        self.ask(|connection| whole_hunt(connection, id))
    }

    /// Keep a hunt, in place of what an unfinished one of its id had found; says whether that changed
    /// anything.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub(crate) fn put_hunt(&mut self, hunt: &WholeHunt) -> Result<bool, HistoryError> {
        if self.whole_hunt(&hunt.record.id)?.as_ref() == Some(hunt) {
            return Ok(false);
        }
        self.write(|transaction| put_hunt(transaction, hunt))?;
        Ok(true)
    }

    /// Every experiment, oldest first.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(crate) fn all_causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        self.ask(causes::all)
    }
}

fn states(connection: &Connection, query: &str) -> rusqlite::Result<Vec<(String, bool)>> {
    let mut statement = connection.prepare(query)?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

const RUN: &str = "
    SELECT run.number, run.id, started, command, folder, seed, tree, surroundings, version, origin,
           job, is_settled, rules, state, finished, exit_code, digest.marks
      FROM run LEFT JOIN digest ON digest.run = run.number
     WHERE run.id = ?1";

fn whole_run(connection: &Connection, id: &str) -> rusqlite::Result<Option<WholeRun>> {
    let read = |row: &Row<'_>| {
        let origin: String = row.get("origin")?;
        let job = row.get("job")?;
        let is_finished = row.get::<_, String>("state")? == "finished";
        let run = WholeRun {
            record: RunRecord {
                id: row.get("id")?,
                started: row.get("started")?,
                command: from_json(row, 3)?,
                folder: row.get("folder")?,
                seed: Seed(row.get::<_, i64>("seed")?.cast_unsigned()),
                tree: from_json(row, 6)?,
                surroundings: from_json(row, 7)?,
                version: row.get("version")?,
                origin: if origin == "run" { Origin::Run } else { Origin::Reports { job } },
            },
            is_settled: row.get("is_settled")?,
            rules: row.get("rules")?,
            end: match is_finished {
                true => Some(RunEnd {
                    finished: row.get("finished")?,
                    exit_code: row.get("exit_code")?,
                }),
                false => None,
            },
            attempts: Vec::new(),
            marks: Vec::new(),
            findings: Vec::new(),
            features: Vec::new(),
        };
        Ok((row.get::<_, i64>("number")?, run, row.get::<_, Option<Vec<u8>>>("marks")?))
    };
    let found = connection.prepare_cached(RUN)?.query_row([id], read).optional()?;
    let Some((number, mut run, marks)) = found else { return Ok(None) };
    run.attempts = attempts(connection, number)?.into_iter().map(Into::into).collect();
    run.findings = findings(connection, number)?;
    run.features = features(connection, number)?;
    if let (Some(marks), Some(_)) = (marks, &run.end) {
        for mark in Unpacking::new(0, &marks) {
            let (test, mark) = mark.map_err(|_| digests::damaged(number))?;
            run.marks.push((test_id(connection, test)?, mark));
        }
    }
    Ok(Some(run))
}

fn test_id(connection: &Connection, number: i64) -> rusqlite::Result<TestId> {
    const FIND: &str = "SELECT id FROM test WHERE number = ?1";
    let id: String = connection.prepare_cached(FIND)?.query_row([number], |row| row.get(0))?;
    Ok(id.into())
}

fn attempts(connection: &Connection, run: RunNumber) -> rusqlite::Result<Vec<KeptAttempt>> {
    const ATTEMPTS: &str = "
        SELECT test.id, attempt, stage, isolation, position, outcome, microseconds, signature.text,
               message
          FROM execution
          JOIN test ON test.number = execution.test
          LEFT JOIN signature ON signature.number = execution.signature
         WHERE run = ?1
         ORDER BY execution.number";
    let read = |row: &Row<'_>| {
        let word = |column| row.get::<_, String>(column);
        Ok(KeptAttempt {
            test: word(0)?.into(),
            number: row.get(1)?,
            stage: worded::<Stage>(2, &word(2)?)?,
            isolation: worded::<Isolation>(3, &word(3)?)?,
            position: row.get(4)?,
            outcome: worded::<Outcome>(5, &word(5)?)?,
            duration: Duration::from_micros(row.get::<_, i64>(6)?.unsigned_abs()),
            signature: row.get(7)?,
            message: row.get(8)?,
        })
    };
    connection.prepare_cached(ATTEMPTS)?.query_map([run], read)?.collect()
}

fn findings(connection: &Connection, run: RunNumber) -> rusqlite::Result<Vec<WholeFinding>> {
    const FINDINGS: &str = "
        SELECT test.id, verdict, kind, evidence
          FROM finding JOIN test ON test.number = finding.test
         WHERE run = ?1
         ORDER BY finding.number";
    fn named<T: Worded>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
        let word: Option<String> = row.get(column)?;
        word.map(|word| worded(column, &word)).transpose()
    }
    let read = |row: &Row<'_>| {
        Ok(WholeFinding {
            test: row.get::<_, String>(0)?.into(),
            verdict: named::<Verdict>(row, 1)?,
            kind: named::<Kind>(row, 2)?,
            evidence: from_json(row, 3)?,
        })
    };
    connection.prepare_cached(FINDINGS)?.query_map([run], read)?.collect()
}

fn features(connection: &Connection, run: RunNumber) -> rusqlite::Result<Vec<(TestId, Features)>> {
    let names = Features::NAMES.join(", ");
    let select = format!(
        "SELECT test.id, {names} FROM feature JOIN test ON test.number = feature.test
          WHERE run = ?1 ORDER BY feature.test"
    );
    let read = |row: &Row<'_>| {
        let mut features = Features::default();
        for (column, feature) in (1..).zip(Feature::ALL) {
            features.set(feature, row.get(column)?);
        }
        Ok((row.get::<_, String>(0)?.into(), features))
    };
    connection.prepare_cached(&select)?.query_map([run], read)?.collect()
}

/// The latest end counts; a run whose digest an older version left out has one made of its executions.
const END: &str = "
    UPDATE run
       SET state = 'finished', finished = :finished, exit_code = :exit_code
     WHERE number = :run";

/// The numbers of tests that were asked for before.
#[derive(Debug, Default)]
pub(crate) struct TestNumbers(HashMap<TestId, i64>);

impl TestNumbers {
    fn of(&mut self, transaction: &Transaction<'_>, test: &TestId) -> rusqlite::Result<i64> {
        if let Some(number) = self.0.get(test) {
            return Ok(*number);
        }
        let number = test_number(transaction, test)?;
        self.0.insert(test.clone(), number);
        Ok(number)
    }
}

fn put_run(
    transaction: &Transaction<'_>,
    run: &WholeRun,
    tests: &mut TestNumbers,
) -> rusqlite::Result<bool> {
    const FIND: &str = "SELECT number, state = 'finished' FROM run WHERE id = ?1";
    let there: Option<(RunNumber, bool)> = transaction
        .prepare_cached(FIND)?
        .query_row([&run.record.id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match there {
        Some((_, true)) => return Ok(false),
        Some((number, false)) => {
            if whole_run(transaction, &run.record.id)?.as_ref() == Some(run) {
                return Ok(false);
            }
            remove_run(transaction, number)?;
        }
        None => {}
    }
    let number = insert_run(transaction, &run.record)?;
    transaction
        .prepare_cached("UPDATE run SET rules = ?2, is_settled = ?3 WHERE number = ?1")?
        .execute((number, run.rules, run.is_settled))?;
    for attempt in &run.attempts {
        let test = tests.of(transaction, &attempt.execution.test)?;
        insert_execution(transaction, number, test, attempt)?;
    }
    const FINDING: &str = "
        INSERT INTO finding (run, test, verdict, kind, evidence) VALUES (?1, ?2, ?3, ?4, ?5)";
    for finding in &run.findings {
        let test = tests.of(transaction, &finding.test)?;
        let (verdict, kind) = (finding.verdict.map(Verdict::word), finding.kind.map(Kind::word));
        let evidence = json(&finding.evidence)?;
        transaction.prepare_cached(FINDING)?.execute((number, test, verdict, kind, evidence))?;
    }
    for (test, features) in &run.features {
        insert_features(transaction, number, tests.of(transaction, test)?, features)?;
    }
    if let Some(end) = &run.end {
        transaction.prepare_cached(END)?.execute(named_params! {
            ":run": number, ":finished": end.finished, ":exit_code": end.exit_code,
        })?;
        let mut marks = BTreeMap::new();
        for (test, mark) in &run.marks {
            marks.insert(tests.of(transaction, test)?, *mark);
        }
        if !marks.is_empty() || run.attempts.is_empty() {
            digests::put(transaction, number, &Marks::from(marks))?;
        }
    }
    Ok(true)
}

fn remove_run(transaction: &Transaction<'_>, run: RunNumber) -> rusqlite::Result<()> {
    for table in ["execution", "finding", "feature", "digest", "brief"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
    }
    transaction.execute("DELETE FROM run WHERE number = ?1", [run])?;
    Ok(())
}

const HUNT: &str = "
    SELECT id, started, command, fingerprint, seed, settings, version, number,
           state = 'finished', summary
      FROM hunt WHERE id = ?1";

fn whole_hunt(connection: &Connection, id: &str) -> rusqlite::Result<Option<WholeHunt>> {
    let read = |row: &Row<'_>| {
        let record: HuntRecord = hunts::hunt_record(row)?;
        Ok((record, row.get::<_, i64>(7)?, row.get::<_, bool>(8)?, row.get(9)?))
    };
    let found = connection.prepare_cached(HUNT)?.query_row([id], read).optional()?;
    let Some((record, number, is_over, summary)) = found else { return Ok(None) };
    const FLAKY: &str = "SELECT found FROM hunted WHERE hunt = ?1 ORDER BY test";
    const LOOKED_AT: &str = "
        SELECT test.id FROM looked_at
          JOIN test ON test.number BETWEEN looked_at.first AND looked_at.last
         WHERE hunt = ?1 ORDER BY test.number";
    const TRIALS: &str = "
        SELECT letters, failures, executions, microseconds, key
          FROM trial WHERE hunt = ?1 ORDER BY key";
    let flaky = connection
        .prepare_cached(FLAKY)?
        .query_map([number], |row| from_json(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    let looked_at = connection
        .prepare_cached(LOOKED_AT)?
        .query_map([number], |row| Ok(TestId::from(row.get::<_, String>(0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // Nobody takes up a hunt that is over.
    let trials: Vec<(String, TrialRecord)> = match is_over {
        true => Vec::new(),
        false => connection
            .prepare_cached(TRIALS)?
            .query_map([number], |row| Ok((row.get(4)?, hunts::trial_record(row)?)))?
            .collect::<rusqlite::Result<_>>()?,
    };
    Ok(Some(WholeHunt { record, is_over, summary, flaky, looked_at, trials }))
}

fn put_hunt(transaction: &Transaction<'_>, hunt: &WholeHunt) -> rusqlite::Result<()> {
    let number = hunts::open(transaction, &hunt.record)?;
    for table in ["hunted", "looked_at"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE hunt = ?1"), [number])?;
    }
    const STATE: &str = "
        UPDATE hunt SET state = ?2, summary = ?3,
               executions = coalesce(?3 ->> '$.cost.executions', executions)
         WHERE number = ?1";
    let state = if hunt.is_over { "finished" } else { "open" };
    transaction.prepare_cached(STATE)?.execute((number, state, &hunt.summary))?;
    for test in &hunt.flaky {
        let kind = test.kind.map_or("", FlakyKind::word);
        let found = json(test)?;
        transaction
            .prepare_cached("INSERT INTO hunted (hunt, test, kind, found) VALUES (?1, ?2, ?3, ?4)")?
            .execute((number, test_number(transaction, &test.id)?, kind, found))?;
    }
    let looked_at: Vec<i64> = hunt
        .looked_at
        .iter()
        .map(|test| test_number(transaction, test))
        .collect::<rusqlite::Result<_>>()?;
    for (first, last) in ranges(looked_at) {
        transaction
            .prepare_cached("INSERT INTO looked_at (hunt, first, last) VALUES (?1, ?2, ?3)")?
            .execute([number, first, last])?;
    }
    for (key, trial) in &hunt.trials {
        hunts::put_trial(transaction, number, key, trial)?;
    }
    Ok(())
}
