//! Hunts that spend their time where it finds something.

use std::sync::atomic::{AtomicU32, Ordering};

use flakeproof_core::{FlakyKind, HuntEnd, Region, Seed};
use flakeproof_detect::hunt::{Candidates, Forecast, HuntSettings, PolluterSearch, Strategy};
use flakeproof_detect::plan::FailureRates;
use flakeproof_runner::Cancel;
use flakeproof_testkit::scripted::{Moment, Scripted, suite};

use crate::hunting::{Kept, cut_off, hunted, of, session, sets, settings};

const TESTS: [&str; 20] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
    "t",
];

/// A suite with a victim of two polluters, a brittle test, and one that fails by chance.
fn flaky_suite() -> Scripted {
    suite(TESTS).with_polluter("c", "r").with_polluter("c", "t").brittle("n", "d").fails_at_random(
        "k",
        Seed(5),
        0.3,
    )
}

fn forecast() -> Forecast {
    Forecast {
        flaky: vec![0.05; TESTS.len()],
        victim: vec![0.05; TESTS.len()],
        kin: vec![vec!["suite".to_owned()]; TESTS.len()],
        rates: FailureRates::known(),
        may_stay_hidden: 0.1,
    }
}

fn planned() -> HuntSettings {
    HuntSettings { runs: 2, orders: 20, strategy: Strategy::Plan(forecast()), ..settings() }
}

fn kinds(suite: &Scripted, settings: &HuntSettings) -> Vec<(String, FlakyKind)> {
    let found = hunted(suite, settings);
    found.tests.iter().filter_map(|test| Some((test.id.to_string(), test.kind?))).collect()
}

#[test]
fn a_plan_finds_the_same_for_a_third_of_the_executions() {
    let (steered, plain) = (flaky_suite(), flaky_suite());
    let found = hunted(&steered, &planned());
    let whole = HuntSettings { seed: Seed(7), ..HuntSettings::default() };
    assert_eq!(kinds(&plain, &whole), kinds(&flaky_suite(), &planned()));
    assert_eq!(of(&found, "c").polluters, sets(&[&["r"], &["t"]]));
    assert_eq!(of(&found, "n").setters, sets(&[&["d"]]));
    assert_eq!(of(&found, "k").kind, Some(FlakyKind::Nod));
    assert!(3 * steered.runs().len() < plain.runs().len(), "{}", steered.runs().len());
    let hidden = found.hidden.expect("a plan keeps count");
    assert!(hidden.expected < 0.2, "{hidden:?}");
    assert_eq!(found.end, HuntEnd::Finished);
}

#[test]
fn a_plan_never_takes_chance_for_an_order() {
    for seed in 0..20 {
        let suite = suite(TESTS).fails_at_random("k", Seed(seed), 0.2).always_fails("b");
        let found = hunted(&suite, &planned());
        let random = of(&found, "k");
        assert!(random.polluters.is_empty() && random.setters.is_empty(), "{random:?}");
        assert!(matches!(random.kind, None | Some(FlakyKind::Nod)));
        assert_eq!(of(&found, "b").kind, None, "what always fails is broken, not flaky");
    }
}

#[test]
fn a_failure_that_stays_for_good_is_not_called_flaky() {
    for strategy in [Strategy::Off, Strategy::Plan(two_tests())] {
        // From its eighth run on, the test fails in every environment: something is left on disk.
        let runs = AtomicU32::new(0);
        let stays = move |_: &Moment<'_>| runs.fetch_add(1, Ordering::Relaxed) >= 7;
        let suite = suite(["a", "b"]).fails_if("a", stays);
        let settings = HuntSettings { orders: 0, max_reruns: 30, strategy, ..settings() };
        let found = hunted(&suite, &settings);
        let changed = of(&found, "a");
        assert!(changed.alone.failures > 0 && changed.alone.is_inconsistent(), "{changed:?}");
        assert_eq!(changed.kind, None);
        assert!(found.notices.iter().any(|notice| notice.what.contains("left something on disk")));
    }
}

fn two_tests() -> Forecast {
    let (flaky, victim) = (vec![0.5; 2], vec![0.0; 2]);
    let kin = vec![vec!["suite".to_owned()]; 2];
    Forecast { flaky, victim, kin, may_stay_hidden: 0.001, ..forecast() }
}

#[test]
fn who_is_not_asked_about_is_not_run_alone() {
    let mut forecast = forecast();
    for at in (0..TESTS.len()).filter(|at| TESTS[*at] != "k") {
        (forecast.flaky[at], forecast.victim[at]) = (0.0, 0.0);
    }
    let suite = flaky_suite();
    let settings = HuntSettings { strategy: Strategy::Plan(forecast), ..planned() };
    let found = hunted(&suite, &settings);
    assert_eq!(of(&found, "k").kind, Some(FlakyKind::Nod));
    assert_eq!(of(&found, "a").alone.runs, 0);
}

#[test]
fn a_steered_hunt_that_is_cut_off_anywhere_ends_as_if_it_had_not_been() {
    let suite = || suite(TESTS).with_polluter("c", "r").brittle("n", "d");
    let expected = hunted(&suite(), &planned());
    for after in [1, 2, 3, 4, 5, 7, 9, 12, 15] {
        let kept = Kept::default();
        let (canceller, cancel) = Cancel::new();
        let mut cut = cut_off(&canceller, after);
        let half = session(&suite(), &planned(), &kept, &cancel, &mut cut).expect("half a hunt");
        assert_eq!(half.end, HuntEnd::Interrupted);
        let rest = session(&suite(), &planned(), &kept, &Cancel::never(), &mut |_| {});
        assert_eq!(rest.expect("the rest of the hunt"), expected, "cut off after {after} trials");
    }
}

#[test]
fn cannier_reruns_what_is_ambiguous_and_pairs_candidates() {
    let suite = suite(TESTS).with_polluter("c", "r").with_polluter("e", "t");
    let only = |names: &[&str]| Some(TESTS.iter().map(|test| names.contains(test)).collect());
    let region = |test: &&str| if *test == "g" { Region::Ambiguous } else { Region::Below };
    let candidates = Candidates {
        reruns: Some(TESTS.iter().map(region).collect()),
        kinds: None,
        victims: only(&["c"]),
        polluters: only(&["r", "s"]),
    };
    let strategy = Strategy::Cannier(candidates);
    let polluters = PolluterSearch::All;
    let found = hunted(&suite, &HuntSettings { strategy, polluters, ..settings() });
    assert_eq!(of(&found, "g").alone.runs, settings().max_reruns);
    assert_eq!(of(&found, "h").alone.runs, 1);
    assert_eq!(of(&found, "c").polluters, sets(&[&["r"]]));
}

#[test]
fn cannier_believes_a_sure_model_about_the_kind() {
    let suite = suite(TESTS).with_polluter("c", "r");
    let above =
        Candidates { kinds: Some(vec![Region::Above; TESTS.len()]), ..Candidates::default() };
    let found = hunted(&suite, &HuntSettings { strategy: Strategy::Cannier(above), ..settings() });
    assert_eq!(of(&found, "c").kind, Some(FlakyKind::Nod));
}

#[test]
fn a_plan_sees_through_a_cleaner_and_asks_whom_else_a_polluter_harms() {
    // `r` pollutes `c` and `q` until `p` runs; in most orders nobody shows it.
    let polluted = |moment: &Moment<'_>| {
        let last = |id: &str| moment.before.iter().rposition(|it| it.as_str() == id);
        last("r") > last("p") && last("r") > last("f")
    };
    let suite = suite(TESTS).fails_if("c", polluted).fails_if("q", polluted);
    let found = hunted(&suite, &planned());
    for victim in ["c", "q"] {
        assert_eq!(of(&found, victim).kind, Some(FlakyKind::Victim));
        assert_eq!(of(&found, victim).polluters, sets(&[&["r"]]));
    }
    assert!(found.tests.iter().flat_map(|test| &test.cleaners).count() > 0);
}

#[test]
fn a_plan_tries_every_pair_where_that_is_asked_for() {
    // Only directly after `r` does `c` fail: orders hardly ever show it.
    let directly = |moment: &Moment<'_>| moment.before.last().is_some_and(|it| it.as_str() == "r");
    let suite = suite(TESTS).fails_if("c", directly).with_polluter("e", "t");
    let found = hunted(&suite, &HuntSettings { polluters: PolluterSearch::All, ..planned() });
    assert_eq!(of(&found, "c").polluters, sets(&[&["r"]]));
    assert_eq!(of(&found, "e").polluters, sets(&[&["t"]]), "each is told once");
}

#[test]
fn where_environments_cannot_be_copied_every_test_comes_directly_after_every_other_one() {
    let directly = |moment: &Moment<'_>| moment.before.last().is_some_and(|it| it.as_str() == "r");
    let suite = suite(TESTS).fails_if("c", directly).cannot_fork("it has threads");
    let day = Some(std::time::Duration::from_secs(86_400));
    let found = hunted(&suite, &HuntSettings { budget: day, ..planned() });
    assert_eq!(of(&found, "c").kind, Some(FlakyKind::Victim));
    assert_eq!(of(&found, "c").polluters, sets(&[&["r"]]));
}

#[test]
fn a_test_that_only_often_fails_alone_is_not_called_brittle() {
    for seed in 0..20 {
        let suite = suite(TESTS).fails_at_random("k", Seed(seed), 0.7);
        let found = hunted(&suite, &planned());
        assert_ne!(of(&found, "k").kind, Some(FlakyKind::Brittle), "seed {seed}");
    }
}

#[test]
fn a_large_suite_with_a_polluter_is_planned_in_no_time() {
    let names: Vec<String> = (0..3000).map(|number| format!("test_{number}")).collect();
    let suite = suite(names.iter().map(String::as_str)).with_polluter("test_7", "test_2900");
    let (flaky, victim) = (vec![0.0001; 3000], vec![0.01; 3000]);
    let kin = vec![vec!["suite".to_owned()]; 3000];
    let forecast = Forecast { flaky, victim, kin, may_stay_hidden: 0.5, ..forecast() };
    let settings = HuntSettings { runs: 1, strategy: Strategy::Plan(forecast), ..planned() };
    assert_eq!(of(&hunted(&suite, &settings), "test_7").polluters, sets(&[&["test_2900"]]));
}
