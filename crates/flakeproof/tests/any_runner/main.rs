//! Runners that are driven by their command line and understood by their report, for real.

mod described;
mod dynamic;
mod go;
mod go_orders;
mod launched;
mod measured;
mod node;
mod node_orders;

use std::process::Command;

use flakeproof_testkit::{Project, Ran, skipped};

/// Where only the suite's own run matters: next to no time for evidence about what fails.
pub(crate) const SHORT: [&str; 4] = ["--evidence-budget", "1ms", "--fresh", "1"];

/// An empty project.
pub(crate) fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// Whether a tool is here; if not, the test is noted as skipped.
pub(crate) fn has(tool: &str, test: &str) -> bool {
    let version = if tool == "go" { "version" } else { "--version" };
    let is_here = Command::new(tool).arg(version).output().is_ok_and(|it| it.status.success());
    if !is_here {
        skipped::note(test, &format!("{tool} is not installed"));
    }
    is_here
}

/// `flakeproof VERB OPTIONS -- COMMAND`, with its JSON report.
pub(crate) fn flakeproof(project: &Project, verb: &str, options: &[&str], command: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let output = project
        .flakeproof(&[verb, "--reporter", &reporter])
        .args(options)
        .arg("--")
        .args(command)
        .output()
        .expect("flakeproof starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or_default() }
}

/// `flakeproof run -- COMMAND`, with next to no evidence about what fails.
pub(crate) fn run_shortly(project: &Project, command: &[&str]) -> Ran {
    flakeproof(project, "run", &SHORT, command)
}

/// `flakeproof run`.
pub(crate) fn run(project: &Project, command: &[&str]) -> Ran {
    flakeproof(project, "run", &[], command)
}
