//! How tests can end, as the program reports it, and what is said when there is nothing to run.

use flakeproof_core::{Outcome, Phase};
use flakeproof_runner::{Blame, Error};

use crate::claims::Claim;
use crate::scene::{Crate, manifest};

pub(crate) const CLAIMS: &[Claim] = claims![
    every_end_of_a_test_is_told,
    what_a_test_prints_is_not_taken_for_its_result,
    a_failure_has_its_place_and_text,
    a_chance_a_victim_and_a_race_get_their_verdicts,
    a_process_that_dies_after_its_last_test_fails_the_run,
    code_that_does_not_compile_is_shown,
    a_command_that_selects_nothing_says_so,
    a_runner_of_the_projects_own_is_not_passed_over,
    a_folder_without_a_project_is_explained,
    the_program_takes_a_cargo_project_by_itself,
];

const ENDS: &str = r#"
#[cfg(test)]
mod tests {
    #[test] fn a_passes() { print!("hello"); }
    #[test] fn b_aborts() { println!("last words"); std::process::abort(); }
    #[test] fn c_exits() { std::process::exit(0); }
    #[test] #[ignore = "is it ok"] fn d_ignored() {}
    #[test] fn e_returns() -> Result<(), String> { Err("bad".into()) }
    #[test] fn f_hangs() { println!("waiting"); loop { std::thread::park() } }
    #[test] #[should_panic] fn g_does_not_panic() {}
    #[test] #[should_panic] fn h_panics() { panic!("as it should") }
    fn deep(n: u64) -> u64 { if n == 0 { 0 } else { deep(n - 1) + std::hint::black_box(n) } }
    #[test] fn i_overflows() { deep(u64::MAX); }
    #[test] fn j_passes() {}
}
"#;

const ONCE: [&str; 8] =
    ["--retries", "0", "--postponed", "0", "--fresh", "0", "--dependencies", "off"];

fn every_end_of_a_test_is_told() {
    let project = Crate::new(ENDS);
    let mut options = ONCE.to_vec();
    options.extend(["--timeout", "3s"]);
    let run = project.run(&options, &[]);
    let outcome = |name: &str| run.told(&format!("demo::tests::{name}"))[0].to_owned();
    let ends = [
        ("a_passes", "passed"),
        ("b_aborts", "crashed"),
        ("c_exits", "crashed"),
        ("d_ignored", "skipped"),
        ("e_returns", "failed"),
        ("f_hangs", "timed_out"),
        ("g_does_not_panic", "failed"),
        ("h_panics", "passed"),
        ("i_overflows", "crashed"),
        ("j_passes", "passed"),
    ];
    for (name, expected) in ends {
        assert_eq!(outcome(name), expected, "{name}\n{}", run.text);
    }
    assert_eq!(run.code, Some(1), "{}", run.text);
}

fn what_a_test_prints_is_not_taken_for_its_result() {
    let scene = Crate::new(
        r#"
#[cfg(test)]
mod tests {
    #[test] fn a_fails() {
        println!("test tests::b_passes ... ok\ntest result: ok. 4 passed; 0 failed; 0 ignored");
        panic!("no");
    }
    #[test] fn b_passes() { println!("test tests::c_exits ... FAILED"); print!("FAILED"); }
    #[test] fn c_exits() {
        println!("ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured");
        std::process::exit(3);
    }
    #[test] fn d_fails_and_leaves_a_thread() {
        std::thread::spawn(|| (0..200).for_each(|_| eprintln!("all is ok")));
        panic!("no");
    }
}
"#,
    )
    .found(&[]);
    assert_eq!(scene.alone("a_fails").outcome, Outcome::Failed);
    assert_eq!(scene.alone("b_passes").outcome, Outcome::Passed);
    assert_eq!(scene.alone("c_exits").outcome, Outcome::Crashed);
    assert_eq!(scene.alone("d_fails_and_leaves_a_thread").outcome, Outcome::Failed);
    let mut environment = scene.open(flakeproof_core::Isolation::Same);
    let order = scene.order(&["a_fails", "b_passes", "c_exits"]);
    let seen = crate::scene::outcomes(&mut *environment, &order).expect("they run");
    assert_eq!(seen, [Outcome::Failed, Outcome::Passed, Outcome::Crashed]);
}

fn a_failure_has_its_place_and_text() {
    let scene = Crate::new(ENDS).file(
        "tests/compare.rs",
        "#[test]\nfn sums() {\n    println!(\"adding\");\n    \
         assert_eq!(1 + 1, 3, \"it is late\");\n}\n",
    );
    let scene = scene.found(&[]);
    let execution = scene.alone("sums");
    let failure = execution.failure.expect("it fails");
    assert_eq!(failure.message, "assertion `left == right` failed: it is late (left: 2, right: 3)");
    assert_eq!(failure.location.map(|it| it.to_string()), Some("tests/compare.rs:4".into()));
    assert_eq!(failure.phase, Phase::Call);
    assert!(failure.text.contains("adding"), "{}", failure.text);
    let unmet = scene.alone("g_does_not_panic").failure.expect("it fails");
    assert!(unmet.message.starts_with("test did not panic as expected"), "{}", unmet.message);
    let aborted = scene.alone("b_aborts").failure.expect("it crashes");
    assert!(aborted.message.contains("SIGABRT") && aborted.text.contains("last words"));
}

const VERDICTS: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    static SHARED: Mutex<u32> = Mutex::new(0);
    fn times(name: &str) -> u32 {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let times = std::fs::read_to_string(&file).map_or(0, |text| text.len() as u32);
        std::fs::write(file, "x".repeat(times as usize + 1)).unwrap();
        times
    }

    #[test] fn a_pollutes() { *SHARED.lock().unwrap() = 1; }
    #[test] fn b_is_polluted() { assert_eq!(*SHARED.lock().unwrap(), 0); }
    #[test] fn c_fails_once() { assert!(times("once") > 0); }
    #[test] fn d_races() {
        if times("race") == 0 { eprintln!("WARNING: ThreadSanitizer: data race (pid=1)"); panic!() }
    }
    #[test] fn e_sees_its_attempt() {
        let attempt = std::env::var("FLAKEPROOF_ATTEMPT").unwrap();
        assert!(attempt != "1", "attempt {attempt}");
    }
}
"#;

fn a_chance_a_victim_and_a_race_get_their_verdicts() {
    let project = Crate::new(VERDICTS);
    let run = project.run(&[], &["--", "--test-threads=1"]);
    let told = |name: &str| run.told(&format!("demo::tests::{name}"));
    assert_eq!(told("b_is_polluted"), ["failed", "unknown", "state-dependent"], "{}", run.text);
    assert_eq!(told("c_fails_once"), ["failed", "flaky", "not-bursty"], "{}", run.text);
    assert_eq!(told("d_races"), ["failed", "real", "-"], "{}", run.text);
    assert_eq!(told("e_sees_its_attempt")[0], "failed");
    assert_eq!(run.attempts("demo::tests::d_races"), ["first same failed"]);
    let again = run.attempts("demo::tests::b_is_polluted");
    assert_eq!(again[..2], ["first same failed", "immediate same failed"], "{again:?}");
}

fn a_process_that_dies_after_its_last_test_fails_the_run() {
    let project = Crate::new(
        r#"
#[cfg(test)]
mod tests {
    extern "C" { fn atexit(call: extern "C" fn()) -> i32; }
    extern "C" fn leak() { eprintln!("leaks"); std::process::abort() }
    #[test] fn a_leaves_a_bomb() { unsafe { atexit(leak); } }
    #[test] fn b_passes() {}
}
"#,
    );
    let run = project.run(&ONCE, &[]);
    assert_ne!(run.code, Some(0), "{}", run.text);
    assert_eq!(run.told("demo::tests::b_passes")[0], "passed");
    assert!(run.text.contains("SIGABRT"), "{}", run.text);
    let scene = project.found(&[]);
    assert_eq!(scene.alone("a_leaves_a_bomb").outcome, Outcome::Crashed);
    assert_eq!(scene.alone("b_passes").outcome, Outcome::Passed);
}

fn explained(error: Error) -> (Blame, String, String) {
    match error {
        Error::Explained { blame, what, details, .. } => (blame, what, details),
        other => panic!("{other:?}"),
    }
}

fn code_that_does_not_compile_is_shown() {
    let project = Crate::new("fn broken() -> u8 { \"a\" }\n");
    let (blame, what, details) = explained(project.refusal(&[]));
    assert_eq!(blame, Blame::Runner);
    assert!(what.contains("do not compile"), "{what}");
    assert!(details.contains("mismatched types") && details.contains("src/lib.rs:1"), "{details}");
}

fn a_command_that_selects_nothing_says_so() {
    let project = Crate::new("#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n");
    assert_eq!(explained(project.refusal(&["--lib", "nobody"])).0, Blame::NoTests);
    assert_eq!(explained(project.refusal(&["--no-such-option"])).0, Blame::Usage);
    assert_eq!(explained(project.refusal(&["--test", "nobody"])).0, Blame::Usage);
    assert_eq!(explained(project.refusal(&["--", "--list"])).0, Blame::Usage);
}

fn a_runner_of_the_projects_own_is_not_passed_over() {
    let library = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n";
    let project =
        Crate::new(library).file(".cargo/config.toml", "[target.'cfg(unix)']\nrunner = \"nice\"\n");
    let (blame, what, _) = explained(project.refusal(&[]));
    assert_eq!(blame, Blame::Usage);
    assert!(what.contains("runner"), "{what}");
}

fn a_folder_without_a_project_is_explained() {
    let (blame, what, _) = explained(Crate::empty().refusal(&[]));
    assert_eq!(blame, Blame::Usage);
    assert!(what.contains("cargo"), "{what}");
}

fn the_program_takes_a_cargo_project_by_itself() {
    let library = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n";
    let project = Crate::empty().file("Cargo.toml", &manifest("demo")).file("src/lib.rs", library);
    let run = project.run(&[], &["--lib"]);
    assert_eq!(run.code, Some(0), "{}", run.text);
    assert_eq!(run.told("demo::tests::one")[0], "passed");
    let broken = project.run(&[], &["--test", "nobody"]);
    assert_eq!(broken.code, Some(2), "{}", broken.text);
}
