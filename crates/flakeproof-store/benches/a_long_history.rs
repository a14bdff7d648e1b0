//! Does a long history slow a run down?
//!
//! `cargo bench -p flakeproof-store` asks it of 1,000,000 executions (100 runs of 10,000 tests);
//! without `--bench` the history is a hundred times shorter.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::time::{Duration, Instant};

use flakeproof_core::{
    Attempt, Execution, Failure, History, HistoryError, Outcome, Phase, RunRecord, Scores, Seed,
    Signature, Surroundings, TreeState,
};
use flakeproof_store::{Depth, Pruning, SqliteHistory, StoredTable};

const RUNS: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let tests = if is_bench { 10_000 } else { 100 };
    let folder = tempfile::tempdir()?;
    let mut history = SqliteHistory::in_project(folder.path())?;

    let filling = Instant::now();
    fill(&mut history, tests)?;
    let megabytes = folder.path().join(".flakeproof/history.db").metadata()?.len() / 1_000_000;
    println!("{} executions, {megabytes} MB, in {:?}", RUNS * tests, filling.elapsed());

    drop(history);
    let opening = Instant::now();
    let mut history = SqliteHistory::in_project(folder.path())?;
    println!("open                        {:?}", opening.elapsed());
    measure("timeline", 10, |_| history.timeline().map(drop))?;
    let timeline = history.timeline()?;
    measure("scores", 10, |_| {
        drop(Scores::from_timeline(&timeline));
        Ok(())
    })?;
    history.begin(&run(RUNS))?;
    measure("record of one pass", tests, |test| history.record(&[attempt(test, Outcome::Passed)]))?;
    measure("record of one failure", tests, |test| {
        history.record(&[attempt(test, Outcome::Failed)])
    })?;
    measure("last_pass", tests, |test| history.last_pass(&id(test).into()).map(drop))?;
    measure("durations", 10, |_| history.durations().map(drop))?;
    history.close(Duration::from_secs(1))?;
    look_after(&mut history)
}

/// What `flakeproof store` does with it.
fn look_after(history: &mut SqliteHistory) -> Result<(), Box<dyn std::error::Error>> {
    measure("stats", 3, |_| history.stats().map(drop))?;
    let mut rows = 0;
    let exporting = Instant::now();
    let exported = history.export(StoredTable::Executions, |_| {
        rows += 1;
        Ok::<(), std::convert::Infallible>(())
    });
    exported.map_err(|error| format!("{error:?}"))?;
    println!("export of {rows} rows      {:?}", exporting.elapsed());
    let pruning = Pruning { before: "2027-01-01".into(), depth: Depth::Details };
    measure("outlook of a prune", 3, |_| history.prune_outlook(&pruning).map(drop))?;
    let before = history.bytes();
    measure("prune", 1, |_| history.prune(&pruning).map(drop))?;
    measure("compact", 1, |_| history.compact().map(drop))?;
    println!("from {} MB to {} MB", before / 1_000_000, history.bytes() / 1_000_000);
    Ok(())
}

/// One test in ten never passed, and one in ten not since the first run.
fn fill(history: &mut SqliteHistory, tests: usize) -> Result<(), HistoryError> {
    for number in 0..RUNS {
        history.begin(&run(number))?;
        let outcome = |test| match test % 10 {
            0 => Outcome::Failed,
            1 if number > 0 => Outcome::Failed,
            _ => Outcome::Passed,
        };
        let attempts: Vec<_> = (0..tests).map(|test| attempt(test, outcome(test))).collect();
        attempts.chunks(1000).try_for_each(|chunk| history.record(chunk))?;
        history.close(Duration::from_secs(60))?;
    }
    Ok(())
}

fn measure(
    what: &str,
    times: usize,
    mut work: impl FnMut(usize) -> Result<(), HistoryError>,
) -> Result<(), HistoryError> {
    let mut taken: Vec<Duration> = Vec::with_capacity(times);
    for number in 0..times {
        let start = Instant::now();
        work(number.wrapping_mul(7919) % times)?;
        taken.push(start.elapsed());
    }
    taken.sort_unstable();
    let quantile = |per_cent: usize| taken[(times - 1) * per_cent / 100];
    println!(
        "{what:<27} median {:?}, 99 % within {:?}, slowest {:?}",
        quantile(50),
        quantile(99),
        quantile(100)
    );
    Ok(())
}

fn id(test: usize) -> String {
    format!("tests/unit/test_module_{}.py::TestClass::test_function[{test}]", test % 97)
}

fn run(number: usize) -> RunRecord {
    RunRecord {
        id: number.to_string(),
        started: "2026-11-15T02:53:00Z".into(),
        command: vec!["pytest".into()],
        folder: String::new(),
        seed: Seed(7),
        tree: TreeState::default(),
        surroundings: Surroundings::default(),
        version: "0.1.0".into(),
        origin: flakeproof_core::Origin::default(),
    }
}

fn attempt(test: usize, outcome: Outcome) -> Attempt {
    let message = format!("KeyError: 'key of {}'", test % 89);
    let failure = outcome.is_failure().then(|| Failure {
        phase: Phase::Call,
        signature: Signature::from_normalised(message.clone()),
        message,
        text: String::new(),
        location: None,
    });
    Attempt {
        position: u32::try_from(test).ok(),
        ..Attempt::first(Execution {
            failure,
            ..Execution::new(id(test), outcome, Duration::from_micros(1234))
        })
    }
}
