//! `cargo nextest run`, where it is installed: it comes by `cargo install` alone, which takes minutes.

use std::process::Command;

use flakeproof_core::{Isolation, Outcome};
use flakeproof_runner::{Adapter, Orders, Probe, Then};
use flakeproof_testkit::{skipped, surroundings};

use crate::claims::Claim;
use crate::scene::{Crate, Scene, outcomes};

pub(crate) const CLAIMS: &[Claim] = claims![
    nextest_gives_each_test_a_process_in_any_order,
    what_nextest_leaves_out_is_left_out,
    the_command_for_a_test_of_nextest_runs_it,
    a_run_of_nextest_has_its_outcomes,
];

const SUITE: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    static SEEN: AtomicU32 = AtomicU32::new(0);
    fn see() -> u32 { SEEN.fetch_add(1, Ordering::SeqCst) }

    #[test] fn a_first() { assert_eq!(see(), 0); }
    #[test] fn b_second() { assert_eq!(see(), 0); println!("run by nextest: {:?}", std::env::var("NEXTEST")); }
    #[test] #[ignore] fn c_ignored() { panic!("it is not run") }
    #[test] fn d_fails() { panic!("always") }
}
"#;

/// The suite as nextest finds it; `None` where there is no nextest.
fn found(claim: &str, options: &[&str]) -> Option<Scene> {
    let mut nextest = Command::new("cargo");
    surroundings::plain(&mut nextest);
    let is_there = nextest.args(["nextest", "--version"]).output();
    if !is_there.is_ok_and(|it| it.status.success()) {
        skipped::note(claim, "there is no `cargo-nextest`");
        return None;
    }
    let project = Crate::new(SUITE).file("tests/api.rs", "#[test]\nfn works() {}\n");
    let mut command = project.nextest();
    command.extend(options.iter().map(|&option| option.to_owned()));
    let adapter = project.adapter_for(command);
    Some(project.found_by(adapter))
}

fn nextest_gives_each_test_a_process_in_any_order() {
    let claim = "nextest_gives_each_test_a_process_in_any_order";
    let Some(scene) = found(claim, &[]) else { return };
    scene.adapter.find_orders().expect("nothing is asked");
    assert_eq!(scene.adapter.can().orders, Orders::Apart);
    let order = scene.order(&["works", "b_second", "a_first"]);
    for isolation in [Isolation::Same, Isolation::Spawn] {
        let seen = outcomes(&mut *scene.open(isolation), &order).expect("they run");
        assert_eq!(seen, [Outcome::Passed; 3], "{isolation}");
    }
    let mut environment = scene.open(Isolation::Spawn);
    environment.expect(&order[1..2], Then::End).expect("announced");
    let ran = environment.run(&order[1], Probe::attempt(1)).expect("it runs");
    assert_eq!(ran.output, "run by nextest: Ok(\"1\")");
}

fn what_nextest_leaves_out_is_left_out() {
    let claim = "what_nextest_leaves_out_is_left_out";
    let Some(scene) = found(claim, &["-E", "test(second) + test(works)"]) else { return };
    // Of an ignored test nextest says no more than that, and it is shown as skipped.
    assert_eq!(scene.tests, scene.order(&["b_second", "c_ignored", "works"]));
}

fn the_command_for_a_test_of_nextest_runs_it() {
    let claim = "the_command_for_a_test_of_nextest_runs_it";
    let Some(scene) = found(claim, &[]) else { return };
    for (name, passes) in [("a_first", true), ("d_fails", false)] {
        let typed = scene.adapter.command_for(&scene.order(&[name])[0]);
        assert!(typed.starts_with("cargo nextest run"), "{typed}");
        let mut shell = Command::new("sh");
        surroundings::plain(&mut shell);
        let ran = shell.args(["-c", &typed]).current_dir(scene.project.path()).output();
        let ran = ran.expect("there is a shell");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("1 test run"), "{typed}\n{said}");
        assert_eq!(ran.status.success(), passes, "{typed}\n{said}");
    }
}

fn a_run_of_nextest_has_its_outcomes() {
    let claim = "a_run_of_nextest_has_its_outcomes";
    let Some(scene) = found(claim, &[]) else { return };
    let plain = scene.project.nextest();
    let mut nextest = Command::new(&plain[0]);
    surroundings::plain(&mut nextest);
    nextest.args(&plain[1..]).args(["--no-fail-fast", "--color", "never"]);
    let said = nextest.current_dir(scene.project.path()).output().expect("it starts").stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    let all = scene.tests.clone();
    let seen = outcomes(&mut *scene.open(Isolation::Same), &all).expect("they run");
    for (test, outcome) in all.iter().zip(seen) {
        let name = test.as_str().split_once("::").map_or("", |(_, name)| name);
        let word = match outcome {
            Outcome::Passed => "PASS",
            Outcome::Failed => "FAIL",
            // Of an ignored one nextest says nothing by itself.
            _ => continue,
        };
        let is_said = |line: &str| line.trim_start().starts_with(word) && line.ends_with(name);
        assert!(said.lines().any(is_said), "{test}: {word}\n{said}");
    }
    assert!(said.contains("3 passed") && said.contains("1 failed"), "{said}");
}
