//! What a history holds, what it forgets, and what it hands to other programs.

use std::path::Path;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, Failure, Feature, Features, History, Isolation, Origin, Outcome, Phase,
    RunRecord, Scores, Seed, Signature, Stage, Surroundings, TestId, TreeState,
};
use flakeproof_store::{Cell, Compaction, Depth, Pruning, SqliteHistory, StoredTable};
use proptest::prelude::*;

fn history() -> (tempfile::TempDir, SqliteHistory) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let history = SqliteHistory::in_project(folder.path()).expect("opens");
    (folder, history)
}

fn file(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join(".flakeproof/history.db")
}

fn record(id: &str, day: u32, origin: Origin) -> RunRecord {
    RunRecord {
        id: id.into(),
        started: format!("2026-01-{day:02}T12:00:00Z"),
        command: vec!["pytest".into()],
        folder: String::new(),
        seed: Seed(u64::MAX),
        tree: TreeState {
            revision: Some(format!("r{day}")),
            is_complete: true,
            ..TreeState::default()
        },
        surroundings: Surroundings::default(),
        version: "0.1.0".into(),
        origin,
    }
}

fn attempt(test: &str, number: u32, outcome: Outcome) -> Attempt {
    let failure = outcome.is_failure().then(|| Failure {
        phase: Phase::Call,
        message: format!("{test}, \"broke\"\nin two lines"),
        text: String::new(),
        location: None,
        signature: Signature::from_normalised(format!("{test} broke")),
    });
    Attempt {
        stage: if number == 1 { Stage::First } else { Stage::Fresh },
        isolation: Isolation::Same,
        number,
        position: None,
        execution: Execution { failure, ..Execution::new(test, outcome, Duration::from_millis(5)) },
    }
}

/// Keep a run: each test with the outcomes of its attempts.
fn keep(history: &mut SqliteHistory, run: &RunRecord, tests: &[(&str, &[Outcome])]) {
    history.begin(run).expect("begins");
    for (test, outcomes) in tests {
        let attempts: Vec<Attempt> =
            (1..).zip(*outcomes).map(|(number, it)| attempt(test, number, *it)).collect();
        history.record(&attempts).expect("is kept");
    }
    history.close(Duration::from_secs(9)).expect("ends");
}

const PASS: &[Outcome] = &[Outcome::Passed];
const FAIL: &[Outcome] = &[Outcome::Failed];
const FLAKY: &[Outcome] = &[Outcome::Failed, Outcome::Passed];

fn before(day: &str, depth: Depth) -> Pruning {
    Pruning { before: day.into(), depth }
}

fn rows(history: &SqliteHistory, table: StoredTable) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let take = |cells: &[Cell<'_>]| {
        let text = |cell: &Cell<'_>| match cell {
            Cell::Empty => String::new(),
            Cell::Text(text) => (*text).to_owned(),
            Cell::Whole(number) => number.to_string(),
            Cell::Real(number) => number.to_string(),
        };
        rows.push(cells.iter().map(text).collect());
        Ok::<(), ()>(())
    };
    history.export(table, take).expect("is exported");
    rows
}

fn assert_sound(file: &Path) {
    let connection = rusqlite::Connection::open(file).expect("opens");
    let mut check = connection.prepare("PRAGMA foreign_key_check").expect("is known");
    assert!(!check.exists([]).expect("is checked"), "a row refers to one that is gone");
    let whole: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("is checked");
    assert_eq!(whole, "ok");
}

#[test]
fn details_go_and_scores_stay() {
    let (folder, mut history) = history();
    for day in 1..=20 {
        let outcomes = if day % 5 == 0 { FLAKY } else { PASS };
        keep(
            &mut history,
            &record(&day.to_string(), day, Origin::Run),
            &[("a", outcomes), ("b", PASS)],
        );
    }
    let (timeline, scores) = {
        let timeline = history.timeline().expect("is read");
        (timeline.clone(), Scores::from_timeline(&timeline))
    };
    let pruning = before("2026-01-15", Depth::Details);
    let outlook = history.prune_outlook(&pruning).expect("is counted");
    let pruned = history.prune(&pruning).expect("is pruned");
    // 14 runs of two tests, and the two reruns on days 5 and 10.
    assert_eq!((pruned.old_runs, pruned.executions, pruned.runs), (14, 30, 0));
    assert_eq!((outlook.executions, outlook.findings), (pruned.executions, pruned.findings));
    assert_eq!(history.timeline().expect("is read"), timeline);
    assert_eq!(Scores::from_timeline(&history.timeline().expect("is read")), scores);
    assert_sound(&file(&folder));
}

#[test]
fn the_latest_pass_of_a_test_is_never_forgotten() {
    let (folder, mut history) = history();
    keep(&mut history, &record("1", 1, Origin::Run), &[("gone", PASS), ("a", PASS)]);
    keep(&mut history, &record("2", 2, Origin::Run), &[("gone", PASS), ("a", FAIL)]);
    keep(&mut history, &record("3", 20, Origin::Run), &[("a", FAIL)]);
    for depth in [Depth::Details, Depth::Runs] {
        let passes = |history: &SqliteHistory| {
            ["a", "gone"].map(|test| history.last_pass(&test.into()).expect("is read"))
        };
        let known = passes(&history);
        let pruned = history.prune(&before("2026-01-15", depth)).expect("is pruned");
        assert_eq!((pruned.kept_passes, pruned.runs), (2, 0), "{depth:?}");
        assert_eq!(passes(&history), known);
        assert_eq!(history.durations().expect("is read").len(), 2);
    }
    assert_sound(&file(&folder));
}

#[test]
fn old_runs_go_with_the_tests_and_texts_that_only_they_knew() {
    let (folder, mut history) = history();
    keep(&mut history, &record("1", 1, Origin::Run), &[("old", FAIL), ("a", PASS)]);
    keep(&mut history, &record("2", 20, Origin::Run), &[("a", PASS), ("b", FAIL)]);
    let pruned = history.prune(&before("2026-01-15", Depth::Runs)).expect("is pruned");
    assert_eq!((pruned.runs, pruned.tests, pruned.signatures), (1, 1, 1));
    let timeline = history.timeline().expect("is read");
    let tests: Vec<&str> = timeline.tests.iter().map(|test| test.test.as_str()).collect();
    assert_eq!((timeline.runs.len(), tests), (1, vec!["a", "b"]));
    assert_sound(&file(&folder));
}

#[test]
fn a_test_that_only_a_digest_knows_is_kept() {
    let (folder, mut history) = history();
    let reports = |id: &str, day| record(id, day, Origin::Reports { job: None });
    keep(&mut history, &reports("1", 1), &[("old", PASS), ("a", PASS)]);
    keep(&mut history, &reports("2", 20), &[("a", PASS)]);
    let pruned = history.prune(&before("2026-01-15", Depth::Runs)).expect("is pruned");
    assert_eq!((pruned.runs, pruned.tests), (1, 1));
    assert_eq!(history.timeline().expect("is read").tests[0].test, TestId::from("a"));
    assert_sound(&file(&folder));
}

#[test]
fn a_run_that_goes_on_elsewhere_loses_nothing() {
    let (folder, mut history) = history();
    keep(&mut history, &record("1", 1, Origin::Run), &[("old", FAIL), ("a", PASS)]);
    let mut elsewhere = SqliteHistory::open(&file(&folder)).expect("opens");
    elsewhere.begin(&record("2", 2, Origin::Reports { job: None })).expect("begins");
    // A plain pass of a report: until the end of the run, no row refers to the test.
    elsewhere.record(&[attempt("new", 1, Outcome::Passed)]).expect("is kept");
    let pruned = history.prune(&before("2026-01-15", Depth::Runs)).expect("is pruned");
    assert!(pruned.has_kept_tests && pruned.tests == 0);
    elsewhere.record(&[attempt("new", 2, Outcome::Passed)]).expect("is kept");
    elsewhere.close(Duration::from_secs(1)).expect("ends");
    let timeline = history.timeline().expect("is read");
    assert!(timeline.tests.iter().any(|test| test.test.as_str() == "new"));
    assert_sound(&file(&folder));
}

#[test]
fn numbers_of_tests_are_not_remembered_from_run_to_run() {
    let (folder, mut history) = history();
    let mut elsewhere = SqliteHistory::open(&file(&folder)).expect("opens");
    let reports = |id: &str, day| record(id, day, Origin::Reports { job: None });
    keep(&mut elsewhere, &reports("1", 1), &[("a", PASS)]);
    history.prune(&before("2026-01-15", Depth::Runs)).expect("is pruned");
    keep(&mut history, &reports("2", 20), &[("b", FAIL)]);
    keep(&mut elsewhere, &reports("3", 21), &[("a", PASS)]);
    let timeline = history.timeline().expect("is read");
    let marks: Vec<(&str, usize)> =
        timeline.tests.iter().map(|test| (test.test.as_str(), test.marks.len())).collect();
    assert_eq!(marks, [("b", 1), ("a", 1)]);
    assert_sound(&file(&folder));
}

#[test]
fn features_of_the_code_that_was_measured_last_stay() {
    let (_folder, mut history) = history();
    let mut features = Features::default();
    features.set(Feature::RunTime, Some(1.0));
    for (id, day) in [("1", 1), ("2", 2)] {
        history.begin(&record(id, day, Origin::Run)).expect("begins");
        history.record(&[attempt("a", 1, Outcome::Passed)]).expect("is kept");
        history.record_features(&[("a".into(), features)]).expect("is kept");
        history.close(Duration::from_secs(1)).expect("ends");
    }
    let known = history.features().expect("is read");
    for depth in [Depth::Details, Depth::Runs] {
        let pruned = history.prune(&before("2026-02-01", depth)).expect("is pruned");
        assert_eq!(history.features().expect("is read").len(), known.len(), "{pruned:?}");
    }
}

#[test]
fn compacting_makes_the_file_smaller_and_the_outlook_is_about_right() {
    let (folder, mut history) = history();
    let names: Vec<String> = (0..300).map(|number| format!("test_{number}")).collect();
    let tests: Vec<(&str, &[Outcome])> = names.iter().map(|name| (name.as_str(), FAIL)).collect();
    for day in 1..=20 {
        keep(&mut history, &record(&day.to_string(), day, Origin::Run), &tests);
    }
    let pruning = before("2026-01-19", Depth::Details);
    let stats = history.stats().expect("is counted");
    assert_eq!((stats.runs, stats.tests, stats.executions), (20, 300, 6000));
    assert_eq!(stats.tables[0].name, "execution");
    let expected = stats.saving(&history.prune_outlook(&pruning).expect("is counted"));
    assert_eq!(history.compact().expect("is compacted"), Compaction::Done);
    let before = history.bytes();
    history.prune(&pruning).expect("is pruned");
    assert_eq!(history.compact().expect("is compacted"), Compaction::Done);
    let won = before - history.bytes();
    assert!(won * 2 > expected && won < expected * 2, "{won} instead of {expected}");
    assert_sound(&file(&folder));
}

#[test]
fn a_history_that_others_read_is_pruned() {
    let (folder, mut history) = history();
    keep(&mut history, &record("1", 1, Origin::Run), &[("a", FAIL)]);
    let reader = rusqlite::Connection::open(file(&folder)).expect("opens");
    reader.execute_batch("BEGIN; SELECT count(*) FROM run").expect("reads");
    let pruned = history.prune(&before("2026-02-01", Depth::Details)).expect("is pruned");
    assert_eq!(pruned.executions, 1);
    drop(reader);
    assert_eq!(history.compact().expect("is compacted"), Compaction::Done);
}

#[test]
fn looking_at_what_there_is_changes_nothing() {
    let (folder, mut history) = history();
    keep(&mut history, &record("1", 1, Origin::Run), &[("a", FLAKY)]);
    drop(history);
    let bytes = std::fs::read(file(&folder)).expect("is read");
    let history = SqliteHistory::look(&file(&folder)).expect("opens");
    history.stats().expect("is counted");
    history.prune_outlook(&before("2026-02-01", Depth::Runs)).expect("is counted");
    for table in
        [StoredTable::Executions, StoredTable::Runs, StoredTable::Tests, StoredTable::Findings]
    {
        rows(&history, table);
    }
    drop(history);
    assert!(std::fs::read(file(&folder)).expect("is read") == bytes);
}

#[test]
fn every_execution_is_exported_also_what_only_a_digest_knows() {
    let (_folder, mut history) = history();
    keep(
        &mut history,
        &record("1", 1, Origin::Reports { job: Some("linux".into()) }),
        &[("a", FLAKY), ("b", PASS)],
    );
    keep(&mut history, &record("2", 2, Origin::Run), &[("a", PASS)]);
    let told = |history: &SqliteHistory| -> Vec<String> {
        let row = |row: &Vec<String>| {
            [&row[0], &row[1], &row[6], &row[7], &row[8], &row[9]].map(String::as_str).join(" ")
        };
        rows(history, StoredTable::Executions).iter().map(row).collect()
    };
    let whole = [
        "1 a 1 first failed 0.005",
        "1 a 2 fresh passed 0.005",
        "1 b 1 first passed 0.005",
        "2 a 1 first passed 0.005",
    ];
    assert_eq!(told(&history), whole);
    let first = &rows(&history, StoredTable::Executions)[0];
    assert_eq!(
        (first[2].as_str(), first[3].as_str(), first[5].as_str()),
        ("2026-01-01T12:00:00Z", "r1", "linux")
    );
    assert_eq!(first[11], "a, \"broke\"\nin two lines");
    history.prune(&before("2026-02-01", Depth::Details)).expect("is pruned");
    let pruned = [
        "1 a 1 first failed 0.005",
        "1 a 2 reruns passed 0.005",
        "1 b 1 first passed 0.005",
        "2 a 1 first passed 0.005",
    ];
    assert_eq!(told(&history), pruned);
}

#[test]
fn runs_and_tests_are_exported_with_what_is_known() {
    let (_folder, mut history) = history();
    keep(&mut history, &record("1", 1, Origin::Run), &[("a", FLAKY)]);
    let run = &rows(&history, StoredTable::Runs)[0];
    assert_eq!((run[0].as_str(), run[9].as_str()), ("1", "18446744073709551615"));
    let test = &rows(&history, StoredTable::Tests)[0];
    assert_eq!((test[0].as_str(), test[1].as_str(), test[3].as_str()), ("a", "flaky", "1"));
    for table in
        [StoredTable::Executions, StoredTable::Runs, StoredTable::Tests, StoredTable::Findings]
    {
        let width = table.columns().len();
        assert!(rows(&history, table).iter().all(|row| row.len() == width), "{table:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_forgotten_what_stays_is_as_it_was(
        runs in prop::collection::vec((1_u32..28, any::<bool>(), prop::collection::vec(0_usize..4, 4)), 1..8),
        day in 1_u32..28, is_deep in any::<bool>(),
    ) {
        let (folder, mut history) = history();
        let outcomes: [&[Outcome]; 4] = [PASS, FAIL, FLAKY, &[]];
        for (number, (day, is_own, tests)) in runs.iter().enumerate() {
            let origin = if *is_own { Origin::Run } else { Origin::Reports { job: None } };
            let tests: Vec<(&str, &[Outcome])> =
                ["a", "b", "c", "d"].into_iter().zip(tests.iter().map(|it| outcomes[*it])).collect();
            keep(&mut history, &record(&number.to_string(), *day, origin), &tests);
        }
        let limit = format!("2026-01-{day:02}");
        let timeline = history.timeline().unwrap();
        let passes = |history: &SqliteHistory| ["a", "b", "c", "d"].map(|it| history.last_pass(&it.into()).unwrap());
        let known = passes(&history);
        let depth = if is_deep { Depth::Runs } else { Depth::Details };
        history.prune(&before(&limit, depth)).unwrap();
        prop_assert_eq!(passes(&history), known);
        assert_sound(&file(&folder));
        let after = history.timeline().unwrap();
        if is_deep {
            // Runs that stay have all their marks, and no recent run is gone.
            let recent = timeline.runs.iter().filter(|run| run.started > limit);
            prop_assert!(recent.clone().all(|run| after.runs.iter().any(|it| it.id == run.id)));
            for run in &after.runs {
                let marks = |timeline: &flakeproof_core::Timeline| {
                    let index = timeline.runs.iter().position(|it| it.id == run.id).unwrap();
                    let of = |test: &flakeproof_core::TestTimeline| {
                        let mark = test.marks.iter().find(|mark| mark.run as usize == index)?;
                        Some((test.test.clone(), mark.outcome, mark.again))
                    };
                    timeline.tests.iter().filter_map(of).collect::<Vec<_>>()
                };
                prop_assert_eq!(marks(&after), marks(&timeline));
            }
        } else {
            prop_assert_eq!(after, timeline);
        }
    }
}
