//! `flakeproof cause`, for real: the right lever is named, no wrong one is, and nothing is left behind.

mod again;
mod bad_input;
mod contract;
mod fix;
mod interrupted;
mod levers;
mod other_runners;
mod provoked;
mod shell;
mod zoo;

use std::process::Command;

use flakeproof_testkit::{Project, Ran};

/// A project with these tests in `test_a.py`.
pub(crate) fn project(tests: &str) -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_a.py", tests)
}

/// `flakeproof cause TEST --levers LEVERS -- python -m pytest`, with its JSON report.
pub(crate) fn cause(project: &Project, test: &str, levers: &str) -> Ran {
    let python = project.python();
    cause_by(project, test, levers, &[&python, "-m", "pytest"])
}

/// The same with another command.
pub(crate) fn cause_by(project: &Project, test: &str, levers: &str, command: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let output = plain_surroundings(
        project
            .flakeproof(&[
                "cause",
                test,
                "--levers",
                levers,
                "--reporter",
                &reporter,
                "--seed",
                "7",
            ])
            .arg("--")
            .args(command),
    )
    .output()
    .expect("flakeproof starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or_default() }
}

/// Surroundings in which no test of the zoo fails.
pub(crate) fn plain_surroundings(command: &mut Command) -> &mut Command {
    for name in ["TZ", "CI", "GITHUB_ACTIONS", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C.UTF-8").env("PYTHONDONTWRITEBYTECODE", "1")
}

/// The levers that are named, in their order.
pub(crate) fn named(ran: &Ran) -> Vec<String> {
    let levers = ran.json["levers"].as_array().cloned().unwrap_or_default();
    let mut names: Vec<String> = levers
        .iter()
        .filter(|it| !it["answer"].is_null())
        .filter_map(|it| it["name"].as_str().map(str::to_owned))
        .collect();
    names.dedup();
    names
}

/// Whether the report says that a lever cannot be tried here.
pub(crate) fn is_not_tried(ran: &Ran, lever: &str) -> bool {
    let not_tried = ran.json["not_tried"].as_array().cloned().unwrap_or_default();
    not_tried.iter().any(|it| it["name"] == lever)
}
