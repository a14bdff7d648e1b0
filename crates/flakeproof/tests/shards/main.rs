//! A suite shared among machines, with the real program: every test runs once, and who fails only because
//! others ran before is told as such.

mod bad_input;
mod union;
mod victims;

use std::process::Command;

use flakeproof_testkit::{Project, Ran};
use serde_json::Value;

/// Where only the suite's own run matters: next to no time for evidence about what fails.
const SHORT: [&str; 4] = ["--evidence-budget", "1ms", "--fresh", "1"];

/// An empty project.
pub(crate) fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// `flakeproof run --shard SHARD -- COMMAND`, with its JSON report and next to no evidence.
pub(crate) fn run_shard(project: &Project, shard: &str, command: &[&str]) -> Ran {
    run_with(project, &[&["--shard", shard], SHORT.as_slice()].concat(), command)
}

/// `flakeproof run OPTIONS -- COMMAND`, with its JSON report.
pub(crate) fn run_with(project: &Project, options: &[&str], command: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let mut program = project.flakeproof(&["run", "--reporter", &reporter]);
    let output = program.args(options).arg("--").args(command).output().expect("it starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or_default() }
}

/// `flakeproof shard OPTIONS -- COMMAND`, as JSON.
pub(crate) fn shard_json(project: &Project, options: &[&str], command: &[&str]) -> Value {
    let mut program = project.flakeproof(&["shard", "--output-format", "json"]);
    let output = program.args(options).arg("--").args(command).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| unreachable!("{error}: {text}"))
}

/// The ids of the tests that a run says to have run, in order.
pub(crate) fn ids(ran: &Ran) -> Vec<String> {
    let tests = ran.json["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
    tests.iter().filter_map(|test| test["id"].as_str().map(str::to_owned)).collect()
}

/// A project that is a copy of a zoo's.
pub(crate) fn zoo(name: &str) -> Project {
    let zoo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flaky-zoo");
    let project = project();
    let from = format!("{zoo}/{name}/project/.");
    let copied = Command::new("cp").args(["-r", &from]).arg(project.path()).status();
    assert!(copied.is_ok_and(|it| it.success()), "{from} can be copied");
    project
}
