//! How much does a team's history in PostgreSQL take, and how long do jobs wait that finish together?
//!
//! `cargo bench -p flakeproof-store --bench a_team` asks it of 1,000,000 executions (100 runs of 10,000
//! tests) and of 100 processes; without `--bench` both are much fewer. `FLAKEPROOF_TEAM_RUNS` names another
//! number of runs, such as 1,000 for ten million executions.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flakeproof_core::{
    Attempt, Cluster, Execution, ExitCode, Failure, Findings, History, HistoryError, Origin,
    Outcome, Phase, RunFacts, RunRecord, Scores, Seed, Signature, SuiteCounts, Surroundings,
    TreeState,
};
use flakeproof_store::{PostgresAddress, PostgresHistory, StoreUrl};
use flakeproof_testkit::postgres::{Server, database_of};

type Failed = Box<dyn std::error::Error>;

/// A job sends as many attempts at once as `flakeproof run` does.
const BATCH: usize = 500;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, url, number, tests] = arguments.as_slice()
        && word == "job"
    {
        return job(url, number.parse()?, tests.parse()?);
    }
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let server = match Server::start() {
        Ok(server) => server,
        Err(why) => {
            println!("not measured: {why}");
            return Ok(());
        }
    };
    let runs = std::env::var("FLAKEPROOF_TEAM_RUNS").ok().map(|runs| runs.parse()).transpose()?;
    long(&server, if is_bench { (runs.unwrap_or(100), 10_000) } else { (3, 100) })?;
    together(&server, if is_bench { (100, 1000) } else { (3, 100) })
}

/// A long history.
fn long(server: &Server, (runs, tests): (usize, usize)) -> Result<(), Failed> {
    let url = server.fresh_database();
    let mut history = open(&url)?;
    let filling = Instant::now();
    for number in 0..runs {
        keep(&mut history, number, tests)?;
    }
    let took = filling.elapsed();
    let executions = runs * tests;
    let rate = executions as f64 / took.as_secs_f64();
    println!("{executions} executions of {tests} tests in {took:.1?}: {rate:.0} each second");
    server.sql(database_of(&url), "ANALYZE");
    let stats = history.stats()?;
    println!("room                 {} MB", stats.bytes / 1_000_000);
    drop(history);
    let history = open(&url)?;
    measure("list", 5, || {
        let hunted = history.known_flaky()?;
        let timeline = history.timeline()?;
        let scores = Scores::new(&timeline, &hunted);
        if !Cluster::all(&timeline, &scores).is_empty() {
            history.past_failures()?;
        }
        history.causes().map(drop)
    })?;
    measure("timeline alone", 3, || history.timeline().map(drop))?;
    let timeline = history.timeline()?;
    let scores = Scores::from_timeline(&timeline);
    measure("scores alone", 3, || {
        drop(Scores::from_timeline(&timeline));
        Ok(())
    })?;
    measure("clusters alone", 3, || {
        drop(Cluster::all(&timeline, &scores));
        Ok(())
    })?;
    measure("failures and findings", 5, || {
        history.past_findings()?;
        history.past_failures().map(drop)
    })?;
    measure("durations", 5, || history.durations().map(drop))?;
    measure("last_pass", 200, || history.last_pass(&id(17).into()).map(drop))?;
    measure("past_outcomes", 50, || history.past_outcomes(&id(17).into()).map(drop))
}

/// Processes that finish at the same moment.
fn together(server: &Server, (jobs, tests): (usize, usize)) -> Result<(), Failed> {
    let url = server.fresh_database();
    let program = std::env::current_exe()?;
    let start = |number: usize| {
        Command::new(&program)
            .args(["job", &url, &number.to_string(), &tests.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
    };
    let mut children: Vec<Child> = (0..jobs).map(start).collect::<Result<_, _>>()?;
    let mut outputs = Vec::new();
    for child in &mut children {
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
        output.read_line(&mut String::new())?;
        outputs.push(output);
    }
    let finishing = Instant::now();
    for child in &mut children {
        child.stdin.take().ok_or("no input")?.write_all(b"go\n")?;
    }
    let mut waited: Vec<f64> = Vec::new();
    for (mut output, mut child) in outputs.into_iter().zip(children) {
        let mut line = String::new();
        output.read_to_string(&mut line)?;
        waited.push(line.trim().parse()?);
        child.wait()?;
    }
    let all = finishing.elapsed();
    waited.sort_by(f64::total_cmp);
    let slowest = waited.last().copied().unwrap_or_default();
    let median = waited.get(waited.len() / 2).copied().unwrap_or_default();
    let counted = "SELECT (SELECT count(*) FROM flakeproof.run_end), \
                          (SELECT count(*) FROM flakeproof.execution)";
    let there = server.sql(database_of(&url), counted);
    println!(
        "{jobs} processes send {tests} executions each at once: runs|executions there {there}, \
         the slowest waited {slowest:.2} s, the median {median:.2} s, all in {all:.2?}"
    );
    Ok(())
}

/// One of the processes: it waits for the word, then sends a whole run and says how long that took.
fn job(url: &str, number: usize, tests: usize) -> Result<(), Failed> {
    println!("ready");
    std::io::stdin().read_line(&mut String::new())?;
    let sending = Instant::now();
    keep(&mut open(url)?, number, tests)?;
    println!("{}", sending.elapsed().as_secs_f64());
    Ok(())
}

fn open(url: &str) -> Result<PostgresHistory, Failed> {
    let url = StoreUrl::new(url).ok_or("no URL")?;
    let address = PostgresAddress::new(&url, "shop")?;
    PostgresHistory::open(address).map_err(Into::into)
}

/// Keep a run in which one test in a hundred fails.
fn keep(history: &mut dyn History, number: usize, tests: usize) -> Result<(), HistoryError> {
    history.begin(&run(number))?;
    let fails = |test: usize| (test + number * 7).is_multiple_of(100);
    let outcome = |test| if fails(test) { Outcome::Failed } else { Outcome::Passed };
    let attempts: Vec<Attempt> = (0..tests).map(|test| attempt(test, outcome(test))).collect();
    attempts.chunks(BATCH).try_for_each(|batch| history.record(batch))?;
    history.finish(&findings())
}

fn measure(
    what: &str,
    times: u32,
    mut work: impl FnMut() -> Result<(), HistoryError>,
) -> Result<(), Failed> {
    let start = Instant::now();
    for _ in 0..times {
        work()?;
    }
    println!("{what:<20} {:.2?}", start.elapsed() / times);
    Ok(())
}

fn id(test: usize) -> String {
    format!("tests/unit/test_module_{}.py::test_case_{test}", test / 40)
}

fn run(number: usize) -> RunRecord {
    let second = number % 60;
    let minute = number / 60 % 60;
    RunRecord {
        id: format!("{number}"),
        started: format!("2026-11-15T02:{minute:02}:{second:02}Z"),
        command: vec!["pytest".into()],
        folder: String::new(),
        seed: Seed(7),
        tree: TreeState {
            revision: Some(format!("revision {}", number / 2)),
            is_complete: true,
            ..TreeState::default()
        },
        surroundings: Surroundings::default(),
        version: "0.1.0".into(),
        origin: Origin::Run,
    }
}

fn attempt(test: usize, outcome: Outcome) -> Attempt {
    let failure = outcome.is_failure().then(|| Failure {
        phase: Phase::Call,
        message: format!("KeyError: 'a{}'", test % 50),
        text: String::new(),
        location: None,
        signature: Signature::compute("KeyError", None),
    });
    Attempt {
        position: u32::try_from(test).ok(),
        ..Attempt::first(Execution {
            failure,
            ..Execution::new(id(test), outcome, Duration::from_millis(3))
        })
    }
}

fn findings() -> Findings {
    Findings {
        run: RunFacts {
            id: String::new(),
            command: Vec::new(),
            runner: String::new(),
            started: String::new(),
            duration: Duration::from_secs(30),
            seed: Seed(7),
            revision: None,
            version: String::new(),
        },
        suite: SuiteCounts::default(),
        tests: Vec::new(),
        groups: Vec::new(),
        notices: Vec::new(),
        exit: ExitCode::Failures,
    }
}
