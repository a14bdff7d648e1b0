//! The stage that passes first names the kind (thesis, chapter 2).

use flakeproof_core::Isolation::{Fork, Same, Spawn};
use flakeproof_core::{Evidence, Kind, Outcome, Seed, Stage, Verdict};
use flakeproof_testkit::scripted::suite;

use super::scene::{finding, places, triaged, verdict};

#[test]
fn a_test_that_passes_at_once_is_not_bursty() {
    let scripted = suite(["a"]).fails_times("a", 1);
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "a");
    assert_eq!((found.verdict, found.kind), (Some(Verdict::Flaky), Some(Kind::NotBursty)));
    assert_eq!(places(&scripted, "a"), [Same, Same, Spawn]);
}

#[test]
fn a_test_that_passes_only_at_the_end_is_bursty() {
    let scripted = suite(["a", "b"]).heals_at_the_end("a");
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "a");
    assert_eq!((found.verdict, found.kind), (Some(Verdict::Flaky), Some(Kind::Bursty)));
    let stages: Vec<Stage> = found.attempts.iter().map(|attempt| attempt.stage).collect();
    assert_eq!(
        stages,
        [Stage::First, Stage::Immediate, Stage::Postponed, Stage::Fresh, Stage::Order]
    );
}

#[test]
fn a_test_that_passes_only_alone_is_state_dependent() {
    let scripted = suite(["polluter", "victim"]).with_polluter("victim", "polluter");
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "victim");
    assert_eq!((found.verdict, found.kind), (Some(Verdict::Unknown), Some(Kind::StateDependent)));
    assert_eq!(found.reproduce.as_deref(), Some("scripted"), "only the suite shows it again");
    assert_eq!(verdict(&triaged, "polluter"), None);
}

#[test]
fn a_test_that_also_fails_in_a_fresh_environment_is_not_called_state_dependent() {
    let scripted = suite(["a"]).fails_times("a", 4);
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "a");
    assert_eq!((found.verdict, found.kind), (Some(Verdict::Flaky), None));
    assert_eq!(places(&scripted, "a"), [Same, Same, Same, Spawn, Fork, Spawn]);
}

#[test]
fn chance_is_found_by_one_of_the_reruns() {
    let seed = Seed(3);
    let tests = ["a", "b", "c", "d"];
    let scripted = tests
        .into_iter()
        .fold(suite(tests), |scripted, test| scripted.fails_at_random(test, seed, 0.4));
    let triaged = triaged(&scripted);
    let failed: Vec<_> = triaged.tests.iter().filter(|it| it.outcome.is_failure()).collect();
    assert!(!failed.is_empty(), "the seed makes some of them fail");
    assert!(failed.iter().all(|found| found.verdict == Some(Verdict::Flaky)));
}

#[test]
fn every_stage_that_passed_is_part_of_the_evidence() {
    let scripted = suite(["a"]).fails_times("a", 1);
    let triaged = triaged(&scripted);
    let passed = |stage, isolation| Evidence::Passed { stage, isolation };
    let expected = [passed(Stage::Immediate, Same), passed(Stage::Fresh, Spawn)];
    assert_eq!(finding(&triaged, "a").evidence, expected);
}

#[test]
fn attempts_are_counted_through_all_stages() {
    let scripted = suite(["a"]).always_fails("a");
    let _ = triaged(&scripted);
    let numbers: Vec<u32> = scripted.runs_of("a").into_iter().map(|ran| ran.attempt).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
}

#[test]
fn a_skipped_test_has_not_failed() {
    let scripted = suite(["a"]).skips("a");
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "a");
    assert_eq!((found.outcome, found.verdict), (Outcome::Skipped, None));
    assert_eq!(scripted.runs_of("a").len(), 1);
}
