//! When a fix is proven, refuted, or neither.

use std::cell::Cell;
use std::time::Duration;

use flakeproof_core::{FixEnd, FixTest, FixVerdict, Isolation, Seed, Tally, TestId};
use flakeproof_detect::verify::{Claim, Verified, VerifyEvent, verify};
use flakeproof_runner::Cancel;
use flakeproof_testkit::scripted::{Scripted, suite};
use proptest::prelude::*;

fn order(tests: &[&str]) -> Vec<TestId> {
    tests.iter().map(|id| TestId::from(*id)).collect()
}

/// The test `v` alone, against a former rate of one half.
fn alone() -> Claim {
    Claim {
        orders: vec![order(&["v"])],
        control: None,
        shuffle: None,
        under: None,
        runs: FixTest::new(0.5, 0.95, 1),
        isolation: Isolation::Fork,
        budget: None,
    }
}

/// The victim `v` after each of two polluters.
fn victim() -> Claim {
    Claim {
        orders: vec![order(&["p", "v"]), order(&["q", "v"])],
        control: Some(order(&["v"])),
        runs: FixTest::new(0.5, 0.95, 2),
        ..alone()
    }
}

fn verified(suite: &Scripted, claim: &Claim) -> Verified {
    let clock = || Duration::ZERO;
    verify(suite, claim, &clock, &Cancel::never(), &mut |_| {}).expect("a proof")
}

fn tests() -> Scripted {
    suite(["p", "q", "v"])
}

#[test]
fn clean_runs_prove_a_fix_and_a_new_process_confirms_it() {
    let suite = tests();
    let found = verified(&suite, &alone());
    assert_eq!((found.verdict, found.end), (Some(FixVerdict::Fixed), FixEnd::Decided));
    assert_eq!(found.runs.tally(), Tally { runs: 6, failures: 0 });
    let spawned = suite.runs().iter().filter(|it| it.isolation == Isolation::Spawn).count();
    assert_eq!(spawned, 1);
}

#[test]
fn spawned_runs_need_no_confirmation() {
    let suite = tests();
    let found = verified(&suite, &Claim { isolation: Isolation::Spawn, ..alone() });
    assert_eq!((found.verdict, suite.runs().len()), (Some(FixVerdict::Fixed), 5));
}

#[test]
fn a_failure_that_only_new_processes_show_refutes_a_fix() {
    let suite = tests().gives("v", Isolation::Spawn, flakeproof_core::Outcome::Failed);
    assert_eq!(verified(&suite, &alone()).verdict, Some(FixVerdict::StillFlaky));
}

#[test]
fn the_first_failure_ends_it() {
    let suite = tests().fails_if("v", |moment| moment.times == 3);
    let found = verified(&suite, &alone());
    assert_eq!(found.verdict, Some(FixVerdict::StillFlaky));
    assert_eq!(found.runs.tally(), Tally { runs: 4, failures: 1 });
    assert!(found.failure.is_some());
}

#[test]
fn a_victim_is_tried_after_each_of_its_polluters() {
    let suite = tests().with_polluter("v", "q");
    let found = verified(&suite, &victim());
    assert_eq!(found.verdict, Some(FixVerdict::StillFlaky));
    assert_eq!(found.failing, Some(order(&["q", "v"])));
    let mended = verified(&tests(), &victim());
    assert_eq!(mended.runs.tally().runs, 12, "five runs and a new process after each");
}

#[test]
fn a_victim_that_fails_alone_too_is_broken() {
    let flaky = tests().with_polluter("v", "p");
    assert_eq!(verified(&flaky, &victim()).verdict, Some(FixVerdict::StillFlaky));
    let broken = tests().always_fails("v");
    assert_eq!(verified(&broken, &victim()).verdict, Some(FixVerdict::AlwaysFails));
}

#[test]
fn what_fails_more_often_in_a_row_than_its_rate_allows_is_broken() {
    let found = verified(&tests().always_fails("v"), &alone());
    assert_eq!(found.verdict, Some(FixVerdict::AlwaysFails));
    assert_eq!(found.runs.tally(), Tally { runs: 5, failures: 5 }, "half of the time before");
    let found = verified(&tests().fails_times("v", 4), &alone());
    assert_eq!(found.verdict, Some(FixVerdict::StillFlaky));
}

#[test]
fn a_test_that_is_skipped_or_never_reached_decides_nothing() {
    for suite in [tests().skips("v"), tests().crashes("p")] {
        let claim = Claim { orders: vec![order(&["p", "v"])], ..alone() };
        let found = verified(&suite, &claim);
        assert_eq!((found.verdict, found.end), (None, FixEnd::NotReached));
    }
}

#[test]
fn a_spent_budget_and_an_interrupt_end_without_a_verdict() {
    let seconds = Cell::new(0);
    let clock = || {
        seconds.set(seconds.get() + 1);
        Duration::from_secs(seconds.get())
    };
    let claim = Claim { budget: Some(Duration::from_secs(3)), ..alone() };
    let found = verify(&tests(), &claim, &clock, &Cancel::never(), &mut |_| {}).expect("a proof");
    assert_eq!((found.verdict, found.end), (None, FixEnd::BudgetSpent));
    assert_eq!(found.runs.tally(), Tally { runs: 2, failures: 0 });

    let (canceller, cancel) = Cancel::new();
    let mut after_two = |event: VerifyEvent| {
        if event == VerifyEvent::Ran(Tally { runs: 2, failures: 0 }) {
            canceller.cancel();
        }
    };
    let zero = || Duration::ZERO;
    let found = verify(&tests(), &alone(), &zero, &cancel, &mut after_two).expect("a proof");
    assert_eq!((found.verdict, found.end), (None, FixEnd::Interrupted));
}

proptest! {
    #[test]
    fn fixed_is_never_said_of_a_test_that_failed(seed: u64, rate in 0.0f64..1.0) {
        let suite = tests().fails_at_random("v", Seed(seed), rate);
        let found = verified(&suite, &alone());
        let is_fixed = found.verdict == Some(FixVerdict::Fixed);
        prop_assert_eq!(is_fixed, found.runs.tally().failures == 0);
        prop_assert!(found.verdict.is_some());
    }
}
