//! The one rule of evidence, row by row (`docs/concepts/verdicts.md`).

use std::sync::atomic::{AtomicUsize, Ordering};

use flakeproof_core::Isolation::Spawn;
use flakeproof_core::{Evidence, Kind, Outcome, Verdict};
use flakeproof_detect::triage::Record;
use flakeproof_testkit::scripted::{Scripted, suite};

use super::scene::{Before, Since, finding, says, triaged_after, verdict};

const TOUCHED: Since = Since::Pass("a.py");
const UNTOUCHED: Since = Since::Pass("b.py");

/// A suite in which a leak makes the victim fail.
fn leaking() -> Scripted {
    suite(["polluter", "victim"])
        .with_polluter("victim", "polluter")
        .depends_on("victim", ["/r/a.py"])
}

/// The same without the leak.
fn sound() -> Scripted {
    suite(["polluter", "victim"])
}

/// A test that fails now and then wherever it runs.
fn chancy() -> Scripted {
    suite(["other", "a"])
        .behaves("a", |moment| match moment.times {
            0 | 2 => Outcome::Failed,
            _ => Outcome::Passed,
        })
        .depends_on("a", ["/r/a.py"])
}

fn broken() -> Scripted {
    suite(["other", "a"]).always_fails("a").depends_on("a", ["/r/a.py"])
}

fn passing() -> Scripted {
    suite(["other", "a"])
}

fn after(scripted: &Scripted, since: &Since, before: &Before, test: &str) -> Option<Verdict> {
    verdict(&triaged_after(scripted, since, before), test)
}

#[test]
fn passing_and_failing_alone_without_touching_the_change_is_flaky() {
    let before = Before::default();
    assert_eq!(after(&chancy(), &UNTOUCHED, &before, "a"), Some(Verdict::Flaky));
}

#[test]
fn passing_and_failing_in_the_suites_order_is_flaky() {
    let scripted = suite(["other", "a"]).fails_times("a", 3).depends_on("a", ["/r/a.py"]);
    assert_eq!(after(&scripted, &UNTOUCHED, &Before::default(), "a"), Some(Verdict::Flaky));
}

#[test]
fn a_failure_among_others_touches_what_any_of_them_touches() {
    let disturbed = || {
        suite(["other", "a"])
            .fails_times("a", 3)
            .depends_on("a", ["/r/b.py"])
            .depends_on("other", ["/r/a.py"])
    };
    let before = Before::default();
    assert_eq!(after(&disturbed(), &TOUCHED, &before, "a"), Some(Verdict::Unknown));
    let before = Before { base: Some(passing), ..Before::default() };
    assert_eq!(after(&disturbed(), &TOUCHED, &before, "a"), Some(Verdict::NewlyFlaky));
}

#[test]
fn a_failure_among_others_is_unknown_where_what_they_touch_is_not_measured() {
    let scripted = suite(["other", "a"]).fails_times("a", 3).cannot_be_measured("a");
    let triaged = triaged_after(&scripted, &TOUCHED, &Before::default());
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
}

#[test]
fn a_failure_among_others_may_touch_the_change_where_only_single_tests_are_seen() {
    let alone = |now: &'static str| in_order(now).sees_only_single_tests();
    let after_base = |since: &Since, base| {
        let triaged = triaged_after(&alone("FPPP"), since, &Before { base, ..Before::default() });
        (verdict(&triaged, "a"), says(finding(&triaged, "a"), "what those touch was not measured"))
    };
    assert_eq!(after_base(&UNTOUCHED, None), (Some(Verdict::Unknown), true));
    assert_eq!(after_base(&UNTOUCHED, Some(passing)), (Some(Verdict::Unknown), true));
    // It did so before the change.
    let base: fn() -> Scripted = || in_order("PPFP");
    assert_eq!(after_base(&UNTOUCHED, Some(base)).0, Some(Verdict::Flaky));
    // Nothing that a test could notice changed.
    assert_eq!(after_base(&Since::Pass("README.md"), None).0, Some(Verdict::Flaky));
    // It fails alone, too, where nobody can disturb it.
    let chancy = chancy().sees_only_single_tests();
    assert_eq!(after(&chancy, &UNTOUCHED, &Before::default(), "a"), Some(Verdict::Flaky));
}

#[test]
fn outside_a_repository_flaky_is_what_passes_and_fails() {
    let before = Before::default();
    assert_eq!(after(&chancy(), &Since::Unknown, &before, "a"), Some(Verdict::Flaky));
}

#[test]
fn a_change_that_cannot_be_seen_may_have_made_it_flaky() {
    let hidden = Some("this clone lacks commits");
    let before = Before { hidden, ..Before::default() };
    for since in [Since::Unknown, TOUCHED, UNTOUCHED] {
        let triaged = triaged_after(&chancy(), &since, &before);
        assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown), "{since:?}");
        assert!(says(finding(&triaged, "a"), "this clone lacks commits"));
    }
}

#[test]
fn a_flaky_test_that_touches_the_change_and_never_failed_before_is_new() {
    let before = Before { base: Some(passing), ..Before::default() };
    assert_eq!(after(&chancy(), &TOUCHED, &before, "a"), Some(Verdict::NewlyFlaky));
    let before = Before {
        record: Record { passes: 9, flaky: Vec::new(), ..Record::default() },
        ..Before::default()
    };
    assert_eq!(after(&chancy(), &TOUCHED, &before, "a"), Some(Verdict::NewlyFlaky));
}

#[test]
fn a_flaky_test_that_failed_like_this_before_the_change_is_just_flaky() {
    let record = Record { passes: 9, flaky: vec![None], ..Record::default() };
    let before = Before { record, ..Before::default() };
    assert_eq!(after(&chancy(), &TOUCHED, &before, "a"), Some(Verdict::Flaky));
    let before = Before { base: Some(chancy), ..Before::default() };
    assert_eq!(after(&chancy(), &TOUCHED, &before, "a"), Some(Verdict::Flaky));
}

#[test]
fn a_number_that_was_always_another_one_makes_another_failure() {
    let verdict_with = |messages: &[&str]| {
        let messages = messages.iter().map(ToString::to_string).collect();
        let record = Record { passes: 9, flaky: vec![None; 3], messages };
        after(&chancy(), &TOUCHED, &Before { record, ..Before::default() }, "a")
    };
    let always = ["status is 503"; 3];
    assert_eq!(verdict_with(&always), Some(Verdict::Unknown));
    assert_eq!(verdict_with(&always[1..]), Some(Verdict::Flaky), "too few to tell");
    let varying = ["status is 503", "status is 503", "status is 502"];
    assert_eq!(verdict_with(&varying), Some(Verdict::Flaky), "it says nothing");
    assert_eq!(verdict_with(&["no number"; 3]), Some(Verdict::Flaky));
}

/// A test that fails in so many of ten runs, spread over them.
fn failing(tenths: u32) -> Scripted {
    suite(["other", "a"])
        .behaves("a", move |moment| {
            match (moment.times * 3 + 3) % 10 < tenths || moment.times == 0 {
                true => Outcome::Failed,
                false => Outcome::Passed,
            }
        })
        .depends_on("a", ["/r/a.py"])
}

#[test]
fn a_flaky_test_that_the_change_makes_fail_more_often_is_new() {
    let seldom_there = || Before { base: Some(|| failing(1)), ..Before::default() };
    let triaged = triaged_after(&failing(7), &TOUCHED, &seldom_there());
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::NewlyFlaky));
    let is_told = |evidence: &Evidence| matches!(evidence, Evidence::MoreOften { .. });
    assert!(finding(&triaged, "a").evidence.iter().any(is_told));
    // What is on record does not excuse it either.
    let record = Record { passes: 3, flaky: vec![None], ..Record::default() };
    let before = Before { record, ..seldom_there() };
    assert_eq!(after(&failing(7), &TOUCHED, &before, "a"), Some(Verdict::NewlyFlaky));
    // Where its dependencies cannot be measured, the runs themselves tell.
    let unseen = failing(7).cannot_be_measured("a");
    assert_eq!(after(&unseen, &TOUCHED, &before, "a"), Some(Verdict::NewlyFlaky));
}

#[test]
fn a_flaky_test_that_fails_as_often_on_the_base_is_just_flaky() {
    let bases: [(u32, fn() -> Scripted); 4] =
        [(1, || failing(1)), (3, || failing(3)), (5, || failing(5)), (7, || failing(7))];
    for (tenths, base) in bases {
        let before = Before { base: Some(base), ..Before::default() };
        let triaged = triaged_after(&failing(tenths), &TOUCHED, &before);
        let evidence = &finding(&triaged, "a").evidence;
        assert_eq!(verdict(&triaged, "a"), Some(Verdict::Flaky), "{tenths} of ten: {evidence:?}");
    }
}

#[test]
fn the_record_tells_how_often_a_test_failed_where_the_base_does_not() {
    let (base, foreign) = (Some((|| failing(1)) as fn() -> Scripted), Some("an installed copy"));
    let record = |passes| Record { passes, flaky: vec![None], ..Record::default() };
    let may_run_the_change =
        |passes| Before { record: record(passes), base, foreign, ..Before::default() };
    let cannot_be_had = |passes| Before { record: record(passes), ..Before::default() };
    for (passes, expected) in [(1, Verdict::Flaky), (100, Verdict::Unknown)] {
        for before in [may_run_the_change(passes), cannot_be_had(passes)] {
            let triaged = triaged_after(&failing(7), &TOUCHED, &before);
            assert_eq!(verdict(&triaged, "a"), Some(expected), "{passes} passes on record");
        }
    }
    // As seldom as ever.
    assert_eq!(after(&failing(1), &TOUCHED, &cannot_be_had(30), "a"), Some(Verdict::Flaky));
}

#[test]
fn a_base_that_fails_in_order_and_may_run_the_change_excuses_nothing() {
    let base: fn() -> Scripted = || in_order("F");
    let record = Record { passes: 100, flaky: vec![None], ..Record::default() };
    let before =
        Before { record, base: Some(base), foreign: Some("an installed copy"), hidden: None };
    assert_eq!(after(&in_order("FFFP"), &TOUCHED, &before, "a"), Some(Verdict::Unknown));
}

/// A test that fails in every third run, and comes to the change only then.
fn touching_when_it_fails() -> Scripted {
    suite(["other", "a"])
        .behaves("a", |moment| match moment.times % 3 {
            0 => Outcome::Failed,
            _ => Outcome::Passed,
        })
        .depends_on("a", ["/r/elsewhere.py"])
        .runs_when_it_fails("a", "/r/a.py")
}

#[test]
fn a_pass_that_does_not_touch_the_change_says_nothing_of_a_failure() {
    let before = Before { base: Some(passing), ..Before::default() };
    let triaged = triaged_after(&touching_when_it_fails(), &TOUCHED, &before);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::NewlyFlaky));
    let before = Before { base: Some(touching_when_it_fails), ..Before::default() };
    assert_eq!(after(&touching_when_it_fails(), &TOUCHED, &before, "a"), Some(Verdict::Flaky));
    let nothing = Before::default();
    assert_eq!(after(&touching_when_it_fails(), &TOUCHED, &nothing, "a"), Some(Verdict::Unknown));
    // A failure that does not touch it either is nobody's.
    assert_eq!(after(&touching_when_it_fails(), &UNTOUCHED, &nothing, "a"), Some(Verdict::Flaky));
}

/// A test that passes alone, and fares in the suite's order as each letter says, one run after the other.
fn in_order(letters: &'static str) -> Scripted {
    let runs = AtomicUsize::new(0);
    suite(["other", "a"])
        .behaves("a", move |moment| {
            let is_in_order = moment.before.len() == 1;
            let run = || runs.fetch_add(1, Ordering::Relaxed);
            match is_in_order && letters.chars().cycle().nth(run()) == Some('F') {
                true => Outcome::Failed,
                false => Outcome::Passed,
            }
        })
        .depends_on("a", ["/r/a.py"])
}

#[test]
fn a_test_that_fails_in_order_more_often_than_on_record_is_unknown() {
    let record = |passes| Record { passes, flaky: vec![None, None], ..Record::default() };
    let before = Before { record: record(100), ..Before::default() };
    assert_eq!(after(&in_order("FFFP"), &TOUCHED, &before, "a"), Some(Verdict::Unknown));
    assert_eq!(after(&in_order("FPPP"), &TOUCHED, &before, "a"), Some(Verdict::Flaky));
    let before = Before { record: record(2), ..Before::default() };
    assert_eq!(after(&in_order("FFFP"), &TOUCHED, &before, "a"), Some(Verdict::Flaky));
    // What comes and goes strikes both sides.
    let base: fn() -> Scripted = || in_order("F");
    let before = Before { record: record(100), base: Some(base), ..Before::default() };
    assert_eq!(after(&in_order("FFFP"), &TOUCHED, &before, "a"), Some(Verdict::Flaky));
}

#[test]
fn a_test_that_fails_in_order_now_and_then_is_run_in_order_on_both_sides() {
    let after_base = |now, base: fn() -> Scripted| {
        let before = Before { base: Some(base), ..Before::default() };
        let triaged = triaged_after(&in_order(now), &TOUCHED, &before);
        let is_told = |evidence: &Evidence| matches!(evidence, Evidence::MoreOften { .. });
        let is_more_often = finding(&triaged, "a").evidence.iter().any(is_told);
        (verdict(&triaged, "a"), is_more_often)
    };
    // It did so before the change, which one run there need not show.
    let base: fn() -> Scripted = || in_order("PPFP");
    assert_eq!(after_base("FPPP", base), (Some(Verdict::Flaky), false));
    let base: fn() -> Scripted = || in_order("FPPPPPPPPPPPP");
    assert_eq!(after_base("FFFP", base), (Some(Verdict::NewlyFlaky), true));
    assert_eq!(after_base("FFFP", passing).0, Some(Verdict::NewlyFlaky));
    // It fails each time now, and did so now and then.
    let base: fn() -> Scripted = || in_order("FPPFP");
    assert_eq!(after_base("F", base), (Some(Verdict::NewlyFlaky), true));
    let base: fn() -> Scripted = || in_order("F");
    assert_eq!(after_base("F", base), (Some(Verdict::Flaky), false));
}

#[test]
fn an_order_that_makes_a_test_fail_each_time_and_seldom_did_is_not_excused() {
    let flaky = vec![Some(Kind::StateDependent)];
    let before = |passes, base| Before {
        record: Record { passes, flaky: flaky.clone(), ..Record::default() },
        base,
        ..Before::default()
    };
    let verdict = |before: &Before| after(&leaking(), &TOUCHED, before, "victim");
    assert_eq!(verdict(&before(1, Some(sound))), Some(Verdict::Flaky));
    assert_eq!(verdict(&before(200, Some(sound))), Some(Verdict::Real));
    assert_eq!(verdict(&before(200, Some(leaking))), Some(Verdict::Flaky));
    assert_eq!(verdict(&before(200, None)), Some(Verdict::Unknown));
    // One failure in a hundred runs does not excuse an order that always fails now.
    assert_eq!(verdict(&before(99, Some(sound))), Some(Verdict::Real));
    assert_eq!(verdict(&before(99, None)), Some(Verdict::Unknown));
}

#[test]
fn a_flaky_test_that_touches_the_change_is_unknown_where_nothing_is_known_of_before() {
    let triaged = triaged_after(&chancy(), &TOUCHED, &Before::default());
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "a"), "there is no base"));
}

#[test]
fn a_pass_alone_does_not_excuse_a_failure_in_the_suite() {
    for since in [TOUCHED, UNTOUCHED, Since::Unknown] {
        let triaged = triaged_after(&leaking(), &since, &Before::default());
        let found = finding(&triaged, "victim");
        assert_eq!(found.verdict, Some(Verdict::Unknown), "{since:?}");
        assert_eq!(found.kind, Some(Kind::StateDependent));
        assert_eq!(found.reproduce.as_deref(), Some("scripted"), "only the suite shows it again");
    }
}

#[test]
fn an_order_that_passes_before_the_change_makes_the_failure_real() {
    for since in [TOUCHED, UNTOUCHED] {
        let before = Before { base: Some(sound), ..Before::default() };
        assert_eq!(after(&leaking(), &since, &before, "victim"), Some(Verdict::Real));
    }
}

#[test]
fn an_order_that_fails_before_the_change_too_is_an_old_victims() {
    let before = Before { base: Some(leaking), ..Before::default() };
    assert_eq!(after(&leaking(), &TOUCHED, &before, "victim"), Some(Verdict::Flaky));
    let record = Record { passes: 0, flaky: vec![Some(Kind::StateDependent)], ..Record::default() };
    let before = Before { record, ..Before::default() };
    assert_eq!(after(&leaking(), &TOUCHED, &before, "victim"), Some(Verdict::Flaky));
}

#[test]
fn an_order_that_only_fails_because_a_test_was_removed_is_real() {
    fn with_cleaner() -> Scripted {
        suite(["polluter", "cleaner", "victim"])
            .fails_if("victim", |moment| !moment.before.contains(&"cleaner".into()))
            .gives("victim", Spawn, Outcome::Passed)
    }
    let before = Before { base: Some(with_cleaner), ..Before::default() };
    assert_eq!(after(&leaking(), &UNTOUCHED, &before, "victim"), Some(Verdict::Real));
}

#[test]
fn a_base_that_runs_code_of_the_head_excuses_nothing() {
    let foreign = Some("it runs an installed copy");
    let before = Before { base: Some(leaking), foreign, ..Before::default() };
    let triaged = triaged_after(&leaking(), &TOUCHED, &before);
    assert_eq!(verdict(&triaged, "victim"), Some(Verdict::Unknown));
    assert!(says(finding(&triaged, "victim"), "installed copy"));
    let before = Before { base: Some(chancy), foreign, ..Before::default() };
    assert_eq!(after(&chancy(), &TOUCHED, &before, "a"), Some(Verdict::Unknown));
    let before = Before { base: Some(broken), foreign, ..Before::default() };
    let since = Since::MergeBase("b.py");
    assert_eq!(after(&broken(), &since, &before, "a"), Some(Verdict::Unknown));
}

#[test]
fn chance_on_record_does_not_excuse_an_order_that_fails_every_time() {
    let record =
        Record { passes: 5, flaky: vec![Some(Kind::NotBursty), None], ..Record::default() };
    let before = Before { record, ..Before::default() };
    assert_eq!(after(&leaking(), &TOUCHED, &before, "victim"), Some(Verdict::Unknown));
}

#[test]
fn what_fails_each_time_and_touches_the_change_is_real() {
    assert_eq!(after(&broken(), &TOUCHED, &Before::default(), "a"), Some(Verdict::Real));
}

#[test]
fn what_fails_each_time_and_passes_on_the_base_is_real() {
    let before = Before { base: Some(passing), ..Before::default() };
    let since = Since::MergeBase("b.py");
    assert_eq!(after(&broken(), &since, &before, "a"), Some(Verdict::Real));
}

#[test]
fn what_fails_each_time_on_the_base_too_is_unrelated() {
    let before = Before { base: Some(broken), ..Before::default() };
    let since = Since::MergeBase("b.py");
    assert_eq!(after(&broken(), &since, &before, "a"), Some(Verdict::Unrelated));
}

#[test]
fn what_fails_each_time_although_nothing_it_uses_changed_since_it_passed_is_unrelated() {
    let before = Before::default();
    assert_eq!(after(&broken(), &UNTOUCHED, &before, "a"), Some(Verdict::Unrelated));
}

#[test]
fn what_fails_each_time_and_was_never_seen_to_pass_is_unknown() {
    let since = Since::MergeBase("b.py");
    assert_eq!(after(&broken(), &since, &Before::default(), "a"), Some(Verdict::Unknown));
}

#[test]
fn a_failure_alone_that_is_not_the_suites_does_not_make_that_one_flaky() {
    let scripted = leaking()
        .fails_if("victim", |moment| moment.isolation == Spawn && moment.times % 2 == 0)
        .says_in("victim", Spawn, "TimeoutError: something else");
    let triaged = triaged_after(&scripted, &UNTOUCHED, &Before::default());
    assert_eq!(verdict(&triaged, "victim"), Some(Verdict::Unknown));
}

#[test]
fn a_suite_of_one_test_has_no_order_that_matters() {
    let scripted = suite(["a"]).fails_times("a", 1);
    assert_eq!(after(&scripted, &UNTOUCHED, &Before::default(), "a"), Some(Verdict::Flaky));
    assert_eq!(scripted.runs_of("a").len(), 9, "at once, alone, and to measure a failure");
}

#[test]
fn what_fails_a_few_times_by_chance_is_tried_again_where_there_is_no_base() {
    let late =
        suite(["a", "b"]).fails_if("a", |moment| moment.times < 6).depends_on("a", ["/r/a.py"]);
    let since = Since::MergeBase("b.py");
    assert_eq!(after(&late, &since, &Before::default(), "a"), Some(Verdict::Flaky));
}

#[test]
fn what_fails_in_order_on_the_base_too_is_flaky_although_it_once_failed_there_alone() {
    fn unlucky() -> Scripted {
        leaking().fails_if("victim", |moment| !moment.before.is_empty() || moment.times == 0)
    }
    let before = Before { base: Some(unlucky), ..Before::default() };
    assert_eq!(after(&leaking(), &TOUCHED, &before, "victim"), Some(Verdict::Flaky));
}
