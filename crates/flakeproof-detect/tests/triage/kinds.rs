//! Kinds and causes: the stage that passes first names the kind (thesis, chapter 2), and failures
//! that look alike are one cause (chapter 8).

use flakeproof_core::Isolation::{Fork, Same, Spawn};
use flakeproof_core::{Evidence, GroupCause, Kind, Outcome, Seed, Stage, Verdict};
use flakeproof_detect::triage::{Record, TriageSettings, Triaged};
use flakeproof_testkit::scripted::{Scripted, suite};

use super::scene::{
    Before, Since, finding, places, triaged, triaged_after, triaged_with, verdict, verdicts,
};

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

const REFUSED: &str = "ConnectionError: refused";

fn alike(scripted: Scripted) -> Scripted {
    scripted.says("a", REFUSED).says("b", REFUSED)
}

fn cause(triaged: &Triaged) -> Option<GroupCause> {
    assert!(triaged.groups.len() <= 1, "one signature is one group");
    triaged.groups.first().map(|group| group.cause)
}

#[test]
fn a_failure_that_stayed_on_one_test_is_not_rerun_at_once_on_the_next() {
    let scripted = alike(suite(["a", "b"]).always_fails("a").always_fails("b"));
    let _ = triaged(&scripted);
    assert_eq!(places(&scripted, "a"), [Same, Same, Same, Spawn, Fork]);
    assert_eq!(places(&scripted, "b"), [Same, Spawn], "one look is enough");
}

#[test]
fn a_failure_that_stayed_at_the_end_is_not_postponed_on_the_next() {
    let settings = TriageSettings { immediate: 0, ..TriageSettings::default() };
    let scripted = alike(suite(["a", "b"]).always_fails("a").always_fails("b"));
    let triaged = triaged_with(&scripted, &settings, &Since::Unknown);
    assert_eq!(places(&scripted, "a"), [Same, Same, Spawn, Fork]);
    assert_eq!(places(&scripted, "b"), [Same, Spawn]);
    let like = Evidence::LikeAnother { test: "a".into() };
    assert!(finding(&triaged, "b").evidence.contains(&like));
}

#[test]
fn failures_that_look_different_are_each_rerun() {
    let scripted = suite(["a", "b"]).always_fails("a").always_fails("b");
    let triaged = triaged(&scripted);
    assert_eq!(places(&scripted, "a"), places(&scripted, "b"));
    assert_eq!(cause(&triaged), None);
}

#[test]
fn tests_that_heal_together_at_the_end_had_an_outage() {
    let scripted = alike(suite(["a", "b", "c"]).heals_at_the_end("a").heals_at_the_end("b"));
    let triaged = triaged(&scripted);
    assert_eq!(cause(&triaged), Some(GroupCause::Outage));
    let flaky = Some(Verdict::Flaky);
    assert_eq!(verdicts(&triaged), [flaky, flaky, None]);
    assert_eq!(places(&scripted, "b"), [Same, Same, Spawn, Same], "not at once, but at the end");
}

#[test]
fn tests_that_heal_together_in_fresh_environments_share_state() {
    let scripted =
        suite(["polluter", "a", "b"]).with_polluter("a", "polluter").with_polluter("b", "polluter");
    let record = Record { passes: 0, flaky: vec![Some(Kind::StateDependent)], ..Record::default() };
    let before = Before { record, ..Before::default() };
    let triaged = triaged_after(&alike(scripted), &Since::Pass("changed.py"), &before);
    assert_eq!(cause(&triaged), Some(GroupCause::SharedState));
    let spared = finding(&triaged, "b");
    assert_eq!(spared.kind, Some(Kind::StateDependent));
    let like = Evidence::LikeAnother { test: "a".into() };
    assert!(spared.evidence.contains(&like), "its kind rests on the reruns of another");
}

#[test]
fn tests_of_a_group_with_different_ends_only_fail_alike() {
    let scripted = alike(suite(["a", "b"]).fails_times("a", 1).always_fails("b"));
    let triaged = triaged(&scripted);
    assert_eq!(cause(&triaged), Some(GroupCause::SameFailure));
    assert_eq!(triaged.groups[0].tests.len(), 2);
    assert!(triaged.tests.iter().all(|found| found.group == Some(0)));
}

#[test]
fn a_member_whose_first_healed_gets_all_fresh_reruns() {
    let scripted =
        alike(suite(["polluter", "a", "b"]).with_polluter("a", "polluter").always_fails("b"));
    let _ = triaged(&scripted);
    assert_eq!(places(&scripted, "b"), [Same, Spawn, Fork]);
}

#[test]
fn a_real_member_of_a_group_that_heals_stays_real() {
    let scripted = alike(suite(["polluter", "a", "b"]))
        .with_polluter("a", "polluter")
        .always_fails("b")
        .depends_on("b", ["/r/changed.py"]);
    let triaged = triaged(&scripted);
    assert_eq!(verdicts(&triaged), [None, Some(Verdict::Unknown), Some(Verdict::Real)]);
}
