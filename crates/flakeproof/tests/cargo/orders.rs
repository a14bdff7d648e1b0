//! What tests of a binary share, in which orders they run, and what a hunt finds by it.

use flakeproof_core::{Isolation, Outcome};
use flakeproof_runner::{Adapter, Error, Orders, Probe, Then};
use serde_json::Value;

use crate::claims::Claim;
use crate::scene::{Crate, Scene, outcomes};

pub(crate) const CLAIMS: &[Claim] = claims![
    tests_of_a_binary_share_a_process_and_a_new_environment_shares_nothing,
    a_test_is_run_again_after_all_that_ran_before_it,
    an_order_that_the_harness_would_not_run_is_refused,
    two_orders_one_after_the_other_are_one,
    commands_name_the_test_as_cargo_knows_it,
    a_hunt_finds_victims_of_the_suites_own_order,
];

const SHARED: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    static SEEN: AtomicU32 = AtomicU32::new(0);
    fn see() -> u32 { SEEN.fetch_add(1, Ordering::SeqCst) }

    #[test] fn a_first() { assert_eq!(see(), 0); }
    #[test] fn b_second() { assert_eq!(see(), 0, "somebody was here"); }
    #[test] fn c_third() { println!("seen by {}", see()); }
}
"#;

fn scene() -> Scene {
    Crate::new(SHARED).file("tests/api.rs", "#[test]\nfn works() {}\n").found(&[])
}

fn tests_of_a_binary_share_a_process_and_a_new_environment_shares_nothing() {
    let scene = scene();
    let all = scene.order(&["a_first", "b_second", "c_third", "works"]);
    assert_eq!(scene.tests, all);
    for isolation in [Isolation::Same, Isolation::Spawn] {
        let seen = outcomes(&mut *scene.open(isolation), &all).expect("they run");
        assert_eq!(seen, [Outcome::Passed, Outcome::Failed, Outcome::Passed, Outcome::Passed]);
    }
    assert_eq!(scene.alone("b_second").outcome, Outcome::Passed);
    let some = scene.order(&["b_second", "c_third"]);
    let mut environment = scene.open(Isolation::Spawn);
    environment.expect(&some, Then::End).expect("the harness runs them so");
    assert_eq!(
        environment.run(&some[0], Probe::attempt(1)).expect("runs").outcome,
        Outcome::Passed
    );
    let third = environment.run(&some[1], Probe::attempt(1)).expect("runs");
    assert_eq!(third.output, "seen by 1");
}

fn a_test_is_run_again_after_all_that_ran_before_it() {
    let scene = scene();
    let mut environment = scene.open(Isolation::Same);
    let all = scene.tests.clone();
    environment.expect(&all, Then::End).expect("it is the suite's own order");
    let mut run = |at: usize, attempt| {
        environment.run(&all[at], Probe::attempt(attempt)).expect("it runs").outcome
    };
    assert_eq!([run(0, 1), run(1, 1)], [Outcome::Passed, Outcome::Failed]);
    assert_eq!(run(1, 2), Outcome::Failed, "the state that made it fail is there again");
    assert_eq!([run(2, 1), run(3, 1)], [Outcome::Passed, Outcome::Passed]);
    assert_eq!(run(1, 3), Outcome::Failed);
}

fn an_order_that_the_harness_would_not_run_is_refused() {
    let scene = scene();
    assert_eq!(scene.adapter.can().orders, Orders::Own);
    for order in [&["b_second", "a_first"][..], &["a_first", "works", "c_third"]] {
        let refused = outcomes(&mut *scene.open(Isolation::Spawn), &scene.order(order));
        assert!(matches!(refused, Err(Error::NotPossible { .. })), "{refused:?}");
    }
    assert!(scene.adapter.open(Isolation::Fork).is_err());
}

fn two_orders_one_after_the_other_are_one() {
    let scene = scene();
    let mut environment = scene.open(Isolation::Spawn);
    let (first, then) = (scene.order(&["a_first"]), scene.order(&["b_second"]));
    environment.expect(&first, Then::Open).expect("announced");
    environment.run(&first[0], Probe::attempt(1)).expect("runs");
    assert_eq!(outcomes(&mut *environment, &then).expect("runs"), [Outcome::Failed]);
    let back = environment.expect(&first, Then::End);
    assert!(matches!(back, Err(Error::NotPossible { .. })), "{back:?}");
}

fn commands_name_the_test_as_cargo_knows_it() {
    let scene = scene();
    let target = scene.project.path().join("target");
    let start = format!("cargo test --target-dir {}", target.display());
    let [a, b, _, works] = &scene.tests[..] else { panic!("{:?}", scene.tests) };
    assert_eq!(
        scene.adapter.command_for(works),
        format!("{start} -p demo --test api -- --exact works")
    );
    let both = scene.adapter.command_for_order(&[a.clone(), b.clone()]).expect("there is one");
    assert_eq!(
        both,
        format!("{start} -p demo --lib -- --exact tests::a_first tests::b_second --test-threads=1")
    );
    assert_eq!(scene.adapter.command_for_order(&[b.clone(), a.clone()]), None);
    assert_eq!(scene.adapter.command_for_order(&[a.clone(), works.clone()]), None);
    assert_eq!(scene.adapter.command_to_list(), Some(format!("{start} -- --list")));
}

const SUITE: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    static SHARED: Mutex<Option<u32>> = Mutex::new(None);
    fn shared() -> std::sync::MutexGuard<'static, Option<u32>> {
        SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    #[test] fn a_bystander() {}
    #[test] fn b_polluter() { *shared() = Some(1); }
    #[test] fn c_bystander() {}
    #[test] fn d_victim() { let seen = shared().is_none(); assert!(seen); }
    #[test] fn e_brittle() { let seen = shared().is_some(); assert!(seen); }
    #[test] fn f_broken() { panic!("always") }
}
"#;

fn a_hunt_finds_victims_of_the_suites_own_order() {
    let project = Crate::new(SUITE);
    let report = project.path().join("hunt.json");
    let reporter = format!("json={}", report.display());
    let options =
        ["hunt", "--runs", "3", "--max-reruns", "3", "--steer", "off", "--reporter", &reporter];
    let output = project.flakeproof(&options, &["--lib"]).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let json = std::fs::read(&report).unwrap_or_else(|_| panic!("no report\n{text}"));
    let json: Value = serde_json::from_slice(&json).expect("a report");
    let tests = json["tests"].as_array().cloned().unwrap_or_default();
    let of = |name: &str| {
        let id = format!("demo::tests::{name}");
        tests.iter().find(|test| test["id"] == id.as_str()).cloned().unwrap_or(Value::Null)
    };
    assert_eq!(of("d_victim")["kind"], "victim", "{text}");
    assert_eq!(of("d_victim")["polluters"], serde_json::json!([["demo::tests::b_polluter"]]));
    assert_eq!(of("e_brittle")["kind"], "brittle", "{text}");
    assert_eq!(of("e_brittle")["setters"], serde_json::json!([["demo::tests::b_polluter"]]));
    for steady in ["a_bystander", "b_polluter", "c_bystander", "f_broken"] {
        assert!(of(steady)["kind"].is_null(), "{steady}\n{text}");
    }
    assert!(text.contains("own order"), "{text}");
}
