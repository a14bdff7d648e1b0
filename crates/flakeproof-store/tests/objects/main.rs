//! A history of segments: what one machine writes another one reads, once, whatever happens to the objects.

mod s3;

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, ExitCode, Failure, FlakyKind, History as _, HistoryError, HuntCost,
    HuntEnd, HuntFindings, HuntRecord, HuntedTest, Origin, Outcome, Phase, RunFacts, RunRecord,
    Scores, Seed, Signature, Surroundings, TreeState,
};
use flakeproof_store::{ObjectHistory, ObjectsAddress, StoreLocation, StoreUrl};

/// The address of a history at this URL, for a machine with this cache.
pub(crate) fn address(url: &str, cache: &Path) -> ObjectsAddress {
    let url = StoreUrl::new(url).expect("a URL");
    match url.locate("shop/basket").expect("a history can be there") {
        StoreLocation::Objects(address) => address.with_cache(cache.to_path_buf()),
        other => unreachable!("{other} is no object store"),
    }
}

/// A folder of segments, and machines that use it.
struct Team(tempfile::TempDir);

impl Team {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("segments")
    }

    fn address(&self, machine: &str) -> ObjectsAddress {
        let url = format!("file://{}", self.folder().display());
        address(&url, &self.0.path().join(format!("{machine}.db")))
    }

    fn machine(&self, machine: &str) -> ObjectHistory {
        ObjectHistory::open(&self.address(machine)).expect("opens")
    }

    /// The objects of a kind, sorted.
    fn objects(&self, kind: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        files_below(&self.folder().join("project=shop__basket").join(kind), &mut found);
        found.sort();
        found
    }
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.push(path),
        }
    }
}

/// Let a history keep a finished run in which `test_b` fails.
pub(crate) fn run(history: &mut ObjectHistory, id: &str) -> Result<(), HistoryError> {
    history.begin(&RunRecord {
        id: id.into(),
        started: "2026-11-18T10:00:00Z".into(),
        command: vec!["pytest".into(), "-q".into()],
        folder: String::new(),
        seed: Seed(u64::MAX),
        tree: TreeState { revision: Some("r1".into()), is_complete: true, ..TreeState::default() },
        surroundings: Surroundings::default(),
        version: "0.1.0".into(),
        origin: Origin::Run,
    })?;
    for (test, outcome) in [("test_a", Outcome::Passed), ("test_b", Outcome::Failed)] {
        history.record(&[attempt(test, outcome)])?;
    }
    history.close(Duration::from_secs(2))
}

fn attempt(test: &str, outcome: Outcome) -> Attempt {
    let failure = outcome.is_failure().then(|| Failure {
        phase: Phase::Call,
        message: "it, \"broke\"\nin two lines".into(),
        text: String::new(),
        location: None,
        signature: Signature::from_normalised("it broke"),
    });
    Attempt {
        position: Some(0),
        ..Attempt::first(Execution {
            failure,
            ..Execution::new(test, outcome, Duration::from_micros(1234))
        })
    }
}

/// How often `test_b` ran, by what a history knows.
pub(crate) fn runs_of(history: &ObjectHistory) -> u32 {
    let scores = Scores::new(&history.timeline().expect("is read"), &[]);
    scores.tests.iter().find(|it| it.test.as_str() == "test_b").map_or(0, |it| it.all.runs)
}

#[test]
fn what_one_machine_writes_another_one_reads() {
    let team = Team::new();
    let mut one = team.machine("one");
    run(&mut one, "20261118-100000-aaaaaa").expect("writes");
    let other = team.machine("other");
    assert_eq!(other.timeline(), one.timeline());
    assert_eq!(other.past_outcomes(&"test_b".into()), one.past_outcomes(&"test_b".into()));
    assert_eq!(other.last_pass(&"test_a".into()), one.last_pass(&"test_a".into()));
    assert_eq!(other.durations(), one.durations());
    assert_eq!(runs_of(&other), 1);
    assert_eq!(team.objects("runs").len(), 1);
}

#[test]
fn a_run_that_is_sent_twice_is_there_once() {
    let team = Team::new();
    run(&mut team.machine("one"), "1").expect("writes");
    let sent = team.objects("runs");
    // The upload arrived, and the machine did not hear of it.
    std::fs::remove_file(&sent[0]).expect("is removed");
    let forgotten = team.0.path().join("one.db");
    let again = rusqlite::Connection::open(&forgotten).expect("opens");
    again.execute("DELETE FROM shared", []).expect("forgets");
    drop(team.machine("one"));
    again.execute("DELETE FROM shared", []).expect("forgets");
    drop(team.machine("one"));
    assert_eq!(team.objects("runs"), sent);
    assert_eq!(runs_of(&team.machine("other")), 1);
}

#[test]
fn a_damaged_segment_is_told_and_does_not_count() {
    let team = Team::new();
    run(&mut team.machine("one"), "1").expect("writes");
    run(&mut team.machine("one"), "2").expect("writes");
    let segments = team.objects("runs");
    let mut content = std::fs::read(&segments[0]).expect("is read");
    content.truncate(content.len() / 2);
    std::fs::write(&segments[0], &content).expect("is written");
    let reader = team.machine("reader");
    assert_eq!(runs_of(&reader), 1);
    assert_eq!(reader.skipped().len(), 1);
    assert!(reader.skipped()[0].why.contains("half of it"), "{:?}", reader.skipped());

    let mut content = std::fs::read(&segments[1]).expect("is read");
    let place = content.windows(6).position(|it| it == b"test_b").expect("is there");
    content[place + 5] = b'c';
    std::fs::write(&segments[1], &content).expect("is written");
    let other = team.machine("other");
    assert_eq!((runs_of(&other), other.skipped().len()), (0, 2));
}

#[test]
fn what_a_hunt_found_by_the_end_of_its_budget_is_known_to_all_until_it_is_finished() {
    let team = Team::new();
    let known = |machine: &str| {
        let known = team.machine(machine).known_flaky().expect("is read");
        known.iter().map(|it| it.test.id.to_string()).collect::<Vec<_>>()
    };
    let mut hunter = team.machine("hunter");
    hunter.begin_hunt(&hunt()).expect("begins");
    hunter.finish_hunt(&found(&["test_b"], HuntEnd::BudgetSpent, 10)).expect("is kept");
    assert_eq!(known("reader"), ["test_b"]);
    let command = hunt().command;
    assert_eq!(team.machine("reader").unfinished_hunt(&command), Ok(None), "it goes on elsewhere");
    let mut hunter = team.machine("hunter");
    assert_eq!(hunter.unfinished_hunt(&command), Ok(Some(hunt())));
    hunter.begin_hunt(&hunt()).expect("is taken up");
    hunter.finish_hunt(&found(&["test_a", "test_b"], HuntEnd::Finished, 20)).expect("is kept");
    assert_eq!(known("reader"), ["test_a", "test_b"]);
    assert_eq!(known("newcomer"), ["test_a", "test_b"], "in whichever order it reads them");
    assert_eq!(team.machine("newcomer").known_flaky().map(|known| known.len()), Ok(2));
}

fn hunt() -> HuntRecord {
    HuntRecord {
        id: "1".into(),
        started: "2026-11-18T10:00:00Z".into(),
        command: vec!["pytest".into()],
        fingerprint: String::new(),
        seed: "7".into(),
        settings: "{}".into(),
        version: "0.1.0".into(),
    }
}

fn found(tests: &[&str], end: HuntEnd, executions: u64) -> HuntFindings {
    let test = |id: &&str| {
        let mut test = HuntedTest::new((*id).into(), None);
        test.kind = Some(FlakyKind::Nod);
        test
    };
    HuntFindings {
        run: RunFacts {
            id: "1".into(),
            command: Vec::new(),
            runner: String::new(),
            started: String::new(),
            duration: Duration::ZERO,
            seed: Seed(7),
            revision: None,
            version: String::new(),
        },
        tests: tests.iter().map(test).collect(),
        cost: HuntCost { executions, ..HuntCost::default() },
        end,
        latent: Vec::new(),
        hidden: None,
        notices: Vec::new(),
        exit: ExitCode::Failures,
    }
}

#[test]
fn a_segment_of_a_newer_version_is_told_as_such() {
    let team = Team::new();
    run(&mut team.machine("one"), "1").expect("writes");
    let newer = team.folder().join("project=shop__basket/runs/v2");
    std::fs::create_dir_all(&newer).expect("is made");
    std::fs::write(newer.join("x-0.parquet"), "?").expect("is written");
    let error = ObjectHistory::open(&team.address("reader")).expect_err("is too new");
    assert!(matches!(error, HistoryError::Newer { found: 2, known: 1, .. }), "{error}");
}

#[test]
fn folding_loses_nothing_and_counts_nothing_twice() {
    let team = Team::new();
    let mut writer = team.machine("writer");
    for number in 0..5 {
        run(&mut writer, &format!("run-{number}")).expect("writes");
    }
    let before = team.machine("before");
    assert_eq!(runs_of(&before), 5);
    let single: Vec<(PathBuf, Vec<u8>)> = team
        .objects("runs")
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).expect("is read")))
        .collect();
    let folded = team.machine("folder").compact().expect("folds");
    assert_eq!((folded.segments, folded.runs), (5, 5));
    assert_eq!(team.objects("runs").len(), 1);
    assert_eq!(team.machine("new").timeline(), writer.timeline());

    // Broken off before the old ones were gone, while another one writes.
    for (path, content) in &single[..3] {
        std::fs::write(path, content).expect("is written");
    }
    run(&mut writer, "run-5").expect("writes");
    for machine in ["before", "another"] {
        assert_eq!(runs_of(&team.machine(machine)), 6, "{machine}");
    }
    team.machine("folder").compact().expect("folds");
    for machine in ["before", "yet-another"] {
        assert_eq!(runs_of(&team.machine(machine)), 6, "{machine}");
    }
}

#[test]
fn a_damaged_segment_is_not_folded_away() {
    let team = Team::new();
    for number in 0..3 {
        run(&mut team.machine("one"), &format!("run-{number}")).expect("writes");
    }
    let damaged = team.objects("runs").remove(1);
    std::fs::write(&damaged, "half").expect("is written");
    let mut folder = team.machine("folder");
    assert_eq!(folder.compact().map(|folded| folded.runs), Ok(2));
    assert!(damaged.exists());
}

/// The question of `flakeproof list`, as `docs/reference/segments.md` asks it.
const IN_DUCKDB: &str = r#"
import duckdb, sys
for row in duckdb.sql("""
    SELECT project, test, count(DISTINCT run) AS runs,
           count(DISTINCT run) FILTER (outcome IN ('failed', 'errored', 'crashed', 'timed_out'))
      FROM read_parquet('FOLDER/*/runs/v1/*/*.parquet', hive_partitioning = true)
     WHERE "row" = 'test' AND outcome <> 'skipped'
     GROUP BY ALL ORDER BY test""".replace("FOLDER", sys.argv[1])).fetchall():
    print(*row)
"#;

#[test]
fn duckdb_says_of_the_segments_what_the_list_says() {
    let python = match flakeproof_testkit::python::with("python3", &["duckdb==1.4.2"]) {
        Ok(python) => python,
        Err(why) => return flakeproof_testkit::skipped::note("objects: DuckDB", &why),
    };
    let team = Team::new();
    let mut writer = team.machine("writer");
    for number in 0..4 {
        run(&mut writer, &format!("run-{number}")).expect("writes");
    }
    team.machine("folder").compact().expect("folds");
    run(&mut writer, "run-4").expect("writes");
    let mut duckdb = std::process::Command::new(python);
    let output = duckdb.args(["-c", IN_DUCKDB]).arg(team.folder()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let trouble = String::from_utf8_lossy(&output.stderr).into_owned();
    // What the list shows of runs, by the scores that it is made of.
    let reader = team.machine("reader");
    let scores = Scores::new(&reader.timeline().expect("is read"), &[]);
    let listed = scores.tests.iter().map(|score| {
        format!("shop__basket {} {} {}\n", score.test, score.all.runs, score.all.failures)
    });
    let listed: String = listed.collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    assert_eq!(said, listed, "{trouble}");
    assert_eq!(listed, "shop__basket test_a 5 0\nshop__basket test_b 5 5\n");
}

#[test]
fn what_could_not_be_sent_is_sent_by_the_next_run() {
    let team = Team::new();
    let mut one = team.machine("one");
    let folder = team.folder().join("project=shop__basket");
    // A file stands where the folder of runs would be.
    std::fs::create_dir_all(&folder).expect("is made");
    std::fs::write(folder.join("runs"), "in the way").expect("is written");
    let error = run(&mut one, "1").expect_err("cannot be sent");
    assert!(matches!(error, HistoryError::Unreachable { .. }), "{error}");
    assert_eq!(runs_of(&one), 1, "it is kept on this machine");
    std::fs::remove_file(folder.join("runs")).expect("is removed");
    drop(team.machine("one"));
    assert_eq!(runs_of(&team.machine("other")), 1);
}
