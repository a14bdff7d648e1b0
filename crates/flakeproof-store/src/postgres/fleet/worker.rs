//! A machine that takes trials.

use std::time::Duration;

use flakeproof_core::{HistoryError, TrialRecord};
use postgres::Transaction;

use super::super::PostgresAddress;
use super::super::connection::{Connection, Done};
use super::super::hunts::put_trial;
use super::super::words::{given, kept};
use super::unit::trials_of_unit;
use super::{
    MOST_GIVEN, MOST_TROUBLES, NOTIFY, channel_of_records, channel_of_trials, connect, digests,
    patiently, token,
};

/// So many waiting trials are looked at to make a unit of some.
const NEXT: i64 = 256;

/// A fleet that waits for workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFound {
    /// Its number.
    pub number: i64,
    /// What a worker must have, as text.
    pub needs: String,
    /// After so long, by the server's clock, who is silent is gone.
    pub lease: Duration,
}

/// Trials that a worker has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetUnit {
    /// The number of the lease.
    pub lease: i64,
    /// Each trial's key, and what to run.
    pub trials: Vec<(String, String)>,
}

/// What a worker is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Trials to run.
    Unit(FleetUnit),
    /// Nothing for now.
    Nothing {
        /// Whether the coordinator was heard of lately.
        is_steered: bool,
    },
    /// The hunt is over.
    Over,
}

/// What became of a unit that was brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKept {
    /// Its records count.
    Kept,
    /// The lease had gone to another, and nothing of it counts.
    Lost,
}

/// A worker of a fleet, or of none yet.
#[derive(Debug)]
pub struct FleetWorker {
    connection: Connection,
    token: [u8; 16],
}

impl FleetWorker {
    /// Connect to the database.
    ///
    /// # Errors
    /// When it does not answer or refuses.
    pub fn connect(address: &PostgresAddress) -> Result<Self, HistoryError> {
        let connection = connect(address)?;
        let token = token(&connection)?;
        Ok(Self { connection, token })
    }

    /// The fleet of this name, if a hunt is on.
    ///
    /// # Errors
    /// When the database does not answer for long.
    pub fn find(&self, name: &str) -> Result<Option<FleetFound>, HistoryError> {
        const FIND: &str = "
            SELECT fleet.number, needs, lease
              FROM fleet JOIN project ON project.number = fleet.project
             WHERE project.name = $1 AND fleet.name = $2 AND NOT is_over";
        let project = kept(self.connection.address().project());
        patiently(|| {
            self.connection.work(|transaction, _| {
                let row = transaction.query_opt(FIND, &[&project, &kept(name)])?;
                Ok(row.map(|row| FleetFound {
                    number: row.get(0),
                    needs: given(row.get(1)),
                    lease: Duration::from_millis(row.get::<_, i64>(2).unsigned_abs()),
                }))
            })
        })
    }

    /// Take trials that wait. A test takes this worker so many seconds, if it knows.
    ///
    /// # Errors
    /// When the database does not answer for long or refuses.
    pub fn claim(&self, fleet: i64, seconds_per_test: Option<f64>) -> Result<Claim, HistoryError> {
        patiently(|| {
            self.connection.listen(&channel_of_trials(fleet))?;
            self.connection
                .work(|transaction, _| claim(transaction, fleet, &self.token, seconds_per_test))
        })
    }

    /// Wait at most so long for news of the fleet whose trials were claimed last.
    pub fn wait(&self, time: Duration) {
        self.connection.wait_for_notification(time);
    }

    /// Bring back a unit: keep these records, and give back its other trials. With `trouble`, the first of
    /// those is the one that could not be run, and why.
    ///
    /// # Errors
    /// When the database does not answer for long or refuses.
    pub fn complete(
        &self,
        fleet: i64,
        unit: &FleetUnit,
        records: &[(String, TrialRecord)],
        trouble: Option<&str>,
    ) -> Result<UnitKept, HistoryError> {
        patiently(|| {
            self.connection.work(|transaction, _| {
                let Some(hunt) = hunt_of(transaction, fleet)? else { return Ok(UnitKept::Lost) };
                let kept = complete(transaction, fleet, hunt, unit.lease, records)?;
                if kept == UnitKept::Kept {
                    give_back(transaction, unit, records, trouble)?;
                    transaction.execute(NOTIFY, &[&channel_of_records(fleet)])?;
                    if records.len() < unit.trials.len() {
                        transaction.execute(NOTIFY, &[&channel_of_trials(fleet)])?;
                    }
                }
                Ok(kept)
            })
        })
    }

    /// Leave: nobody counts on this worker any more.
    ///
    /// # Errors
    /// When the database does not answer for long.
    pub fn leave(&self) -> Result<(), HistoryError> {
        self.connection.work(|transaction, _| {
            let leave = "DELETE FROM fleet_worker WHERE token = $1";
            transaction.execute(leave, &[&&self.token[..]])?;
            Ok(())
        })
    }

    /// What keeps the worker's leases alive while it works, on a connection of its own.
    ///
    /// # Errors
    /// When the database does not answer or refuses.
    pub fn pulse(&self) -> Result<FleetPulse, HistoryError> {
        let connection = patiently(|| connect(self.connection.address()))?;
        Ok(FleetPulse { connection, token: self.token })
    }
}

/// What keeps a worker's leases alive.
#[derive(Debug)]
pub struct FleetPulse {
    connection: Connection,
    token: [u8; 16],
}

impl FleetPulse {
    /// Say that whoever holds a lease is alive; false if the lease is gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub fn beat(&self, lease: i64) -> Result<bool, HistoryError> {
        const BEAT: &str = "
            UPDATE fleet_lease
               SET held_until = clock_timestamp() + fleet.lease * interval '1 millisecond'
              FROM fleet
             WHERE fleet_lease.number = $1 AND fleet.number = fleet_lease.fleet";
        self.connection.work(|transaction, _| {
            let seen = "UPDATE fleet_worker SET seen = clock_timestamp() WHERE token = $1";
            transaction.execute(seen, &[&&self.token[..]])?;
            Ok(transaction.execute(BEAT, &[&lease])? == 1)
        })
    }
}

fn hunt_of(transaction: &mut Transaction<'_>, fleet: i64) -> Done<Option<i64>> {
    let find = "SELECT hunt FROM fleet WHERE number = $1";
    Ok(transaction.query_opt(find, &[&fleet])?.map(|row| row.get(0)))
}

fn claim(
    transaction: &mut Transaction<'_>,
    fleet: i64,
    worker: &[u8],
    seconds_per_test: Option<f64>,
) -> Done<Claim> {
    const FLEET: &str = "
        SELECT is_over, held_until > clock_timestamp(), lease FROM fleet WHERE number = $1";
    const JOIN: &str = "
        INSERT INTO fleet_worker (token, fleet, seen) VALUES ($1, $2, clock_timestamp())
        ON CONFLICT (token) DO UPDATE SET fleet = $2, seen = clock_timestamp()";
    const NEXT_TRIALS: &str = "
        SELECT tests FROM fleet_trial
         WHERE fleet = $1 AND lease IS NULL AND NOT is_done AND given < $2 AND troubles < $3
         ORDER BY number LIMIT $4";
    const ALL: &str = "
        SELECT coalesce(sum(tests), 0)::bigint,
               (SELECT count(*) FROM fleet_worker
                 WHERE fleet = $1
                   AND seen > clock_timestamp() - 2 * $2::bigint * interval '1 millisecond')
          FROM fleet_trial WHERE fleet = $1 AND lease IS NULL AND NOT is_done";
    const TAKE: &str = "
        SELECT key_digest FROM fleet_trial
         WHERE fleet = $1 AND lease IS NULL AND NOT is_done AND given < $2 AND troubles < $3
         ORDER BY number LIMIT $4 FOR UPDATE SKIP LOCKED";
    const LEASE: &str = "
        INSERT INTO fleet_lease (fleet, worker, held_until)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')
        RETURNING number";
    const GIVE: &str = "
        WITH mine AS (
            UPDATE fleet_trial SET lease = $3, given = given + 1
             WHERE fleet = $1 AND key_digest = ANY($2)
            RETURNING number, key, work)
        SELECT key, work FROM mine ORDER BY number";
    let Some(row) = transaction.query_opt(FLEET, &[&fleet])? else { return Ok(Claim::Over) };
    let (is_over, is_steered, lease): (bool, bool, i64) = (row.get(0), row.get(1), row.get(2));
    if is_over {
        return Ok(Claim::Over);
    }
    transaction.execute(JOIN, &[&worker, &fleet])?;
    take_from_the_silent(transaction, fleet)?;
    let limits = (MOST_GIVEN, MOST_TROUBLES);
    let rows = transaction.query(NEXT_TRIALS, &[&fleet, &limits.0, &limits.1, &NEXT])?;
    let next: Vec<u32> = rows.iter().map(|row| row.get::<_, i32>(0).unsigned_abs()).collect();
    if next.is_empty() {
        return Ok(Claim::Nothing { is_steered });
    }
    let all = transaction.query_one(ALL, &[&fleet, &lease])?;
    let (waiting, workers): (i64, i64) = (all.get(0), all.get(1));
    let size =
        trials_of_unit(&next, waiting.unsigned_abs(), workers.unsigned_abs(), seconds_per_test);
    let size = i64::try_from(size).unwrap_or(NEXT);
    let rows = transaction.query(TAKE, &[&fleet, &limits.0, &limits.1, &size])?;
    if rows.is_empty() {
        return Ok(Claim::Nothing { is_steered });
    }
    let taken: Vec<Vec<u8>> = rows.iter().map(|row| row.get(0)).collect();
    let number: i64 = transaction.query_one(LEASE, &[&fleet, &worker, &lease])?.get(0);
    let rows = transaction.query(GIVE, &[&fleet, &taken, &number])?;
    let trials = rows.iter().map(|row| (given(row.get(0)), given(row.get(1)))).collect();
    Ok(Claim::Unit(FleetUnit { lease: number, trials }))
}

/// Trials of workers that were not heard of in time wait again. A lease that is being brought back this very
/// moment is left alone.
fn take_from_the_silent(transaction: &mut Transaction<'_>, fleet: i64) -> Done<()> {
    const TAKE: &str = "
        WITH silent AS (
            SELECT number FROM fleet_lease
             WHERE fleet = $1 AND held_until < clock_timestamp() FOR UPDATE SKIP LOCKED),
        ended AS (DELETE FROM fleet_lease USING silent WHERE fleet_lease.number = silent.number)
        UPDATE fleet_trial SET lease = NULL FROM silent
         WHERE fleet_trial.lease = silent.number AND NOT is_done";
    transaction.execute(TAKE, &[&fleet])?;
    Ok(())
}

/// Keep the records of a unit, if its lease is still there.
fn complete(
    transaction: &mut Transaction<'_>,
    fleet: i64,
    hunt: i64,
    lease: i64,
    records: &[(String, TrialRecord)],
) -> Done<UnitKept> {
    const HOLD: &str = "SELECT 1 FROM fleet_lease WHERE number = $1 FOR UPDATE";
    const DONE_BEFORE: &str = "
        SELECT count(*) FROM fleet_trial
         WHERE fleet = $1 AND lease = $2 AND is_done AND key_digest = ANY($3)";
    const DONE: &str = "
        UPDATE fleet_trial SET is_done = true
         WHERE fleet = $1 AND lease = $2 AND NOT is_done AND key_digest = $3";
    const END: &str = "DELETE FROM fleet_lease WHERE number = $1";
    if transaction.query_opt(HOLD, &[&lease])?.is_none() {
        // It may be gone because an earlier try was not in vain, though nobody could say so.
        let digests = digests(records.iter().map(|(key, _)| key.as_str()));
        let row = transaction.query_one(DONE_BEFORE, &[&fleet, &lease, &digests])?;
        let is_all = usize::try_from(row.get::<_, i64>(0)).is_ok_and(|it| it == records.len());
        return Ok(if is_all && !records.is_empty() { UnitKept::Kept } else { UnitKept::Lost });
    }
    for (key, record) in records {
        let digest = super::super::numbers::digest(key.as_bytes());
        if transaction.execute(DONE, &[&fleet, &lease, &digest])? == 1 {
            // The lease has each trial once, so that the two together are a key that nobody else has.
            let mut token = lease.to_le_bytes().to_vec();
            token.extend_from_slice(&digest);
            put_trial(transaction, hunt, &token, key, record)?;
        }
    }
    transaction.execute(END, &[&lease])?;
    Ok(UnitKept::Kept)
}

/// What of a unit was not done waits again.
fn give_back(
    transaction: &mut Transaction<'_>,
    unit: &FleetUnit,
    records: &[(String, TrialRecord)],
    trouble: Option<&str>,
) -> Done<()> {
    const TROUBLE: &str = "
        UPDATE fleet_trial SET troubles = troubles + 1, trouble = $3
         WHERE lease = $1 AND NOT is_done AND key_digest = $2";
    const GIVE_BACK: &str = "UPDATE fleet_trial SET lease = NULL WHERE lease = $1 AND NOT is_done";
    if let Some(trouble) = trouble {
        let is_open = |key: &String| !records.iter().any(|(done, _)| done == key);
        if let Some((key, _)) = unit.trials.iter().find(|(key, _)| is_open(key)) {
            let digest = super::super::numbers::digest(key.as_bytes());
            transaction.execute(TROUBLE, &[&unit.lease, &digest, &kept(trouble)])?;
        }
    }
    transaction.execute(GIVE_BACK, &[&unit.lease])?;
    Ok(())
}
