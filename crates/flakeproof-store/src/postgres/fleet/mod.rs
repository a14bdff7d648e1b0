//! The queue of a hunt on many machines.
//!
//! The coordinator asks for trials and collects what came of them; workers take some of them at a time, under
//! a lease that the server's clock ends. A unit's completion and its executions are one transaction, which
//! needs the lease: who was frozen until its lease went to another brings nothing back that counts. So every
//! trial that was asked for is kept exactly once, whoever dies.
//!
//! Of a trial the queue knows its key, a text that says what to run, and how many tests that is.

mod coordinator;
mod unit;
mod worker;

use std::time::{Duration, Instant};

use flakeproof_core::HistoryError;

use super::PostgresAddress;
use super::connection::{Connection, Done, Fault};

pub use self::coordinator::{
    Collected, CoordinatorPulse, FleetCoordinator, FleetPlan, FleetTaken, StuckTrial,
};
pub use self::worker::{Claim, FleetFound, FleetPulse, FleetUnit, FleetWorker, UnitKept};

/// A trial as the queue knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedTrial {
    /// What it is found again by.
    pub key: String,
    /// What to run.
    pub work: String,
    /// How many tests that is.
    pub tests: u32,
}

/// A trial on which so many workers gave up with an error is given to no other.
const MOST_TROUBLES: i32 = 3;

/// A trial that was given to so many workers who never came back is given to no other.
const MOST_GIVEN: i32 = 25;

/// How long a server may be away before that is an error, and how often it is asked meanwhile.
const AWAY: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

/// Do work, also if the server is away for a while.
fn patiently<T>(work: impl Fn() -> Result<T, HistoryError>) -> Result<T, HistoryError> {
    let deadline = Instant::now() + AWAY;
    loop {
        match work() {
            Err(HistoryError::Unreachable { .. }) if Instant::now() < deadline => {
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

/// The channel on which workers hear of trials, and the one on which the coordinator hears of records.
fn channel_of_trials(fleet: i64) -> String {
    format!("flakeproof_fleet_{fleet}_trials")
}

fn channel_of_records(fleet: i64) -> String {
    format!("flakeproof_fleet_{fleet}_records")
}

const NOTIFY: &str = "SELECT pg_notify($1, '')";

/// A key that nobody else has.
fn token(connection: &Connection) -> Result<[u8; 16], HistoryError> {
    let mut token = [0; 16];
    getrandom::fill(&mut token).map_err(|error| {
        let cause = Fault::Refused(format!("there is no chance to be had: {error}"));
        super::connection::error_of(connection.address(), cause)
    })?;
    Ok(token)
}

/// Digests of keys, as they are kept.
fn digests<'k>(keys: impl Iterator<Item = &'k str>) -> Vec<Vec<u8>> {
    keys.map(|key| super::numbers::digest(key.as_bytes())).collect()
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX).max(1)
}

/// A history is missing what a fleet needs.
fn refused<T>(what: &str) -> Done<T> {
    Err(Fault::Refused(what.to_owned()))
}

/// A connection of its own to a history with up-to-date tables.
fn connect(address: &PostgresAddress) -> Result<Connection, HistoryError> {
    Connection::open(address.clone())
}
