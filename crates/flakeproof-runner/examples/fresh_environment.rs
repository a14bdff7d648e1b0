//! What a test costs in a fresh environment, and again in the same one.
//!
//! `fresh_environment N TEST… -- COMMAND…` measures each test N times: in a copy of the process where
//! the adapter can make one, in a new process, in a new process that follows what the test touches, and
//! run again N times in one environment. Prints the seconds as one line of JSON for each test.
//! `evaluation/overhead` and `evaluation/jvm` compare them with the plain runner.

#![expect(clippy::print_stdout, reason = "prints its measurements")]

use std::time::{Duration, Instant};

use flakeproof_core::{Isolation, Seed, TestId};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::{Adapter, Cancel, Error, Granularity, Probe, Then, process};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    process::become_guard_if_asked();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let dashes = words.iter().position(|word| word == "--");
    let (Some(dashes), Some(count)) = (dashes, words.first()) else {
        return Err("usage: fresh_environment N TEST… -- COMMAND…".into());
    };
    let count: u32 = count.parse()?;
    let adapter = adapters::open(RunRequest {
        command: words[dashes + 1..].to_vec(),
        folder: std::env::current_dir()?,
        adapter: None,
        timeout: None,
        run: "fresh-environment".into(),
        seed: Seed(1),
        is_output_shown: false,
        profiles: Default::default(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: Cancel::never(),
        in_force: flakeproof_runner::levers::InForce::default(),
    })?;
    let begin = Instant::now();
    adapter.discover()?;
    let discover = begin.elapsed();
    for test in words.get(1..dashes).unwrap_or_default() {
        let test = TestId::from(test.as_str());
        let measured = Measured::of(&*adapter, &test, count)?;
        println!("{}", measured.report(&test, discover));
    }
    Ok(())
}

/// The times of one test.
struct Measured {
    fork: Vec<Duration>,
    spawn: Vec<Duration>,
    followed: Vec<Duration>,
    again: Vec<Duration>,
}

impl Measured {
    fn of(adapter: &dyn Adapter, test: &TestId, count: u32) -> Result<Self, Error> {
        let plain = Probe::attempt(1);
        let follow = Probe { dependencies: Granularity::File, ..plain };
        let mut measured =
            Self { fork: Vec::new(), spawn: Vec::new(), followed: Vec::new(), again: Vec::new() };
        // In turn, so that a busy machine disturbs all of them alike.
        for _ in 0..count {
            if adapter.can().fork.is_ok() {
                measured.fork.push(once(adapter, Isolation::Fork, test, plain)?);
            }
            measured.spawn.push(once(adapter, Isolation::Spawn, test, plain)?);
            if adapter.can().dependencies {
                measured.followed.push(once(adapter, Isolation::Spawn, test, follow)?);
            }
        }
        measured.again = again(adapter, test, count)?;
        Ok(measured)
    }

    fn report(&self, test: &TestId, discover: Duration) -> serde_json::Value {
        let seconds =
            |times: &[Duration]| times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>();
        serde_json::json!({
            "test": test,
            "discover_seconds": discover.as_secs_f64(),
            "fork_seconds": seconds(&self.fork),
            "spawn_seconds": seconds(&self.spawn),
            "followed_seconds": seconds(&self.followed),
            "again_seconds": seconds(&self.again),
        })
    }
}

/// A new environment with one run of the test, from its opening to its end.
fn once(
    adapter: &dyn Adapter,
    how: Isolation,
    test: &TestId,
    probe: Probe,
) -> Result<Duration, Error> {
    let begin = Instant::now();
    let mut environment = adapter.open(how)?;
    environment.expect(std::slice::from_ref(test), Then::End)?;
    environment.run(test, probe)?;
    environment.close()?;
    Ok(begin.elapsed())
}

/// Further runs of the test in one environment.
fn again(adapter: &dyn Adapter, test: &TestId, count: u32) -> Result<Vec<Duration>, Error> {
    let mut environment = adapter.open(Isolation::Spawn)?;
    environment.expect(std::slice::from_ref(test), Then::End)?;
    environment.run(test, Probe::attempt(1))?;
    let times = (2..count + 2)
        .map(|attempt| {
            let begin = Instant::now();
            environment.run(test, Probe::attempt(attempt))?;
            Ok(begin.elapsed())
        })
        .collect();
    environment.close()?;
    times
}
