//! What every history promises about what pages show besides scores.

use flakeproof_core::{
    Attempt, Findings, FlakyKind, History, HuntEnd, Kind, Outcome, RunRecord, Signature, Stage,
    TestFinding, Verdict,
};
use flakeproof_store::{MemoryHistory, SqliteHistory};

use super::hunts::{findings as hunt_findings, found, hunt};
use super::{findings, first, flaky, object_history, postgres_history, run};

contract! {
    findings_come_back_the_latest_first
    each_way_to_fail_is_told_once_with_how_often
    how_some_tests_failed_is_told_without_the_others
    of_a_test_only_the_latest_few_are_told
    the_latest_hunt_is_shown_with_what_it_found
    an_unfinished_hunt_has_no_summary
}

fn findings_come_back_the_latest_first(history: &mut dyn History) {
    assert_eq!(history.past_findings().expect("is read").len(), 0);
    for (id, day) in [("new", "16"), ("old", "15")] {
        let kind = (id == "new").then_some(Kind::Bursty);
        fail(history, id, day, "KeyError", TestFinding { kind, ..flaky("test_a") });
    }
    let told = history.past_findings().expect("is read");
    let told: Vec<_> = told["test_a"].iter().map(|it| (&*it.run, it.verdict, it.kind)).collect();
    let expected = [("new", Verdict::Flaky, Some(Kind::Bursty)), ("old", Verdict::Flaky, None)];
    assert_eq!(told, expected);
}

fn each_way_to_fail_is_told_once_with_how_often(history: &mut dyn History) {
    for (id, day, message) in
        [("1", "15", "KeyError: 'a'"), ("2", "17", "OSError"), ("3", "16", "KeyError: 'a'")]
    {
        fail(history, id, day, message, flaky("test_a"));
    }
    let told = history.past_failures(None).expect("is read");
    let told: Vec<_> =
        told["test_a"].iter().map(|it| (&*it.message, it.times, &it.last[..10])).collect();
    assert_eq!(told, [("OSError", 1, "2026-11-17"), ("KeyError: 'a'", 2, "2026-11-16")]);
    let signature = history.past_failures(None).expect("is read")["test_a"][1].signature.clone();
    assert_eq!(signature, Some(Signature::compute("KeyError: 'a'", None)));
}

fn how_some_tests_failed_is_told_without_the_others(history: &mut dyn History) {
    for test in ["test_a", "test_b"] {
        fail(history, test, "15", "OSError", flaky(test));
    }
    let of = |tests: &[&str]| {
        let tests = tests.iter().map(|test| (*test).into()).collect();
        let told = history.past_failures(Some(&tests)).expect("is read");
        told.into_keys().map(|test| test.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(&["test_b", "test_unknown"]), ["test_b"]);
    assert!(of(&[]).is_empty());
}

fn of_a_test_only_the_latest_few_are_told(history: &mut dyn History) {
    for day in 10..25 {
        fail(history, &day.to_string(), &day.to_string(), &format!("way {day}"), flaky("test_a"));
    }
    let failures = history.past_failures(None).expect("is read");
    let findings = history.past_findings().expect("is read");
    assert_eq!((failures["test_a"].len(), findings["test_a"].len()), (10, 10));
    assert_eq!((&*failures["test_a"][0].message, &*findings["test_a"][0].run), ("way 24", "24"));
}

fn the_latest_hunt_is_shown_with_what_it_found(history: &mut dyn History) {
    assert_eq!(history.latest_hunt(), Ok(None));
    for (id, tests) in [("1", vec![]), ("2", vec![found("test_a", Some(FlakyKind::Nod))])] {
        history.begin_hunt(&hunt(id)).expect("begins");
        history.finish_hunt(&hunt_findings(tests, HuntEnd::Finished)).expect("finishes");
    }
    let latest = history.latest_hunt().expect("is read").expect("is there");
    assert_eq!((latest.flaky, latest.summary.map(|it| it.tests)), (1, Some(1)));
}

fn an_unfinished_hunt_has_no_summary(history: &mut dyn History) {
    history.begin_hunt(&hunt("1")).expect("begins");
    let latest = history.latest_hunt().expect("is read").expect("is there");
    assert_eq!((latest.flaky, latest.summary), (0, None));
}

/// A run on this day of November in which `test_a` fails so, twice.
fn fail(history: &mut dyn History, id: &str, day: &str, message: &str, finding: TestFinding) {
    let started = format!("2026-11-{day}T02:53:00Z");
    history.begin(&RunRecord { started, ..run(id) }).expect("begins");
    let mut attempt = first(finding.id.as_str(), Outcome::Failed);
    if let Some(failure) = &mut attempt.execution.failure {
        failure.message = message.to_owned();
    }
    let again = Attempt { stage: Stage::Fresh, number: 2, ..attempt.clone() };
    history.record(&[attempt, again]).expect("records");
    history.finish(&Findings { tests: vec![finding], ..findings() }).expect("finishes");
}
