//! A history as plain tables for other programs, a row at a time.

use flakeproof_core::{History, HistoryError, Scores, TestScore};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::SqliteHistory;
use crate::exported_executions::executions;

/// What can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
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

impl Table {
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
pub(crate) type Take<'t, E> = &'t mut dyn FnMut(&[Cell<'_>]) -> Result<(), E>;

/// What goes wrong on the way of a row.
pub(crate) type Way<E> = Result<(), Trouble<E>>;

pub(crate) enum Trouble<E> {
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
        table: Table,
        mut take: impl FnMut(&[Cell<'_>]) -> Result<(), E>,
    ) -> Result<(), ExportError<E>> {
        if table == Table::Tests {
            let timeline = self.timeline().map_err(ExportError::History)?;
            let mut scores = Scores::from_timeline(&timeline);
            scores.add_hunted(&self.known_flaky().map_err(ExportError::History)?);
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
                Table::Executions => executions(&snapshot, &mut take),
                Table::Findings => rows(&snapshot, ALL_FINDINGS, &mut take),
                Table::Runs | Table::Tests => rows(&snapshot, ALL_RUNS, &mut take),
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

pub(crate) fn cell<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Cell<'r>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null | ValueRef::Blob(_) => Cell::Empty,
        ValueRef::Integer(number) => Cell::Whole(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(_) => Cell::Text(row.get_ref(column)?.as_str()?),
    })
}

pub(crate) fn optional(text: Option<&str>) -> Cell<'_> {
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
