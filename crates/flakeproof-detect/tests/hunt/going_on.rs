//! Hunts that are interrupted, killed, taken up again, or run out of time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flakeproof_core::{FlakyKind, HuntEnd, HuntedTest, Tally, TestId, TrialRecord};
use flakeproof_detect::hunt::{HuntSettings, Hunted, Journal, Strategy, Workplace, hunt};
use flakeproof_runner::{Adapter, Cancel};
use flakeproof_testkit::scripted::{Scripted, suite};

use crate::hunting::{Kept, cut_off, forecast, hunted, of, session, settings};

fn flaky_suite() -> Scripted {
    suite(["a", "b", "c", "d", "e", "f", "g", "h"])
        .with_polluter("c", "g")
        .brittle("f", "b")
        .always_fails("d")
}

#[test]
fn a_hunt_that_is_cut_off_anywhere_ends_as_if_it_had_not_been() {
    let undisturbed = flaky_suite();
    let expected = hunted(&undisturbed, &settings());
    let whole = undisturbed.runs().len();
    for after in [1, 2, 3, 5, 8, 13, 16, 20, 24, 29, 34] {
        let kept = Kept::default();
        let (canceller, cancel) = Cancel::new();
        let first = flaky_suite();
        let mut cut = cut_off(&canceller, after);
        let half = session(&first, &settings(), &kept, &cancel, &mut cut).expect("half a hunt");
        assert_eq!(half.end, HuntEnd::Interrupted);
        // What rests on copies alone says so.
        let is_found = of(&half, "c").kind.is_some();
        assert_eq!(is_found, half.notices.iter().any(|it| it.what.contains("not yet in new")));
        let second = flaky_suite();
        let rest = session(&second, &settings(), &kept, &Cancel::never(), &mut |_| {});
        let rest = rest.expect("the rest of the hunt");
        assert_eq!(rest, expected, "cut off after {after} trials");
        assert_eq!(first.runs().len() + second.runs().len(), whole, "nothing runs twice");
    }
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let expected = hunted(&flaky_suite(), &settings());
    for jobs in [2, 5] {
        let found = hunted(&flaky_suite(), &HuntSettings { jobs, ..settings() });
        assert_eq!(found.tests, expected.tests);
    }
}

/// A hunt in which each look at the clock takes a second; and how late it was in the end.
fn within(suite: &Scripted, seconds: u64, settings: &HuntSettings) -> (Hunted, u64) {
    within_and(suite, seconds, settings, None)
}

fn within_and(
    suite: &Scripted,
    seconds: u64,
    settings: &HuntSettings,
    tidy: Option<&(dyn Fn() -> flakeproof_runner::Result<()> + Sync)>,
) -> (Hunted, u64) {
    let found = suite.discover().expect("a suite");
    let now = AtomicU64::new(0);
    let clock = || Duration::from_secs(now.fetch_add(1, Ordering::Relaxed));
    let kept = Kept::default();
    let recall = |key: &str| kept.trials.borrow().get(key).cloned();
    let mut keep = |key: &str, trial: &TrialRecord| {
        kept.trials.borrow_mut().insert(key.to_owned(), trial.clone());
    };
    let mut journal = Journal { recall: &recall, keep: &mut keep };
    let settings = HuntSettings { budget: Some(Duration::from_secs(seconds)), ..settings.clone() };
    let workplace = Workplace { clock: &clock, tidy, crew: None };
    let cancel = Cancel::never();
    let hunted = hunt(suite, &found, &settings, &mut journal, workplace, &cancel, &mut |_| {});
    (hunted.expect("a short hunt"), now.into_inner())
}

#[test]
fn a_spent_budget_gives_what_was_found_so_far() {
    let (hunted, _) = within(&flaky_suite(), 40, &settings());
    assert_eq!(hunted.end, HuntEnd::BudgetSpent);
    assert!(of(&hunted, "a").baseline.runs > 0);
}

#[test]
fn a_budget_is_used_up_and_not_exceeded() {
    for strategy in [Strategy::Off, forecast(8, 0.0)] {
        let settings = HuntSettings { max_reruns: 100, orders: 100, strategy, ..settings() };
        for budget in [60, 200, 400] {
            let (hunted, end) = within(&flaky_suite(), budget, &settings);
            assert_eq!(hunted.end, HuntEnd::BudgetSpent, "{budget}");
            // A test takes a second here, and so does each of some last looks at the clock.
            assert!((budget - 15..budget + 15).contains(&end), "{end} of {budget}");
        }
    }
}

#[test]
fn a_short_budget_is_not_spent_on_the_suites_own_order() {
    let settings = HuntSettings { runs: 10, strategy: forecast(8, 0.0), ..settings() };
    let (hunted, _) = within(&flaky_suite(), 200, &settings);
    let tests = |count: fn(&HuntedTest) -> Tally| {
        hunted.tests.iter().map(count).map(|it| it.runs).sum::<u32>()
    };
    assert!(tests(|it| it.baseline) <= 5 * 8);
    assert!(tests(|it| it.shuffled) > 0 && tests(|it| it.alone) > 0);
}

#[test]
fn a_budget_buys_a_cause_for_every_victim_before_a_second_one_for_any() {
    let names: Vec<String> = (0..40).map(|number| format!("t{number:02}")).collect();
    let victims = [("t03", "t21"), ("t05", "t33"), ("t08", "t27"), ("t11", "t38"), ("t14", "t30")];
    let suite = suite(names.iter().map(String::as_str)).cannot_fork("it has threads");
    let suite = victims.iter().fold(suite, |suite, pair| suite.with_polluter(pair.0, pair.1));
    // After any other test it passes: every pair of it is a surprise.
    let suite = suite.fails_if("t00", |moment| moment.before.is_empty());
    let settings = HuntSettings { strategy: forecast(40, 0.0), ..settings() };
    let (hunted, _) = within(&suite, 1_400, &settings);
    for (victim, polluter) in victims {
        let polluters = of(&hunted, victim).polluters.iter().flatten();
        assert_eq!(polluters.map(TestId::as_str).collect::<Vec<_>>(), [polluter]);
    }
}

#[test]
fn a_budget_too_short_for_all_pairs_explains_some_victims_to_the_end() {
    let names: Vec<String> = (0..60).map(|number| format!("t{number:02}")).collect();
    let suite = suite(names.iter().map(String::as_str)).cannot_fork("it has threads");
    let polluter = |at: u32| if at.is_multiple_of(2) { "t50" } else { "t07" };
    let victim = |at: u32| format!("t{:02}", 10 + 3 * at);
    let suite = (0..12).fold(suite, |suite, at| suite.with_polluter(&victim(at), polluter(at)));
    let settings = HuntSettings { strategy: forecast(60, 0.0), ..settings() };
    let (hunted, _) = within(&suite, 1_100, &settings);
    assert_eq!(hunted.end, HuntEnd::BudgetSpent);
    let explained = hunted.tests.iter().filter(|test| !test.polluters.is_empty());
    let explained = explained.count();
    assert!(explained >= 5, "{explained} explained: {:#?}", hunted.notices);
    for at in 0..12 {
        for set in &of(&hunted, &victim(at)).polluters {
            assert_eq!(set, &[TestId::from(polluter(at))], "{at}");
        }
    }
}

#[test]
fn suspects_that_cannot_all_run_alone_are_explained_a_few_at_a_time() {
    let names: Vec<String> = (0..200).map(|number| format!("t{number:03}")).collect();
    let suite = suite(names.iter().map(String::as_str)).cannot_fork("it has threads");
    let victims: Vec<String> = (50..170).map(|at| format!("t{at:03}")).collect();
    let suite = victims.iter().fold(suite, |suite, it| suite.with_polluter(it, "t170"));
    let settings = HuntSettings { strategy: forecast(200, 0.0), ..settings() };
    let (hunted, _) = within(&suite, 900, &settings);
    let alone = victims.iter().filter(|it| of(&hunted, it).alone.runs > 0).count();
    let explained = victims.iter().filter(|it| !of(&hunted, it).polluters.is_empty()).count();
    assert!(explained > 1 && alone < 12, "{explained} of {alone} that ran alone");
}

#[test]
fn setters_whose_work_many_other_tests_undo_are_found_under_a_budget() {
    let names: Vec<String> = (0..100).map(|number| format!("t{number:02}")).collect();
    let suite = suite(names.iter().map(String::as_str)).cannot_fork("it has threads");
    // What one test fills, some empty, so that few orders show what it does for another.
    let undoes = |test: &TestId| ["7", "8", "9"].iter().any(|end| test.as_str().ends_with(end));
    let suite = (0..10).fold(suite, |suite, ten| {
        let setter = format!("t{ten}4");
        suite.fails_if(&format!("t{ten}5"), move |moment| {
            let mut last = moment.before.iter().rev();
            last.find(|it| undoes(it) || it.as_str() == setter).is_none_or(undoes)
        })
    });
    let settings = HuntSettings { strategy: forecast(100, 0.0), ..settings() };
    let (hunted, _) = within(&suite, 3_000, &settings);
    let explained = (0..10).filter(|ten| {
        let found = of(&hunted, &format!("t{ten}5"));
        found.setters == [[TestId::from(format!("t{ten}4").as_str())]]
    });
    let explained = explained.count();
    assert!(explained >= 8, "{explained} of 10 explained");
}

#[test]
fn another_order_is_run_where_it_saves_more_pairs_than_it_costs() {
    // The orders that run before the first pair.
    let orders = |victims: u32| {
        let names: Vec<String> = (0..120).map(|number| format!("t{number:03}")).collect();
        let suite = suite(names.iter().map(String::as_str)).cannot_fork("it has threads");
        let victim = |at: u32| format!("t{:03}", 2 * at);
        let suite = (0..victims).fold(suite, |suite, at| suite.with_polluter(&victim(at), "t119"));
        let settings = HuntSettings { strategy: forecast(120, 2.0), ..settings() };
        within(&suite, 20_000, &settings);
        let mut tests_of: BTreeMap<usize, usize> = BTreeMap::new();
        suite.runs().iter().for_each(|ran| *tests_of.entry(ran.environment).or_default() += 1);
        let before = tests_of.values().take_while(|tests| **tests != 2);
        before.filter(|tests| **tests == 120).count()
    };
    let (few, many) = (orders(1), orders(55));
    assert!(many > few, "{many} orders for many suspects, {few} for one");
}

#[test]
fn what_many_orders_bear_out_is_not_repeated_in_copies() {
    let names: Vec<String> = (0..60).map(|number| format!("t{number:02}")).collect();
    let suite = suite(names.iter().map(String::as_str));
    let brittle: Vec<String> = (20..50).map(|at| format!("t{at}")).collect();
    let suite = brittle.iter().fold(suite, |suite, it| suite.brittle(it, "t10"));
    let settings = HuntSettings { strategy: forecast(60, 0.0), ..settings() };
    // Who tidies up after each environment cannot have copies of it.
    let (hunted, _) = within_and(&suite, 1_500, &settings, Some(&|| Ok(())));
    let explained = brittle.iter().filter(|it| of(&hunted, it).setters == [["t10".into()]]);
    let explained: Vec<&String> = explained.collect();
    assert!(explained.len() > 10, "{} explained", explained.len());
    let mut alone: Vec<usize> = explained.iter().map(|it| runs_alone(&suite, it)).collect();
    alone.sort_unstable();
    assert!(alone[alone.len() / 2] <= 4, "{alone:?} runs alone");
}

/// How often a test was the only one of its environment.
fn runs_alone(suite: &Scripted, test: &str) -> usize {
    let mut tests_of: BTreeMap<usize, usize> = BTreeMap::new();
    let runs = suite.runs();
    runs.iter().for_each(|ran| *tests_of.entry(ran.environment).or_default() += 1);
    let of_it = runs.iter().filter(|ran| ran.test.as_str() == test);
    of_it.filter(|ran| tests_of[&ran.environment] == 1).count()
}

#[test]
fn time_that_nothing_else_needs_is_spent_on_tests_alone() {
    let names: Vec<String> = (0..60).map(|number| format!("t{number:02}")).collect();
    let suite = suite(names.iter().map(String::as_str)).cannot_fork("it has threads");
    let settings = HuntSettings { strategy: forecast(60, 2.0), orders: 0, ..settings() };
    let (hunted, _) = within(&suite, 290, &settings);
    let alone = hunted.tests.iter().filter(|test| test.alone.runs > 0).count();
    assert_eq!(alone, 60, "{alone} of 60 ran alone");
}

#[test]
fn an_interrupt_prints_who_is_known_already() {
    let random = suite(["a", "b"]).fails_times("a", 1);
    let (canceller, cancel) = Cancel::new();
    let mut cut = cut_off(&canceller, 4);
    let half = session(&random, &settings(), &Kept::default(), &cancel, &mut cut);
    let half = half.expect("half a hunt");
    assert_eq!(half.end, HuntEnd::Interrupted);
    assert_eq!(of(&half, "a").kind, Some(FlakyKind::Nod));
}

#[test]
fn trouble_of_the_runner_is_an_error() {
    let broken = suite(["a", "b"]).breaks_at("b", flakeproof_core::Isolation::Fork, 2);
    let count = Cell::new(0);
    let ended = session(&broken, &settings(), &Kept::default(), &Cancel::never(), &mut |kept| {
        count.set(kept);
    });
    assert!(ended.is_err());
    assert_eq!(count.get(), 1, "what ran before is kept");
}

#[test]
fn a_worker_that_panics_ends_the_hunt_with_an_error() {
    for jobs in [1, 2, 4] {
        let suite = suite(["a", "b", "c"]).fails_if("b", |_| panic!("a fault of ours"));
        let settings = HuntSettings { jobs, ..settings() };
        let ended = session(&suite, &settings, &Kept::default(), &Cancel::never(), &mut |_| {});
        let error = ended.expect_err("a fault").to_string();
        assert!(error.contains("a worker panicked: a fault of ours"), "{error}");
    }
}
