//! `flakeproof store`: the program itself, on a history of its own making.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, Failure, History, Isolation, Origin, Outcome, Phase, RunRecord, Seed,
    Signature, Stage, Surroundings, TreeState,
};
use flakeproof_store::SqliteHistory;
use flakeproof_testkit::{python, skipped};
use serde_json::Value;

/// Keep a run in which every test passes, but one fails and then passes.
fn keep(history: &mut SqliteHistory, day: u32, tests: usize) {
    let record = RunRecord {
        id: format!("run-{day}"),
        started: format!("2026-01-{day:02}T12:00:00Z"),
        command: vec!["pytest".into(), "-k".into(), "a, \"b\"".into()],
        folder: String::new(),
        seed: Seed(u64::MAX),
        tree: TreeState { is_complete: true, ..TreeState::default() },
        surroundings: Surroundings::default(),
        version: "0.1.0".into(),
        origin: Origin::Run,
    };
    history.begin(&record).expect("a run begins");
    for number in 0..tests {
        let test = format!("tests/test_a.py::test_ü[\"{number},{number}\"]");
        let mut attempts = vec![attempt(&test, 1, number % 10 == 3)];
        if number % 10 == 3 {
            attempts.push(attempt(&test, 2, false));
        }
        history.record(&attempts).expect("attempts are kept");
    }
    history.close(Duration::from_secs(1)).expect("a run ends");
}

fn attempt(test: &str, number: u32, has_failed: bool) -> Attempt {
    let failure = has_failed.then(|| Failure {
        phase: Phase::Call,
        message: "AssertionError: \"one\",\n two".into(),
        text: String::new(),
        location: None,
        signature: Signature::from_normalised("AssertionError"),
    });
    Attempt {
        stage: if number == 1 { Stage::First } else { Stage::Fresh },
        isolation: Isolation::Spawn,
        number,
        position: None,
        execution: Execution {
            failure,
            ..Execution::new(
                test,
                if has_failed { Outcome::Failed } else { Outcome::Passed },
                Duration::from_micros(1234),
            )
        },
    }
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut history = SqliteHistory::in_project(folder.path()).expect("a history");
    for day in 1..=5 {
        keep(&mut history, day, 20);
    }
    folder
}

/// The exit code, stdout and stderr.
fn store(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .arg("store")
        .args(arguments)
        .current_dir(folder)
        .env_remove("FLAKEPROOF_STORE")
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn stats_say_what_is_there_and_what_could_go() {
    let folder = project();
    let (code, text, trouble) = store(folder.path(), &["stats"]);
    assert_eq!(code, Some(0), "{trouble}");
    assert!(text.contains("100 executions of 20 tests in 5 runs, from 2026-01-01 to 2026-01-05"));
    assert!(text.contains("`flakeproof store prune --keep-days 90` does it"), "{text}");
    let (_, json, _) = store(folder.path(), &["stats", "--output-format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!((&json["runs"], &json["executions"]), (&5.into(), &100.into()));
}

#[test]
fn a_dry_run_changes_nothing_and_a_prune_keeps_scores() {
    let folder = project();
    let file = folder.path().join(".flakeproof/history.db");
    let before = std::fs::read(&file).expect("the file is there");
    let prune = ["prune", "--before", "2026-01-05", "--dry-run"];
    let (code, text, trouble) = store(folder.path(), &prune);
    assert_eq!(code, Some(0), "{trouble}");
    assert!(text.contains("of 4 runs that are old enough, 88 executions"), "{text}");
    assert!(std::fs::read(&file).expect("the file is there") == before);
    let scores = || store(folder.path(), &["export", "--table", "tests", "-"]).1;
    let known = scores();
    let (code, text, trouble) = store(folder.path(), &prune[..3]);
    assert_eq!(code, Some(0), "{trouble}");
    assert!(text.contains("4 old runs: 88 executions") && text.contains(" won: from "), "{text}");
    assert_eq!(scores(), known);
}

#[test]
fn whole_runs_go_only_when_asked_for() {
    let folder = project();
    let arguments = ["prune", "--before", "2026-01-05", "--runs"];
    let (code, text, trouble) = store(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{trouble}");
    // The second and twelfth… tests never passed at their first attempt, and the latest passes of all
    // others are on the last day.
    assert!(text.contains("4 runs and 0 tests removed wholly"), "{text}");
    let (_, runs, _) = store(folder.path(), &["export", "--table", "runs", "-"]);
    assert_eq!(runs.lines().count(), 2, "{runs}");
}

#[test]
fn what_is_not_said_is_asked_for() {
    let folder = project();
    for arguments in [&["prune"][..], &["prune", "--keep-days", "1", "--before", "2026-01-01"]] {
        assert_eq!(store(folder.path(), arguments).0, Some(2));
    }
    let empty = tempfile::tempdir().expect("a temporary folder");
    let (code, _, trouble) = store(empty.path(), &["stats"]);
    assert_eq!(code, Some(2));
    assert!(trouble.contains("there is no history at") && trouble.contains("--store"), "{trouble}");
}

#[test]
fn a_table_that_cannot_be_written_leaves_no_half() {
    let folder = project();
    let (code, _, trouble) = store(folder.path(), &["export", "nowhere/out.csv"]);
    assert_eq!(code, Some(6), "{trouble}");
    let (code, _, trouble) = store(folder.path(), &["export", "."]);
    assert_eq!(code, Some(2), "{trouble}");
    let (code, _, trouble) = store(folder.path(), &["export", "out.csv"]);
    assert_eq!(code, Some(0), "{trouble}");
    assert!(folder.path().join("out.csv").exists() && !folder.path().join("out.csv.part").exists());
}

/// Reads both files with a program that is not ours, and compares every cell.
const COMPARE: &str = r"
import csv, sys
import pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
with open(sys.argv[2], newline='') as file:
    names, *rows = csv.reader(file)
assert table.column_names == names, (table.column_names, names)
cells = [column.to_pylist() for column in table.columns]
assert table.num_rows == len(rows), (table.num_rows, len(rows))
def same(one, text):
    if one is None: return text == ''
    if isinstance(one, float): return one == float(text)
    return str(one) == text
for number, row in enumerate(rows):
    for column, text in zip(cells, row):
        assert same(column[number], text), (number, column[number], text)
print(table.num_rows)
";

#[test]
fn another_program_reads_the_same_from_parquet_and_csv() {
    let python = match python::with("python3", &["pyarrow==22.0.0"]) {
        Ok(python) => python,
        Err(why) => return skipped::note("Parquet read by pyarrow", &why),
    };
    let folder = project();
    store(folder.path(), &["prune", "--before", "2026-01-03"]);
    for (table, rows) in [("executions", "110"), ("runs", "5"), ("tests", "20"), ("findings", "0")]
    {
        let files = [format!("{table}.parquet"), format!("{table}.csv")];
        for file in &files {
            let (code, _, trouble) = store(folder.path(), &["export", "--table", table, file]);
            assert_eq!(code, Some(0), "{trouble}");
        }
        let output = Command::new(&python)
            .args(["-c", COMPARE])
            .args(&files)
            .current_dir(folder.path())
            .output()
            .expect("Python starts");
        let trouble = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), rows, "{table}: {trouble}");
    }
}

#[test]
fn a_history_of_the_version_before_is_read_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/version_before");
    std::fs::create_dir(folder.path().join(".flakeproof")).expect("a folder");
    std::fs::copy(samples.join("history.db"), folder.path().join(".flakeproof/history.db"))
        .expect("a history of the version before");
    let known = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .args(["list", "--color", "never"])
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let known = String::from_utf8_lossy(&known.stdout).into_owned();
    assert!(known.contains("failed 16 of 31"), "{known}");
    assert!(known.contains("test_shop.py::test_chance"), "{known}");
    let mut history = SqliteHistory::in_project(folder.path()).expect("a history");
    keep(&mut history, 20, 4);
    drop(history);
    let (code, text, trouble) = store(folder.path(), &["stats"]);
    assert_eq!(code, Some(0), "{trouble}");
    assert!(text.contains("in 3 runs"), "{text}");
}
