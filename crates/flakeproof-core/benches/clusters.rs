//! How long does it take to find out which tests of a long history fail together?
//!
//! `cargo bench -p flakeproof-core --bench clusters` asks it of 10,000 tests in 1,000 runs; without `--bench`
//! both are fewer.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::time::{Duration, Instant};

use flakeproof_core::{Again, Cluster, Mark, Outcome, PastRun, Scores, TestTimeline, Timeline};

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (tests, runs) = if is_bench { (10_000, 1_000) } else { (300, 60) };
    for (percent, causes) in [(1, 20), (1, 0), (15, 0)] {
        let timeline = timeline(tests, runs, percent, causes);
        let scoring = Instant::now();
        let scores = Scores::from_timeline(&timeline);
        let scored = scoring.elapsed();
        let searching = Instant::now();
        let clusters = Cluster::all(&timeline, &scores);
        let searched = searching.elapsed();
        println!(
            "{tests} tests that fail in {percent} % of {runs} runs, {causes} common causes: scores \
             {scored:.2?}, clusters {searched:.2?}, {} found",
            clusters.len()
        );
    }
}

/// A history in which every test fails by itself so often, and five tests for each cause together.
fn timeline(tests: u32, runs: u32, percent: u64, causes: u32) -> Timeline {
    let run = |number: u32| PastRun {
        id: number.to_string(),
        started: "2026-11-16T00:00:00Z".to_owned(),
        duration: Duration::from_secs(60),
        code: Some(number),
        ..PastRun::default()
    };
    let mark = |test: u32, run: u32| {
        let strikes = test < causes * 5 && chance(test / 5, run, 1) % 100 < 4;
        let has_failed = strikes || chance(test, run, 0) % 100 < percent;
        Mark {
            run,
            outcome: if has_failed { Outcome::Failed } else { Outcome::Passed },
            again: if has_failed { Again::Passed } else { Again::Never },
            verdict: None,
            milliseconds: 3,
            again_milliseconds: 0,
        }
    };
    let test = |number: u32| TestTimeline {
        test: format!("tests/test_{number}.py::test").into(),
        marks: (0..runs).map(|run| mark(number, run)).collect(),
    };
    let tests = (0..tests).map(test).collect();
    Timeline { runs: (0..runs).map(run).collect(), tests, others: Vec::new() }
}

/// A number that looks like chance and is the same every time.
fn chance(one: u32, other: u32, salt: u64) -> u64 {
    let mut bits = u64::from(one) << 32 ^ u64::from(other) ^ salt << 63;
    for factor in [0xbf58_476d_1ce4_e5b9_u64, 0x94d0_49bb_1331_11eb] {
        bits = (bits ^ (bits >> 30)).wrapping_mul(factor);
    }
    bits >> 20
}
