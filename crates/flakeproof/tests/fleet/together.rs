//! What several machines find together.

use flakeproof_testkit::postgres::database_of;

use crate::{FLEET, Machines, assert_ends, ended, number_before, server, start};

#[test]
fn two_workers_find_what_one_machine_finds() {
    let Some(server) = server("two workers") else { return };
    let machines = Machines::new(server, 2);
    let expected = machines.found_alone();
    let workers = [start(machines.worker(0)), start(machines.worker(1))];
    let mut hunt = machines.hunting(&["--fleet", FLEET, "--reporter", &machines.report()]);
    let hunted = hunt.output().expect("it starts");
    assert_ends(&hunted, 1, &["flakeproof worker --fleet nightly", "1 victim", "1 brittle"]);
    assert_eq!(machines.found(), expected);
    let ran = workers.map(|worker| {
        let said = assert_ends(&ended(worker), 0, &["joined fleet", "the hunt is over"]);
        number_before(&said, "executions")
    });
    assert!(ran.iter().all(|executions| *executions > 0), "both worked: {ran:?}");
    let database = database_of(&machines.store).split('?').next().expect("a name").to_owned();
    let kept = "SELECT sum(executions), count(*) - count(DISTINCT key) FROM flakeproof.trial";
    let expected = format!("{}|0", ran.iter().sum::<u64>());
    assert_eq!(server.sql(&database, kept), expected, "each execution is there once");
}

#[test]
fn others_know_what_a_fleet_found() {
    let Some(server) = server("what others know") else { return };
    let machines = Machines::new(server, 1);
    let worker = start(machines.worker(0));
    let hunted = machines.hunting(&["--fleet", FLEET]).output().expect("it starts");
    assert_ends(&hunted, 1, &["1 victim"]);
    ended(worker);
    let mut list = machines.origin.flakeproof(&["list"]);
    list.env("FLAKEPROOF_STORE", &machines.store);
    assert_ends(&list.output().expect("it starts"), 0, &["test_a.py::test_victim"]);
}
