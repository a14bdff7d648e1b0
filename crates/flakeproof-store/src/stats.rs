//! What a history holds, and how much room it takes.

use std::collections::BTreeMap;
use std::path::Path;

use flakeproof_core::HistoryError;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::marks::Unpacking;
use crate::{Pruned, SqliteHistory};

/// What a history holds, and how much room it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStats {
    /// Where it is.
    pub place: String,
    /// The bytes of the file, and of what was written to it lately and lies beside it.
    pub bytes: u64,
    /// Bytes of the file that nothing uses.
    pub free_bytes: u64,
    /// The tables, the largest first.
    pub tables: Vec<TableStats>,
    /// Runs.
    pub runs: u64,
    /// How often a test ran in them, reruns left out.
    pub executions: u64,
    /// Tests.
    pub tests: u64,
    /// When the first and the last run started.
    pub period: Option<(String, String)>,
}

/// How much room a table takes, its indices included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStats {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Its bytes, with those of its indices.
    pub bytes: u64,
}

impl SqliteHistory {
    /// What the history holds, and how much room it takes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn stats(&self) -> Result<StoreStats, HistoryError> {
        self.ask(|connection| read_stats(connection, self.file().path()))
    }

    /// The bytes of the file, and of what was written to it lately and lies beside it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        bytes_of(self.file().path())
    }
}

impl StoreStats {
    /// About how many bytes are won by forgetting this: as large a part of each table as of its rows.
    #[must_use]
    pub fn saving(&self, pruned: &Pruned) -> u64 {
        let part = |(name, gone): (&str, u64)| {
            let table = self.tables.iter().find(|it| it.name == name);
            table.map_or(0, |it| it.bytes * gone.min(it.rows) / it.rows.max(1))
        };
        let gone = [
            ("execution", pruned.executions),
            ("finding", pruned.findings),
            ("feature", pruned.features),
            ("trial", pruned.trials),
            ("digest", pruned.runs),
            ("brief", pruned.runs),
            ("run", pruned.runs),
        ];
        gone.into_iter().map(part).sum::<u64>() + self.free_bytes
    }
}

fn read_stats(connection: &Connection, file: &Path) -> rusqlite::Result<StoreStats> {
    let pragma =
        |name: &str| -> rusqlite::Result<u64> { connection.pragma_query_value(None, name, count) };
    let mut tables = tables(connection)?;
    tables.sort_by(|one, other| other.bytes.cmp(&one.bytes).then(one.name.cmp(&other.name)));
    let rows = |name: &str| tables.iter().find(|it| it.name == name).map_or(0, |it| it.rows);
    Ok(StoreStats {
        place: file.display().to_string(),
        bytes: bytes_of(file),
        free_bytes: pragma("freelist_count")? * pragma("page_size")?,
        runs: rows("run"),
        executions: executions(connection)?,
        tests: rows("test"),
        period: period(connection)?,
        tables,
    })
}

/// The bytes of a file and of its log.
fn bytes_of(file: &Path) -> u64 {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |facts| facts.len());
    bytes(file) + bytes(Path::new(&log))
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<TableStats>> {
    const NAMES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    // An index is kept in pages of its own.
    const BYTES: &str = "
        SELECT sqlite_schema.tbl_name, sum(dbstat.pgsize)
          FROM dbstat JOIN sqlite_schema ON sqlite_schema.name = dbstat.name
         WHERE dbstat.aggregate = TRUE
         GROUP BY sqlite_schema.tbl_name";
    let names: Vec<String> = connection
        .prepare(NAMES)?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let bytes: BTreeMap<String, u64> = connection
        .prepare(BYTES)?
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
        .collect::<rusqlite::Result<_>>()?;
    let table = |name: String| {
        // The names are those of the schema itself.
        let query = format!("SELECT count(*) FROM \"{name}\"");
        let rows = connection.query_row(&query, [], count)?;
        Ok(TableStats { bytes: bytes.get(&name).copied().unwrap_or(0), name, rows })
    };
    names.into_iter().map(table).collect()
}

/// The number in the first column.
pub(crate) fn count(row: &Row<'_>) -> rusqlite::Result<u64> {
    row.get::<_, i64>(0).map(i64::unsigned_abs)
}

/// Marks in digests, and first attempts in runs that have none yet.
fn executions(connection: &Connection) -> rusqlite::Result<u64> {
    const NOT_DIGESTED: &str = "
        SELECT count(*) FROM execution
         WHERE stage = 'first' AND run NOT IN (SELECT run FROM digest)";
    let mut known = connection.query_row(NOT_DIGESTED, [], count)?;
    let mut statement = connection.prepare("SELECT marks FROM digest")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // What cannot be read is not counted; whoever needs it says so.
        known += Unpacking::new(0, row.get_ref(0)?.as_blob()?).flatten().count() as u64;
    }
    Ok(known)
}

fn period(connection: &Connection) -> rusqlite::Result<Option<(String, String)>> {
    const PERIOD: &str = "SELECT min(started), max(started) FROM run HAVING count(*) > 0";
    connection.query_row(PERIOD, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}
