//! The queue in PostgreSQL does what its model does, step by step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flakeproof_core::{HuntRecord, Outcome, Seed, TrialRecord};
use flakeproof_store::{
    Claim, FleetCoordinator, FleetPlan, FleetUnit, FleetWorker, PostgresAddress, QueuedTrial,
    StoreUrl, UnitKept,
};
use flakeproof_testkit::postgres::{self, Server, database_of};

use crate::model::{Kept, Lease, Place, Queue, Trial};

const TRIALS: usize = 10;
const STEPS: usize = 150;

pub(crate) fn server(test: &str) -> Option<&'static Server> {
    postgres::shared(&format!("the queue of a fleet: {test}"))
}

pub(crate) fn address(url: &str) -> PostgresAddress {
    let url = StoreUrl::new(url).expect("a URL");
    PostgresAddress::new(&url, "shop/basket").expect("an address")
}

pub(crate) fn hunt(id: &str) -> HuntRecord {
    HuntRecord {
        id: id.into(),
        started: "2026-11-15T02:53:00Z".into(),
        command: vec!["pytest".into()],
        fingerprint: "a:b:c".into(),
        seed: "7".into(),
        settings: "{}".into(),
        version: "0.1.0".into(),
    }
}

pub(crate) fn plan(name: &str, id: &str) -> FleetPlan {
    let lease = Duration::from_secs(30);
    FleetPlan { name: name.into(), hunt: hunt(id), needs: "{}".into(), lease }
}

pub(crate) fn queued(trial: Trial) -> QueuedTrial {
    QueuedTrial { key: key(trial), work: format!("{{\"trial\":{trial}}}"), tests: 1 }
}

pub(crate) fn key(trial: Trial) -> String {
    format!("trial/{trial}")
}

pub(crate) fn record(trial: Trial) -> TrialRecord {
    TrialRecord {
        outcomes: vec![vec![Some(Outcome::Passed); trial + 1]],
        executions: 1,
        duration: Duration::from_millis(3),
        ..TrialRecord::default()
    }
}

/// A unit as both know it.
struct Unit {
    in_model: Lease,
    unit: FleetUnit,
    trials: Vec<Trial>,
}

/// The model, the queue, and what is under way.
struct Both {
    model: Queue,
    coordinator: FleetCoordinator,
    workers: Vec<FleetWorker>,
    fleet: i64,
    units: Vec<Unit>,
    database: String,
    server: &'static Server,
}

impl Both {
    fn claim(&mut self, worker: usize, pace: Option<f64>) {
        let claimed = self.workers[worker].claim(self.fleet, pace).expect("a claim");
        let size = match &claimed {
            Claim::Unit(unit) => unit.trials.len(),
            Claim::Nothing { .. } => 1,
            Claim::Over => unreachable!("it is not over"),
        };
        let expected = self.model.claim(size);
        match (claimed, expected) {
            (Claim::Unit(unit), Some((in_model, trials))) => {
                let keys: Vec<&String> = unit.trials.iter().map(|(key, _)| key).collect();
                assert_eq!(
                    keys,
                    trials.iter().map(|it| key(*it)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
                );
                self.units.push(Unit { in_model, unit, trials });
            }
            (Claim::Nothing { is_steered }, None) => assert!(is_steered),
            (claimed, expected) => unreachable!("{claimed:?} and not {expected:?}"),
        }
    }

    fn complete(&mut self, at: usize, ran: usize) {
        let Unit { in_model, unit, trials } = &self.units[at];
        let ran = &trials[..ran.min(trials.len())];
        let records: Vec<_> = ran.iter().map(|trial| (key(*trial), record(*trial))).collect();
        let kept = self.workers[0].complete(self.fleet, unit, &records, None).expect("an answer");
        let expected = self.model.complete(*in_model, ran);
        assert_eq!(kept == UnitKept::Kept, expected == Kept::Kept);
    }

    fn expire(&mut self, at: usize) {
        let Unit { in_model, unit, .. } = &self.units[at];
        let end = format!(
            "UPDATE flakeproof.fleet_lease SET held_until = clock_timestamp() - interval '1 second' \
              WHERE number = {}",
            unit.lease
        );
        self.server.sql(&self.database, &end);
        self.model.expire(*in_model);
    }

    fn beat(&mut self, at: usize) {
        let pulse = self.workers[0].pulse().expect("a pulse");
        let is_there = pulse.beat(self.units[at].unit.lease).expect("a beat");
        assert_eq!(is_there, self.model.beat(self.units[at].in_model));
    }

    fn compare(&self) {
        let all: Vec<String> = (0..TRIALS).map(key).collect();
        let found = self.coordinator.collect(&all, Duration::ZERO).expect("an answer");
        let done: BTreeMap<String, TrialRecord> = found.done.into_iter().collect();
        let expected = (0..TRIALS)
            .filter(|trial| matches!(self.model.place(*trial), Some(Place::Done(_))))
            .map(|trial| (key(trial), record(trial)));
        assert_eq!(done, expected.collect());
    }
}

#[test]
fn the_queue_in_postgresql_does_what_the_model_does() {
    let Some(server) = server("the model") else { return };
    for seed in 0..3_u64 {
        let url = server.fresh_database();
        let coordinator = FleetCoordinator::take_place(&address(&url), &plan("f", "1"));
        let coordinator = coordinator.expect("a database").expect("the place is free");
        let workers: Vec<FleetWorker> =
            (0..2).map(|_| FleetWorker::connect(&address(&url)).expect("a worker")).collect();
        let fleet = workers[0].find("f").expect("an answer").expect("a fleet").number;
        let database = database_of(&url).to_owned();
        let mut both = Both {
            model: Queue::default(),
            coordinator,
            workers,
            fleet,
            units: Vec::new(),
            database,
            server,
        };
        for step in 0..STEPS {
            let chance = Seed(seed).split(&step.to_string()).0;
            let draw = |below: usize, part: u32| {
                usize::try_from(chance >> part).expect("64 bits") % below.max(1)
            };
            let unit = draw(both.units.len(), 16);
            match draw(10, 0) {
                0..=1 => {
                    let trials = [draw(TRIALS, 8), draw(TRIALS, 24)];
                    let asked: BTreeSet<Trial> = trials.into_iter().collect();
                    let asked: Vec<Trial> = asked.into_iter().collect();
                    let all: Vec<QueuedTrial> = asked.iter().map(|it| queued(*it)).collect();
                    both.coordinator.ask(&all).expect("it is taken");
                    both.model.ask(&asked);
                }
                2..=4 => both.claim(draw(2, 8), [None, Some(0.001)][draw(2, 9)]),
                5 if !both.units.is_empty() => both.expire(unit),
                6 if !both.units.is_empty() => both.beat(unit),
                7..=8 if !both.units.is_empty() => both.complete(unit, draw(4, 32)),
                9 => {
                    let trial = draw(TRIALS, 8);
                    both.coordinator.withdraw(&[key(trial)]).expect("it is taken back");
                    both.model.withdraw(&[trial]);
                }
                _ => {}
            }
            both.compare();
        }
        let rows = server.sql(&both.database, "SELECT key FROM flakeproof.trial ORDER BY key");
        let mut recorded: Vec<String> =
            both.model.records.iter().map(|(trial, _)| key(*trial)).collect();
        recorded.sort();
        assert_eq!(rows.lines().collect::<Vec<_>>(), recorded, "each record is there once");
        assert!(recorded.len() > TRIALS / 2, "only {recorded:?}");
    }
}
