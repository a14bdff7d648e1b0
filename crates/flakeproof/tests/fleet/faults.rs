//! Machines that die or freeze in the middle.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use flakeproof_testkit::postgres::{Server, database_of};
use flakeproof_testkit::skipped;

use crate::{FLEET, Machines, assert_ends, ended, number_before, server, start};

/// A fault is expected to come about within this time.
const DEADLINE: Duration = Duration::from_secs(120);

/// Leases end early, so that nobody waits for them.
const SHORT: [&str; 4] = ["--fleet", FLEET, "--fleet-lease", "2s"];

/// Wait until the database says so.
fn until(server: &Server, machines: &Machines, claim: &str) {
    let database = database_of(&machines.store).split('?').next().expect("a name").to_owned();
    let begin = Instant::now();
    while server.sql(&database, &format!("SELECT {claim}")) != "t" {
        assert!(begin.elapsed() < DEADLINE, "never: {claim}");
        std::thread::yield_now();
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("it starts").success());
}

const SOME_IS_KEPT: &str = "(SELECT count(*) FROM flakeproof.trial) >= 3";
const ONE_IS_OUT: &str = "EXISTS (SELECT 1 FROM flakeproof.fleet_lease)";

/// Nothing is there twice, and nothing is missing that a worker was told is kept.
fn assert_counted_once(server: &Server, machines: &Machines, at_least: u64) {
    let database = database_of(&machines.store).split('?').next().expect("a name").to_owned();
    let kept = "SELECT sum(executions) >= {}, count(*) = count(DISTINCT key) FROM flakeproof.trial";
    assert_eq!(server.sql(&database, &kept.replace("{}", &at_least.to_string())), "t|t");
}

#[test]
fn a_worker_that_is_killed_in_the_middle_changes_nothing() {
    let Some(server) = server("a killed worker") else { return };
    let machines = Machines::new(server, 2);
    let expected = machines.found_alone();
    let report = machines.report();
    let hunt = [&SHORT[..], &["--reporter", &report]].concat();
    let hunt = start(machines.hunting(&hunt));
    let mut victim = start(machines.worker(0));
    until(server, &machines, SOME_IS_KEPT);
    until(server, &machines, ONE_IS_OUT);
    victim.kill().expect("it dies");
    victim.wait().expect("it died");
    let other = start(machines.worker(1));
    assert_ends(&ended(hunt), 1, &["1 victim"]);
    let said = assert_ends(&ended(other), 0, &["the hunt is over"]);
    assert_eq!(machines.found(), expected);
    assert_counted_once(server, &machines, number_before(&said, "executions"));
}

#[test]
fn a_worker_that_was_frozen_until_its_lease_went_to_another_brings_nothing_back() {
    let Some(server) = server("a frozen worker") else { return };
    let machines = Machines::new(server, 2);
    let expected = machines.found_alone();
    let report = machines.report();
    let hunt = [&SHORT[..], &["--reporter", &report]].concat();
    let hunt = start(machines.hunting(&hunt));
    let frozen = start(machines.worker(0));
    until(server, &machines, SOME_IS_KEPT);
    until(server, &machines, ONE_IS_OUT);
    signal(&frozen, "-STOP");
    let other = start(machines.worker(1));
    assert_ends(&ended(hunt), 1, &["1 victim"]);
    signal(&frozen, "-CONT");
    let said = assert_ends(&ended(other), 0, &["the hunt is over"]);
    let late = assert_ends(&ended(frozen), 0, &["the hunt is over"]);
    assert_eq!(machines.found(), expected);
    let ran = number_before(&said, "executions") + number_before(&late, "executions");
    assert_counted_once(server, &machines, ran);
}

#[test]
fn a_coordinator_that_is_killed_is_taken_up_again() {
    let Some(server) = server("a killed coordinator") else { return };
    let machines = Machines::new(server, 1);
    let expected = machines.found_alone();
    let worker = start(machines.worker(0));
    let mut killed = start(machines.hunting(&SHORT));
    until(server, &machines, SOME_IS_KEPT);
    killed.kill().expect("it dies");
    killed.wait().expect("it died");
    let gone = "(SELECT held_until < clock_timestamp() FROM flakeproof.fleet)";
    until(server, &machines, gone);
    let again = ["hunt", "--resume", "--fleet", FLEET, "--reporter", &machines.report()];
    let again = machines.steering(&again).output().expect("it starts");
    assert_ends(&again, 1, &["1 victim"]);
    let said = assert_ends(&ended(worker), 0, &["the hunt is over"]);
    assert_eq!(machines.found(), expected);
    assert_counted_once(server, &machines, number_before(&said, "executions"));
}

#[test]
fn an_interrupt_keeps_what_was_found_and_says_how_to_go_on() {
    let Some(server) = server("an interrupt") else { return };
    let machines = Machines::new(server, 2);
    let expected = machines.found_alone();
    let interrupted = start(machines.worker(0));
    let hunt = start(machines.hunting(&["--fleet", FLEET]));
    until(server, &machines, SOME_IS_KEPT);
    signal(&interrupted, "-INT");
    assert_ends(&ended(interrupted), 130, &["interrupted"]);
    let other = start(machines.worker(1));
    until(server, &machines, "(SELECT count(*) FROM flakeproof.trial) >= 5");
    signal(&hunt, "-INT");
    assert_ends(&ended(hunt), 130, &["hunt --resume --fleet nightly"]);
    assert_ends(&ended(other), 0, &["the hunt is over"]);
    let last = start(machines.worker(0));
    let again = ["hunt", "--resume", "--fleet", FLEET, "--reporter", &machines.report()];
    let again = machines.steering(&again).output().expect("it starts");
    assert_ends(&again, 1, &["1 victim"]);
    assert_ends(&ended(last), 0, &["the hunt is over"]);
    assert_eq!(machines.found(), expected);
    assert_counted_once(server, &machines, 1);
}

#[test]
fn machines_whose_clocks_are_an_hour_off_do_their_part() {
    let test = "clocks that are an hour off";
    let Some(server) = server(test) else { return };
    let Ok(library) = libfaketime() else { return skipped::note(test, "there is no libfaketime") };
    let machines = Machines::new(server, 2);
    let expected = machines.found_alone();
    let report = machines.report();
    let hunt = start(machines.hunting(&[&SHORT[..], &["--reporter", &report]].concat()));
    let workers = ["+3600", "-3600"].into_iter().enumerate().map(|(copy, off)| {
        let mut worker = machines.worker(copy);
        start({
            worker.env("LD_PRELOAD", &library).env("FAKETIME", off).env("DONT_FAKE_MONOTONIC", "1");
            worker
        })
    });
    let workers: Vec<Child> = workers.collect();
    assert_ends(&ended(hunt), 1, &["1 victim"]);
    let ran = workers.into_iter().map(|worker| {
        number_before(&assert_ends(&ended(worker), 0, &["the hunt is over"]), "executions")
    });
    assert_counted_once(server, &machines, ran.sum());
    assert_eq!(machines.found(), expected);
}

/// The library that sets the clock of a process, as its command finds it.
fn libfaketime() -> Result<String, String> {
    let output = Command::new("faketime").args(["+1h", "sh", "-c", "echo $LD_PRELOAD"]).output();
    let output = output.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn a_database_that_restarts_is_waited_for() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(why) => return skipped::note("a hunt on many machines: a restart", &why),
    };
    let machines = Machines::new(&server, 1);
    let expected = machines.found_alone();
    let worker = start(machines.worker(0));
    let report = machines.report();
    let hunt = [&SHORT[..], &["--reporter", &report]].concat();
    let mut hunt = start(machines.hunting(&hunt));
    until(&server, &machines, SOME_IS_KEPT);
    server.down();
    server.up();
    let mut said = BufReader::new(hunt.stderr.take().expect("an error output"));
    let mut first = String::new();
    said.read_line(&mut first).expect("it speaks");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("it speaks");
    assert_eq!(hunt.wait().expect("it ends").code(), Some(1), "{first}{rest}");
    let said = assert_ends(&ended(worker), 0, &["the hunt is over"]);
    assert_eq!(machines.found(), expected);
    assert_counted_once(&server, &machines, number_before(&said, "executions"));
}
