//! Tests that rely on an order that the language leaves open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use flakeproof_core::{FlakyKind, ImplementationDependence, Isolation, Tally};
use flakeproof_detect::hunt::{HuntSettings, Hunted, Sought};
use flakeproof_runner::OpenOrders;
use flakeproof_testkit::scripted::{Moment, Scripted, suite};

use crate::hunting::{hunted, of, settings};

const TESTS: [&str; 5] = ["a", "b", "c", "d", "e"];

fn sought() -> HuntSettings {
    HuntSettings { sought: Sought::ImplementationDependent, ..settings() }
}

/// A suite of a runtime whose orders are the same each time.
fn usual() -> Scripted {
    suite(TESTS).with_open_orders(OpenOrders::Usual)
}

fn is_shuffled(moment: &Moment<'_>) -> bool {
    moment.shuffle.is_some_and(|shuffle| shuffle.only.is_none())
}

fn found(hunted: &Hunted, id: &str) -> ImplementationDependence {
    let test = of(hunted, id);
    assert_eq!(test.kind, Some(FlakyKind::Id), "{:?}", hunted.notices);
    test.implementation.clone().expect("what it relies on")
}

#[test]
fn a_test_that_fails_in_every_other_order_is_found_with_the_seed_that_shows_it() {
    let hunted = hunted(&usual().fails_if("c", is_shuffled), &sought());
    let seen = found(&hunted, "c");
    assert_eq!(seen.passes_with, None);
    assert_eq!((seen.failing.runs, seen.passing.runs), (5, 5));
    assert_eq!((seen.failing.failures, seen.passing.failures), (5, 0));
    let reproduction = of(&hunted, "c").reproduction.clone().expect("a way to see it fail");
    assert_eq!(reproduction.isolation, Isolation::Spawn);
    assert_eq!(reproduction.command, "flakeproof repro 'c'");
    assert_eq!(hunted.tests.iter().filter(|test| test.kind.is_some()).count(), 1);
}

#[test]
fn several_are_asked_together_and_each_once_alone() {
    let suite = usual().fails_if("b", is_shuffled).fails_if("d", is_shuffled);
    let hunted = hunted(&suite, &sought());
    for id in ["b", "d"] {
        assert_eq!(found(&hunted, id).failing, Tally { runs: 6, failures: 6 });
    }
}

#[test]
fn a_test_that_fails_by_chance_in_any_order_is_not_called_so() {
    // Chance that hits every shuffled run of the suite, and the usual order at times.
    let at_times = |moment: &Moment<'_>| moment.times % 3 == 1;
    let hunted = hunted(&usual().fails_if("c", at_times), &sought());
    assert_eq!(of(&hunted, "c").kind, None);
    assert!(hunted.notices.iter().any(|it| it.what.starts_with("`c` failed with other orders")));
}

#[test]
fn a_test_that_needs_another_one_before_it_to_fail_is_not_called_so() {
    let after_b = |moment: &Moment<'_>| {
        is_shuffled(moment) && moment.before.iter().any(|test| test.as_str() == "b")
    };
    let suite = usual().fails_if("b", is_shuffled).fails_if("d", after_b);
    let hunted = hunted(&suite, &sought());
    assert_eq!(of(&hunted, "d").kind, None);
    found(&hunted, "b");
}

#[test]
fn a_test_that_fails_in_the_usual_order_is_broken_whatever_another_one_does() {
    let suite = usual().fails_if("c", |moment| moment.shuffle.is_none());
    let hunted = hunted(&suite, &sought());
    assert_eq!(of(&hunted, "c").kind, None);
    assert!(of(&hunted, "c").always_fails());
}

#[test]
fn the_calls_that_matter_are_found_by_halving() {
    let calls: Vec<String> = (0..16).map(|number| format!("call {number}")).collect();
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    // Two calls have to disagree with each other: neither does it alone.
    let needs_both = |moment: &Moment<'_>| {
        let Some(shuffle) = moment.shuffle else { return false };
        let Some(only) = &shuffle.only else { return true };
        ["call 3", "call 12"].iter().all(|call| only.iter().any(|it| it == call))
    };
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let suite = usual().with_shuffled_calls("c", &calls).fails_if("c", move |moment| {
        counted.fetch_add(1, Ordering::Relaxed);
        needs_both(moment)
    });
    let hunted = hunted(&suite, &sought());
    assert_eq!(found(&hunted, "c").calls, ["call 3", "call 12"]);
    assert!(tries.load(Ordering::Relaxed) < 80, "it takes no more than the search may");
}

#[test]
fn calls_that_do_not_show_it_alone_are_not_named() {
    let suite = usual().with_shuffled_calls("c", &["x", "y"]).fails_if("c", is_shuffled);
    let hunted = hunted(&suite, &sought());
    assert!(found(&hunted, "c").calls.is_empty());
}

#[test]
fn where_chance_draws_the_orders_two_seeds_are_compared() {
    let odd = |moment: &Moment<'_>| moment.shuffle.is_some_and(|it| it.seed % 2 == 1);
    let suite = suite(TESTS).with_open_orders(OpenOrders::Drawn).fails_if("c", odd);
    let seen = found(&hunted(&suite, &sought()), "c");
    assert_eq!(seen.fails_with % 2, 1);
    assert_eq!(seen.passes_with.map(|seed| seed % 2), Some(0));
}

#[test]
fn a_runner_that_cannot_choose_says_so() {
    let hunted = hunted(&suite(TESTS), &sought());
    assert!(hunted.notices.iter().any(|it| it.what.contains("the script says so")));
}
