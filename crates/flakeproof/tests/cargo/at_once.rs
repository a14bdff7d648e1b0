//! Tests that run at the same time, as cargo runs them.

use crate::claims::Claim;
use crate::scene::Crate;

pub(crate) const CLAIMS: &[Claim] = claims![
    tests_run_at_the_same_time_as_cargo_runs_them,
    what_fails_only_beside_another_test_fails,
    who_ends_a_process_is_found_and_what_others_came_to_is_kept,
    tests_that_end_their_process_only_together_have_all_crashed,
    a_line_that_another_program_prints_makes_nothing_pass,
    a_limit_holds_for_each_test_that_ends_beside_others,
    a_number_of_threads_that_cargo_refuses_is_no_pass,
];

const ONCE: [&str; 8] =
    ["--retries", "0", "--postponed", "0", "--fresh", "0", "--dependencies", "off"];

/// More than one core may not be there.
const TWO: [&str; 2] = ["--", "--test-threads=2"];

/// A library whose tests can wait for each other, and know whether something happened before.
fn library(tests: &str) -> Crate {
    const HELP: &str = r#"
#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::time::{Duration, Instant};

    static HERE: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    fn until(is_so: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while !is_so() {
            if begun.elapsed() > Duration::from_secs(30) { return false }
            std::thread::yield_now();
        }
        true
    }
    fn meet(me: usize) -> bool {
        HERE[me].store(true, SeqCst);
        until(|| HERE[1 - me].load(SeqCst))
    }
    fn file(name: &str) -> PathBuf { PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name) }
    fn is_there(name: &str) -> bool { file(name).exists() }
    fn note(name: &str) { std::fs::write(file(name), "").unwrap() }
"#;
    Crate::new(&format!("{HELP}{tests}}}\n"))
}

fn tests_run_at_the_same_time_as_cargo_runs_them() {
    let tests = "#[test] fn a() { assert!(meet(0)) }\n#[test] fn b() { assert!(meet(1)) }\n";
    let run = library(tests).run(&ONCE, &TWO);
    assert_eq!(run.code, Some(0), "{}", run.text);
}

fn what_fails_only_beside_another_test_fails() {
    let tests = r#"
    #[test] fn a() { meet(0); }
    #[test] fn b() {
        let is_first = !is_there("before");
        note("before");
        assert!(!is_first || !meet(1), "a is here, too");
    }
"#;
    let run = library(tests).run(&["--postponed", "0", "--dependencies", "off"], &TWO);
    assert_eq!(run.told("demo::tests::a")[0], "passed", "{}", run.text);
    assert_eq!(run.told("demo::tests::b")[0], "failed", "{}", run.text);
    let tries = run.attempts("demo::tests::b");
    assert_eq!(tries[..2], ["first same failed", "immediate same passed"], "{tries:?}");
    assert!(run.text.contains("a is here, too"), "{}", run.text);
}

fn who_ends_a_process_is_found_and_what_others_came_to_is_kept() {
    // The harness begins c when it has said how b ended.
    let tests = r#"
    #[test] fn a_aborts() { if until(|| is_there("c")) { std::process::abort() } }
    #[test] fn b_fails_once() {
        let is_first = !is_there("b");
        note("b");
        assert!(!is_first, "the first time");
    }
    #[test] fn c_says_so() { note("c") }
    #[test] fn d_passes() {}
"#;
    let run = library(tests).run(&ONCE, &TWO);
    let told = |name: &str| run.told(&format!("demo::tests::{name}"))[0].to_owned();
    assert_eq!(told("a_aborts"), "crashed", "{}", run.text);
    assert_eq!(told("b_fails_once"), "failed", "{}", run.text);
    assert_eq!((told("c_says_so"), told("d_passes")), ("passed".into(), "passed".into()));
}

fn tests_that_end_their_process_only_together_have_all_crashed() {
    let tests = r#"
    #[test] fn a() { if !is_there("before") && meet(0) { note("before"); std::process::abort() } }
    #[test] fn b() { if !is_there("before") { meet(1); until(|| false); } }
    #[test] fn c() {}
"#;
    let run = library(tests).run(&ONCE, &TWO);
    let told = |name: &str| run.told(&format!("demo::tests::{name}"))[0].to_owned();
    assert_ne!(run.code, Some(0), "{}", run.text);
    assert_eq!(
        (told("a"), told("b"), told("c")),
        ("crashed".into(), "crashed".into(), "passed".into())
    );
}

fn a_line_that_another_program_prints_makes_nothing_pass() {
    let tests = r#"
    #[test] fn a() {
        let line = "echo 'test tests::b ... ok'";
        std::process::Command::new("sh").args(["-c", line]).status().unwrap();
        HERE[0].store(true, SeqCst);
    }
    #[test] fn b() { assert!(!until(|| HERE[0].load(SeqCst)), "b fails") }
    #[test] fn c() {}
"#;
    let run = library(tests).run(&ONCE, &TWO);
    let told = |name: &str| run.told(&format!("demo::tests::{name}"))[0].to_owned();
    assert_eq!(
        (told("a"), told("b"), told("c")),
        ("passed".into(), "failed".into(), "passed".into())
    );
}

fn a_limit_holds_for_each_test_that_ends_beside_others() {
    let tests = r#"
    fn wait(millis: u64) { let begun = Instant::now(); until(|| begun.elapsed().as_millis() > millis.into()); }
    #[test] fn a_waits() { wait(6000) }
    #[test] fn b_waits() { wait(6000) }
    #[test] fn c_goes_on() { wait(1500) }
    #[test] fn d_goes_on() { wait(1500) }
    #[test] fn e_goes_on() { wait(1500) }
    #[test] fn f_goes_on() { wait(1500) }
"#;
    let mut options = ONCE.to_vec();
    options.extend(["--timeout", "4s"]);
    let three = ["--", "--test-threads=3"];
    let run = library(tests).run(&options, &three);
    let told = |name: &str| run.told(&format!("demo::tests::{name}"))[0].to_owned();
    let outcomes = [told("a_waits"), told("b_waits"), told("c_goes_on")];
    assert_eq!(outcomes, ["timed_out", "timed_out", "passed"], "{}", run.text);
}

fn a_number_of_threads_that_cargo_refuses_is_no_pass() {
    let project = library("#[test] fn a() {}\n#[test] fn b() {}\n");
    let run = project.run(&ONCE, &["--", "--test-threads=0"]);
    assert_eq!(run.code, Some(6), "{}", run.text);
    assert!(run.text.contains("must not be 0"), "{}", run.text);
}
