//! What every history promises, asked of each implementation.
//!
//! A claim is a function of a fresh, empty history; `contract!` makes one test of it for each
//! implementation.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, ExitCode, Failure, Feature, Features, Findings, History, HistoryError,
    Origin, Outcome, Phase, RunFacts, RunRecord, Seed, Signature, Stage, SuiteCounts, Surroundings,
    Tally, TestFinding, TestId, TrackRecord, TreeState, Verdict,
};
use flakeproof_store::{
    MemoryHistory, ObjectHistory, PostgresAddress, PostgresHistory, SqliteHistory, StoreLocation,
    StoreUrl,
};
use flakeproof_testkit::postgres;

macro_rules! contract {
    ($($claim:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $claim() {
                let project = tempfile::tempdir().expect("a temporary folder");
                let mut history = super::SqliteHistory::in_project(project.path()).expect("opens");
                super::$claim(&mut history);
            })*
        }
        mod postgresql {
            $(#[test]
            fn $claim() {
                if let Some(mut history) = super::postgres_history(stringify!($claim)) {
                    super::$claim(&mut history);
                }
            })*
        }
        mod objects {
            $(#[test]
            fn $claim() {
                let folder = tempfile::tempdir().expect("a temporary folder");
                let mut history = super::object_history(folder.path());
                super::$claim(&mut history);
            })*
        }
        mod memory {
            $(#[test]
            fn $claim() {
                super::$claim(&mut super::MemoryHistory::new());
            })*
        }
    };
}

/// A history in a fresh database; `None`, which is noted, where there is no PostgreSQL.
fn postgres_history(claim: &str) -> Option<PostgresHistory> {
    let server = postgres::shared(&format!("the contract of histories: {claim}"))?;
    let url = StoreUrl::new(&server.fresh_database()).expect("a URL");
    let address = PostgresAddress::new(&url, "shop/basket").expect("an address");
    Some(PostgresHistory::open(address).expect("opens"))
}

/// A history of segments in a folder.
fn object_history(folder: &std::path::Path) -> ObjectHistory {
    let url = format!("file://{}", folder.join("segments").display());
    let url = StoreUrl::new(&url).expect("a URL");
    match url.locate("shop/basket").expect("a history can be there") {
        StoreLocation::Objects(address) => {
            let address = address.with_cache(folder.join("cache.db"));
            ObjectHistory::open(&address).expect("opens")
        }
        other => unreachable!("{other} is no object store"),
    }
}

mod causes;
mod hunts;
mod past;
mod timeline;

contract! {
    an_empty_history_knows_no_pass
    a_pass_in_an_earlier_run_is_found_with_its_tree_and_surroundings
    the_open_run_does_not_count_as_an_earlier_one
    after_the_end_of_a_run_it_counts
    the_latest_of_several_passes_is_found
    a_failure_hides_no_earlier_pass
    only_a_pass_at_the_first_attempt_counts
    only_the_outcome_passed_is_a_pass
    a_run_that_was_never_finished_counts
    tests_with_similar_ids_are_different_tests
    an_id_with_odd_characters_comes_back_unchanged
    a_duration_is_that_of_the_last_pass
    a_pass_at_a_later_attempt_gives_a_duration_too
    a_test_that_never_passed_has_no_duration
    a_track_record_counts_first_attempts_and_flaky_verdicts
    a_tally_is_taken_on_the_code_on_which_the_test_was_inconsistent
    else_on_the_code_on_which_it_ran_most_often
    code_that_is_not_wholly_known_gives_no_tally
    features_come_back_as_they_were_measured
    features_of_older_code_are_left_out
    recording_nothing_is_allowed
    many_attempts_are_kept_in_one_call
    recording_without_an_open_run_is_an_error
    finishing_without_an_open_run_is_an_error
    a_finished_run_takes_no_more_attempts
    two_runs_cannot_have_one_id
    a_refused_run_leaves_the_open_one_open
    only_runs_since_a_day_are_counted
}

fn an_empty_history_knows_no_pass(history: &mut dyn History) {
    assert_eq!(history.last_pass(&"test_a".into()), Ok(None));
    assert_eq!(history.durations(), Ok(BTreeMap::new()));
}

fn a_pass_in_an_earlier_run_is_found_with_its_tree_and_surroundings(history: &mut dyn History) {
    let earlier = run("1");
    complete(history, &earlier, &[first("test_a", Outcome::Passed)]);
    history.begin(&run("2")).expect("begins");
    let pass = history.last_pass(&"test_a".into()).expect("is read").expect("is there");
    assert_eq!(pass.run, "1");
    assert_eq!(pass.tree, earlier.tree);
    assert_eq!(pass.surroundings, earlier.surroundings);
}

fn the_open_run_does_not_count_as_an_earlier_one(history: &mut dyn History) {
    history.begin(&run("1")).expect("begins");
    history.record(&[first("test_a", Outcome::Passed)]).expect("records");
    assert_eq!(history.last_pass(&"test_a".into()), Ok(None));
}

fn after_the_end_of_a_run_it_counts(history: &mut dyn History) {
    complete(history, &run("1"), &[first("test_a", Outcome::Passed)]);
    assert_eq!(last_pass(history, "test_a"), Some("1".into()));
}

fn the_latest_of_several_passes_is_found(history: &mut dyn History) {
    for id in ["z", "m", "a"] {
        complete(history, &run(id), &[first("test_a", Outcome::Passed)]);
    }
    history.begin(&run("open")).expect("begins");
    assert_eq!(last_pass(history, "test_a"), Some("a".into()));
}

fn a_failure_hides_no_earlier_pass(history: &mut dyn History) {
    complete(history, &run("1"), &[first("test_a", Outcome::Passed)]);
    complete(history, &run("2"), &[first("test_a", Outcome::Failed)]);
    history.begin(&run("3")).expect("begins");
    assert_eq!(last_pass(history, "test_a"), Some("1".into()));
}

fn only_a_pass_at_the_first_attempt_counts(history: &mut dyn History) {
    for stage in [Stage::Immediate, Stage::Postponed, Stage::Fresh] {
        let again = Attempt { stage, number: 2, ..first("test_a", Outcome::Passed) };
        complete(history, &run(stage.word()), &[first("test_a", Outcome::Failed), again]);
    }
    assert_eq!(last_pass(history, "test_a"), None);
}

fn only_the_outcome_passed_is_a_pass(history: &mut dyn History) {
    for outcome in Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Passed) {
        complete(history, &run(outcome.word()), &[first("test_a", outcome)]);
    }
    assert_eq!(last_pass(history, "test_a"), None);
}

fn a_run_that_was_never_finished_counts(history: &mut dyn History) {
    history.begin(&run("1")).expect("begins");
    history.record(&[first("test_a", Outcome::Passed)]).expect("records");
    history.begin(&run("2")).expect("begins");
    assert_eq!(last_pass(history, "test_a"), Some("1".into()));
}

fn tests_with_similar_ids_are_different_tests(history: &mut dyn History) {
    complete(history, &run("1"), &[first("test_a[1]", Outcome::Passed)]);
    for other in ["test_a", "TEST_A[1]", "test_a[1] ", "test_a[_]", "test_a%"] {
        assert_eq!(last_pass(history, other), None, "{other}");
    }
}

fn an_id_with_odd_characters_comes_back_unchanged(history: &mut dyn History) {
    let odd = ["", "t'); DROP TABLE run; --", "t[\u{0}]", "t[é\u{301} 测试 🦀]", "t[\n\t\\]"];
    let attempts = odd.map(|id| first(id, Outcome::Passed));
    complete(history, &run("1"), &attempts);
    let durations = history.durations().expect("is read");
    let kept: Vec<_> = durations.keys().map(TestId::as_str).collect();
    let mut expected = odd.to_vec();
    expected.sort_unstable();
    assert_eq!(kept, expected);
}

fn a_duration_is_that_of_the_last_pass(history: &mut dyn History) {
    let took = |outcome, microseconds| {
        let mut attempt = first("test_a", outcome);
        attempt.execution.duration = Duration::from_micros(microseconds);
        attempt
    };
    complete(history, &run("1"), &[took(Outcome::Passed, 900)]);
    complete(history, &run("2"), &[took(Outcome::Passed, 17), took(Outcome::Failed, 5000)]);
    assert_eq!(
        history.durations(),
        Ok(BTreeMap::from([("test_a".into(), Duration::from_micros(17))]))
    );
}

fn a_pass_at_a_later_attempt_gives_a_duration_too(history: &mut dyn History) {
    let again = Attempt { stage: Stage::Fresh, number: 2, ..first("test_a", Outcome::Passed) };
    complete(history, &run("1"), &[first("test_a", Outcome::Failed), again]);
    assert!(history.durations().expect("is read").contains_key("test_a"));
}

fn a_test_that_never_passed_has_no_duration(history: &mut dyn History) {
    complete(history, &run("1"), &[first("test_a", Outcome::Crashed)]);
    assert_eq!(history.durations(), Ok(BTreeMap::new()));
}

fn a_track_record_counts_first_attempts_and_flaky_verdicts(history: &mut dyn History) {
    let again = Attempt { stage: Stage::Fresh, number: 2, ..first("test_a", Outcome::Passed) };
    let failed = [first("test_a", Outcome::Failed), again, first("test_b", Outcome::Skipped)];
    history.begin(&run("1")).expect("begins");
    history.record(&failed).expect("records");
    history.finish(&Findings { tests: vec![flaky("test_a")], ..findings() }).expect("finishes");
    complete(history, &run("2"), &[first("test_a", Outcome::Passed)]);
    let records = history.timeline().expect("is read").track_records();
    let record = TrackRecord { passes: 1, failures: 1, flaky: 1 };
    assert_eq!(records.get("test_a"), Some(&record));
    assert_eq!(records.get("test_b"), Some(&TrackRecord::default()));
}

fn a_tally_is_taken_on_the_code_on_which_the_test_was_inconsistent(history: &mut dyn History) {
    for id in ["1", "2", "3"] {
        complete(history, &on_code("old", id), &[first("test_a", Outcome::Passed)]);
    }
    complete(history, &on_code("new", "4"), &[first("test_a", Outcome::Failed)]);
    complete(history, &on_code("new", "5"), &[first("test_a", Outcome::Passed)]);
    assert_eq!(tally(history, "test_a"), Some(Tally { runs: 2, failures: 1 }));
}

fn else_on_the_code_on_which_it_ran_most_often(history: &mut dyn History) {
    let again = Attempt { stage: Stage::Fresh, number: 2, ..first("test_a", Outcome::Passed) };
    for id in ["1", "2"] {
        let attempts = [first("test_a", Outcome::Failed), again.clone()];
        complete(history, &on_code("broken", id), &attempts);
    }
    let skipped = [first("test_a", Outcome::Passed), first("test_b", Outcome::Skipped)];
    complete(history, &on_code("mended", "3"), &skipped);
    assert_eq!(tally(history, "test_a"), Some(Tally { runs: 2, failures: 2 }));
    assert_eq!(tally(history, "test_b"), None);
}

fn code_that_is_not_wholly_known_gives_no_tally(history: &mut dyn History) {
    let mut unknown = run("1");
    unknown.tree.is_complete = false;
    complete(history, &unknown, &[first("test_a", Outcome::Passed)]);
    assert_eq!(tally(history, "test_a"), None);
}

fn features_come_back_as_they_were_measured(history: &mut dyn History) {
    let measured: Vec<Features> = [1.5, 2.0].map(features).into();
    for (id, of_run) in ["1", "2"].iter().zip(&measured) {
        history.begin(&on_code("same", id)).expect("begins");
        history.record_features(&[("test_a".into(), *of_run)]).expect("records");
    }
    let records = history.features().expect("is read");
    let runs: Vec<(u32, Features)> = records.iter().map(|it| (it.run, it.features)).collect();
    assert_eq!(runs, [(1, measured[0]), (2, measured[1])]);
    assert_eq!(records[0].test, "test_a".into());
}

fn features_of_older_code_are_left_out(history: &mut dyn History) {
    for id in ["1", "2"] {
        history.begin(&run(id)).expect("begins");
        history.record_features(&[("test_a".into(), features(1.0))]).expect("records");
    }
    let records = history.features().expect("is read");
    assert_eq!(records.iter().map(|it| it.run).collect::<Vec<_>>(), [1]);
}

fn recording_nothing_is_allowed(history: &mut dyn History) {
    history.begin(&run("1")).expect("begins");
    assert_eq!(history.record(&[]), Ok(()));
}

fn many_attempts_are_kept_in_one_call(history: &mut dyn History) {
    let attempts: Vec<_> =
        (0..3000).map(|number| first(&format!("test_{number}"), Outcome::Passed)).collect();
    complete(history, &run("1"), &attempts);
    assert_eq!(history.durations().expect("is read").len(), 3000);
    assert_eq!(last_pass(history, "test_2999"), Some("1".into()));
}

fn recording_without_an_open_run_is_an_error(history: &mut dyn History) {
    let recorded = history.record(&[first("test_a", Outcome::Passed)]);
    assert!(matches!(recorded, Err(HistoryError::Unwritable { .. })), "{recorded:?}");
}

fn finishing_without_an_open_run_is_an_error(history: &mut dyn History) {
    let finished = history.finish(&findings());
    assert!(matches!(finished, Err(HistoryError::Unwritable { .. })), "{finished:?}");
}

fn a_finished_run_takes_no_more_attempts(history: &mut dyn History) {
    complete(history, &run("1"), &[]);
    let recorded = history.record(&[first("test_a", Outcome::Passed)]);
    assert!(matches!(recorded, Err(HistoryError::Unwritable { .. })), "{recorded:?}");
    assert_eq!(last_pass(history, "test_a"), None);
}

fn two_runs_cannot_have_one_id(history: &mut dyn History) {
    complete(history, &run("1"), &[]);
    let begun = history.begin(&run("1"));
    assert!(matches!(begun, Err(HistoryError::Unwritable { .. })), "{begun:?}");
}

fn a_refused_run_leaves_the_open_one_open(history: &mut dyn History) {
    history.begin(&run("1")).expect("begins");
    history.begin(&run("1")).expect_err("has the same id");
    history.record(&[first("test_a", Outcome::Passed)]).expect("records");
    history.finish(&findings()).expect("finishes");
    assert_eq!(last_pass(history, "test_a"), Some("1".into()));
}

fn only_runs_since_a_day_are_counted(history: &mut dyn History) {
    let on = |id: &str, day: &str| RunRecord { started: format!("{day}T23:59:00Z"), ..run(id) };
    let failed = [first("test_a", Outcome::Failed)];
    complete(history, &on("1", "2026-11-14"), &failed);
    complete(history, &on("2", "2026-11-15"), &[first("test_a", Outcome::Passed)]);
    complete(history, &on("3", "2026-11-16"), &[first("test_a", Outcome::Skipped)]);
    let since =
        |day| history.timeline().expect("is read").tallies_since(day).get("test_a").copied();
    assert_eq!(since("2026-11-14"), Some(Tally { runs: 2, failures: 1 }));
    assert_eq!(since("2026-11-15"), Some(Tally { runs: 1, failures: 0 }));
    assert_eq!(since("2026-11-15T24"), None);
}

fn complete(history: &mut dyn History, run: &RunRecord, attempts: &[Attempt]) {
    history.begin(run).expect("begins");
    history.record(attempts).expect("records");
    history.finish(&findings()).expect("finishes");
}

fn last_pass(history: &dyn History, test: &str) -> Option<String> {
    history.last_pass(&test.into()).expect("is read").map(|pass| pass.run)
}

fn tally(history: &dyn History, test: &str) -> Option<Tally> {
    history.timeline().expect("is read").tallies().get(test).copied()
}

fn features(run_time: f64) -> Features {
    let mut features = Features::default();
    features.set(Feature::RunTime, Some(run_time));
    features
}

/// A run of this code.
fn on_code(code: &str, id: &str) -> RunRecord {
    RunRecord { id: id.into(), ..run(code) }
}

fn run(id: &str) -> RunRecord {
    RunRecord {
        id: id.into(),
        started: "2026-11-15T02:53:00Z".into(),
        command: vec!["pytest".into(), "-k".into(), "it's \"odd\"".into()],
        folder: String::new(),
        seed: Seed(u64::MAX),
        tree: TreeState {
            revision: Some(format!("revision of {id}")),
            branch: None,
            edited: BTreeMap::from([("src/a \"b\".py".into(), "digest".into())]),
            is_complete: true,
        },
        surroundings: Surroundings {
            runtime: vec![format!("Python of {id}")],
            packages: "digest".into(),
            variables: BTreeMap::from([("LANG".into(), "digest".into())]),
            machine: Some("digest".into()),
        },
        version: "0.1.0".into(),
        origin: Origin::default(),
    }
}

fn first(test: &str, outcome: Outcome) -> Attempt {
    let failure = outcome.is_failure().then(|| Failure {
        phase: Phase::Call,
        message: "KeyError: 'a'".into(),
        text: "Traceback".into(),
        location: None,
        signature: Signature::compute("KeyError: 'a'", None),
    });
    Attempt {
        position: Some(0),
        ..Attempt::first(Execution {
            failure,
            ..Execution::new(test, outcome, Duration::from_millis(3))
        })
    }
}

fn flaky(test: &str) -> TestFinding {
    TestFinding {
        id: test.into(),
        location: None,
        outcome: Outcome::Failed,
        verdict: Some(Verdict::Flaky),
        kind: None,
        evidence: vec![],
        attempts: vec![],
        reproduce: None,
        group: None,
        quarantine: None,
    }
}

fn findings() -> Findings {
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
        tests: vec![],
        groups: vec![],
        notices: vec![],
        exit: ExitCode::Clean,
    }
}
