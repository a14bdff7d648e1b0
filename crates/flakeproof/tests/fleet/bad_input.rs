//! Machines that do not fit, and what cannot be.

use flakeproof_testkit::finish;
use flakeproof_testkit::postgres::database_of;

use crate::{FLEET, Machines, assert_ends, ended, server, start};

#[test]
fn a_worker_that_is_another_is_refused_with_what_differs() {
    let Some(server) = server("workers that differ") else { return };
    let machines = Machines::new(server, 3);
    let mut hunt = start(machines.hunting(&["--fleet", FLEET]));
    let other_command = machines.worker_with(0, &["-m", "pytest", "-q"]).output().expect("starts");
    assert_ends(&other_command, 2, &["the hunt runs", "give the worker the same command"]);
    let edited = machines.copies[1].path().join("test_a.py");
    let text = std::fs::read_to_string(&edited).expect("a file").replace("0.03", "0.04");
    std::fs::write(&edited, text).expect("it is written");
    let edited = machines.worker(1).output().expect("it starts");
    assert_ends(&edited, 2, &["the code differs", "check out the same revision"]);
    let mut second = machines.hunting(&["--fleet", FLEET]);
    let second = second.output().expect("it starts");
    assert_ends(&second, 2, &["has the fleet `nightly`", "take another name"]);
    hunt.kill().expect("it ends");
    hunt.wait().expect("it ended");
}

#[test]
fn a_worker_of_another_version_is_refused() {
    let Some(server) = server("a worker of another version") else { return };
    let machines = Machines::new(server, 1);
    let mut hunt = start(machines.hunting(&["--fleet", FLEET]));
    let database = database_of(&machines.store).split('?').next().expect("a name").to_owned();
    while server.sql(&database, "SELECT count(*) FROM flakeproof.fleet") == "0" {
        std::thread::yield_now();
    }
    let own = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let newer = "\"version\":\"9.9.9\"";
    let change = format!("UPDATE flakeproof.fleet SET needs = replace(needs, '{own}', '{newer}')");
    server.sql(&database, &change);
    let other = machines.worker(0).output().expect("it starts");
    assert_ends(&other, 2, &["flakeproof 9.9.9 steers this hunt", "install the same version"]);
    hunt.kill().expect("it ends");
    hunt.wait().expect("it ended");
}

#[test]
fn a_fleet_needs_a_database_and_a_name() {
    let machines = Machines::with("history.db", 1);
    let hunt = finish(&mut machines.hunting(&["--fleet", FLEET]));
    assert_eq!(hunt.code(), Some(2), "{}", hunt.text());
    assert!(hunt.text().contains("machines share a hunt in PostgreSQL"), "{}", hunt.text());
    let worker = finish(&mut machines.worker(0));
    assert_eq!(worker.code(), Some(2), "{}", worker.text());
    let nameless = finish(&mut machines.hunting(&["--fleet", " "]));
    assert_eq!(nameless.code(), Some(2), "{}", nameless.text());
    assert!(nameless.text().contains("a fleet needs a name"), "{}", nameless.text());
}

#[test]
fn a_worker_without_a_hunt_ends() {
    let Some(server) = server("no hunt") else { return };
    let machines = Machines::new(server, 1);
    let mut worker = machines.origin.flakeproof(&["worker", "--fleet", "other", "--wait", "1s"]);
    worker.env("FLAKEPROOF_STORE", &machines.store);
    let waited = ended(start(crate::piped(worker)));
    assert_ends(&waited, 5, &["no hunt of fleet `other`", "flakeproof hunt --fleet other"]);
}
