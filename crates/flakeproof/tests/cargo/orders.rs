//! What tests of a binary share, in which orders they run, and what a hunt finds by it.

use std::process::Command;

use flakeproof_core::{Isolation, Outcome};
use flakeproof_runner::{Adapter, Error, Orders, Probe, Then};
use serde_json::Value;

use crate::claims::Claim;
use crate::scene::{Crate, Scene, outcomes};

pub(crate) const CLAIMS: &[Claim] = claims![
    tests_of_a_binary_share_a_process_and_a_new_environment_shares_nothing,
    a_test_is_run_again_after_all_that_ran_before_it,
    any_order_of_a_few_tests_runs_in_one_process,
    an_order_that_no_process_can_run_is_refused,
    the_order_of_a_seed_is_the_one_that_was_foretold,
    only_a_shuffled_process_sees_what_allows_it,
    two_orders_one_after_the_other_are_one,
    commands_name_the_test_as_cargo_knows_it,
    a_hunt_finds_victims_of_any_order,
    a_test_that_minds_the_allowance_is_no_victim,
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
    found(&[])
}

/// The same where tests run one at a time in the suite, too.
fn scene_of_one_at_a_time() -> Scene {
    found(&["--", "--test-threads=1"])
}

fn found(options: &[&str]) -> Scene {
    Crate::new(SHARED).file("tests/api.rs", "#[test]\nfn works() {}\n").found(options)
}

fn tests_of_a_binary_share_a_process_and_a_new_environment_shares_nothing() {
    let scene = scene_of_one_at_a_time();
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
    let scene = scene_of_one_at_a_time();
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

fn any_order_of_a_few_tests_runs_in_one_process() {
    let scene = scene();
    assert_eq!(scene.adapter.can().orders, Orders::Own, "nobody asked for another");
    let told = scene.adapter.find_orders().expect("the harness answers");
    assert_eq!((scene.adapter.can().orders, told.len()), (Orders::Seeded, 0), "{told:?}");
    let backwards = scene.order(&["c_third", "b_second", "a_first", "works"]);
    let seen = outcomes(&mut *scene.open(Isolation::Spawn), &backwards).expect("they run");
    assert_eq!(seen, [Outcome::Passed, Outcome::Failed, Outcome::Failed, Outcome::Passed]);
    let pair = scene.order(&["b_second", "a_first"]);
    let seen = outcomes(&mut *scene.open(Isolation::Spawn), &pair).expect("they run");
    assert_eq!(seen, [Outcome::Passed, Outcome::Failed]);
}

fn an_order_that_no_process_can_run_is_refused() {
    let scene = scene();
    for order in [&["a_first", "works", "c_third"][..], &["a_first", "a_first"]] {
        let refused = outcomes(&mut *scene.open(Isolation::Spawn), &scene.order(order));
        assert!(matches!(refused, Err(Error::NotPossible { .. })), "{refused:?}");
    }
    assert!(scene.adapter.open(Isolation::Fork).is_err());
}

/// Each test prints how many ran before it in its process.
fn many(tests: usize) -> String {
    let tests = (0..tests).map(|at| {
        let panics = if at % 5 == 3 { "#[should_panic] " } else { "" };
        let end = if at % 5 == 3 { "panic!()" } else { "" };
        format!(
            "    #[test] {panics}fn t{at:02}() {{ println!(\"place {{}}\", place()); {end} }}\n"
        )
    });
    let tests: String = tests.collect();
    format!(
        "#[cfg(test)]\nmod tests {{\n    use std::sync::atomic::{{AtomicU32, Ordering}};\n    \
         static SEEN: AtomicU32 = AtomicU32::new(0);\n    \
         fn place() -> u32 {{ SEEN.fetch_add(1, Ordering::SeqCst) }}\n{tests}}}\n"
    )
}

fn the_order_of_a_seed_is_the_one_that_was_foretold() {
    let scene = Crate::new(&many(30)).found(&["--lib"]);
    scene.adapter.find_orders().expect("the harness answers");
    let mut wanted = scene.tests.clone();
    for round in 0..40 {
        wanted.rotate_left(7);
        wanted.swap(round % 30, (3 * round + 1) % 30);
        let order: Vec<_> = wanted[..2 + 28 * (round % 4) / 3].to_vec();
        let runnable = scene.adapter.runnable(&order);
        assert_eq!(runnable.last(), order.last());
        if order.len() <= 8 {
            assert_eq!(runnable, order);
        }
        let beginning = if order.len() == 30 { 1 + round % 30 } else { runnable.len() };
        assert_places(&scene, &runnable[..beginning]);
    }
    // As after a hunt, when nobody knows any more where the order came from.
    let long = scene.adapter.runnable(&wanted);
    let other = Crate::new(&many(30)).found(&["--lib"]);
    assert_places(&other, &long[..20]);
}

fn assert_places(scene: &Scene, order: &[flakeproof_core::TestId]) {
    let mut environment = scene.open(Isolation::Spawn);
    environment.expect(order, Then::End).expect("it can be run");
    for (place, test) in order.iter().enumerate() {
        let ran = environment.run(test, Probe::attempt(1)).expect("it runs");
        assert_eq!(ran.outcome, Outcome::Passed, "{:?}", ran.failure);
        assert!(ran.output.starts_with(&format!("place {place}")), "{test}: {}", ran.output);
    }
    environment.close().expect("it ends");
}

const SEES_ALLOWANCE: &str = r#"
#[cfg(test)]
mod tests {
    fn seen() -> bool { std::env::var_os("RUSTC_BOOTSTRAP").is_some() }

    #[test] fn a_first() { println!("seen: {}", seen()); }
    #[test] fn b_second() { println!("seen: {}", seen()); }
    #[test] fn c_minds() { assert!(!seen(), "another compiler"); }
    #[test] fn d_needs() { assert!(seen(), "the same compiler"); }
}
"#;

fn only_a_shuffled_process_sees_what_allows_it() {
    let scene = Crate::new(SEES_ALLOWANCE).found(&["--lib"]);
    let ran = |order: &[&str]| {
        let order = scene.order(order);
        let mut environment = scene.open(Isolation::Spawn);
        environment.expect(&order, Then::End).expect("it can be run");
        let run = |test| environment.run(test, Probe::attempt(1)).expect("it runs").output;
        order.iter().map(run).collect::<Vec<_>>()
    };
    assert_eq!(ran(&["a_first", "b_second"]), ["seen: false"; 2]);
    let shuffled = ran(&["b_second", "a_first"]);
    assert!(shuffled == ["seen: true"; 2] || scene.is_nightly(), "{shuffled:?}");
}

fn a_test_that_minds_the_allowance_is_no_victim() {
    if Crate::new(SEES_ALLOWANCE).found(&["--lib"]).is_nightly() {
        return;
    }
    let (tests, text) = hunted(SEES_ALLOWANCE);
    for name in ["a_first", "b_second", "c_minds", "d_needs"] {
        assert!(tests(name)["kind"].is_null(), "{name}\n{text}");
    }
    assert!(text.contains("RUSTC_BOOTSTRAP"), "{text}");
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
    let backwards = scene.adapter.command_for_order(&[b.clone(), a.clone()]).expect("a seed");
    assert!(backwards.contains("--shuffle-seed"), "{backwards}");
    let mut shell = Command::new("sh");
    let typed = shell.args(["-c", &backwards]).current_dir(scene.project.path());
    let printed = typed.output().expect("there is a shell").stdout;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let order = ["test tests::b_second ... ok", "test tests::a_first ... FAILED"];
    let lines: Vec<&str> = printed.lines().filter(|line| line.starts_with("test t")).collect();
    assert_eq!(lines, order, "{backwards}\n{printed}");
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
    fn colour() -> bool { std::env::var_os("SHOP_COLOUR").is_none() }

    #[test] fn a_bystander() {}
    #[test] fn b_polluter() { *shared() = Some(1); }
    #[test] fn c_bystander() {}
    #[test] fn d_victim() { let seen = shared().is_none(); assert!(seen); }
    #[test] fn e_brittle() { let seen = shared().is_some(); assert!(seen); }
    #[test] fn f_broken() { panic!("always") }
    #[test] fn g_early_victim() { assert!(colour()); }
    #[test] fn h_late_polluter() { unsafe { std::env::set_var("SHOP_COLOUR", "no") }; }
}
"#;

fn a_hunt_finds_victims_of_any_order() {
    let (of, text) = hunted(SUITE);
    let polluted_by = |name: &str| serde_json::json!([[format!("demo::tests::{name}")]]);
    assert_eq!(of("d_victim")["kind"], "victim", "{text}");
    assert_eq!(of("d_victim")["polluters"], polluted_by("b_polluter"));
    assert_eq!(of("e_brittle")["kind"], "brittle", "{text}");
    assert_eq!(of("e_brittle")["setters"], polluted_by("b_polluter"));
    assert_eq!(of("g_early_victim")["kind"], "victim", "{text}");
    assert_eq!(of("g_early_victim")["polluters"], polluted_by("h_late_polluter"));
    for steady in ["a_bystander", "b_polluter", "c_bystander", "f_broken", "h_late_polluter"] {
        assert!(of(steady)["kind"].is_null(), "{steady}\n{text}");
    }
    assert!(!text.contains("own order: "), "{text}");
}

/// What a hunt says of each test of a library, and all that it printed.
fn hunted(source: &str) -> (impl Fn(&str) -> Value, String) {
    let project = Crate::new(source);
    let report = project.path().join("hunt.json");
    let reporter = format!("json={}", report.display());
    let options =
        ["hunt", "--runs", "3", "--max-reruns", "3", "--steer", "off", "--reporter", &reporter];
    let output = project.flakeproof(&options, &["--lib"]).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let json = std::fs::read(&report).unwrap_or_else(|_| panic!("no report\n{text}"));
    let json: Value = serde_json::from_slice(&json).expect("a report");
    let tests = json["tests"].as_array().cloned().unwrap_or_default();
    let of = move |name: &str| {
        let id = format!("demo::tests::{name}");
        tests.iter().find(|test| test["id"] == id.as_str()).cloned().unwrap_or(Value::Null)
    };
    (of, text.into_owned())
}
