//! What a server and other machines can do to a fleet.

use std::time::Duration;

use flakeproof_core::History as _;
use flakeproof_core::HistoryError;
use flakeproof_store::{
    Claim, FleetCoordinator, FleetUnit, FleetWorker, PostgresHistory, UnitKept,
};
use flakeproof_testkit::postgres::{Server, database_of};
use flakeproof_testkit::skipped;

use crate::same_as_model::{address, key, plan, queued, record, server};

fn coordinator(url: &str, hunt: &str) -> FleetCoordinator {
    let taken = FleetCoordinator::take_place(&address(url), &plan("nightly", hunt));
    taken.expect("a database").expect("the place is free")
}

fn unit(worker: &FleetWorker, fleet: i64) -> FleetUnit {
    match worker.claim(fleet, None).expect("an answer") {
        Claim::Unit(unit) => unit,
        other => unreachable!("no unit but {other:?}"),
    }
}

fn joined(url: &str) -> (FleetWorker, i64) {
    let worker = FleetWorker::connect(&address(url)).expect("a worker");
    let fleet = worker.find("nightly").expect("an answer").expect("a fleet").number;
    (worker, fleet)
}

#[test]
fn of_two_coordinators_with_one_name_the_second_is_refused() {
    let Some(server) = server("two coordinators") else { return };
    let url = server.fresh_database();
    let first = coordinator(&url, "1");
    let second = FleetCoordinator::take_place(&address(&url), &plan("nightly", "2"));
    let taken = second.expect("a database").expect_err("the place is taken");
    assert_eq!(taken.started, "2026-11-15T02:53:00Z");
    assert!(taken.free_in > Duration::from_secs(1) && taken.free_in <= Duration::from_secs(30));
    // The refused hunt left nothing behind.
    let hunts = "SELECT count(*) FROM flakeproof.hunt";
    assert_eq!(server.sql(database_of(&url), hunts), "1");
    first.end().expect("it ends");
    coordinator(&url, "2");
}

#[test]
fn a_coordinator_that_was_frozen_until_another_took_over_is_refused() {
    let Some(server) = server("a frozen coordinator") else { return };
    let url = server.fresh_database();
    let frozen = coordinator(&url, "1");
    let pulse = frozen.pulse().expect("a pulse");
    frozen.ask(&[queued(1)]).expect("it is taken");
    let late = "UPDATE flakeproof.fleet SET held_until = clock_timestamp() - interval '1 second'";
    server.sql(database_of(&url), late);
    // Another session of the same hunt goes on with the same fleet.
    let other = coordinator(&url, "1");
    assert!(!pulse.beat().expect("an answer"));
    let refused = frozen.ask(&[queued(2)]).expect_err("it has no place");
    assert!(refused.to_string().contains("taken this fleet over"), "{refused}");
    let (worker, fleet) = joined(&url);
    let nothing = worker.claim(fleet, None).expect("an answer");
    assert_eq!(nothing, Claim::Nothing { is_steered: true }, "what nobody began is asked anew");
    other.ask(&[queued(3)]).expect("it is taken");
    assert_eq!(unit(&worker, fleet).trials[0].0, key(3));
}

#[test]
fn what_workers_end_after_the_coordinator_died_is_found_by_the_next_session() {
    let Some(server) = server("a dead coordinator") else { return };
    let url = server.fresh_database();
    let dead = coordinator(&url, "1");
    dead.ask(&[queued(1), queued(2)]).expect("it is taken");
    let (worker, fleet) = joined(&url);
    let begun = unit(&worker, fleet);
    drop(dead);
    let records = [(key(1), record(1))];
    let kept = worker.complete(fleet, &begun, &records, None).expect("an answer");
    assert_eq!(kept, UnitKept::Kept);
    let mut history = PostgresHistory::open(address(&url)).expect("a history");
    history.begin_hunt(&plan("nightly", "1").hunt).expect("it goes on");
    assert_eq!(history.trial(&key(1)).expect("an answer"), Some(record(1)));
    assert_eq!(history.trial(&key(2)).expect("an answer"), None);
}

#[test]
fn a_trial_that_no_worker_ends_is_told() {
    let Some(server) = server("a trial that no worker ends") else { return };
    let url = server.fresh_database();
    let coordinator = coordinator(&url, "1");
    coordinator.ask(&[queued(1)]).expect("it is taken");
    let (worker, fleet) = joined(&url);
    for _ in 0..3 {
        let unit = unit(&worker, fleet);
        worker.complete(fleet, &unit, &[], Some("the runner has a fault")).expect("an answer");
    }
    let nothing = worker.claim(fleet, None).expect("an answer");
    assert_eq!(nothing, Claim::Nothing { is_steered: true });
    let stuck = coordinator.collect(&[key(1)], Duration::ZERO).expect("an answer").stuck;
    let stuck = stuck.expect("it is told");
    assert_eq!((stuck.key, stuck.trouble.as_deref()), (key(1), Some("the runner has a fault")));
}

#[test]
fn a_server_that_restarts_loses_nothing() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(why) => return skipped::note("the queue of a fleet: a restart", &why),
    };
    let url = server.fresh_database();
    let coordinator = coordinator(&url, "1");
    coordinator.ask(&[queued(1), queued(2)]).expect("it is taken");
    let (worker, fleet) = joined(&url);
    let begun = unit(&worker, fleet);
    server.down();
    server.up();
    let kept = worker.complete(fleet, &begun, &[(key(1), record(1))], None).expect("an answer");
    assert_eq!(kept, UnitKept::Kept);
    let second = unit(&worker, fleet);
    let back = worker.complete(fleet, &second, &[(key(2), record(2))], None).expect("an answer");
    assert_eq!(back, UnitKept::Kept);
    let all = [key(1), key(2)];
    assert_eq!(coordinator.collect(&all, Duration::ZERO).expect("an answer").done.len(), 2);
}

#[test]
fn a_writer_that_may_only_add_is_told_so() {
    let Some(server) = server("rights") else { return };
    let url = server.fresh_database();
    let coordinator = coordinator(&url, "1");
    coordinator.ask(&[queued(1)]).expect("it is taken");
    let database = database_of(&url);
    server.sql(
        database,
        &format!(
            "CREATE ROLE adds_{database} LOGIN PASSWORD 'secret'; \
             GRANT USAGE ON SCHEMA flakeproof TO adds_{database}; \
             GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA flakeproof TO adds_{database}"
        ),
    );
    let url = server.url(&format!("adds_{database}"), "secret", database);
    let (worker, fleet) = joined(&url);
    let refused = worker.claim(fleet, None).expect_err("it may not");
    assert!(matches!(refused, HistoryError::Unwritable { .. }), "{refused:?}");
    assert!(refused.to_string().contains("permission denied"), "{refused}");
    assert!(!refused.to_string().contains("secret"), "{refused}");
}
