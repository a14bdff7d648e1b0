//! A crash and a timeout are the test's; a lost environment is not.

use flakeproof_core::Isolation::{Fork, Same, Spawn};
use flakeproof_core::{Outcome, Verdict};
use flakeproof_detect::triage::TriageSettings;
use flakeproof_runner::{Cancel, Error};
use flakeproof_testkit::scripted::{Call, suite};

use super::scene::{Since, finding, places, says, triaged, try_triage, verdict, verdicts};

#[test]
fn after_a_crash_the_rest_of_the_suite_goes_on_in_a_new_environment() {
    let scripted = suite(["a", "b", "c"]).crashes("b");
    let triaged = triaged(&scripted);
    assert_eq!(verdict(&triaged, "a"), None);
    assert_eq!(verdict(&triaged, "c"), None);
    assert_ne!(scripted.runs_of("a")[0].environment, scripted.runs_of("c")[0].environment);
    let announced: Vec<Vec<String>> = scripted
        .calls()
        .into_iter()
        .filter_map(|call| match call {
            Call::Expected { upcoming, .. } => {
                Some(upcoming.iter().map(ToString::to_string).collect())
            }
            Call::Opened { .. } | Call::Ran(_) | Call::Closed { .. } => None,
        })
        .collect();
    assert_eq!(announced[..2], [vec!["a", "b", "c"], vec!["c"]]);
}

#[test]
fn a_crash_is_not_rerun_where_it_happened_because_that_place_is_gone() {
    for scripted in [suite(["a", "b"]).crashes("a"), suite(["a", "b"]).hangs("a")] {
        let _ = triaged(&scripted);
        assert_eq!(places(&scripted, "a"), [Same, Spawn, Fork]);
    }
}

#[test]
fn a_failure_is_not_postponed_into_a_later_life_of_the_environment() {
    let scripted = suite(["a", "b", "c"]).always_fails("a").crashes("b").always_fails("c");
    let _ = triaged(&scripted);
    assert_eq!(places(&scripted, "a"), [Same, Same, Spawn, Fork], "its environment is gone");
    assert_eq!(places(&scripted, "c"), [Same, Same, Same, Spawn, Fork]);
}

#[test]
fn a_test_that_crashes_only_among_others_is_flaky() {
    let scripted = suite(["a"]).gives("a", Same, Outcome::Crashed);
    assert_eq!(verdict(&triaged(&scripted), "a"), Some(Verdict::Flaky));
}

#[test]
fn a_crash_in_a_postponed_rerun_leaves_the_other_failures_to_fresh_environments() {
    let scripted = suite(["a", "b"])
        .behaves("a", |moment| match moment.times {
            2 => Outcome::Crashed,
            _ => Outcome::Failed,
        })
        .always_fails("b");
    let _ = triaged(&scripted);
    assert_eq!(places(&scripted, "b"), [Same, Same, Spawn, Fork]);
}

#[test]
fn a_crash_in_fresh_environments_that_says_nothing_is_unknown() {
    let scripted = suite(["a"]).crashes("a").cannot_be_measured("a");
    let triaged = triaged(&scripted);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "a"), "process was gone"));
}

#[test]
fn an_environment_lost_between_tests_is_not_the_next_tests_failure() {
    let scripted = suite(["a", "b"]).loses_environment("b", Same, 1);
    let triaged = triaged(&scripted);
    assert_eq!(verdicts(&triaged), [None, None]);
    assert!(triaged.notices.iter().any(|notice| notice.what.contains("lost between tests")));
}

#[test]
fn an_environment_lost_twice_before_the_same_test_is_the_tools_trouble() {
    let scripted = suite(["a"]).loses_environment("a", Same, 1).loses_environment("a", Same, 2);
    let settings = TriageSettings::default();
    let end = try_triage(&scripted, &settings, &Since::Unknown, &Cancel::never(), &mut |_| {});
    assert!(matches!(end, Err(Error::EnvironmentLost { .. })));
}

#[test]
fn an_environment_lost_at_an_immediate_rerun_costs_only_that_rerun() {
    let scripted = suite(["a", "b"]).fails_times("a", 1).loses_environment("a", Same, 2);
    let triaged = triaged(&scripted);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Flaky));
    assert_eq!(verdict(&triaged, "b"), None);
}

#[test]
fn a_runner_that_stops_keeps_what_ran_and_the_reader_is_told() {
    let scripted = suite(["a", "b", "c"]).fails_times("a", 1).stops_before("b", Same, "--maxfail");
    let triaged = triaged(&scripted);
    assert_eq!(verdicts(&triaged), [Some(Verdict::Flaky)]);
    let notice = triaged.notices.first().map(|notice| notice.what.as_str());
    assert_eq!(notice, Some("the runner stopped before 2 of the tests: --maxfail"));
}

#[test]
fn trouble_with_one_test_in_a_fresh_environment_leaves_the_others_their_verdicts() {
    let stopped = suite(["a", "b"]).stops_before("a", Spawn, "pytest.exit");
    let lost = suite(["a", "b"]).loses_environment("a", Spawn, 1);
    let unknown = suite(["a", "b"]).is_not_collected_in("a", Spawn);
    for scripted in [stopped, lost, unknown] {
        let scripted = scripted.always_fails("a").fails_times("b", 1);
        let triaged = triaged(&scripted);
        assert_eq!(verdicts(&triaged), [Some(Verdict::Unknown), Some(Verdict::Flaky)]);
        assert!(says(finding(&triaged, "a"), "fresh"));
    }
}

#[test]
fn a_fault_of_the_agent_is_never_a_tests_outcome() {
    let settings = TriageSettings::default();
    // The second and third try in the same environment are the immediate and postponed reruns.
    for (isolation, time) in [(Same, 1), (Same, 2), (Same, 3), (Spawn, 1), (Fork, 1)] {
        let scripted = suite(["a"]).always_fails("a").breaks_at("a", isolation, time);
        let end = try_triage(&scripted, &settings, &Since::Unknown, &Cancel::never(), &mut |_| {});
        assert!(matches!(end, Err(Error::Agent(_))), "{isolation} {time}");
    }
}
