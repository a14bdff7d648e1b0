//! A history as plain tables for other programs, a row at a time.
//!
//! Of executions, what only a digest knows is exported too: a test that passed at its first attempt
//! in a report, and what was pruned. Of reruns a digest knows only whether one passed and how long
//! they took together: they are one row whose stage is `reruns`.

use std::collections::{BTreeMap, HashMap};

use flakeproof_core::{Again, History, HistoryError, Mark, Outcome, Scores, TestScore, Verdict};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::marks::Unpacking;
use crate::{SqliteHistory, digests};

/// What can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredTable {
    /// Each attempt at each test in each run.
    Executions,
    /// Each run.
    Runs,
    /// Each test, with its scores.
    Tests,
    /// Each verdict on a failure, with its evidence.
    Findings,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its cells are, unless they are empty.
    pub of: ColumnType,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Real,
}

/// A cell of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Nothing is known.
    Empty,
    /// Text.
    Text(&'a str),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
}

/// Why an export ended early.
#[derive(Debug)]
pub enum ExportError<E> {
    /// The history cannot be read.
    History(HistoryError),
    /// Whoever takes the rows cannot go on.
    Taker(E),
}

const fn text(name: &'static str) -> Column {
    Column { name, of: ColumnType::Text }
}

const fn whole(name: &'static str) -> Column {
    Column { name, of: ColumnType::Whole }
}

const fn real(name: &'static str) -> Column {
    Column { name, of: ColumnType::Real }
}

const EXECUTIONS: [Column; 12] = [
    text("run"),
    text("test"),
    text("started"),
    text("revision"),
    text("branch"),
    text("job"),
    whole("attempt"),
    text("stage"),
    text("outcome"),
    real("seconds"),
    text("verdict"),
    text("message"),
];

const RUNS: [Column; 12] = [
    text("run"),
    text("started"),
    text("finished"),
    text("state"),
    text("origin"),
    text("revision"),
    text("branch"),
    text("job"),
    text("command"),
    text("seed"),
    text("version"),
    whole("exit_code"),
];

const TESTS: [Column; 18] = [
    text("test"),
    text("standing"),
    whole("runs"),
    whole("failures"),
    whole("proven_runs"),
    whole("proven_failures"),
    whole("unexplained"),
    whole("outages"),
    real("rate"),
    real("rate_low"),
    real("rate_high"),
    real("flip_rate"),
    real("entropy"),
    text("first_seen"),
    text("last_seen"),
    text("last_failed"),
    real("cost_seconds"),
    whole("failed_builds"),
];

const FINDINGS: [Column; 6] =
    [text("run"), text("test"), text("started"), text("verdict"), text("kind"), text("evidence")];

impl StoredTable {
    /// Its columns, in order.
    #[must_use]
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::Executions => &EXECUTIONS,
            Self::Runs => &RUNS,
            Self::Tests => &TESTS,
            Self::Findings => &FINDINGS,
        }
    }
}

/// Whoever takes the rows.
type Take<'t, E> = &'t mut dyn FnMut(&[Cell<'_>]) -> Result<(), E>;

/// What goes wrong on the way of a row.
type Way<E> = Result<(), Trouble<E>>;

enum Trouble<E> {
    Reading(rusqlite::Error),
    Taking(E),
}

impl<E> From<rusqlite::Error> for Trouble<E> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Reading(error)
    }
}

impl SqliteHistory {
    /// Hand over the rows of a table, one by one, as the history was when the first was read.
    ///
    /// # Errors
    /// When the history cannot be read, or `take` fails.
    pub fn export<E>(
        &self,
        table: StoredTable,
        mut take: impl FnMut(&[Cell<'_>]) -> Result<(), E>,
    ) -> Result<(), ExportError<E>> {
        if table == StoredTable::Tests {
            let timeline = self.timeline().map_err(ExportError::History)?;
            let hunted = self.known_flaky().map_err(ExportError::History)?;
            let scores = Scores::new(&timeline, &hunted);
            return scores
                .tests
                .iter()
                .try_for_each(|score| take(&score_cells(score)).map_err(ExportError::Taker));
        }
        let mut taken = Ok(());
        let read = self.ask(|connection| {
            // What others write meanwhile does not show.
            let snapshot = connection.unchecked_transaction()?;
            let way = match table {
                StoredTable::Executions => executions(&snapshot, &mut take),
                StoredTable::Findings => rows(&snapshot, ALL_FINDINGS, &mut take),
                StoredTable::Runs | StoredTable::Tests => rows(&snapshot, ALL_RUNS, &mut take),
            };
            match way {
                Err(Trouble::Reading(error)) => return Err(error),
                Err(Trouble::Taking(error)) => taken = Err(error),
                Ok(()) => {}
            }
            snapshot.finish()
        });
        read.map_err(ExportError::History)?;
        taken.map_err(ExportError::Taker)
    }
}

const ALL_RUNS: &str = "
    SELECT id, started, finished, state, origin, revision, branch, job, command,
           printf('%llu', seed), version, exit_code
      FROM run
     ORDER BY number";

const ALL_FINDINGS: &str = "
    SELECT run.id, test.id, run.started, finding.verdict, finding.kind, finding.evidence
      FROM finding
      JOIN run ON run.number = finding.run
      JOIN test ON test.number = finding.test
     ORDER BY finding.number";

/// The rows of a query as they are.
fn rows<E>(connection: &Connection, query: &str, take: Take<'_, E>) -> Way<E> {
    let mut statement = connection.prepare(query)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let cells: Vec<Cell<'_>> =
            (0..columns).map(|column| cell(row, column)).collect::<rusqlite::Result<_>>()?;
        take(&cells).map_err(Trouble::Taking)?;
    }
    Ok(())
}

fn cell<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Cell<'r>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null | ValueRef::Blob(_) => Cell::Empty,
        ValueRef::Integer(number) => Cell::Whole(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(_) => Cell::Text(row.get_ref(column)?.as_str()?),
    })
}

fn optional(text: Option<&str>) -> Cell<'_> {
    text.map_or(Cell::Empty, Cell::Text)
}

fn score_cells(score: &TestScore) -> [Cell<'_>; 18] {
    let whole = |number: u32| Cell::Whole(i64::from(number));
    [
        Cell::Text(score.test.as_str()),
        Cell::Text(score.standing.word()),
        whole(score.all.runs),
        whole(score.all.failures),
        whole(score.proven.runs),
        whole(score.proven.failures),
        whole(score.unexplained),
        whole(score.outages),
        Cell::Real(score.rate.mean),
        Cell::Real(score.rate.low),
        Cell::Real(score.rate.high),
        Cell::Real(score.flip_rate),
        Cell::Real(score.entropy),
        Cell::Text(&score.first_seen),
        Cell::Text(&score.last_seen),
        optional(score.last_failed.as_deref()),
        Cell::Real(score.cost.as_secs_f64()),
        whole(score.failed_builds),
    ]
}

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
fn executions<E>(connection: &Connection, take: Take<'_, E>) -> Way<E> {
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
