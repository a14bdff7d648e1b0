//! The machine that plans a hunt for others.

use std::time::Duration;

use flakeproof_core::{HistoryError, HuntRecord, TrialRecord};
use postgres::Transaction;

use super::super::PostgresAddress;
use super::super::connection::{Connection, Done};
use super::super::hunts::{self, trial_record};
use super::super::numbers;
use super::super::words::{given, kept};
use super::{
    MOST_GIVEN, MOST_TROUBLES, NOTIFY, QueuedTrial, channel_of_records, channel_of_trials, connect,
    digests, milliseconds, patiently, refused, token,
};

/// What a coordinator starts with.
#[derive(Debug, Clone)]
pub struct FleetPlan {
    /// What the fleet is called.
    pub name: String,
    /// The hunt, which is kept in the history once the place is taken.
    pub hunt: HuntRecord,
    /// What a worker must have, as text.
    pub needs: String,
    /// After so long, by the server's clock, who is silent is gone.
    pub lease: Duration,
}

/// Another coordinator has the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetTaken {
    /// When its hunt began.
    pub started: String,
    /// If it is not heard of again, its place is free after this time.
    pub free_in: Duration,
}

/// A trial that no worker brings to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckTrial {
    /// What it is found by.
    pub key: String,
    /// How often it was given to a worker.
    pub given: u32,
    /// What the last worker who gave up on it said.
    pub trouble: Option<String>,
}

/// What workers brought back.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// Trials that are done, of those that were asked about.
    pub done: Vec<(String, TrialRecord)>,
    /// A trial among them that no worker brings to an end.
    pub stuck: Option<StuckTrial>,
    /// Workers that were heard of lately.
    pub workers: usize,
}

/// The coordinator of a fleet.
#[derive(Debug)]
pub struct FleetCoordinator {
    connection: Connection,
    fleet: i64,
    token: [u8; 16],
    lease: Duration,
}

/// What was found under the name of a fleet.
enum Place {
    Mine(i64),
    Taken(FleetTaken),
}

impl FleetCoordinator {
    /// Take the place of the coordinator of a fleet. Trials that were asked for in an earlier session of the
    /// same hunt and are not begun are forgotten: they are asked for again.
    ///
    /// # Errors
    /// When the database does not answer or refuses.
    pub fn take_place(
        address: &PostgresAddress,
        plan: &FleetPlan,
    ) -> Result<Result<Self, FleetTaken>, HistoryError> {
        let connection = connect(address)?;
        let token = token(&connection)?;
        let name = connection.address().project().to_owned();
        let place = patiently(|| {
            connection.work(|transaction, _| {
                let project = numbers::project(transaction, &name)?;
                find_place(transaction, project, plan, &token)
            })
        })?;
        Ok(match place {
            Place::Taken(taken) => Err(taken),
            Place::Mine(fleet) => Ok(Self { connection, fleet, token, lease: plan.lease }),
        })
    }

    /// What keeps the place while the coordinator does something else, on a connection of its own.
    ///
    /// # Errors
    /// When the database does not answer or refuses.
    pub fn pulse(&self) -> Result<CoordinatorPulse, HistoryError> {
        let connection = patiently(|| connect(self.connection.address()))?;
        Ok(CoordinatorPulse { connection, fleet: self.fleet, token: self.token })
    }

    /// Ask for trials. One that was asked for before is not run twice.
    ///
    /// # Errors
    /// When the database does not answer for long or refuses, or the place went to another.
    pub fn ask(&self, trials: &[QueuedTrial]) -> Result<(), HistoryError> {
        const ASK: &str = "
            INSERT INTO fleet_trial (fleet, key_digest, key, work, tests)
            SELECT $1, digest, key, work, tests
              FROM unnest($2::bytea[], $3::text[], $4::text[], $5::integer[])
                   WITH ORDINALITY AS new (digest, key, work, tests, place)
             ORDER BY place
            ON CONFLICT DO NOTHING";
        let digests = digests(trials.iter().map(|trial| trial.key.as_str()));
        let keys: Vec<_> = trials.iter().map(|trial| kept(&trial.key)).collect();
        let works: Vec<_> = trials.iter().map(|trial| kept(&trial.work)).collect();
        let tests: Vec<i32> =
            trials.iter().map(|it| i32::try_from(it.tests).unwrap_or(i32::MAX)).collect();
        patiently(|| {
            self.connection.work(|transaction, _| {
                self.check_place(transaction)?;
                transaction.execute(ASK, &[&self.fleet, &digests, &keys, &works, &tests])?;
                transaction.execute(NOTIFY, &[&channel_of_trials(self.fleet)])?;
                Ok(())
            })
        })
    }

    /// What came of trials with these keys, waiting at most so long for the first of them.
    ///
    /// # Errors
    /// When the database does not answer for long, or what it holds makes no sense.
    pub fn collect(&self, keys: &[String], wait: Duration) -> Result<Collected, HistoryError> {
        let found = self.collect_now(keys)?;
        if !found.done.is_empty() || found.stuck.is_some() {
            return Ok(found);
        }
        self.connection.wait_for_notification(wait);
        self.collect_now(keys)
    }

    fn collect_now(&self, keys: &[String]) -> Result<Collected, HistoryError> {
        const DONE: &str = "
            SELECT letters, failures, executions, microseconds, fleet_trial.key
              FROM fleet JOIN fleet_trial ON fleet_trial.fleet = fleet.number
              CROSS JOIN LATERAL (
                   SELECT letters, failures, executions, microseconds FROM trial
                    WHERE trial.hunt = fleet.hunt AND trial.key_digest = fleet_trial.key_digest
                    ORDER BY trial.number DESC LIMIT 1) AS kept
             WHERE fleet.number = $1 AND is_done AND fleet_trial.key_digest = ANY($2)";
        const STUCK: &str = "
            SELECT key, given, trouble FROM fleet_trial
             WHERE fleet = $1 AND NOT is_done AND lease IS NULL
               AND (given >= $2 OR troubles >= $3) AND key_digest = ANY($4)
             LIMIT 1";
        const WORKERS: &str = "
            SELECT count(*) FROM fleet_worker
             WHERE fleet = $1
               AND seen > clock_timestamp() - 2 * $2::bigint * interval '1 millisecond'";
        let digests = digests(keys.iter().map(String::as_str));
        let lease = milliseconds(self.lease);
        patiently(|| {
            self.connection.listen(&channel_of_records(self.fleet))?;
            self.connection.work(|transaction, _| {
                let rows = transaction.query(DONE, &[&self.fleet, &digests])?;
                let record = |row: &postgres::Row| Ok((given(row.get(4)), trial_record(row)?));
                let done = rows.iter().map(record).collect::<Done<_>>()?;
                let stuck = transaction
                    .query_opt(STUCK, &[&self.fleet, &MOST_GIVEN, &MOST_TROUBLES, &digests])?;
                let stuck = stuck.map(|row| StuckTrial {
                    key: given(row.get(0)),
                    given: row.get::<_, i32>(1).unsigned_abs(),
                    trouble: row.get::<_, Option<String>>(2).map(given),
                });
                let workers: i64 = transaction.query_one(WORKERS, &[&self.fleet, &lease])?.get(0);
                let workers = usize::try_from(workers).unwrap_or(0);
                Ok(Collected { done, stuck, workers })
            })
        })
    }

    /// Forget those of these trials that no worker has begun.
    ///
    /// # Errors
    /// When the database does not answer for long, or the place went to another.
    pub fn withdraw(&self, keys: &[String]) -> Result<(), HistoryError> {
        const WITHDRAW: &str = "
            DELETE FROM fleet_trial
             WHERE (fleet, key_digest) IN (
                   SELECT fleet, key_digest FROM fleet_trial
                    WHERE fleet = $1 AND key_digest = ANY($2) AND lease IS NULL AND NOT is_done
                      FOR UPDATE SKIP LOCKED)";
        let digests = digests(keys.iter().map(String::as_str));
        patiently(|| {
            self.connection.work(|transaction, _| {
                self.check_place(transaction)?;
                transaction.execute(WITHDRAW, &[&self.fleet, &digests])?;
                Ok(())
            })
        })
    }

    /// End the fleet: its workers end what they have begun, which is kept, and no more.
    ///
    /// # Errors
    /// When the database does not answer for long.
    pub fn end(&self) -> Result<(), HistoryError> {
        const END: &str = "
            UPDATE fleet SET is_over = true WHERE number = $1 AND coordinator = $2";
        patiently(|| {
            self.connection.work(|transaction, _| {
                if transaction.execute(END, &[&self.fleet, &&self.token[..]])? == 1 {
                    transaction.execute(FORGET_ALL_BUT_BEGUN, &[&self.fleet])?;
                    transaction.execute(NOTIFY, &[&channel_of_trials(self.fleet)])?;
                }
                Ok(())
            })
        })
    }

    /// What the coordinator does is done only as long as it is the one.
    fn check_place(&self, transaction: &mut Transaction<'_>) -> Done<()> {
        const CHECK: &str = "SELECT 1 FROM fleet WHERE number = $1 AND coordinator = $2 FOR SHARE";
        match transaction.query_opt(CHECK, &[&self.fleet, &&self.token[..]])? {
            Some(_) => Ok(()),
            None => refused("another coordinator has taken this fleet over meanwhile"),
        }
    }
}

/// What keeps a coordinator's place.
#[derive(Debug)]
pub struct CoordinatorPulse {
    connection: Connection,
    fleet: i64,
    token: [u8; 16],
}

impl CoordinatorPulse {
    /// Say that the coordinator is alive; false if its place went to another.
    ///
    /// # Errors
    /// When the database does not answer.
    pub fn beat(&self) -> Result<bool, HistoryError> {
        const BEAT: &str = "
            UPDATE fleet SET held_until = clock_timestamp() + lease * interval '1 millisecond'
             WHERE number = $1 AND coordinator = $2";
        self.connection.work(|transaction, _| {
            Ok(transaction.execute(BEAT, &[&self.fleet, &&self.token[..]])? == 1)
        })
    }
}

/// What is done is in `trial`.
const FORGET_ALL_BUT_BEGUN: &str =
    "DELETE FROM fleet_trial WHERE fleet = $1 AND (lease IS NULL OR is_done)";

const FORGET_WAITING: &str =
    "DELETE FROM fleet_trial WHERE fleet = $1 AND lease IS NULL AND NOT is_done";

/// Take the place, unless somebody else has it.
fn find_place(
    transaction: &mut Transaction<'_>,
    project: i64,
    plan: &FleetPlan,
    token: &[u8],
) -> Done<Place> {
    const FIND: &str = "
        SELECT fleet.number, coordinator, is_over, fleet.hunt, hunt.started,
               extract(epoch FROM held_until - clock_timestamp())::float8
          FROM fleet JOIN hunt ON hunt.number = fleet.hunt
         WHERE fleet.project = $1 AND name = $2 FOR UPDATE OF fleet";
    const TAKE_OVER: &str = "
        UPDATE fleet SET coordinator = $2, needs = $3, lease = $4, is_over = false,
               held_until = clock_timestamp() + $4::bigint * interval '1 millisecond'
         WHERE number = $1";
    const MAKE: &str = "
        INSERT INTO fleet (project, name, hunt, needs, lease, coordinator, held_until)
        VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + $5::bigint * interval '1 millisecond')
        RETURNING number";
    let (name, needs, lease) = (kept(&plan.name), kept(&plan.needs), milliseconds(plan.lease));
    // Two that start at the same moment come one after the other.
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, $2))";
    transaction.query_one(lock, &[&name, &project])?;
    if let Some(row) = transaction.query_opt(FIND, &[&project, &name])? {
        let (fleet, is_over): (i64, bool) = (row.get(0), row.get(2));
        let (of_hunt, left): (i64, f64) = (row.get(3), row.get(5));
        let is_mine = row.get::<_, &[u8]>(1) == token;
        if !is_mine && !is_over && left > 0.0 {
            let free_in = Duration::from_secs_f64(left);
            return Ok(Place::Taken(FleetTaken { started: row.get(4), free_in }));
        }
        if of_hunt == hunts::open(transaction, project, &plan.hunt)? {
            transaction.execute(TAKE_OVER, &[&fleet, &token, &needs, &lease])?;
            transaction.execute(FORGET_WAITING, &[&fleet])?;
            return Ok(Place::Mine(fleet));
        }
        transaction.execute("DELETE FROM fleet WHERE number = $1", &[&fleet])?;
    }
    let hunt = hunts::open(transaction, project, &plan.hunt)?;
    let row = transaction.query_one(MAKE, &[&project, &name, &hunt, &needs, &lease, &token])?;
    Ok(Place::Mine(row.get(0)))
}
