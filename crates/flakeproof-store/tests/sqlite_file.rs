//! What the SQLite file promises beyond the contract: what it refuses, what it survives, and what
//! several writers may do to it at the same time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Evidence, Execution, ExitCode, Findings, History, HistoryError, HuntRecord, Isolation,
    Kind, Outcome, RunFacts, RunRecord, Seed, Stage, SuiteCounts, Surroundings, TestFinding,
    TreeState, TrialRecord, Verdict,
};
use flakeproof_store::SqliteHistory;
use rusqlite::Connection;
use tempfile::TempDir;

#[test]
fn what_was_recorded_is_there_after_opening_again() {
    let folder = folder();
    write_run(&folder.path().join("history.db"), "1", 1);
    let history = SqliteHistory::open(&folder.path().join("history.db")).expect("opens");
    let pass = history.last_pass(&test_of("1", 0).into()).expect("is read").expect("is there");
    assert_eq!(pass.run, "1");
}

#[test]
fn the_project_folder_hides_itself_from_git() {
    let folder = folder();
    SqliteHistory::in_project(folder.path()).expect("opens");
    let ours = folder.path().join(".flakeproof");
    assert!(ours.join("history.db").is_file());
    assert_eq!(fs::read_to_string(ours.join(".gitignore")).expect("is there"), "*\n");
}

#[test]
fn a_folder_that_a_killed_process_left_half_made_is_completed() {
    let folder = folder();
    fs::create_dir(folder.path().join(".flakeproof")).expect("is made");
    SqliteHistory::in_project(folder.path()).expect("opens");
    assert!(folder.path().join(".flakeproof/.gitignore").exists());
}

#[test]
fn what_the_user_wants_git_to_ignore_is_left_alone() {
    let folder = folder();
    let ignore = folder.path().join(".flakeproof/.gitignore");
    fs::create_dir(folder.path().join(".flakeproof")).expect("is made");
    fs::write(&ignore, "*.tmp\n").expect("is written");
    SqliteHistory::in_project(folder.path()).expect("opens");
    assert_eq!(fs::read_to_string(ignore).expect("is there"), "*.tmp\n");
}

#[test]
fn a_file_that_is_no_database_is_unreadable_and_stays_as_it_is() {
    let folder = folder();
    let path = folder.path().join("history.db");
    let text =
        "no database at all, but long enough to have a header of one hundred bytes ".repeat(9);
    fs::write(&path, &text).expect("is written");
    assert_unreadable(SqliteHistory::open(&path), &path);
    assert_eq!(fs::read_to_string(&path).expect("is there"), text);
}

#[test]
fn a_folder_is_unreadable() {
    let folder = folder();
    assert_unreadable(SqliteHistory::open(folder.path()), folder.path());
}

#[test]
fn a_database_of_another_program_is_unreadable_and_stays_as_it_is() {
    let folder = folder();
    let path = folder.path().join("history.db");
    let other = Connection::open(&path).expect("opens");
    other.execute_batch("CREATE TABLE customer (name TEXT)").expect("is written");
    drop(other);
    let before = fs::read(&path).expect("is there");
    assert_unreadable(SqliteHistory::open(&path), &path);
    assert_eq!(fs::read(&path).expect("is there"), before);
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let folder = folder();
    let path = folder.path().join("history.db");
    write_run(&path, "1", 1);
    raw(&path).pragma_update(None, "user_version", 99).expect("is written");
    let error = SqliteHistory::open(&path).expect_err("is newer");
    let place = path.display().to_string();
    assert_eq!(error, HistoryError::Newer { place, found: 99, known: 7 });
}

#[test]
fn a_history_of_the_first_schema_is_brought_to_the_newest() {
    let folder = folder();
    let path = folder.path().join("history.db");
    let old = Connection::open(&path).expect("opens");
    old.execute_batch(include_str!("../src/migrations/0001_runs_and_executions.sql"))
        .expect("is made");
    old.execute_batch("INSERT INTO test (id) VALUES ('test_a'); PRAGMA user_version = 1")
        .expect("is written");
    drop(old);
    let history = SqliteHistory::open(&path).expect("is migrated");
    assert_eq!(history.features(), Ok(vec![]));
    let tests: i64 =
        raw(&path).query_row("SELECT count(*) FROM test", [], |row| row.get(0)).expect("is read");
    assert_eq!(tests, 1);
}

#[test]
fn a_negative_schema_is_unreadable() {
    let folder = folder();
    let path = folder.path().join("history.db");
    write_run(&path, "1", 1);
    raw(&path).pragma_update(None, "user_version", -1).expect("is written");
    assert_unreadable(SqliteHistory::open(&path), &path);
}

#[test]
fn a_place_where_nothing_can_be_made_is_unwritable() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").expect("is written");
    for path in [file.join("history.db"), folder.path().join("missing/history.db")] {
        let error = SqliteHistory::open(&path).expect_err("cannot be made");
        assert!(
            matches!(&error, HistoryError::Unwritable { place, .. }
            if *place == path.display().to_string()),
            "{error:?}"
        );
    }
}

#[test]
fn a_project_in_which_no_folder_can_be_made_is_unwritable() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").expect("is written");
    let error = SqliteHistory::in_project(&file).expect_err("cannot be made");
    assert!(matches!(error, HistoryError::Unwritable { .. }), "{error:?}");
}

#[test]
fn an_empty_path_is_unwritable_rather_than_forgotten() {
    let error = SqliteHistory::open(Path::new("")).expect_err("is no place");
    assert!(matches!(error, HistoryError::Unwritable { .. }), "{error:?}");
}

#[test]
fn missing_tables_are_unreadable() {
    let folder = folder();
    let path = folder.path().join("history.db");
    write_run(&path, "1", 1);
    raw(&path).execute_batch("DROP TABLE execution").expect("is dropped");
    let mut history = SqliteHistory::open(&path).expect("opens");
    assert_unreadable(history.last_pass(&"test_a".into()), &path);
    history.begin(&run("2")).expect("begins");
    assert_unreadable(history.record(&[pass("test_a")]), &path);
}

#[test]
fn a_truncated_file_is_unreadable() {
    let folder = folder();
    let path = folder.path().join("history.db");
    write_run(&path, "1", 500);
    let bytes = fs::read(&path).expect("is there");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("is written");
    let read = SqliteHistory::open(&path).and_then(|history| history.durations());
    assert_unreadable(read, &path);
}

#[test]
fn damage_anywhere_is_an_error_or_harmless_and_never_a_panic() {
    let folder = folder();
    let path = folder.path().join("history.db");
    write_run(&path, "1", 200);
    let sound = fs::read(&path).expect("is there");
    for start in (0..sound.len()).step_by(509) {
        let mut bytes = sound.clone();
        let end = bytes.len().min(start + 64);
        bytes[start..end].iter_mut().for_each(|byte| *byte = !*byte);
        let damaged = folder.path().join(format!("{start}.db"));
        fs::write(&damaged, bytes).expect("is written");
        let Ok(mut history) = SqliteHistory::open(&damaged) else { continue };
        let _ = history.durations();
        let _ = history.last_pass(&test_of("1", 7).into());
        let _ = history.begin(&run("2")).and_then(|()| history.record(&[pass("test_a")]));
    }
}

#[test]
fn a_finished_run_keeps_its_end_and_its_findings() {
    let folder = folder();
    let path = folder.path().join("history.db");
    let mut history = SqliteHistory::open(&path).expect("opens");
    history.begin(&run("1")).expect("begins");
    history.finish(&findings_of_one_flaky_test()).expect("finishes");
    let kept: (String, String, u8) = raw(&path)
        .query_row("SELECT state, finished, exit_code FROM run", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .expect("is there");
    assert_eq!(kept, ("finished".into(), "2026-11-15T02:54:01.500Z".into(), 3));
    let finding: (String, String, String, String) = raw(&path)
        .query_row(
            "SELECT test.id, verdict, kind, evidence
             FROM finding JOIN test ON test.number = finding.test",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .expect("only the failure is there");
    let evidence = r#"[{"type":"passed","stage":"fresh","isolation":"spawn"}]"#;
    assert_eq!(
        finding,
        ("test_flaky".into(), "flaky".into(), "state-dependent".into(), evidence.into())
    );
}

#[test]
fn many_threads_may_open_a_new_store_and_write_at_once() {
    const WRITERS: usize = 16;
    let folder = folder();
    let start = Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (start, folder) = (&start, folder.path());
            scope.spawn(move || {
                start.wait();
                let history = SqliteHistory::in_project(folder).expect("opens");
                write_into(history, &writer.to_string(), 20);
            });
        }
    });
    assert_sound_with(&folder.path().join(".flakeproof/history.db"), WRITERS * 20);
}

/// The test is its own child: with `CHILD` set it writes, and without it starts the writers.
#[test]
fn many_processes_may_open_a_new_store_and_write_at_once() {
    const WRITERS: usize = 6;
    if let Some((folder, writer)) = child_task() {
        let history = SqliteHistory::in_project(Path::new(&folder)).expect("opens");
        write_into(history, &writer, 50);
        return;
    }
    let folder = folder();
    let name = "many_processes_may_open_a_new_store_and_write_at_once";
    let writers: Vec<Child> =
        (0..WRITERS).map(|writer| child(name, folder.path(), &writer.to_string())).collect();
    for writer in writers {
        let output = writer.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_sound_with(&folder.path().join(".flakeproof/history.db"), WRITERS * 50);
}

/// The child reports each call of `record` that returned, until it is killed.
#[test]
fn a_killed_process_loses_nothing_that_was_recorded() {
    if let Some((folder, id)) = child_task() {
        let mut history = SqliteHistory::in_project(Path::new(&folder)).expect("opens");
        history.begin(&run(&id)).expect("begins");
        for number in 0.. {
            history.record(&[pass(&test_of(&id, number))]).expect("records");
            if writeln!(std::io::stdout(), "recorded {number}").is_err() {
                return;
            }
        }
    }
    let folder = folder();
    let mut writer = child("a_killed_process_loses_nothing_that_was_recorded", folder.path(), "1");
    let mut lines = BufReader::new(writer.stdout.take().expect("is piped")).lines();
    let enough = lines.by_ref().any(|line| line.expect("is text").ends_with("recorded 200"));
    writer.kill().expect("is killed");
    writer.wait().expect("ends");
    assert!(enough);
    let recorded = 201 + lines.map_while(Result::ok).filter(|line| !line.is_empty()).count();
    let history = SqliteHistory::in_project(folder.path()).expect("opens");
    let kept = history.durations().expect("is read").len();
    assert!((recorded..=recorded + 1).contains(&kept), "{kept} of {recorded}");
    assert_eq!(quick_check(&folder.path().join(".flakeproof/history.db")), "ok");
}

/// The child reports each call of `record_trial` that returned, until it is killed.
#[test]
fn a_killed_hunt_loses_no_trial_that_was_recorded() {
    let key = |number: usize| format!("alone/{number}");
    if let Some((folder, id)) = child_task() {
        let mut history = SqliteHistory::in_project(Path::new(&folder)).expect("opens");
        history.begin_hunt(&hunt(&id)).expect("begins");
        let outcomes = vec![vec![Some(Outcome::Passed)]];
        let trial = TrialRecord { outcomes, executions: 1, ..TrialRecord::default() };
        for number in 0.. {
            history.record_trial(&key(number), &trial).expect("records");
            if writeln!(std::io::stdout(), "recorded {number}").is_err() {
                return;
            }
        }
    }
    let folder = folder();
    let mut writer = child("a_killed_hunt_loses_no_trial_that_was_recorded", folder.path(), "1");
    let mut lines = BufReader::new(writer.stdout.take().expect("is piped")).lines();
    let enough = lines.by_ref().any(|line| line.expect("is text").ends_with("recorded 100"));
    writer.kill().expect("is killed");
    writer.wait().expect("ends");
    assert!(enough);
    let mut history = SqliteHistory::in_project(folder.path()).expect("opens");
    let unfinished = history.unfinished_hunt(&["pytest".into()]).expect("is read");
    assert_eq!(unfinished.as_ref(), Some(&hunt("1")));
    history.begin_hunt(&hunt("1")).expect("is taken up");
    for number in 0..=100 {
        assert!(history.trial(&key(number)).expect("is read").is_some(), "{number}");
    }
}

/// Ten thousand tests, a thousand times: an outcome takes a byte.
#[test]
fn a_long_hunt_stays_small() {
    const TESTS: usize = 10_000;
    const TRIALS: usize = 1_000;
    let folder = folder();
    let path = folder.path().join("history.db");
    let mut history = SqliteHistory::open(&path).expect("opens");
    history.begin_hunt(&hunt("1")).expect("begins");
    let outcomes = vec![vec![Some(Outcome::Passed); TESTS]];
    let trial = TrialRecord { outcomes, ..TrialRecord::default() };
    // A tenth of them is enough to measure.
    for number in 0..TRIALS / 10 {
        history.record_trial(&format!("running/{number}"), &trial).expect("records");
    }
    drop(history);
    let bytes = fs::metadata(&path).expect("is there").len();
    assert!(bytes < 2_000_000, "{bytes} bytes for a tenth of the hunt");
}

const CHILD: &str = "FLAKEPROOF_STORE_TEST_CHILD";
const CHILD_ID: &str = "FLAKEPROOF_STORE_TEST_CHILD_ID";

fn child(test: &str, folder: &Path, id: &str) -> Child {
    Command::new(std::env::current_exe().expect("is known"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, folder)
        .env(CHILD_ID, id)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("starts")
}

fn child_task() -> Option<(String, String)> {
    Some((std::env::var(CHILD).ok()?, std::env::var(CHILD_ID).ok()?))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn raw(path: &Path) -> Connection {
    Connection::open(path).expect("opens")
}

fn write_run(path: &Path, id: &str, executions: usize) {
    let mut history = SqliteHistory::open(path).expect("opens");
    history.begin(&run(id)).expect("begins");
    let attempts: Vec<_> = (0..executions).map(|number| pass(&test_of(id, number))).collect();
    history.record(&attempts).expect("records");
}

fn write_into(mut history: SqliteHistory, id: &str, executions: usize) {
    history.begin(&run(id)).expect("begins");
    for number in 0..executions {
        history.record(&[pass(&test_of(id, number))]).expect("records");
    }
}

fn test_of(run: &str, number: usize) -> String {
    format!("test_{run}::test_{number}")
}

fn assert_sound_with(path: &Path, executions: usize) {
    assert_eq!(quick_check(path), "ok");
    let kept: usize = raw(path)
        .query_row("SELECT count(*) FROM execution", [], |row| row.get::<_, i64>(0))
        .map(|count| usize::try_from(count).expect("is a count"))
        .expect("is read");
    assert_eq!(kept, executions);
}

fn quick_check(path: &Path) -> String {
    raw(path).query_row("PRAGMA quick_check", [], |row| row.get(0)).expect("is read")
}

fn assert_unreadable<T: std::fmt::Debug>(answer: Result<T, HistoryError>, path: &Path) {
    let error = answer.expect_err("cannot be read");
    assert!(
        matches!(&error, HistoryError::Unreadable { place, .. }
            if *place == path.display().to_string()),
        "{error:?}"
    );
}

fn run(id: &str) -> RunRecord {
    RunRecord {
        id: id.into(),
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

fn hunt(id: &str) -> HuntRecord {
    HuntRecord {
        id: id.into(),
        started: "2026-11-15T02:53:00Z".into(),
        command: vec!["pytest".into()],
        fingerprint: "digest".into(),
        seed: "7".into(),
        settings: "{}".into(),
        version: "0.2.0".into(),
    }
}

fn pass(test: &str) -> Attempt {
    Attempt::first(Execution::new(test, Outcome::Passed, Duration::from_millis(3)))
}

fn findings_of_one_flaky_test() -> Findings {
    let sound = TestFinding {
        id: "test_sound".into(),
        location: None,
        outcome: Outcome::Passed,
        verdict: None,
        kind: None,
        evidence: vec![],
        attempts: vec![],
        reproduce: None,
        group: None,
        quarantine: None,
    };
    let flaky = TestFinding {
        id: "test_flaky".into(),
        outcome: Outcome::Failed,
        verdict: Some(Verdict::Flaky),
        kind: Some(Kind::StateDependent),
        evidence: vec![Evidence::Passed { stage: Stage::Fresh, isolation: Isolation::Spawn }],
        ..sound.clone()
    };
    Findings {
        run: RunFacts {
            id: "1".into(),
            command: vec!["pytest".into()],
            runner: "pytest 8.3.5".into(),
            started: "2026-11-15T02:53:00Z".into(),
            duration: Duration::from_millis(61_500),
            seed: Seed(7),
            revision: None,
            version: "0.1.0".into(),
        },
        suite: SuiteCounts::default(),
        tests: vec![sound, flaky],
        groups: vec![],
        notices: vec![],
        exit: ExitCode::Flaky,
    }
}

fn reports(id: &str) -> RunRecord {
    let origin = flakeproof_core::Origin::Reports { job: None };
    RunRecord { origin, ..run(id) }
}

#[test]
fn reports_that_were_read_by_half_are_read_again() {
    let folder = folder();
    let path = folder.path().join("history.db");
    let mut killed = SqliteHistory::open(&path).expect("opens");
    killed.begin(&reports("1")).expect("begins");
    killed.record(&[pass("test_a")]).expect("records");
    drop(killed);
    let mut history = SqliteHistory::open(&path).expect("opens");
    assert_eq!(history.has_run("1"), Ok(false));
    history.begin(&reports("1")).expect("takes its place");
    history.record(&[pass("test_a")]).expect("records");
    history.close(std::time::Duration::from_secs(1)).expect("closes");
    assert_eq!(history.has_run("1"), Ok(true));
    assert_eq!(history.timeline().expect("is read").runs.len(), 1);
}

#[test]
fn a_digest_that_an_older_version_did_not_make_is_made() {
    let folder = folder();
    let path = folder.path().join("history.db");
    let mut history = SqliteHistory::open(&path).expect("opens");
    history.begin(&run("1")).expect("begins");
    history.record(&[pass("test_a"), pass("test_b")]).expect("records");
    history.finish(&findings_of_one_flaky_test()).expect("finishes");
    let timeline = history.timeline().expect("is read");
    raw(&path).execute("DELETE FROM digest", []).expect("is written");
    assert_eq!(history.timeline().expect("is read"), timeline);
    let digests = raw(&path).query_row("SELECT count(*) FROM digest", [], |row| row.get(0));
    assert_eq!(digests, Ok(1));
}

#[test]
fn who_only_looks_changes_nothing() {
    let folder = folder();
    let path = folder.path().join("history.db");
    write_run(&path, "1", 3);
    raw(&path).execute("DELETE FROM digest", []).expect("is written");
    raw(&path).pragma_update(None, "wal_checkpoint", "TRUNCATE").expect("is written");
    let before = std::fs::read(&path).expect("is read");
    let mut history = SqliteHistory::look(&path).expect("opens");
    history.timeline().expect("is read");
    history.past_findings().expect("is read");
    history.past_failures(None).expect("is read");
    assert_eq!(history.latest_hunt(), Ok(None));
    history.begin(&run("2")).expect_err("cannot be written");
    drop(history);
    assert!(std::fs::read(&path).expect("is read") == before, "the file is as it was");
}

#[test]
fn a_stamp_tells_that_another_process_has_written() {
    let folder = folder();
    let path = folder.path().join("history.db");
    write_run(&path, "1", 1);
    let history = SqliteHistory::look(&path).expect("opens");
    let before = history.stamp();
    assert_eq!(history.stamp(), before);
    write_run(&path, "2", 1);
    assert_ne!(history.stamp(), before);
}

#[test]
fn a_missing_file_is_not_made_for_who_only_looks() {
    let folder = folder();
    let path = folder.path().join("history.db");
    SqliteHistory::look(&path).expect_err("is missing");
    assert!(!path.exists());
}

#[test]
fn a_projects_own_history_that_is_a_link_is_not_followed() {
    let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let target = elsewhere.path().join("target.db");
    let ours = project.path().join(".flakeproof");
    std::fs::create_dir(&ours).unwrap();
    std::os::unix::fs::symlink(&target, ours.join("history.db")).unwrap();
    let refused = SqliteHistory::in_project(project.path()).unwrap_err().to_string();
    assert!(refused.contains("symbolic link") && refused.contains("--store"), "{refused}");
    assert!(SqliteHistory::look(&ours.join("history.db")).is_err());
    assert!(!target.exists(), "nothing is made elsewhere");

    std::fs::remove_dir_all(&ours).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &ours).unwrap();
    assert!(SqliteHistory::in_project(project.path()).is_err());
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);

    // A link that the user names is the user's own.
    let named = project.path().join("named.db");
    std::os::unix::fs::symlink(&target, &named).unwrap();
    SqliteHistory::open(&named).unwrap();
}
