//! Executions as rows for other programs.
//!
//! What only a digest knows is exported too: a test that passed at its first attempt in a report, and
//! what was pruned. Of reruns a digest knows only whether one passed and how long they took together:
//! they are one row whose stage is `reruns`.

use std::collections::{BTreeMap, HashMap};

use flakeproof_core::{Again, Mark, Outcome, Verdict};
use rusqlite::{Connection, Row};

use crate::digests;
use crate::export::{Cell, Take, Trouble, Way, cell, optional};
use crate::marks::Unpacking;

/// Runs with how their tests fared.
const DIGESTED: &str = "
    SELECT run.number, run.id, run.started, run.revision, run.branch, run.job, digest.marks
      FROM run LEFT JOIN digest ON digest.run = run.number
     ORDER BY run.number";

/// Executions in the order of their runs.
const KEPT: &str = "
    SELECT run, test, attempt, stage, outcome, microseconds, message
      FROM execution
     ORDER BY run, test, number";

/// An execution that has a row.
struct Kept {
    attempt: i64,
    stage: String,
    outcome: String,
    seconds: f64,
    message: Option<String>,
}

/// Every execution, from its row or else from its run's digest. Runs and executions come in the order of
/// runs, so that one run at a time is in memory.
pub(crate) fn executions<E>(connection: &Connection, take: Take<'_, E>) -> Way<E> {
    let names = names(connection)?;
    let mut runs = connection.prepare(DIGESTED)?;
    let mut runs = runs.query([])?;
    let mut kept = connection.prepare(KEPT)?;
    let mut kept = Ahead::new(kept.query([])?)?;
    while let Some(run) = runs.next()? {
        let number: i64 = run.get(0)?;
        let mut of_run = kept.of_run(number)?;
        let marks =
            run.get_ref(6)?.as_blob_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default();
        let digest: BTreeMap<i64, Mark> = Unpacking::new(0, marks)
            .collect::<Result<_, _>>()
            .map_err(|_| digests::damaged(number))?;
        digest.keys().for_each(|test| {
            of_run.entry(*test).or_default();
        });
        for (test, kept) in of_run {
            let Some(name) = names.get(&test) else { continue };
            let facts = Facts { run, test: name, mark: digest.get(&test) };
            facts.hand_over(&kept, take)?;
        }
    }
    Ok(())
}

/// The ids of tests, by their number.
fn names(connection: &Connection) -> rusqlite::Result<HashMap<i64, String>> {
    let mut statement = connection.prepare("SELECT number, id FROM test")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Reads executions run by run.
struct Ahead<'s> {
    rows: rusqlite::Rows<'s>,
    next: Option<(i64, i64, Kept)>,
}

impl<'s> Ahead<'s> {
    fn new(rows: rusqlite::Rows<'s>) -> rusqlite::Result<Self> {
        let mut ahead = Self { rows, next: None };
        ahead.step()?;
        Ok(ahead)
    }

    fn step(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            None => None,
            Some(row) => {
                let microseconds: i64 = row.get(5)?;
                let kept = Kept {
                    attempt: row.get(2)?,
                    stage: row.get(3)?,
                    outcome: row.get(4)?,
                    seconds: microseconds as f64 / 1e6,
                    message: row.get(6)?,
                };
                Some((row.get(0)?, row.get(1)?, kept))
            }
        };
        Ok(())
    }

    /// The executions of a run, by test.
    fn of_run(&mut self, run: i64) -> rusqlite::Result<BTreeMap<i64, Vec<Kept>>> {
        let mut found: BTreeMap<i64, Vec<Kept>> = BTreeMap::new();
        while let Some((_, test, kept)) = self.next.take_if(|(of, _, _)| *of <= run) {
            found.entry(test).or_default().push(kept);
            self.step()?;
        }
        Ok(found)
    }
}

/// What is known about a test in a run.
struct Facts<'a> {
    run: &'a Row<'a>,
    test: &'a str,
    mark: Option<&'a Mark>,
}

impl Facts<'_> {
    fn hand_over<E>(&self, kept: &[Kept], take: Take<'_, E>) -> Way<E> {
        let has_first = kept.iter().any(|it| it.stage == "first");
        let has_reruns = kept.iter().any(|it| it.stage != "first");
        let seconds = |milliseconds: u32| f64::from(milliseconds) / 1e3;
        if let Some(mark) = self.mark.filter(|_| !has_first) {
            let outcome = mark.outcome.word();
            self.row(1, "first", outcome, seconds(mark.milliseconds), None, take)?;
        }
        for it in kept {
            let message = it.message.as_deref();
            self.row(it.attempt, &it.stage, &it.outcome, it.seconds, message, take)?;
        }
        let again = match self.mark.filter(|_| !has_reruns).map(|mark| (mark, mark.again)) {
            Some((mark, Again::Passed)) => Some((mark, Outcome::Passed)),
            Some((mark, Again::Failed)) => Some((mark, Outcome::Failed)),
            Some((_, Again::Never)) | None => None,
        };
        if let Some((mark, outcome)) = again {
            let taken = seconds(mark.again_milliseconds);
            self.row(2, "reruns", outcome.word(), taken, None, take)?;
        }
        Ok(())
    }

    fn row<E>(
        &self,
        attempt: i64,
        stage: &str,
        outcome: &str,
        seconds: f64,
        message: Option<&str>,
        take: Take<'_, E>,
    ) -> Way<E> {
        let verdict = self.mark.and_then(|mark| mark.verdict).map(Verdict::word);
        let cells = [
            cell(self.run, 1)?,
            Cell::Text(self.test),
            cell(self.run, 2)?,
            cell(self.run, 3)?,
            cell(self.run, 4)?,
            cell(self.run, 5)?,
            Cell::Whole(attempt),
            Cell::Text(stage),
            Cell::Text(outcome),
            Cell::Real(seconds),
            optional(verdict),
            optional(message),
        ];
        take(&cells).map_err(Trouble::Taking)
    }
}
