//! Where a triage stops: too many failures, because then the change is broken and not the tests,
//! and Ctrl-C, which keeps what was found.

use flakeproof_core::Isolation::{self, Fork, Same, Spawn};
use flakeproof_core::{Attempt, Evidence, ExitCode, Outcome, Policies, Policy, Verdict};
use flakeproof_detect::triage::{
    Event, EvidenceBudget, RetryLimit, TriageSettings, Triaged, exit_code,
};
use flakeproof_runner::Cancel;
use flakeproof_testkit::scripted::{Scripted, suite};

use super::scene::{
    Before, Since, finding, places, says, triaged, triaged_after, triaged_by_clock, triaged_with,
    try_triage, verdict, verdicts,
};

fn at_most(limit: usize) -> TriageSettings {
    TriageSettings { limit: RetryLimit::Tests(limit), ..TriageSettings::default() }
}

#[test]
fn above_the_limit_only_one_of_each_way_to_fail_is_run_in_fresh_environments() {
    let scripted = suite(["a", "b", "c"])
        .always_fails("a")
        .says("a", "KeyError")
        .depends_on("a", ["/r/changed.py"])
        .always_fails("b")
        .says("b", "KeyError")
        .always_fails("c")
        .says("c", "KeyError");
    let triaged = triaged_with(&scripted, &at_most(2), &Since::Pass("changed.py"));
    assert_eq!(verdicts(&triaged), [Some(Verdict::Real); 3]);
    let stopped = Evidence::TooManyFailures { failed: 3, limit: 2 };
    let alike = Evidence::AlikeReal { test: "a".into() };
    for other in ["b", "c"] {
        let evidence = &finding(&triaged, other).evidence;
        assert!(evidence.contains(&stopped) && evidence.contains(&alike), "{evidence:?}");
        assert_eq!(places(&scripted, other), [Same], "nothing of it is run again");
    }
}

#[test]
fn above_the_limit_the_base_tells_of_one_failure_where_nothing_else_does() {
    // More than the least number of failures that are all run again.
    const TESTS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let broken =
        TESTS.iter().fold(suite(TESTS), |it, test| it.always_fails(test).says(test, "KeyError"));
    let before = Before { base: Some(|| suite(TESTS)), ..Before::default() };
    let triaged = triaged_after(&broken, &Since::MergeBase("b.py"), &before);
    assert!(verdicts(&triaged).into_iter().all(|it| it == Some(Verdict::Real)));
    let alike = Evidence::AlikeReal { test: "a".into() };
    assert!(finding(&triaged, "l").evidence.contains(&alike));
}

#[test]
fn above_the_limit_an_outage_that_is_over_is_found_for_all() {
    let out = ["a", "b", "c"].iter().fold(suite(["a", "b", "c", "d"]), |it, test| {
        it.fails_times(test, 1).says(test, "ConnectionError")
    });
    let triaged = triaged_with(&out, &at_most(2), &Since::Pass("changed.py"));
    let flaky = Some(Verdict::Flaky);
    assert_eq!(verdicts(&triaged), [flaky, flaky, flaky, None]);
}

#[test]
fn above_the_limit_an_outage_that_lasts_a_while_is_found_for_all() {
    const TESTS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let says = |suite: Scripted, test: &str| suite.says(test, "ConnectionError");
    let first = says(suite(TESTS).fails_times("a", 4), "a");
    let out = TESTS[1..].iter().fold(first, |it, test| says(it.fails_times(test, 1), test));
    let before = Before { base: Some(|| suite(TESTS)), ..Before::default() };
    let triaged = triaged_after(&out, &Since::Pass("changed.py"), &before);
    assert!(verdicts(&triaged).iter().all(|it| *it == Some(Verdict::Flaky)), "{triaged:#?}");
}

#[test]
fn above_the_limit_a_new_polluter_is_found_for_one_of_those_it_disturbs() {
    const TESTS: [&str; 12] = ["setter", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    let polluted = TESTS[1..]
        .iter()
        .fold(suite(TESTS), |it, test| it.with_polluter(test, "setter").says(test, "KeyError"));
    let before = Before { base: Some(|| suite(TESTS)), ..Before::default() };
    let triaged = triaged_after(&polluted, &Since::MergeBase("b.py"), &before);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Real));
    let alike = Evidence::AlikeReal { test: "a".into() };
    assert!(triaged.tests[2..].iter().all(|test| test.evidence.contains(&alike)));
}

#[test]
fn above_the_limit_one_that_passes_alone_says_why_it_is_unknown() {
    let mixed = suite(["setter", "a", "b", "c"])
        .with_polluter("a", "setter")
        .always_fails("b")
        .always_fails("c");
    let triaged = triaged_with(&mixed, &at_most(2), &Since::Unknown);
    let is_told = |it: &Evidence| matches!(it, Evidence::Undecided { reason } if reason.contains("passes alone"));
    assert!(finding(&triaged, "a").evidence.iter().any(is_told));
}

#[test]
fn above_the_limit_the_commonest_ways_to_fail_are_tried_first() {
    // Eleven ways to fail, of which one more than are tried is that of a single test.
    let names: Vec<String> = (0..21).map(|number| format!("t{number:02}")).collect();
    let ids: Vec<&str> = names.iter().map(String::as_str).collect();
    let broken = ids.iter().enumerate().fold(suite(ids.clone()), |it, (at, test)| {
        let way = ["Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
        let message = if at == 0 { "Lonely" } else { way[at % 10] };
        it.always_fails(test).says(test, message).depends_on(test, ["/r/changed.py"])
    });
    let triaged = triaged_with(&broken, &at_most(2), &Since::Pass("changed.py"));
    assert_eq!(verdict(&triaged, "t00"), Some(Verdict::Unknown));
    assert!(ids[1..].iter().all(|test| verdict(&triaged, test) == Some(Verdict::Real)));
}

#[test]
fn failures_that_stay_look_for_chance_together() {
    const TESTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let broken = || {
        TESTS
            .iter()
            .zip(["One", "Two", "Three", "Four", "Five", "Six"])
            .fold(suite(TESTS), |it, (test, message)| it.always_fails(test).says(test, message))
    };
    let head = broken();
    let before = Before { base: Some(broken), ..Before::default() };
    let triaged = triaged_after(&head, &Since::MergeBase("b.py"), &before);
    assert!(verdicts(&triaged).iter().all(|it| *it == Some(Verdict::Unrelated)), "{triaged:#?}");
    let environments: std::collections::BTreeSet<usize> =
        head.runs().iter().map(|ran| ran.environment).collect();
    // The suite's own, two for each, and one for each of three turns.
    assert_eq!(environments.len(), 1 + 2 * TESTS.len() + 3);
}

#[test]
fn chance_that_shows_among_others_is_tried_alone() {
    const TESTS: [&str; 3] = ["a", "b", "c"];
    let broken =
        |it: Scripted| it.always_fails("a").says("a", "One").always_fails("b").says("b", "Two");
    // Fails in the suite, when rerun there and in the first fresh environments, and then no more.
    let head = broken(suite(TESTS)).fails_times("c", 5).says("c", "Three");
    let before = Before {
        base: Some(|| {
            suite(TESTS).always_fails("a").always_fails("b").fails_times("c", 1).says("c", "Three")
        }),
        ..Before::default()
    };
    let triaged = triaged_after(&head, &Since::MergeBase("b.py"), &before);
    assert_eq!(verdict(&triaged, "c"), Some(Verdict::Flaky), "{triaged:#?}");
}

#[test]
fn reruns_end_when_they_took_as_long_as_the_suite() {
    let tests: Vec<String> = (0..8).map(|number| format!("t{number}")).collect();
    let ids: Vec<&str> = tests.iter().map(String::as_str).collect();
    let names = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "One"];
    let broken = ids.iter().zip(names).fold(suite(ids.clone()), |it, (test, name)| {
        it.always_fails(test).says(test, name).depends_on(test, ["/r/changed.py"])
    });
    // Ten seconds for each look at the clock: three cases, and the time that any suite has is over.
    let settings = TriageSettings::default();
    let triaged = triaged_by_clock(&broken, &settings, &Since::Pass("changed.py"), 10);
    assert_eq!(verdict(&triaged, "t0"), Some(Verdict::Real));
    assert_eq!(verdict(&triaged, "t6"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "t6"), "--evidence-budget"));
    assert_eq!(verdict(&triaged, "t7"), Some(Verdict::Real), "it fails like the first");
    let settings = TriageSettings {
        evidence: EvidenceBudget::Fixed(std::time::Duration::from_secs(600)),
        ..settings
    };
    let triaged = triaged_by_clock(&broken, &settings, &Since::Pass("changed.py"), 10);
    assert!(verdicts(&triaged).iter().all(|it| *it == Some(Verdict::Real)));
}

#[test]
fn at_the_limit_everything_is_tried() {
    let scripted = suite(["a", "b"]).fails_times("a", 1).always_fails("b");
    let triaged = triaged_with(&scripted, &at_most(2), &Since::Pass("changed.py"));
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Flaky));
    assert!(places(&scripted, "b").contains(&Spawn));
}

#[test]
fn a_clean_suite_is_run_once_in_one_environment() {
    let scripted = suite(["a", "b", "c"]);
    let triaged = triaged(&scripted);
    assert_eq!(verdicts(&triaged), [None; 3]);
    assert!(triaged.groups.is_empty() && triaged.notices.is_empty());
    let runs = scripted.runs();
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|ran| ran.environment == 0 && ran.attempt == 1));
}

#[test]
fn an_id_that_the_suite_has_twice_fails_if_one_of_them_does() {
    let scripted = suite(["a", "setter", "a"]).with_polluter("a", "setter");
    let triaged = triaged(&scripted);
    assert!(finding(&triaged, "a").outcome.is_failure());
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Flaky));
}

#[test]
fn more_jobs_give_the_same_verdicts() {
    let tests = ["f::a", "f::b", "g::a", "g::b", "h::a", "h::b"];
    let verdicts_with = |jobs| {
        let scripted = suite(tests)
            .with_polluter("f::b", "f::a")
            .always_fails("g::a")
            .depends_on("g::a", ["/r/changed.py"])
            .behaves("h::a", |moment| match moment.times {
                0 | 2 => Outcome::Failed,
                _ => Outcome::Passed,
            })
            .crashes("h::b");
        let settings = TriageSettings { jobs, ..TriageSettings::default() };
        verdicts(&triaged_with(&scripted, &settings, &Since::Pass("changed.py")))
    };
    let alone = verdicts_with(1);
    assert_eq!(alone.len(), tests.len());
    for jobs in [2, 3, 8] {
        assert_eq!(verdicts_with(jobs), alone, "{jobs} jobs");
    }
}

#[test]
fn the_worst_verdict_and_the_policy_give_the_exit_code() {
    let flaky = triaged(&suite(["a"]).fails_times("a", 1));
    let real = triaged(&suite(["a"]).always_fails("a").depends_on("a", ["/r/changed.py"]));
    let unknown = triaged(&suite(["a"]).always_fails("a").cannot_be_measured("a"));
    let clean = triaged(&suite(["a"]));
    let code = |triaged: &flakeproof_detect::triage::Triaged, policy| {
        exit_code(&triaged.tests, triaged.is_interrupted, policy)
    };
    let strict = Policies { flaky: Policy::Fail, ..Policies::default() };
    for policy in [Policies::default(), strict] {
        assert_eq!(code(&clean, policy), ExitCode::Clean);
        assert_eq!(code(&real, policy), ExitCode::Failures);
        assert_eq!(code(&unknown, policy), ExitCode::Failures);
        assert_eq!(exit_code(&real.tests, true, policy), ExitCode::Interrupted);
    }
    assert_eq!(code(&flaky, Policies::default()), ExitCode::Clean);
    assert_eq!(code(&flaky, strict), ExitCode::Flaky);
}

/// A failure that is real if the reruns go through, and a test after it.
fn broken() -> Scripted {
    suite(["a", "b"]).always_fails("a").depends_on("a", ["/r/changed.py"])
}

fn interrupted(scripted: &Scripted, cancel: &Cancel) -> (Triaged, Vec<Attempt>) {
    let mut heard = Vec::new();
    let mut sink = |event: Event| {
        if let Event::Attempt(attempt) = event {
            heard.push(*attempt);
        }
    };
    let settings = TriageSettings::default();
    let triaged = try_triage(scripted, &settings, &Since::Pass("changed.py"), cancel, &mut sink)
        .expect("an interrupt is not an error");
    (triaged, heard)
}

#[test]
fn an_interrupt_in_any_stage_keeps_what_ran_and_leaves_the_rest_unknown() {
    let stages: [(Isolation, u32); 4] = [(Same, 2), (Same, 3), (Spawn, 1), (Fork, 1)];
    for (executions, (isolation, time)) in (1..).zip(stages) {
        let (scripted, cancel) = broken().interrupted_at("a", isolation, time);
        let (triaged, heard) = interrupted(&scripted, &cancel);
        let found = finding(&triaged, "a");
        assert!(triaged.is_interrupted);
        assert_eq!(found.attempts.len(), executions, "{isolation} {time}");
        assert_eq!(heard.iter().filter(|it| it.execution.test == found.id).count(), executions);
        assert_eq!(found.verdict, Some(Verdict::Unknown), "{isolation} {time}");
        assert!(says(found, "interrupted"));
    }
}

#[test]
fn an_interrupt_does_not_take_back_a_verdict() {
    let scripted = suite(["a", "b"]).fails_times("a", 4).always_fails("b");
    let (scripted, cancel) = scripted.interrupted_at("b", Spawn, 1);
    let (triaged, _) = interrupted(&scripted, &cancel);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Flaky));
    assert_eq!(verdict(&triaged, "b"), Some(Verdict::Unknown));
    let code = exit_code(&triaged.tests, triaged.is_interrupted, Policies::default());
    assert_eq!(code, ExitCode::Interrupted);
}

#[test]
fn an_interrupt_between_tests_starts_no_other() {
    let scripted = suite(["a", "b", "c"]).always_fails("a");
    let (canceller, cancel) = Cancel::new();
    canceller.cancel();
    let (triaged, heard) = interrupted(&scripted, &cancel);
    assert!(triaged.is_interrupted && triaged.tests.is_empty() && heard.is_empty());
    assert!(places(&scripted, "a").is_empty());
}

#[test]
fn tests_that_did_not_run_have_no_finding() {
    let (scripted, cancel) = suite(["a", "b"]).interrupted_at("b", Same, 1);
    let (triaged, _) = interrupted(&scripted, &cancel);
    assert_eq!(triaged.tests.len(), 1);
    assert_eq!(verdict(&triaged, "a"), None);
}
