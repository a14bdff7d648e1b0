//! The flaky zoos, as `examples/flaky-zoo` drives them: every test gets its right verdict.
//!
//! `cargo xtask zoo 50` is the long form of this for pytest. Of the other zoos one is driven each day, and
//! all with `FLAKEPROOF_WHOLE_CAMPAIGNS=1`. The zoos of Node's runners, of Go and of cargo are also hunted in.

use std::path::Path;
use std::process::Command;

use flakeproof_testkit::{campaign, node, python, skipped};

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
        // Who comes before whom decides what the animals do.
        let command = ["cargo", "test", "--target-dir", "target", "--", "--test-threads=1"];
        drive("cargo", "1", &command);
    }
}

#[test]
fn every_animal_of_the_go_zoo_gets_its_right_verdict() {
    if is_due("go") && has("go", &["go"]) {
        drive("go", "1", &["go", "test", "./..."]);
    }
}

/// The two that end their process and the twenty that fail by chance would cost minutes here, and are
/// driven above.
#[test]
fn a_hunt_finds_who_makes_whom_fail_in_the_go_zoo() {
    if has("go", &["go"]) {
        let names = "Currency|Customer|Year|Books|Passing|Beside";
        hunt_in("go", 3, &["go", "test", "-run", names, "./stock"]);
    }
}

#[test]
fn a_hunt_finds_who_makes_whom_fail_in_the_cargo_zoo() {
    let binaries = ["t10_passing", "t40_polluted_state", "t41_brittle", "t43_wrong_teardown"];
    let mut command = vec!["cargo", "test", "--target-dir", "target", "-p", "stock"];
    command.extend(binaries.iter().flat_map(|binary| ["--test", binary]));
    command.extend(["--test", "t44_other_orders"]);
    hunt_in("cargo", 8, &command);
}

/// Hunt in a part of a zoo, and compare polluters and state-setters with what is known.
fn hunt_in(zoo: &str, flaky: usize, command: &[&str]) {
    hunt_with(zoo, flaky, None, command);
}

/// The same, with a folder of packages.
fn hunt_with(zoo: &str, flaky: usize, modules: Option<&str>, command: &[&str]) {
    let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo").join(zoo);
    let work = tempfile::tempdir().expect("a temporary folder");
    let project = work.path().join("project");
    let copied = Command::new("cp").arg("-r").arg(zoo.join("project")).arg(&project).status();
    assert!(copied.is_ok_and(|it| it.success()));
    if let Some(modules) = modules {
        std::os::unix::fs::symlink(modules, project.join("node_modules")).expect("a link");
    }
    let report = work.path().join("report.json");
    let output = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .args(["hunt", "--seed", "1", "--budget", "20m", "--reporter"])
        .arg(format!("json={}", report.display()))
        .arg("--")
        .args(command)
        .current_dir(&project)
        .output()
        .expect("flakeproof starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let told: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&report).unwrap_or_default()).expect(&said);
    let expected = std::fs::read_to_string(zoo.join("expected.toml")).expect("the zoo's list");
    let mut found = 0;
    for test in told["tests"].as_array().into_iter().flatten() {
        let id = test["id"].as_str().unwrap_or_default();
        let table = expected.split("[[test]]").find(|it| it.contains(&format!("id = \"{id}\"\n")));
        let listed = |key: &str| -> Vec<String> {
            let line = table.unwrap_or_default().lines().find_map(|it| it.strip_prefix(key));
            line.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default()
        };
        let sets = |key: &str| -> Vec<Vec<String>> {
            serde_json::from_value(test[key].clone()).unwrap_or_default()
        };
        let (one, both) = (listed("polluters = "), listed("polluters_together = "));
        let mut polluters: Vec<Vec<String>> = one.into_iter().map(|it| vec![it]).collect();
        polluters.extend((!both.is_empty()).then_some(both));
        let setters: Vec<Vec<String>> =
            listed("state_setters = ").into_iter().map(|it| vec![it]).collect();
        let is_known = !polluters.is_empty() || !setters.is_empty();
        assert_eq!(!test["kind"].is_null(), is_known, "{id}: {said}");
        assert_eq!(sets("polluters"), polluters, "{id}: {said}");
        assert_eq!(sets("setters"), setters, "{id}: {said}");
        found += usize::from(is_known);
    }
    assert_eq!(found, flaky, "{said}");
}

#[test]
fn every_animal_of_the_mocha_zoo_gets_its_right_verdict() {
    if is_due("mocha") {
        hunt_and_drive("mocha", node::MOCHA, &["npx", "mocha", "test/*.test.js"]);
    }
}

#[test]
fn every_animal_of_the_node_zoo_gets_its_right_verdict() {
    if is_due("node") && has("node", &["node"]) {
        drive_with("node", &["--runs", "1", "--hunt"], &["node", "--test"]);
    }
}

#[test]
fn every_animal_of_the_jest_zoo_gets_its_right_verdict() {
    if is_due("jest")
        && let Some(modules) = modules("jest", node::JEST)
    {
        drive_with("jest", &["--runs", "1", "--link", &modules], &["npx", "jest"]);
    }
}

/// Those that end their process or fail by chance would cost minutes here, and are driven above.
#[test]
fn a_hunt_finds_who_makes_whom_fail_in_the_jest_zoo() {
    if let Some(modules) = modules("jest", node::JEST) {
        hunt_with("jest", 3, Some(&modules), &["npx", "jest", "tests/t10", "tests/t4"]);
    }
}

#[test]
fn every_animal_of_the_vitest_zoo_gets_its_right_verdict() {
    if is_due("vitest") {
        hunt_and_drive("vitest", node::VITEST, &["npx", "vitest", "run"]);
    }
}

/// Drive a zoo of Node, with a hunt.
fn hunt_and_drive(zoo: &str, package: &str, command: &[&str]) {
    if let Some(modules) = modules(zoo, package) {
        drive_with(zoo, &["--runs", "1", "--hunt", "--link", &modules], command);
    }
}

/// A folder with a zoo's runner; where there is none, that is noted.
fn modules(zoo: &str, package: &str) -> Option<String> {
    match node::modules(&[package]) {
        Ok(modules) => Some(modules.to_string_lossy().into_owned()),
        Err(why) => {
            skipped::note(&format!("the zoo of {zoo}"), &why);
            None
        }
    }
}

/// Whether a zoo is one of those that are driven today.
fn is_due(zoo: &str) -> bool {
    const ZOOS: [&str; 8] = ["junit4", "cargo", "mocha", "jest", "junit5", "go", "vitest", "node"];
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
    drive_with(zoo, &["--runs", runs], command);
}

fn drive_with(zoo: &str, options: &[&str], command: &[&str]) {
    let work = tempfile::tempdir().expect("a temporary folder");
    let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo/drive");
    let mut driver = Command::new("python3");
    driver.arg(drive).arg(zoo).arg(env!("CARGO_BIN_EXE_flakeproof")).arg(work.path());
    driver.args(options);
    let output = driver.arg("--").args(command).output().expect("the driver starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{trouble}");
}
