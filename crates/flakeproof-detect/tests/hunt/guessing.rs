//! Where forked environments are only nearly like new processes, nothing rests on them.

use flakeproof_core::{FlakyKind, Isolation, Seed, TestId};
use flakeproof_detect::hunt::HuntSettings;
use flakeproof_testkit::scripted::{Moment, suite};

use crate::hunting::{hunted, hunted_slowly, of, settings};

const TESTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn ran(moment: &Moment<'_>, test: &str) -> bool {
    moment.before.contains(&TestId::from(test))
}

#[test]
fn a_victim_with_its_polluter_is_found_and_shown_in_new_processes() {
    let suite = suite(TESTS).forks_nearly().with_polluter("g", "c");
    let hunted = hunted(&suite, &settings());
    let found = of(&hunted, "g");
    assert_eq!(found.kind, Some(FlakyKind::Victim));
    assert_eq!(found.polluters, [vec![TestId::from("c")]]);
    let reproduction = found.reproduction.as_ref().expect("a reproduction");
    assert_eq!(reproduction.isolation, Isolation::Spawn);
}

#[test]
fn a_further_polluter_that_only_forked_environments_show_is_forgotten() {
    let suite = suite(TESTS).forks_nearly().fails_if("g", |moment| {
        ran(moment, "c") || moment.isolation == Isolation::Fork && ran(moment, "e")
    });
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "g").polluters, [vec![TestId::from("c")]]);
}

#[test]
fn a_cleaner_that_only_heals_in_forked_environments_is_forgotten() {
    let suite = suite(TESTS).forks_nearly().fails_if("g", |moment| {
        let is_healed = ran(moment, "d") || moment.isolation == Isolation::Fork && ran(moment, "e");
        ran(moment, "c") && !is_healed
    });
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "g").cleaners, [TestId::from("d")]);
}

#[test]
fn one_victim_has_all_its_polluters_after_each_pair_once() {
    let names: Vec<String> = (0..100).map(|number| format!("t{number:02}")).collect();
    let suite = suite(names.iter().map(String::as_str))
        .forks_nearly()
        .fails_if("t50", |moment| ran(moment, "t03") || ran(moment, "t98"));
    let victim = Some(TestId::from("t50"));
    let found = hunted(&suite, &HuntSettings { victim, ..settings() });
    let polluters = [vec![TestId::from("t03")], vec![TestId::from("t98")]];
    assert_eq!(of(&found, "t50").polluters, polluters);
    // Every other test before it, and a few to decide; no walk, and no cleaner is looked for one by one.
    let tries = suite.runs_of("t50").len();
    assert!((99..140).contains(&tries), "{tries} tries");
}

#[test]
fn pairs_that_take_long_run_beside_each_other_and_are_tried_again_if_that_disturbs_them() {
    let names: Vec<String> = (0..100).map(|number| format!("t{number:02}")).collect();
    let hunted_with = |disturbed: std::ops::Range<u32>| {
        let suite =
            suite(names.iter().map(String::as_str)).forks_nearly().fails_if("t50", move |moment| {
                let is_polluted = ran(moment, "t03") || ran(moment, "t98");
                is_polluted || disturbed.contains(&moment.times)
            });
        let victim = Some(TestId::from("t50"));
        let settings = HuntSettings { victim, most_at_once: 4, ..settings() };
        let found = hunted_slowly(&suite, &settings);
        let polluters = [vec![TestId::from("t03")], vec![TestId::from("t98")]];
        assert_eq!(of(&found, "t50").polluters, polluters);
        suite.runs_of("t50").len()
    };
    let tries = hunted_with(0..0);
    assert!((99..160).contains(&tries), "{tries} tries");
    let tries = hunted_with(40..44);
    assert!((190..260).contains(&tries), "{tries} tries");
}

#[test]
fn cleaners_are_found_in_groups_and_no_more_than_are_asked_about_in_new_processes() {
    let names: Vec<String> = (0..60).map(|number| format!("t{number:02}")).collect();
    let heals = ["t01", "t20", "t21", "t29", "t33", "t58"];
    // `t31` pollutes, too: behind one that heals it would hide it. `t27` takes its process with it.
    let suite = suite(names.iter().map(String::as_str)).forks_nearly().crashes("t27").fails_if(
        "t30",
        move |moment| {
            let last = |test: &&str| moment.before.iter().rposition(|it| it.as_str() == *test);
            let polluted = ["t10", "t31"].iter().filter_map(last).max();
            polluted.is_some_and(|at| heals.iter().filter_map(last).all(|healed| healed < at))
        },
    );
    let victim = Some(TestId::from("t30"));
    let found = hunted(&suite, &HuntSettings { victim, ..settings() });
    let nearest = ["t20", "t21", "t29", "t33"].map(TestId::from);
    assert_eq!(of(&found, "t30").cleaners, nearest);
}

#[test]
fn chance_that_new_processes_do_not_show_is_no_finding() {
    let suite = suite(TESTS).forks_nearly().fails_if("d", |moment| {
        moment.isolation == Isolation::Fork && moment.times.is_multiple_of(3)
    });
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "d").kind, None);
    let says_so = |notice: &flakeproof_core::Notice| notice.what.contains("`d` fails only where");
    assert!(hunted.notices.iter().any(says_so), "{:?}", hunted.notices);
}

#[test]
fn chance_that_new_processes_show_is() {
    let suite = suite(TESTS).forks_nearly().fails_at_random("d", Seed(3), 0.3);
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "d").kind, Some(FlakyKind::Nod));
}
