//! What a hunt says about the tests of a suite.

use std::time::Duration;

use flakeproof_core::{
    FlakyKind, HuntEnd, HuntedTest, Isolation, OrderKind, Outcome, Seed, TestId,
};
use flakeproof_detect::hunt::{HuntSettings, Journal, PolluterSearch, Strategy, Workplace, hunt};
use flakeproof_runner::{Adapter, Cancel};
use flakeproof_testkit::scripted::{Scripted, suite};

use crate::hunting::{forecast, hunted, of, sets, settings};

const TESTS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

#[test]
fn a_victim_has_its_polluters() {
    let suite = suite(TESTS).with_polluter("c", "h").with_polluter("c", "e");
    let hunted = hunted(&suite, &settings());
    let victim = of(&hunted, "c");
    assert_eq!(victim.kind, Some(FlakyKind::Victim));
    assert_eq!(victim.polluters, sets(&[&["e"], &["h"]]));
    assert_eq!((victim.baseline.failures, victim.alone.failures), (0, 0));
    assert!(victim.shuffled.failures > 0);
    assert_eq!(hunted.tests.iter().filter(|test| test.kind.is_some()).count(), 1);
    assert_eq!(hunted.end, HuntEnd::Finished);
    let reproduction = victim.reproduction.as_ref().expect("a way to see it fail");
    assert_eq!(reproduction.order, sets(&[&["e", "c"]])[0]);
}

#[test]
fn a_test_that_others_make_fail_in_the_suites_own_order_is_a_victim_too() {
    let suite = suite(TESTS).with_polluter("h", "b");
    let hunted = hunted(&suite, &settings());
    let victim = of(&hunted, "h");
    assert_eq!(victim.kind, Some(FlakyKind::Victim));
    assert_eq!(victim.polluters, sets(&[&["b"]]));
    assert!(victim.baseline.always_fails());
}

#[test]
fn a_brittle_test_has_its_state_setters() {
    let suite = suite(TESTS).brittle("g", "d");
    let hunted = hunted(&suite, &settings());
    let brittle = of(&hunted, "g");
    assert_eq!(brittle.kind, Some(FlakyKind::Brittle));
    assert_eq!(brittle.setters, sets(&[&["d"]]));
    assert!(brittle.polluters.is_empty());
}

#[test]
fn a_test_that_turns_in_the_suites_own_order_is_left_something_and_not_flaky_by_chance() {
    let hunted = |since: u32| {
        let suite = suite(TESTS).fails_if("e", move |moment| moment.times >= since);
        hunted(&suite, &settings())
    };
    for since in [1, 2] {
        let hunted = hunted(since);
        assert_eq!(of(&hunted, "e").kind, None, "since run {since}");
        assert!(hunted.notices.iter().any(|notice| notice.what.contains("left something on disk")));
    }
}

#[test]
fn a_test_that_fails_only_in_old_copies_of_a_process_is_neither_flaky_nor_broken() {
    for since in [0, 2] {
        let grows_old = move |moment: &flakeproof_testkit::scripted::Moment<'_>| {
            moment.isolation == Isolation::Fork && moment.times >= since
        };
        let suite = suite(TESTS).fails_if("e", grows_old).always_fails("g");
        let hunted = hunted(&suite, &settings());
        let test = of(&hunted, "e");
        assert_eq!((test.kind, test.all().failures), (None, 0), "since run {since}");
        assert!(of(&hunted, "g").always_fails());
        let told = |notice: &flakeproof_core::Notice| {
            notice.what.starts_with("`e` fails only in copies of a process that is no longer young")
        };
        assert!(hunted.notices.iter().any(told), "{:?}", hunted.notices);
    }
}

/// A runner that gives each test a process of its own when it is asked for some, and runs all of them in
/// one when it is asked for the suite.
#[test]
fn what_only_the_suites_own_process_shows_is_a_victim_or_brittle_and_not_broken() {
    let suite = || {
        let suite = suite(TESTS).brittle("g", "d").with_polluter("h", "b");
        suite.always_fails("c").each_in_its_own_process()
    };
    for strategy in [Strategy::Off, forecast(TESTS.len(), 0.1)] {
        let suite = suite();
        let hunted = hunted(&suite, &HuntSettings { strategy, ..settings() });
        let (brittle, victim, broken) = (of(&hunted, "g"), of(&hunted, "h"), of(&hunted, "c"));
        assert_eq!(brittle.kind, Some(FlakyKind::Brittle));
        assert_eq!(victim.kind, Some(FlakyKind::Victim));
        assert_eq!(broken.kind, None);
        assert!(broken.always_fails());
        assert!(brittle.setters.is_empty() && victim.polluters.is_empty());
        let shown = |test: &HuntedTest| {
            let reproduction = test.reproduction.clone().expect("a way to see it fail");
            (reproduction.order.len(), reproduction.isolation, reproduction.command)
        };
        assert_eq!(shown(brittle), (1, Isolation::Spawn, "scripted g".into()));
        assert_eq!(shown(victim), (8, Isolation::Same, "scripted".into()));
        let words = hunted.notices.iter().map(|notice| notice.what.as_str()).collect::<String>();
        assert!(words.contains("`g` and 1 more does something else in the suite"), "{words}");
    }
}

#[test]
fn two_polluters_that_only_work_together_are_one_set() {
    let both = |moment: &flakeproof_testkit::scripted::Moment<'_>| {
        ["f", "i"].iter().all(|it| moment.before.iter().any(|before| before.as_str() == *it))
    };
    for polluters in [PolluterSearch::Pairs, PolluterSearch::Prefix] {
        let suite = suite(TESTS).fails_if("b", both);
        let hunted = hunted(&suite, &HuntSettings { polluters, ..settings() });
        let victim = of(&hunted, "b");
        assert_eq!(victim.kind, Some(FlakyKind::Victim));
        let mut set = victim.polluters.concat();
        set.sort();
        assert_eq!(set, sets(&[&["f", "i"]])[0]);
    }
}

#[test]
fn a_set_that_harms_one_test_is_tried_before_all_others() {
    let names = |moment: &flakeproof_testkit::scripted::Moment<'_>| -> Vec<String> {
        moment.before.iter().map(ToString::to_string).collect()
    };
    let after_both = move |moment: &flakeproof_testkit::scripted::Moment<'_>| {
        let before = names(moment);
        let place = |id: &str| before.iter().position(|it| it == id);
        place("f").is_some() && place("f") < place("i")
    };
    // No order shows this one: others come between.
    let at_once =
        move |moment: &flakeproof_testkit::scripted::Moment<'_>| names(moment) == ["f", "i"];
    let suite = suite(TESTS).fails_if("b", after_both).fails_if("d", at_once);
    let hunted = hunted(&suite, &settings());
    for victim in ["b", "d"] {
        assert_eq!(of(&hunted, victim).kind, Some(FlakyKind::Victim), "{victim}");
        assert_eq!(of(&hunted, victim).polluters, sets(&[&["f", "i"]]), "{victim}");
    }
}

#[test]
fn a_cleaner_heals_the_victim() {
    let polluted = |moment: &flakeproof_testkit::scripted::Moment<'_>| {
        let last = |id: &str| moment.before.iter().rposition(|it| it.as_str() == id);
        last("h") > last("d")
    };
    let suite = suite(TESTS).fails_if("c", polluted);
    let hunted = hunted(&suite, &settings());
    let victim = of(&hunted, "c");
    assert_eq!(victim.polluters, sets(&[&["h"]]));
    assert_eq!(victim.cleaners, sets(&[&["d"]])[0]);
}

#[test]
fn a_test_that_fails_at_random_depends_on_no_order() {
    let suite = suite(TESTS).fails_at_random("e", Seed(3), 0.4).with_polluter("c", "h");
    let hunted = hunted(&suite, &HuntSettings { runs: 10, ..settings() });
    let random = of(&hunted, "e");
    assert_eq!(random.kind, Some(FlakyKind::Nod));
    assert!(random.polluters.is_empty() && random.setters.is_empty());
    assert_eq!(of(&hunted, "c").kind, Some(FlakyKind::Victim));
    let rate = random.rate();
    assert!(rate.low < 0.4 && 0.4 < rate.high, "{rate:?}");
}

#[test]
fn a_test_that_fails_for_good_since_some_order_is_not_called_flaky() {
    // The suite's own order and the first runs alone are clean; then `h` leaves a file for ever.
    let has_left = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let leaves = has_left.clone();
    let leaves = move |moment: &flakeproof_testkit::scripted::Moment<'_>| {
        let is_after_j = moment.before.last().is_some_and(|it| it.as_str() == "j");
        leaves.fetch_or(is_after_j, std::sync::atomic::Ordering::Relaxed);
        false
    };
    let meets = move |_: &flakeproof_testkit::scripted::Moment<'_>| {
        has_left.load(std::sync::atomic::Ordering::Relaxed)
    };
    let suite = suite(TESTS).fails_if("h", leaves).fails_if("c", meets);
    let hunted = hunted(&suite, &HuntSettings { orders: 30, ..settings() });
    let changed = of(&hunted, "c");
    assert!(changed.all().is_inconsistent(), "{changed:?}");
    assert_eq!(changed.kind, None);
    assert!(hunted.notices.iter().any(|notice| notice.what.contains("left something on disk")));
}

#[test]
fn a_random_failure_makes_nobody_a_polluter() {
    // Often enough to be seen after many candidates, seldom enough to be taken for a victim.
    for seed in 0..10 {
        let suite = suite(TESTS).fails_at_random("e", Seed(seed), 0.15);
        let hunted = hunted(&suite, &settings());
        let random = of(&hunted, "e");
        assert!(random.polluters.is_empty() && random.setters.is_empty(), "{random:?}");
    }
}

#[test]
fn what_always_fails_is_set_aside() {
    let suite = suite(TESTS).always_fails("d").with_polluter("c", "h");
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "d").kind, None);
    assert!(of(&hunted, "d").always_fails());
    assert_eq!(of(&hunted, "c").kind, Some(FlakyKind::Victim));
}

#[test]
fn a_test_that_kills_its_environment_does_not_end_the_hunt() {
    let suite = suite(TESTS).crashes("d").with_polluter("c", "h");
    let hunted = hunted(&suite, &settings());
    assert!(of(&hunted, "d").always_fails());
    assert_eq!(of(&hunted, "j").baseline.runs, 3, "the rest of the order runs elsewhere");
    assert_eq!(of(&hunted, "c").polluters, sets(&[&["h"]]));
}

#[test]
fn a_failure_that_only_copies_show_is_not_called_flaky() {
    let only_in_copies = |moment: &flakeproof_testkit::scripted::Moment<'_>| {
        moment.isolation == Isolation::Fork && moment.before.iter().any(|it| it.as_str() == "h")
    };
    let suite = suite(TESTS).fails_if("c", only_in_copies);
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "c").kind, None);
    assert!(hunted.notices.iter().any(|notice| notice.what.contains("only in copies")));
}

#[test]
fn without_copies_the_same_is_found() {
    let suite =
        suite(TESTS).with_polluter("c", "h").brittle("g", "d").cannot_fork("threads are running");
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "c").polluters, sets(&[&["h"]]));
    assert_eq!(of(&hunted, "g").setters, sets(&[&["d"]]));
    assert!(suite.runs().iter().all(|ran| ran.isolation == Isolation::Spawn));
}

#[test]
fn the_rows_of_a_square_find_every_victim_of_a_neighbour() {
    // Healed by any test in between: only neighbours show it.
    let right_after = |moment: &flakeproof_testkit::scripted::Moment<'_>| {
        moment.before.last().is_some_and(|it| it.as_str() == "a")
    };
    let suite = suite(TESTS).fails_if("i", right_after);
    let kinds = vec![OrderKind::Tuscan];
    let hunted = hunted(&suite, &HuntSettings { kinds, orders: 10, ..settings() });
    assert_eq!(of(&hunted, "i").kind, Some(FlakyKind::Victim));
    assert_eq!(of(&hunted, "i").polluters, sets(&[&["a"]]));
    assert_eq!(of(&hunted, "i").shuffled.failures, 1);
}

#[test]
fn every_pair_shows_victims_that_no_order_did() {
    let suite = suite(TESTS).with_polluter("b", "i").brittle("c", "j").always_fails("e");
    let once = HuntSettings { runs: 1, orders: 0, max_reruns: 1, ..settings() };
    let hunted = hunted(&suite, &HuntSettings { polluters: PolluterSearch::All, ..once });
    assert_eq!(of(&hunted, "b").kind, Some(FlakyKind::Victim));
    assert_eq!(of(&hunted, "b").polluters, sets(&[&["i"]]));
    assert_eq!(of(&hunted, "c").kind, Some(FlakyKind::Brittle));
    assert_eq!(of(&hunted, "c").setters, sets(&[&["j"]]));
    assert_eq!(hunted.tests.iter().filter(|test| test.kind.is_some()).count(), 2);
}

#[test]
fn one_test_alone_and_a_suite_that_always_fails_end_without_a_finding() {
    let one = hunted(&suite(["only"]), &settings());
    assert_eq!((of(&one, "only").kind, one.end), (None, HuntEnd::Finished));
    let failing = suite(TESTS).behaves("a", |_| Outcome::Failed);
    let failing = TESTS.iter().skip(1).fold(failing, |suite, test| suite.always_fails(test));
    let hunted = hunted(&failing, &settings());
    assert!(hunted.tests.iter().all(|test| test.kind.is_none() && test.always_fails()));
}

#[test]
fn one_victim_is_looked_at_alone() {
    let suite = suite(TESTS).with_polluter("h", "b").with_polluter("c", "d");
    let victim = Some("h".into());
    let polluters = PolluterSearch::Prefix;
    let found = hunted(&suite, &HuntSettings { victim, polluters, ..settings() });
    assert_eq!(of(&found, "h").polluters, sets(&[&["b"]]));
    assert_eq!(of(&found, "c").kind, None, "nobody asked for it");
    assert!(suite.runs().len() < 60, "{}", suite.runs().len());
}

#[test]
fn one_victim_among_many_takes_a_walk_or_a_few_processes() {
    let names: Vec<String> = (0..400).map(|number| format!("t{number:03}")).collect();
    let found_by = |isolation, sets_of: &[&str]| {
        let needed: Vec<String> = sets_of.iter().map(|it| (*it).to_owned()).collect();
        let all = move |moment: &flakeproof_testkit::scripted::Moment<'_>| {
            needed.iter().all(|it| moment.before.iter().any(|before| before.as_str() == it))
        };
        let suite = suite(names.iter().map(String::as_str)).fails_if("t200", all);
        let (victim, polluters) = (Some("t200".into()), PolluterSearch::Prefix);
        let found = hunted(&suite, &HuntSettings { victim, polluters, isolation, ..settings() });
        let mut set = of(&found, "t200").polluters.concat();
        set.sort();
        assert_eq!(vec![set], sets(&[sets_of]));
        suite.runs_of("t200").len()
    };
    for isolation in [Isolation::Fork, Isolation::Spawn] {
        // Near, far, and two that only work together.
        let near = found_by(isolation, &["t199"]);
        let far = found_by(isolation, &["t003"]);
        assert!(near < 25 && far < 80, "{isolation:?}: {near} and {far} tries");
        found_by(isolation, &["t020", "t390"]);
    }
}

#[test]
fn tests_that_disturb_each_other_side_by_side_are_not_called_flaky() {
    let beside = HuntSettings { jobs: 4, runs: 10, ..settings() };
    // The first five runs are one by one, the next five side by side; then, alone, once more.
    let in_set_up = suite(TESTS).fails_if("e", |moment| (5..10).contains(&moment.times));
    let set_up = hunted(&in_set_up, &beside);
    let test = of(&set_up, "e");
    assert_eq!((test.kind, test.baseline.failures, test.baseline.runs), (None, 0, 10));
    // Side by side again, in other orders.
    let later =
        |moment: &flakeproof_testkit::scripted::Moment<'_>| (11..14).contains(&moment.times);
    let in_orders = hunted(&suite(TESTS).fails_if("e", later), &beside);
    assert_eq!(of(&in_orders, "e").kind, None);
    for hunted in [set_up, in_orders] {
        assert!(hunted.notices.iter().any(|notice| notice.what.contains("side by side")));
    }
    let one_by_one =
        hunted(&suite(TESTS).fails_if("e", later), &HuntSettings { jobs: 1, ..beside });
    assert_eq!(of(&one_by_one, "e").kind, Some(FlakyKind::Nod));
}

#[test]
fn what_stays_on_disk_is_told_from_what_only_copies_show() {
    use std::sync::atomic::{AtomicBool, Ordering};

    // What the polluter does in a new process stays for everybody after it.
    let is_left = AtomicBool::new(false);
    let left_on_disk = move |moment: &flakeproof_testkit::scripted::Moment<'_>| {
        let is_polluted = moment.before.iter().any(|it| it.as_str() == "h");
        is_left.fetch_or(is_polluted && moment.isolation == Isolation::Spawn, Ordering::Relaxed);
        is_polluted || is_left.load(Ordering::Relaxed)
    };
    let hunted = hunted(&suite(TESTS).fails_if("c", left_on_disk), &settings());
    assert_eq!(of(&hunted, "c").kind, None);
    let told = |words: &str| hunted.notices.iter().any(|notice| notice.what.contains(words));
    assert!(told("left something on disk"), "{:?}", hunted.notices);
}

#[test]
fn tidying_after_every_environment_shows_who_leaves_something_on_disk() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    // What the polluter leaves stays for everybody after it, until somebody tidies up.
    let is_left = Arc::new(AtomicBool::new(false));
    let (written, removed) = (Arc::clone(&is_left), Arc::clone(&is_left));
    let suite = suite(TESTS)
        .fails_if("h", move |_| {
            written.store(true, Ordering::Relaxed);
            false
        })
        .fails_if("c", move |_| is_left.load(Ordering::Relaxed));
    let tidy = || {
        removed.store(false, Ordering::Relaxed);
        Ok(())
    };
    let workplace = Workplace { clock: &|| Duration::ZERO, tidy: Some(&tidy), crew: None };
    let settings = HuntSettings { jobs: 4, ..settings() };
    let mut journal = Journal { recall: &|_| None, keep: &mut |_, _| {} };
    let found = suite.discover().expect("a suite");
    let cancel = Cancel::never();
    let hunted = hunt(&suite, &found, &settings, &mut journal, workplace, &cancel, &mut |_| {});
    let hunted = hunted.expect("a hunt");
    assert_eq!(of(&hunted, "c").kind, Some(FlakyKind::Victim));
    assert_eq!(of(&hunted, "c").polluters, sets(&[&["h"]]));
    assert_eq!(hunted.tests.iter().filter(|test| test.kind.is_some()).count(), 1);
}

#[test]
fn new_processes_that_confirm_a_finding_run_their_tests_one_after_the_other() {
    for _ in 0..20 {
        let suite = suite(TESTS).with_polluter("c", "h");
        hunted(&suite, &settings());
        let spawned = suite.runs().into_iter().filter(|ran| ran.isolation == Isolation::Spawn);
        let tests: Vec<String> = spawned.map(|ran| ran.test.to_string()).collect();
        assert_eq!(tests, ["h", "c", "c"], "first as it fails, then alone");
    }
}

#[test]
fn a_race_that_copies_always_lose_is_called_chance_where_new_processes_win_it_at_times() {
    let suite = suite(TESTS).fails_if("c", |moment| {
        let is_first = moment.before.is_empty();
        is_first && (moment.isolation == Isolation::Fork || moment.times % 2 == 1)
    });
    let hunted = hunted(&suite, &settings());
    let found = of(&hunted, "c");
    assert_eq!(found.kind, Some(FlakyKind::Nod));
    assert!(found.setters.is_empty() && found.polluters.is_empty());
}

#[test]
fn where_tests_keep_their_order_a_victim_of_that_order_is_found_and_nothing_else_is_tried() {
    let suite = suite(["before", "polluter", "victim", "other", "late", "spared"])
        .with_polluter("victim", "polluter")
        .with_polluter("spared", "spared")
        .with_polluter("before", "late")
        .cannot_fork("the script says so")
        .only_in_its_own_order();
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "victim").kind, Some(FlakyKind::Victim));
    assert_eq!(of(&hunted, "victim").polluters, sets(&[&["polluter"]]));
    assert_eq!(of(&hunted, "before").kind, None, "no order has it after `late`");
    assert!(hunted.notices.iter().any(|notice| notice.what.contains("own order")));
}

/// More tests than a shuffle brings into any order.
fn shuffled_suite() -> Scripted {
    suite(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]).in_orders_of_a_shuffle()
}

#[test]
fn where_a_shuffle_makes_the_orders_a_late_polluter_of_an_early_victim_is_found() {
    for polluter in ["d", "h", "l"] {
        let suite = shuffled_suite().with_polluter("c", polluter);
        let hunted = hunted(&suite, &settings());
        assert_eq!(of(&hunted, "c").kind, Some(FlakyKind::Victim), "{polluter}");
        assert_eq!(of(&hunted, "c").polluters, sets(&[&[polluter]]));
        assert_eq!(hunted.tests.iter().filter(|test| test.kind.is_some()).count(), 1);
    }
}

#[test]
fn where_a_shuffle_makes_the_orders_a_set_that_comes_out_makes_the_test_fail_as_it_stands() {
    let suite = shuffled_suite().behaves("c", |moment| {
        let place = |name: &str| moment.before.iter().position(|it| it.as_str() == name);
        let is_both = place("g").zip(place("k")).is_some();
        if is_both { Outcome::Failed } else { Outcome::Passed }
    });
    let hunted = hunted(&suite, &settings());
    let known = of(&hunted, "c");
    assert_eq!(known.kind, Some(FlakyKind::Victim));
    let [set] = &known.polluters[..] else { panic!("{:?}", known.polluters) };
    let mut names: Vec<&str> = set.iter().map(TestId::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["g", "k"]);
    let order = &known.reproduction.as_ref().expect("a way to see it").order;
    assert_eq!(order.len(), 3);
}

#[test]
fn where_a_shuffle_makes_the_orders_a_test_that_fails_by_chance_is_no_victim() {
    let suite = shuffled_suite().fails_at_random("e", Seed(3), 0.3);
    let hunted = hunted(&suite, &settings());
    assert_ne!(of(&hunted, "e").kind, Some(FlakyKind::Victim));
    assert_ne!(of(&hunted, "e").kind, Some(FlakyKind::Brittle));
}

#[test]
fn where_a_shuffle_makes_the_orders_a_crash_in_one_of_them_ends_no_hunt() {
    let suite =
        shuffled_suite().with_polluter("c", "l").behaves("f", |moment| match moment.before.len() {
            0..=3 => Outcome::Passed,
            _ => Outcome::Crashed,
        });
    let hunted = hunted(&suite, &settings());
    assert_eq!(of(&hunted, "c").polluters, sets(&[&["l"]]));
}
