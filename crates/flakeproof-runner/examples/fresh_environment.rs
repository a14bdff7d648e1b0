//! What a test costs in a fresh environment, by fork and by spawn.
//!
//! `fresh_environment N TEST -- python -m pytest …` opens N environments of each kind, runs the
//! test in each, closes it, and prints the seconds as one line of JSON. `evaluation/overhead`
//! compares them with a plain `python -m pytest TEST`.

#![expect(clippy::print_stdout, reason = "prints its measurements")]

use std::time::{Duration, Instant};

use flakeproof_core::{Isolation, Seed, TestId};
use flakeproof_runner::adapters::pytest::{PytestAdapter, PytestSettings};
use flakeproof_runner::{Adapter, Cancel, Error, Probe, Then, process};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    process::become_guard_if_asked();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [count, test, dashes, command @ ..] = &words[..] else {
        return Err("usage: fresh_environment N TEST -- COMMAND…".into());
    };
    if dashes != "--" {
        return Err("the command follows after `--`".into());
    }
    let (count, test) = (count.parse::<u32>()?, TestId::from(test.as_str()));
    let adapter = PytestAdapter::new(PytestSettings {
        command: command.to_vec(),
        folder: std::env::current_dir()?,
        timeout: None,
        run: "fresh-environment".into(),
        seed: Seed(1),
        is_output_shown: false,
        cancel: Cancel::never(),
    })?;
    let begin = Instant::now();
    adapter.discover()?;
    let discover = begin.elapsed();
    let fork = times(&adapter, Isolation::Fork, &test, count)?;
    let spawn = times(&adapter, Isolation::Spawn, &test, count)?;
    let seconds = |times: &[Duration]| times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>();
    let report = serde_json::json!({
        "discover_seconds": discover.as_secs_f64(),
        "fork_seconds": seconds(&fork),
        "spawn_seconds": seconds(&spawn),
    });
    println!("{report}");
    Ok(())
}

fn times(
    adapter: &PytestAdapter,
    how: Isolation,
    test: &TestId,
    count: u32,
) -> Result<Vec<Duration>, Error> {
    (0..count)
        .map(|_| {
            let begin = Instant::now();
            let mut environment = adapter.open(how)?;
            environment.expect(std::slice::from_ref(test), Then::End)?;
            environment.run(test, Probe::attempt(1))?;
            environment.close()?;
            Ok(begin.elapsed())
        })
        .collect()
}
