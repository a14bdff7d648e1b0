//! Runs orders of a suite in nearly fresh environments and in new processes, and compares them:
//! `warm_agreement ORDERS [--warm-only] [--seconds N] -- COMMAND`.
//!
//! Every test alone, then pairs, then tens, then the whole suite, chosen by a seed. Prints a JSON object
//! for each order that ends differently, and one with the sums. With `--warm-only` nothing is compared,
//! and the memory of the process tree is written down now and then. After so many seconds no further order
//! begins.

#![expect(clippy::print_stdout, reason = "prints its measurements")]

use std::time::{Duration, Instant};

use flakeproof_core::{Isolation, Outcome, Seed, TestId};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::{Adapter, Cancel, Error, Probe, Result, Then, process};
use serde_json::json;

fn main() -> std::result::Result<(), String> {
    process::become_guard_if_asked();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (own, command) = words.split_at(words.iter().position(|it| it == "--").unwrap_or(0));
    let count: usize = own.first().and_then(|it| it.parse().ok()).ok_or("say how many orders")?;
    let is_warm_only = own.iter().any(|it| it == "--warm-only");
    let seconds = own.iter().skip_while(|it| *it != "--seconds").nth(1);
    let seconds = seconds.and_then(|it| it.parse().ok()).unwrap_or(u64::MAX);
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    let request = RunRequest {
        command: command[1..].to_vec(),
        folder,
        timeout: Some(Duration::from_secs(60)),
        is_output_shown: false,
        adapter: None,
        profiles: Default::default(),
        seed: Seed(1),
        run: "agreement".into(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: Cancel::never(),
        in_force: flakeproof_runner::levers::InForce::default(),
    };
    let adapter = adapters::open(request).map_err(|error| error.to_string())?;
    let suite = adapter.discover().map_err(|error| error.to_string())?.ids();
    let limit = Duration::from_secs(seconds);
    compare(&*adapter, &suite, count, limit, is_warm_only).map_err(|error| error.to_string())
}

fn compare(
    adapter: &dyn Adapter,
    suite: &[TestId],
    most: usize,
    limit: Duration,
    is_warm_only: bool,
) -> Result<()> {
    let start = Instant::now();
    let mut count = 0;
    let (mut warm, mut new) = (Duration::ZERO, Duration::ZERO);
    let (mut differences, mut failing) = (0, 0);
    let mut memory = Vec::new();
    for number in 0..most {
        if start.elapsed() > limit {
            break;
        }
        count += 1;
        let order = order(suite, number);
        let begin = Instant::now();
        let there = outcomes(adapter, &order, Isolation::Fork)?;
        warm += begin.elapsed();
        if number % 250 == 0 {
            memory.push(json!({"environments": number, "kibibytes": memory_of_children()}));
        }
        if is_warm_only {
            continue;
        }
        let begin = Instant::now();
        let here = outcomes(adapter, &order, Isolation::Spawn)?;
        new += begin.elapsed();
        failing += usize::from(here.iter().any(|it| it.is_failure()));
        let differs = (0..here.len().max(there.len())).find(|at| {
            here.get(*at).map(|it| it.is_failure()) != there.get(*at).map(|it| it.is_failure())
        });
        if let Some(at) = differs {
            differences += 1;
            let word = |seen: &[Outcome]| seen.get(at).map(ToString::to_string);
            let test = order[at].as_str();
            println!(
                "{}",
                json!({"test": test, "after": at, "warm": word(&there), "new": word(&here)})
            );
        }
    }
    let notices: Vec<String> = adapter.notices().into_iter().map(|it| it.what).collect();
    println!(
        "{}",
        json!({"tests": suite.len(), "orders": count, "failing": failing, "differences": differences,
            "warm_seconds": warm.as_secs_f64(), "new_seconds": new.as_secs_f64(),
            "notices": notices, "fork": adapter.can().fork.err(), "memory": memory})
    );
    Ok(())
}

/// The order of this number.
fn order(suite: &[TestId], number: usize) -> Vec<TestId> {
    if let Some(test) = suite.get(number) {
        return vec![test.clone()];
    }
    let length = match number % 10 {
        0..=6 => 2,
        7 | 8 => 10,
        _ => suite.len(),
    };
    let seed = Seed(7).split(&number.to_string());
    let mut keyed: Vec<(u64, &TestId)> =
        suite.iter().map(|test| (seed.split(test.as_str()).0, test)).collect();
    keyed.sort_unstable();
    keyed.into_iter().take(length).map(|(_, test)| test.clone()).collect()
}

fn outcomes(adapter: &dyn Adapter, order: &[TestId], how: Isolation) -> Result<Vec<Outcome>> {
    let mut environment = adapter.open(how)?;
    environment.expect(order, Then::End)?;
    let mut seen = Vec::new();
    for test in order {
        let outcome = match environment.run(test, Probe::attempt(1)) {
            Ok(execution) => execution.outcome,
            Err(Error::EnvironmentLost { .. }) => return Ok(seen),
            Err(error) => return Err(error),
        };
        seen.push(outcome);
        if outcome.ends_environment() {
            return Ok(seen);
        }
    }
    environment.close()?;
    Ok(seen)
}

/// The memory of the largest JVM on this machine that is ours, in kibibytes.
fn memory_of_children() -> u64 {
    let field = |text: &str, name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let sizes = processes.filter_map(|entry| {
        let command = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let is_warm = command.contains("-javaagent:") && command.contains("flakeproof.agent.Main");
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        is_warm.then(|| field(&status, "VmRSS:"))?
    });
    sizes.max().unwrap_or_default()
}
