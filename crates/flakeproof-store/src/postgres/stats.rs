//! What a history in PostgreSQL holds, and how much room it takes.

use flakeproof_core::HistoryError;
use postgres::{Row, Transaction};

use super::PostgresHistory;
use super::connection::Done;
use crate::marks::Unpacking;
use crate::{StoreStats, TableStats};

impl PostgresHistory {
    /// What the history holds of the project, and how much room the tables of all projects take.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn stats(&self) -> Result<StoreStats, HistoryError> {
        let place = self.connection.address().to_string();
        self.ask(|transaction, project| read_stats(transaction, project, &place))
    }
}

/// Of a large table the number of rows is what the database last estimated.
const TABLES: &str = "
    SELECT relname::text, pg_total_relation_size(pg_class.oid), greatest(reltuples, 0)::bigint
      FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = current_schema() AND relkind = 'r'
     ORDER BY 2 DESC, 1";

const RUNS: &str = "
    SELECT count(*), min(started COLLATE \"C\"), max(started COLLATE \"C\")
      FROM run WHERE project = $1";

const TESTS: &str = "SELECT count(*) FROM test WHERE project = $1";

const MARKS: &str = "
    SELECT marks FROM run_end JOIN run ON run.number = run_end.run WHERE run.project = $1";

const NOT_DIGESTED: &str = "
    SELECT count(*) FROM execution
     WHERE stage = 'first' AND run IN (
           SELECT number FROM run
            WHERE project = $1
              AND NOT EXISTS (SELECT 1 FROM run_end WHERE run_end.run = run.number))";

/// So many rows are counted.
const FEW: i64 = 100_000;

fn read_stats(transaction: &mut Transaction<'_>, project: i64, place: &str) -> Done<StoreStats> {
    let mut tables: Vec<TableStats> = transaction.query(TABLES, &[])?.iter().map(table).collect();
    for table in tables.iter_mut().filter(|table| table.rows < FEW.unsigned_abs()) {
        // The names are those of the schema itself.
        let count = format!("SELECT count(*) FROM {}", table.name);
        table.rows = whole(&transaction.query_one(&count, &[])?, 0);
    }
    let runs = transaction.query_one(RUNS, &[&project])?;
    let first: Option<String> = runs.get(1);
    let mut executions = whole(&transaction.query_one(NOT_DIGESTED, &[&project])?, 0);
    for row in transaction.query(MARKS, &[&project])? {
        executions += Unpacking::new(0, row.get(0)).flatten().count() as u64;
    }
    Ok(StoreStats {
        place: place.to_owned(),
        bytes: tables.iter().map(|table| table.bytes).sum(),
        free_bytes: 0,
        runs: whole(&runs, 0),
        executions,
        tests: whole(&transaction.query_one(TESTS, &[&project])?, 0),
        period: first.and_then(|first| Some((first, runs.get::<_, Option<String>>(2)?))),
        tables,
    })
}

fn table(row: &Row) -> TableStats {
    TableStats { name: row.get(0), bytes: whole(row, 1), rows: whole(row, 2) }
}

fn whole(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).unsigned_abs()
}
