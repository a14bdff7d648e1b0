//! The flaky zoos, as `examples/flaky-zoo` drives them: every test gets its right verdict.
//!
//! `cargo xtask zoo 50` is the long form of this for pytest. Of the other zoos one is driven each day, and
//! all with `FLAKEPROOF_WHOLE_CAMPAIGNS=1`. The zoo of jest is not here yet: its README says what does not
//! hold.

use std::path::Path;
use std::process::Command;

use flakeproof_testkit::{campaign, python, skipped};

#[test]
fn every_animal_of_the_zoo_gets_its_right_verdict() {
    let python = python::usual().to_string_lossy().into_owned();
    drive("pytest", "1", &[&python, "-m", "pytest", "-q"]);
}

#[test]
fn every_animal_of_the_junit4_zoo_gets_its_right_verdict() {
    if is_due("junit4") && has("junit4", &["mvn", "javac"]) {
        drive("junit4", "1", &["mvn", "-q", "test"]);
    }
}

#[test]
fn every_animal_of_the_junit5_zoo_gets_its_right_verdict() {
    if is_due("junit5") && has("junit5", &["mvn", "javac"]) {
        drive("junit5", "1", &["mvn", "-q", "test"]);
    }
}

#[test]
fn every_animal_of_the_cargo_zoo_gets_its_right_verdict() {
    if is_due("cargo") {
        drive("cargo", "1", &["cargo", "test", "--target-dir", "target"]);
    }
}

#[test]
fn every_animal_of_the_go_zoo_gets_its_right_verdict() {
    if is_due("go") && has("go", &["go"]) {
        drive("go", "1", &["go", "test", "./..."]);
    }
}

/// Whether a zoo is one of those that are driven today.
fn is_due(zoo: &str) -> bool {
    const ZOOS: [&str; 4] = ["junit4", "cargo", "junit5", "go"];
    campaign::today(ZOOS.len(), 1).into_iter().any(|at| ZOOS[at] == zoo)
}

/// Whether a zoo's tools are here; if not, that is noted.
fn has(zoo: &str, tools: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &str| std::env::split_paths(&path).any(|it| it.join(tool).is_file());
    let missing = tools.iter().find(|tool| !is_there(tool));
    if let Some(tool) = missing {
        skipped::note(&format!("the zoo of {zoo}"), &format!("there is no `{tool}`"));
    }
    missing.is_none()
}

fn drive(zoo: &str, runs: &str, command: &[&str]) {
    let work = tempfile::tempdir().expect("a temporary folder");
    let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo/drive");
    let mut driver = Command::new("python3");
    driver.arg(drive).arg(zoo).arg(env!("CARGO_BIN_EXE_flakeproof")).arg(work.path());
    driver.args(["--runs", runs]);
    let output = driver.arg("--").args(command).output().expect("the driver starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{trouble}");
}
