//! When a failure may be called flaky, and when it is real (DESIGN §4).

use flakeproof_core::Isolation::{Fork, Same, Spawn};
use flakeproof_core::{Evidence, Outcome, Stage, Verdict};
use flakeproof_detect::triage::{RerunRules, TriageSettings};
use flakeproof_runner::Granularity;
use flakeproof_testkit::scripted::suite;

use super::scene::{Since, finding, places, says, triaged, triaged_with, verdict};

#[test]
fn a_pass_in_the_same_environment_is_not_enough() {
    let scripted = suite(["a"])
        .passes_only_after_first_failure_in_same_environment("a")
        .depends_on("a", ["/r/changed.py"]);
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "a");
    assert_eq!(found.verdict, Some(Verdict::Real));
    let shown = Evidence::Passed { stage: Stage::Immediate, isolation: Same };
    assert!(found.evidence.contains(&shown), "the pass is shown, though it proves nothing");
}

#[test]
fn a_pass_in_a_fork_needs_a_pass_in_a_new_process() {
    let scripted = suite(["a"])
        .gives("a", Same, Outcome::Failed)
        .gives("a", Spawn, Outcome::Failed)
        .depends_on("a", ["/r/other.py"]);
    let triaged = triaged(&scripted);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    let settings = TriageSettings::default();
    let confirmations = scripted.runs_of("a").into_iter().skip_while(|ran| ran.isolation != Fork);
    assert_eq!(confirmations.count(), 1 + settings.confirmations as usize);
}

#[test]
fn a_pass_in_a_new_process_stands_though_forks_fail() {
    let scripted = suite(["a"]).gives("a", Same, Outcome::Failed).gives("a", Fork, Outcome::Failed);
    assert_eq!(verdict(&triaged(&scripted), "a"), Some(Verdict::Flaky));
}

#[test]
fn confirmations_are_tried_until_one_passes() {
    let scripted = suite(["a"]).behaves("a", |moment| match moment.times {
        1 | 6.. => Outcome::Passed,
        _ => Outcome::Failed,
    });
    assert_eq!(verdict(&triaged(&scripted), "a"), Some(Verdict::Flaky));
    assert_eq!(places(&scripted, "a"), [Same, Same, Spawn, Fork, Spawn, Spawn, Spawn]);
}

#[test]
fn confirmations_are_bounded() {
    let settings = TriageSettings { confirmations: 3, ..TriageSettings::default() };
    let scripted = suite(["a"]).passes_only_after_first_failure_in_same_environment("a");
    let triaged = triaged_with(&scripted, &settings, &Since::Unknown);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    assert_eq!(places(&scripted, "a"), [Same, Same, Spawn, Fork, Spawn, Spawn, Spawn]);
}

#[test]
fn a_pass_is_confirmed_even_where_no_fresh_reruns_are_asked_for() {
    let settings = TriageSettings { fresh: 0, ..TriageSettings::default() };
    let scripted = suite(["a", "b"]).fails_times("a", 1).always_fails("b");
    let triaged = triaged_with(&scripted, &settings, &Since::Unknown);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Flaky));
    assert_eq!(verdict(&triaged, "b"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "b"), "no rerun in a fresh environment"));
}

#[test]
fn what_fails_in_every_fresh_environment_and_touches_the_change_is_real() {
    let scripted = suite(["a"]).always_fails("a").depends_on("a", ["/r/changed.py"]);
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "a");
    assert_eq!(found.verdict, Some(Verdict::Real));
    let files = vec!["changed.py".to_owned()];
    assert!(found.evidence.contains(&Evidence::Intersects { files, base: "abc".into() }));
    let is_counted = |it: &Evidence| matches!(it, Evidence::FailedFresh { attempts: 2, .. });
    assert!(found.evidence.iter().any(is_counted));
}

#[test]
fn only_the_first_fresh_environment_is_measured_and_it_is_a_new_process() {
    let scripted = suite(["a"]).always_fails("a");
    let _ = triaged(&scripted);
    let probed: Vec<_> =
        scripted.runs().into_iter().filter(|ran| ran.dependencies != Granularity::Off).collect();
    assert_eq!(probed.len(), 1);
    assert_eq!((probed[0].isolation, probed[0].dependencies), (Spawn, Granularity::File));
}

#[test]
fn what_touches_nothing_that_changed_since_it_passed_is_unrelated() {
    let scripted = suite(["a"]).always_fails("a").depends_on("a", ["/r/other.py"]);
    assert_eq!(verdict(&triaged(&scripted), "a"), Some(Verdict::Unrelated));
}

#[test]
fn an_untouched_change_proves_nothing_if_nobody_saw_the_test_pass() {
    let scripted = suite(["a"]).always_fails("a").depends_on("a", ["/r/other.py"]);
    let since = Since::MergeBase("changed.py");
    let triaged = triaged_with(&scripted, &TriageSettings::default(), &since);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    let is_disjoint =
        |it: &Evidence| matches!(it, Evidence::Disjoint { passed_at_base: false, .. });
    assert!(finding(&triaged, "a").evidence.iter().any(is_disjoint), "it is shown all the same");
}

#[test]
fn an_untouched_change_says_nothing_about_a_failure_that_was_not_measured() {
    let scripted = suite(["setter", "a"])
        .always_fails("a")
        .says_in("a", Same, "TypeError: raised by the changed code")
        .says_in("a", Spawn, "KeyError: the setter did not run")
        .depends_on("a", ["/r/other.py"]);
    let triaged = triaged(&scripted);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "a"), "another way"));
}

#[test]
fn a_touched_change_makes_another_failure_real_too() {
    let scripted = suite(["a"])
        .always_fails("a")
        .says_in("a", Spawn, "KeyError: not as in the suite")
        .depends_on("a", ["/r/changed.py"]);
    assert_eq!(verdict(&triaged(&scripted), "a"), Some(Verdict::Real));
}

#[test]
fn a_change_that_cannot_be_seen_makes_it_unknown_and_is_named() {
    let scripted = suite(["a"]).always_fails("a").depends_on("a", ["/r/other.py"]);
    let since = Since::Pass("poetry.lock");
    let triaged = triaged_with(&scripted, &TriageSettings::default(), &since);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "a"), "poetry.lock"));
}

#[test]
fn a_change_that_nobody_knows_makes_it_unknown() {
    let scripted = suite(["a"]).always_fails("a");
    let triaged = triaged_with(&scripted, &TriageSettings::default(), &Since::Unknown);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "a"), "no repository"));
}

#[test]
fn dependencies_that_were_not_measured_make_it_unknown() {
    let scripted = suite(["a"]).always_fails("a").cannot_be_measured("a");
    let triaged = triaged(&scripted);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "a"), "not measured"));
}

#[test]
fn dependencies_of_a_skip_do_not_speak_for_the_failure() {
    let scripted = suite(["a"])
        .behaves("a", |moment| match moment.isolation {
            Same | Fork => Outcome::Failed,
            Spawn => Outcome::Skipped,
        })
        .depends_on("a", ["/r/other.py"]);
    assert_eq!(verdict(&triaged(&scripted), "a"), Some(Verdict::Unknown));
}

#[test]
fn a_skip_is_not_a_pass() {
    for place in [Spawn, Fork] {
        let scripted = suite(["a"]).gives("a", place, Outcome::Skipped).always_fails("a");
        let triaged = triaged(&scripted);
        assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown), "skipped in {place}");
        assert!(says(finding(&triaged, "a"), "skipped"));
    }
}

#[test]
fn a_skip_at_once_does_not_count_as_a_pass_that_needs_confirmation() {
    let scripted = suite(["a"]).behaves("a", |moment| match moment.times {
        1 => Outcome::Skipped,
        _ => Outcome::Failed,
    });
    let triaged = triaged(&scripted);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unrelated), "it depends on nothing");
    assert_eq!(places(&scripted, "a"), [Same, Same, Same, Spawn, Fork]);
}

#[test]
fn a_forbidden_failure_is_real_at_once_and_never_rerun() {
    let rerun = RerunRules {
        except: vec![regex::Regex::new("AssertionError").unwrap()],
        ..RerunRules::default()
    };
    let settings = TriageSettings { rerun, ..TriageSettings::default() };
    let scripted = suite(["a"]).fails_times("a", 1).says("a", "AssertionError: 1 == 2");
    let triaged = triaged_with(&scripted, &settings, &Since::Unknown);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Real));
    assert_eq!(places(&scripted, "a"), [Same]);
}

#[test]
fn a_data_race_is_real_even_if_the_failure_has_no_text() {
    let scripted = suite(["a"]).fails_times("a", 1).says_nothing("a").prints_in(
        "a",
        Same,
        "WARNING: DATA RACE",
    );
    assert_eq!(verdict(&triaged(&scripted), "a"), Some(Verdict::Real));
    assert_eq!(places(&scripted, "a"), [Same]);
}

#[test]
fn a_data_race_in_a_rerun_is_real_whether_the_rerun_passes_or_not() {
    let scripted = suite(["passes", "fails"])
        .fails_times("passes", 3)
        .prints_in("passes", Spawn, "WARNING: DATA RACE")
        .always_fails("fails")
        .prints_in("fails", Spawn, "ERROR: AddressSanitizer: heap-use-after-free");
    let triaged = triaged(&scripted);
    for test in ["passes", "fails"] {
        assert_eq!(verdict(&triaged, test), Some(Verdict::Real));
        assert_eq!(places(&scripted, test), [Same, Same, Same, Spawn]);
    }
}

#[test]
fn an_adapter_that_cannot_fork_spawns_and_the_reader_is_told() {
    let scripted = suite(["a"]).always_fails("a").cannot_fork("threads are running");
    let triaged = triaged(&scripted);
    assert_eq!(places(&scripted, "a"), [Same, Same, Same, Spawn, Spawn]);
    assert!(triaged.notices.iter().any(|notice| notice.what.contains("threads are running")));
}

#[test]
fn a_fork_that_became_a_new_process_is_recorded_as_one() {
    let scripted = suite(["a"]).fails_times("a", 4).loses_what_it_forks_from();
    let triaged = triaged(&scripted);
    let found = finding(&triaged, "a");
    assert_eq!(found.verdict, Some(Verdict::Flaky));
    let last = found.attempts.last().map(|attempt| attempt.isolation);
    assert_eq!((last, found.attempts.len()), (Some(Spawn), 5), "no confirmation is needed");
}
