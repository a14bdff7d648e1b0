//! The schema's versions, and how a file gets from one to the next.
//!
//! Migrations are numbered, only go forward, and run in one transaction under the write lock, so
//! of several processes that find an old file one migrates it and the others find it done.
//! `PRAGMA user_version` is the number of the last one that ran.

use flakeproof_core::HistoryError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::history_file::HistoryFile;

/// The SQL that leads to version 1, 2, …; a published one never changes.
const MIGRATIONS: [&str; 5] = [
    include_str!("migrations/0001_runs_and_executions.sql"),
    include_str!("migrations/0002_features.sql"),
    include_str!("migrations/0003_hunts.sql"),
    include_str!("migrations/0004_digests.sql"),
    include_str!("migrations/0005_conditions.sql"),
];

/// The version of a schema, 0 in an empty file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SchemaVersion(u32);

impl SchemaVersion {
    /// The newest version this program knows.
    pub(crate) const KNOWN: Self = Self(MIGRATIONS.len() as u32);

    /// The version of an open file. Changes nothing in it.
    ///
    /// # Errors
    /// When the version is newer than [`KNOWN`](Self::KNOWN), or the file is not a history.
    pub(crate) fn read(connection: &Connection, file: &HistoryFile) -> Result<Self, HistoryError> {
        let seen = Header::read(connection).map_err(|error| file.fault(&error))?;
        let found = u32::try_from(seen.user_version)
            .map_err(|_| file.unreadable(format!("its schema is {}", seen.user_version)))?;
        if found > Self::KNOWN.0 {
            return Err(file.newer(found, Self::KNOWN.0));
        }
        let is_empty = found == 0 && seen.objects == 0;
        let is_history = found > 0 && seen.application_id == APPLICATION_ID;
        if is_empty || is_history {
            Ok(Self(found))
        } else {
            Err(file.unreadable("it is a database of another program"))
        }
    }
}

/// Bring an open file to [`SchemaVersion::KNOWN`].
///
/// # Errors
/// When the file cannot be written, or is not a history that this program knows.
pub(crate) fn migrate(connection: &mut Connection, file: &HistoryFile) -> Result<(), HistoryError> {
    if SchemaVersion::read(connection, file)? == SchemaVersion::KNOWN {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| file.fault(&error))?;
    let current = SchemaVersion::read(&transaction, file)?;
    apply_after(current, transaction).map_err(|error| file.fault(&error))
}

/// The letters "flkp", which the first migration writes into the file's header.
const APPLICATION_ID: i64 = 0x666c_6b70;

/// What tells a history from an empty file and from someone else's database.
struct Header {
    user_version: i64,
    application_id: i64,
    objects: i64,
}

impl Header {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        const HEADER: &str = "
            SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
            FROM pragma_user_version, pragma_application_id";
        connection.query_row(HEADER, [], |row| {
            Ok(Self {
                user_version: row.get(0)?,
                application_id: row.get(1)?,
                objects: row.get(2)?,
            })
        })
    }
}

fn apply_after(current: SchemaVersion, transaction: Transaction<'_>) -> rusqlite::Result<()> {
    for (migration, version) in MIGRATIONS.iter().zip(1u32..) {
        if version > current.0 {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "user_version", version)?;
        }
    }
    transaction.commit()
}
