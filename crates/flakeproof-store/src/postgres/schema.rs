//! The tables, in versions: numbered SQL that only goes forward, as for SQLite.
//!
//! Of many processes that find old tables at once one changes them and the others wait for it, by a lock
//! that ends with the transaction.

use postgres::{Client, GenericClient};

use super::PostgresAddress;
use super::connection::{Done, Fault};

/// The SQL that leads to version 1, 2, …; a published one never changes.
const MIGRATIONS: [&str; 3] = [
    include_str!("migrations/0001_history.sql"),
    include_str!("migrations/0002_fleet.sql"),
    include_str!("migrations/0003_briefs.sql"),
];

/// The newest version this program knows.
pub(super) const KNOWN: i32 = MIGRATIONS.len() as i32;

/// The key of the lock: the letters "flkp".
const LOCK: i64 = 0x666c_6b70;

/// The version of the tables; `None` if there are none.
pub(super) fn version(
    client: &mut impl GenericClient,
    address: &PostgresAddress,
) -> Done<Option<i32>> {
    // The catalogue itself is asked: `to_regclass` answers from memory, which does not know yet what others
    // made while this process waited for them.
    const FIND: &str = "
        SELECT EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                        WHERE nspname = $1 AND relname = 'version')";
    let schema = address.schema();
    if !client.query_one(FIND, &[&schema])?.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = client.query_one(&format!("SELECT max(number) FROM {schema}.version"), &[])?;
    Ok(row.get(0))
}

/// Bring the tables to version [`KNOWN`], or give the version that is newer.
pub(super) fn migrate(client: &mut Client, address: &PostgresAddress) -> Done<Result<(), i32>> {
    match version(client, address)? {
        Some(KNOWN) => return Ok(Ok(())),
        Some(newer) if newer > KNOWN => return Ok(Err(newer)),
        _ => {}
    }
    let mut transaction = client.transaction()?;
    transaction.query_one("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    let current = version(&mut transaction, address)?;
    if current.is_none() {
        // Whoever may not make schemas may use one that is there.
        let schema = address.schema();
        let find = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)";
        if !transaction.query_one(find, &[&schema])?.get::<_, bool>(0) {
            transaction.batch_execute(&format!("CREATE SCHEMA {schema}"))?;
        }
        transaction.batch_execute(
            "CREATE TABLE version (
                 number  integer PRIMARY KEY,
                 applied timestamptz NOT NULL DEFAULT now()
             )",
        )?;
    }
    let current = current.unwrap_or(0);
    if current > KNOWN {
        return Ok(Err(current));
    }
    for (migration, number) in MIGRATIONS.iter().zip(1..).filter(|(_, it)| *it > current) {
        transaction.batch_execute(migration)?;
        transaction.execute("INSERT INTO version (number) VALUES ($1)", &[&number])?;
    }
    transaction.commit().map_err(Fault::Database)?;
    Ok(Ok(()))
}
