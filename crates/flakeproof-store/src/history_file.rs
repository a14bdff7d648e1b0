//! The file that holds a history: where it is, how it is opened or made, and what trouble with it
//! means.
//!
//! The promises of the history rest on three settings. A write-ahead log lets one process write
//! while others read. `synchronous = NORMAL` hands every commit to the operating system before the
//! call returns, so a killed process loses nothing. The busy timeout makes a second writer wait
//! instead of fail.
//!
//! Every error names the file. A damaged file is told apart from one that cannot be written,
//! because the way out differs: move it away, or make room, or ask for permission.
//!
//! The schema has versions. Migrations are numbered, only go forward, and run in one transaction
//! under the write lock, so of several processes that find an old file one migrates it and the
//! others find it done. `PRAGMA user_version` is the number of the last one that ran.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flakeproof_core::HistoryError;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};

/// The folder of a project's own history.
pub(crate) const PROJECT_FOLDER: &str = ".flakeproof";

/// How long to wait for another process's lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait between two tries where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(5);

/// How much of the file is kept in memory, in KiB (SQLite's sign for that is the minus), and after how many pages
/// its log is folded into it. The executions of a run meet a page of an index each, and with SQLite's 2 MiB and
/// 1,000 pages a long history wrote each of those pages again for every batch.
const CACHE_KIB: i64 = -64 * 1024;
const LOG_PAGES: i64 = 16 * 1024;

/// The file that holds a history.
#[derive(Debug, Clone)]
pub(crate) struct HistoryFile(PathBuf);

impl HistoryFile {
    /// The file at an absolute form of `path`, so that a later change of the working directory
    /// does not move it, and no path has a special meaning for SQLite.
    pub(crate) fn new(path: &Path) -> Result<Self, HistoryError> {
        std::path::absolute(path).map(Self).map_err(|cause| HistoryError::Unwritable {
            place: path.display().to_string(),
            cause: cause.to_string(),
        })
    }

    /// The file's absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Open the file, make it if it is missing, and bring its schema up to date.
    ///
    /// A file that is not a history, or is one of a newer version, is left as it is.
    ///
    /// # Errors
    /// When the file is damaged, not a history, of a newer version, or cannot be written.
    pub(crate) fn open(&self) -> Result<Connection, HistoryError> {
        refuse_links(self)?;
        let mut connection = connect(self)?;
        let fault = |error| self.fault(&error);
        connection.busy_timeout(PATIENCE).map_err(fault)?;
        SchemaVersion::read(&connection, self)?;
        if connection.is_readonly(MAIN_DB).map_err(fault)? {
            return Err(self.unwritable("the file is read-only"));
        }
        log_ahead(&connection, || std::thread::sleep(PAUSE)).map_err(fault)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(fault)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(fault)?;
        connection.pragma_update(None, "cache_size", CACHE_KIB).map_err(fault)?;
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(fault)?;
        migrate(&mut connection, self)?;
        Ok(connection)
    }

    /// Open the file to look into it.
    ///
    /// # Errors
    /// When the file is missing, damaged, not a history, or of another version.
    pub(crate) fn look(&self) -> Result<Connection, HistoryError> {
        refuse_links(self)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.path(), flags)
            .map_err(|error| self.unreadable(error))?;
        connection.busy_timeout(PATIENCE).map_err(|error| self.fault(&error))?;
        if SchemaVersion::read(&connection, self)? != SchemaVersion::KNOWN {
            return Err(self.unwritable("it was written by an older version and is not up to date"));
        }
        Ok(connection)
    }

    /// The history is damaged, or is none.
    fn unreadable(&self, cause: impl Display) -> HistoryError {
        HistoryError::Unreadable { place: self.to_string(), cause: cause.to_string() }
    }

    /// The history cannot be written.
    pub(crate) fn unwritable(&self, cause: impl Display) -> HistoryError {
        HistoryError::Unwritable { place: self.to_string(), cause: cause.to_string() }
    }

    /// The history was written by a newer version.
    pub(crate) fn newer(&self, found: u32, known: u32) -> HistoryError {
        HistoryError::Newer { place: self.to_string(), found, known }
    }

    /// What an error of SQLite means for the history.
    ///
    /// A file that is no database, broken pages, missing tables and values of the wrong type are
    /// damage. The rest (no space, no permission, locked by someone for too long) is not.
    pub(crate) fn fault(&self, error: &rusqlite::Error) -> HistoryError {
        let is_damage = matches!(
            error.sqlite_error_code(),
            None | Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
        );
        if is_damage { self.unreadable(error) } else { self.unwritable(error) }
    }
}

impl Display for HistoryFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.display().fmt(f)
    }
}

/// Make `folder/.flakeproof`, which keeps itself out of version control, unless it is there.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn make_project_folder(folder: &Path) -> Result<(), HistoryError> {
    let file = HistoryFile::new(folder)?;
    refuse_links(&HistoryFile::new(&folder.join("history.db"))?)?;
    let ignore = folder.join(".gitignore");
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        // Also when a killed process left the folder without it.
        _ if ignore.exists() => Ok(()),
        _ => std::fs::write(ignore, "*\n"),
    }
    .map_err(|error| file.unwritable(error))
}

/// Refuse a project's own history that is a link: it comes with the project, and whoever made it
/// would have a file of the user's choice changed elsewhere.
fn refuse_links(file: &HistoryFile) -> Result<(), HistoryError> {
    let path = file.path();
    let Some(folder) = path.parent().filter(|folder| folder.ends_with(PROJECT_FOLDER)) else {
        return Ok(());
    };
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_symlink());
    match is_link(path) || is_link(folder) {
        true => Err(file.unreadable(
            "it is a symbolic link, which is not followed; remove the link, or name the file that \
             it leads to with `--store`",
        )),
        false => Ok(()),
    }
}

fn connect(file: &HistoryFile) -> Result<Connection, HistoryError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if file.path().is_dir() {
        return Err(file.unreadable("it is a folder"));
    }
    Connection::open_with_flags(file.path(), flags).map_err(|error| {
        if file.path().exists() { file.unreadable(error) } else { file.unwritable(error) }
    })
}

/// Switch to a write-ahead log, which stays so for all who open the file later.
///
/// On a file system without shared memory SQLite keeps its other journal; all promises hold there
/// too, only readers and writers wait for each other.
fn log_ahead(connection: &Connection, pause: impl Fn()) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        // While another process is about to write, SQLite does not wait here but fails at once:
        // it holds a read lock already, and waiting with it could be a deadlock.
        match switched {
            Err(error) if is_busy(&error) && start.elapsed() < PATIENCE => pause(),
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The SQL that leads to version 1, 2, …; a published one never changes.
const MIGRATIONS: [&str; 7] = [
    include_str!("migrations/0001_runs_and_executions.sql"),
    include_str!("migrations/0002_features.sql"),
    include_str!("migrations/0003_hunts.sql"),
    include_str!("migrations/0004_digests.sql"),
    include_str!("migrations/0005_conditions.sql"),
    include_str!("migrations/0006_causes.sql"),
    include_str!("migrations/0007_briefs.sql"),
];

/// The version of a schema, 0 in an empty file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SchemaVersion(u32);

impl SchemaVersion {
    /// The newest version this program knows.
    const KNOWN: Self = Self(MIGRATIONS.len() as u32);

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
fn migrate(connection: &mut Connection, file: &HistoryFile) -> Result<(), HistoryError> {
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_switch_to_a_log_waits_for_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let connect = || Connection::open(folder.path().join("history.db")).unwrap();
        let (writer, connection) = (connect(), connect());
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        let pauses = Cell::new(0);
        let end_writing = || {
            pauses.set(pauses.get() + 1);
            writer.execute_batch("CREATE TABLE a (b); COMMIT").unwrap();
        };
        log_ahead(&connection, end_writing).unwrap();
        assert_eq!(pauses.get(), 1);
    }
}
