//! What a failing test touches, and what that says about a change.

use std::path::Path;
use std::process::Command;

use flakeproof_core::{FunctionUse, Isolation, Outcome};
use flakeproof_runner::{Granularity, Probe};
use flakeproof_testkit::skipped;

use crate::claims::Claim;
use crate::scene::{Crate, Run, manifest};

pub(crate) const CLAIMS: &[Claim] = claims![
    code_is_what_is_compiled_in,
    functions_that_did_not_run_are_known_where_the_tools_are,
    a_change_that_is_not_linked_in_is_not_the_tests_fault,
    a_change_that_is_linked_in_or_read_is,
];

const USED: &str = "pub fn length(text: &str) -> usize {\n    text.len()\n}\n\n\
    pub fn idle(\n    text: &str,\n) -> usize {\n    text.len() + 1\n}\n";

fn workspace() -> Crate {
    let user = manifest("user") + "\n[dependencies]\nused = { path = \"../used\" }\n";
    let test = r#"
#[cfg(test)]
mod tests {
    #[test] fn reads() {
        let text = std::fs::read_to_string("../data.txt").unwrap();
        let project = std::env::current_dir().unwrap().parent().unwrap().to_owned();
        let is_broken = project.with_extension("broken").exists();
        assert!(used::length(&text) > 0 && !is_broken);
    }
}
"#;
    Crate::empty()
        .file(
            "Cargo.toml",
            "[workspace]\nmembers = [\"used\", \"user\", \"other\"]\nresolver = \"2\"\n",
        )
        .file(".gitignore", "target\n.flakeproof\nCargo.lock\n")
        .file("data.txt", "data")
        .file("used/Cargo.toml", &manifest("used"))
        .file("used/src/lib.rs", USED)
        .file("other/Cargo.toml", &manifest("other"))
        .file("other/src/lib.rs", "pub fn other() {}\n")
        .file("user/Cargo.toml", &user)
        .file("user/src/lib.rs", test)
}

fn code_is_what_is_compiled_in() {
    let scene = workspace().found(&["--workspace"]);
    let [test] = &scene.order(&["reads"])[..] else { panic!() };
    let probe = Probe { dependencies: Granularity::File, ..Probe::attempt(1) };
    let execution = scene.open(Isolation::Spawn).run(test, probe).expect("it runs");
    let touched = execution.dependencies.expect("it was measured");
    let has = |file: &str| touched.code.iter().any(|it| it.ends_with(file));
    assert!(has("used/src/lib.rs") && has("user/src/lib.rs"), "{touched:?}");
    assert!(!has("other/src/lib.rs"), "{touched:?}");
    assert!(touched.followed.contains(".rs") && touched.variables.contains("*"));
    if can_trace() {
        assert!(touched.opened.iter().any(|it| it.ends_with("/data.txt")), "{touched:?}");
        assert!(touched.within.is_none() && touched.blind_spots.is_empty());
    } else {
        assert_eq!(touched.within.as_ref(), Some(&touched.code));
    }
}

fn functions_that_did_not_run_are_known_where_the_tools_are() {
    const CLAIM: &str = "functions_that_did_not_run_are_known_where_the_tools_are";
    let scene = workspace().found(&["--workspace"]);
    let [test] = &scene.order(&["reads"])[..] else { panic!() };
    let probe = Probe { dependencies: Granularity::Function, ..Probe::attempt(1) };
    let execution = scene.open(Isolation::Spawn).run(test, probe).expect("it runs");
    assert_eq!(execution.outcome, Outcome::Passed, "{:?}", execution.failure);
    let touched = execution.dependencies.expect("it was measured");
    if !has_coverage_tools() {
        assert!(touched.functions.is_empty(), "{touched:?}");
        skipped::note(CLAIM, "no llvm-tools in the toolchain");
        return;
    }
    let of_used = touched.functions.iter().find(|(file, _)| file.ends_with("used/src/lib.rs"));
    let (_, uses) = of_used.unwrap_or_else(|| panic!("{touched:?}"));
    let length = FunctionUse { body: 1, end: 3, ran: true };
    let idle = FunctionUse { body: 7, end: 9, ran: false };
    assert_eq!(uses[..], [length, idle]);
    assert!(touched.opened.iter().all(|file| !file.contains("/flakeproof-coverage/")));
}

/// Whether the toolchain has the tools that read coverage.
fn has_coverage_tools() -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir"]).output();
    let folder = output.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    folder.is_ok_and(|folder| Path::new(&folder).join("../bin/llvm-cov").is_file())
}

/// Whether the system can be asked what is opened.
fn can_trace() -> bool {
    Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|it| it.success())
}

/// Pass once, then change a file and break the test from outside the project.
fn after_change(path: &str, content: &str) -> Run {
    let project = workspace();
    // Written by the first run, it would be newer than that run's pass.
    let mut lock = Command::new("cargo");
    lock.args(["generate-lockfile", "--offline"]);
    let locked = lock.current_dir(project.path()).status().expect("cargo starts");
    assert!(locked.success());
    project.commit();
    let first = project.run(&[], &["--workspace"]);
    assert_eq!(first.code, Some(0), "{}", first.text);
    project.write(path, content);
    std::fs::write(project.path().with_extension("broken"), "").expect("a file beside it");
    project.run(&["--compare-base", "off"], &["--workspace"])
}

fn a_change_that_is_not_linked_in_is_not_the_tests_fault() {
    if !can_trace() {
        skipped::note("a_change_that_is_not_linked_in_is_not_the_tests_fault", "no strace");
        return;
    }
    let run = after_change("other/src/lib.rs", "pub fn other() { println!(); }\n");
    // What it asks for outside the project is newer than its pass, so that nothing more can be said.
    assert_eq!(run.told("user::tests::reads")[1], "unknown", "{}", run.text);
    assert!(!run.text.contains("touches the change since"), "{}", run.text);
    assert!(run.text.contains(".broken is under no version control"), "{}", run.text);
}

fn a_change_that_is_linked_in_or_read_is() {
    let run = after_change("used/src/lib.rs", &USED.replace("text.len()", "text.chars().count()"));
    assert_eq!(run.told("user::tests::reads")[1], "real", "{}", run.text);
    let run = after_change("data.txt", "other data");
    let expected = if can_trace() { "real" } else { "unknown" };
    assert_eq!(run.told("user::tests::reads")[1], expected, "{}", run.text);
    // A manifest decides how code is built, and nothing can be said then.
    let run = after_change("other/Cargo.toml", &(manifest("other") + "\n[features]\nx = []\n"));
    assert_eq!(run.told("user::tests::reads")[1], "unknown", "{}", run.text);
}
