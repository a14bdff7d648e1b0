//! Where forked environments are only nearly like new processes, nothing rests on them.

use flakeproof_core::{FlakyKind, Isolation, Seed, TestId};
use flakeproof_testkit::scripted::{Moment, suite};

use crate::hunting::{hunted, of, settings};

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
