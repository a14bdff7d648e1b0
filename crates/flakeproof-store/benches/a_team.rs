//! How much does a team's history take, in PostgreSQL and in segments, and how long do jobs wait that finish
//! together?
//!
//! `cargo bench -p flakeproof-store --bench a_team` asks it of 1,000,000 executions (100 runs of 10,000
//! tests) and of 100 processes; without `--bench` both are much fewer. `FLAKEPROOF_TEAM_TESTS` names another
//! number of tests, such as 1,000,000 for a hundred million executions, `FLAKEPROOF_TEAM_STORE` only one of
//! `postgres`, `segments` and `together`, and `FLAKEPROOF_TEAM_URL` a database that stays, and is filled only the first time.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flakeproof_core::{
    Attempt, Cluster, Execution, ExitCode, Failure, Findings, History, HistoryError, Origin,
    Outcome, Phase, RunFacts, RunRecord, Scores, Seed, Signature, SuiteCounts, Surroundings,
    TestId, TreeState,
};
use flakeproof_store::{ObjectHistory, PostgresAddress, PostgresHistory, StoreLocation, StoreUrl};
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
    let number = |name: &str| std::env::var(name).ok().map(|it| it.parse::<usize>()).transpose();
    let runs = number("FLAKEPROOF_TEAM_RUNS")?.unwrap_or(if is_bench { 100 } else { 3 });
    let tests = number("FLAKEPROOF_TEAM_TESTS")?.unwrap_or(if is_bench { 10_000 } else { 300 });
    let only = std::env::var("FLAKEPROOF_TEAM_STORE").ok();
    let is_wanted = |store: &str| only.as_ref().is_none_or(|only| only == store);
    if is_wanted("segments") {
        in_segments(runs, tests)?;
    }
    if let Ok(url) = std::env::var("FLAKEPROOF_TEAM_URL") {
        return in_postgres(&url, None, runs, tests);
    }
    if !is_wanted("postgres") && !is_wanted("together") {
        return Ok(());
    }
    let server = match Server::start() {
        Ok(server) => server,
        Err(why) => {
            println!("not measured: {why}");
            return Ok(());
        }
    };
    if is_wanted("postgres") {
        in_postgres(&server.fresh_database(), Some(&server), runs, tests)?;
    }
    if is_wanted("together") {
        together(&server, if is_bench { (100, 1000) } else { (3, 100) })?;
    }
    Ok(())
}

/// A long history in a database, which is filled unless it was before.
fn in_postgres(
    url: &str,
    server: Option<&Server>,
    runs: usize,
    tests: usize,
) -> Result<(), Failed> {
    println!("in PostgreSQL:");
    let mut history = open(url)?;
    if !history.has_run("0")? {
        fill(&mut history, runs, tests)?;
    }
    drop(history);
    if let Some(server) = server {
        server.sql(database_of(url), "VACUUM (ANALYZE)");
    }
    let history = open(url)?;
    println!("room                 {} MB", history.stats()?.bytes / 1_000_000);
    ask(&history)
}

/// A long history in segments, and a reader who has none of them yet.
fn in_segments(runs: usize, tests: usize) -> Result<(), Failed> {
    println!("in segments:");
    let folder = tempfile::tempdir()?;
    let place = |name: &str| folder.path().join(name);
    let url = StoreUrl::new(&format!("file://{}", place("segments").display())).ok_or("no URL")?;
    let StoreLocation::Objects(address) = url.locate("shop")? else {
        return Err("no objects".into());
    };
    let machine = |name: &str| address.clone().with_cache(place(name));
    fill(&mut ObjectHistory::open(&machine("writer.db"))?, runs, tests)?;
    println!("room                 {} MB", bytes_below(&place("segments"))? / 1_000_000);
    for name in ["writer.db", "writer.db-wal", "writer.db-shm"] {
        // Another machine does not have it.
        let _ = std::fs::remove_file(place(name));
    }
    let fetching = Instant::now();
    let reader = ObjectHistory::open(&machine("reader.db"))?;
    println!("fetched in           {:.2?}", fetching.elapsed());
    println!(
        "room for the copy    {} MB",
        std::fs::metadata(place("reader.db"))?.len() / 1_000_000
    );
    measure("nothing new          ", 3, || ObjectHistory::look(&machine("reader.db")).map(drop))?;
    ask(&reader)
}

fn bytes_below(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        bytes += if is_folder { bytes_below(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

fn fill(history: &mut dyn History, runs: usize, tests: usize) -> Result<(), Failed> {
    let filling = Instant::now();
    for number in 0..runs {
        keep(history, number, runs, tests)?;
    }
    let took = filling.elapsed();
    let executions = runs * tests;
    let rate = executions as f64 / took.as_secs_f64();
    println!("{executions} executions of {tests} tests in {took:.1?}: {rate:.0} each second");
    Ok(())
}

/// What commands ask of a long history.
fn ask(history: &dyn History) -> Result<(), Failed> {
    measure("list", 3, || {
        let hunted = history.known_flaky()?;
        let timeline = history.brief_timeline(&[])?;
        let scores = Scores::new(&timeline, &hunted);
        let clusters = Cluster::all(&timeline, &scores);
        let clustered: BTreeSet<TestId> = clusters.into_iter().flat_map(|it| it.tests).collect();
        if !clustered.is_empty() {
            history.past_failures(Some(&clustered))?;
        }
        history.causes().map(drop)
    })?;
    measure("brief timeline alone", 3, || history.brief_timeline(&[]).map(drop))?;
    let timeline = history.brief_timeline(&[])?;
    println!("tests to be told of  {}", timeline.tests.len());
    let scores = Scores::from_timeline(&timeline);
    measure("clusters alone", 3, || {
        drop(Cluster::all(&timeline, &scores));
        Ok(())
    })?;
    measure("report", 1, || {
        let hunted = history.known_flaky()?;
        let timeline = history.timeline()?;
        let scores = Scores::new(&timeline, &hunted);
        drop(Cluster::all(&timeline, &scores));
        history.past_findings()?;
        history.past_failures(None).map(drop)
    })?;
    measure("failures and findings", 3, || {
        history.past_findings()?;
        history.past_failures(None).map(drop)
    })?;
    measure("durations", 1, || history.durations().map(drop))?;
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
    keep(&mut open(url)?, number, usize::MAX, tests)?;
    println!("{}", sending.elapsed().as_secs_f64());
    Ok(())
}

fn open(url: &str) -> Result<PostgresHistory, Failed> {
    let url = StoreUrl::new(url).ok_or("no URL")?;
    let address = PostgresAddress::new(&url, "shop")?;
    PostgresHistory::open(address).map_err(Into::into)
}

/// Keep one of so many runs. One test in a hundred is flaky and fails in one run of twenty, one in a thousand
/// breaks in the last runs, and the run in the middle is an outage of a third of all tests.
fn keep(
    history: &mut dyn History,
    number: usize,
    runs: usize,
    tests: usize,
) -> Result<(), HistoryError> {
    history.begin(&run(number))?;
    let fails = |test: usize| {
        let chance = Seed(7).split(&format!("{test} {number}")).0 % 20;
        let is_broken = test % 1000 == 1 && number > runs / 10 * 9;
        test.is_multiple_of(100) && chance == 0
            || is_broken
            || number == runs / 2 && test.is_multiple_of(3)
    };
    let outcome = |test| if fails(test) { Outcome::Failed } else { Outcome::Passed };
    for first in (0..tests).step_by(BATCH) {
        let batch = first..tests.min(first + BATCH);
        let batch: Vec<Attempt> = batch.map(|test| attempt(test, outcome(test))).collect();
        history.record(&batch)?;
    }
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
