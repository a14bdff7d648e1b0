//! `flakeproof ingest` and `flakeproof validate` on reports that real tools write.

mod history;
mod languages;
mod mutated;
mod scripts;
mod wrong;

use std::path::Path;
use std::process::{Command, Stdio};

use flakeproof_testkit::{Project, skipped, surroundings};
use serde_json::Value;

/// The revision that tests claim to have run.
pub(crate) const REVISION: &str = "83e14cb0a1b2c3d4e5f60718293a4b5c6d7e8f90";

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

/// Run a tool in the project, whatever its tests do, and give what it prints.
pub(crate) fn ran(project: &Project, command: &[&str]) -> String {
    let output = surroundings::plain(&mut Command::new(command[0]))
        .args(&command[1..])
        .current_dir(project.path())
        .stdin(Stdio::null())
        .output()
        .expect("the tool starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// `flakeproof ARGUMENTS` without any CI system around it.
pub(crate) fn flakeproof(project: &Project, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output =
        project.flakeproof(arguments).stdin(Stdio::null()).output().expect("flakeproof starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The only run of `flakeproof ingest --format json ARGUMENTS`.
pub(crate) fn ingested(project: &Project, arguments: &[&str]) -> Value {
    let all = [&["ingest", "--format", "json", "--revision", REVISION], arguments].concat();
    let (code, out, err) = flakeproof(project, &all);
    assert_eq!(code, Some(0), "{out}{err}");
    let value: Value = serde_json::from_str(&out).expect("it prints JSON");
    value["runs"][0].clone()
}

/// How many tests passed, failed, passed when they were run again, and were skipped.
pub(crate) fn counts(run: &Value) -> [u64; 4] {
    ["passed", "failed", "passed_when_rerun", "skipped"]
        .map(|key| run[key].as_u64().expect("a run has counts"))
}

/// The ids of all tests in the history, sorted.
pub(crate) fn ids(project: &Project) -> Vec<String> {
    let path = project.path().join(".flakeproof/history.db");
    texts(&path, "SELECT id FROM test ORDER BY id")
}

/// A column of texts from a history.
pub(crate) fn texts(path: &Path, query: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).expect("there is a history");
    let mut statement = connection.prepare(query).expect("the query is right");
    let rows = statement.query_map([], |row| row.get(0)).expect("the query runs");
    rows.map(|row| row.expect("a text")).collect()
}

/// Ingest the reports of a tool, check that nothing is wrong with them, and that there is what the
/// tool says there is: passed, failed, passed when repeated, skipped.
pub(crate) fn holds(project: &Project, reports: &str, expected: [u64; 4], some: &[&str]) {
    let run = ingested(project, &[reports]);
    assert_eq!(counts(&run), expected, "{run:#}");
    assert_eq!(run["issues"], serde_json::json!([]));
    let ids = ids(project);
    for id in some {
        assert!(ids.iter().any(|it| it == id), "{id} in {ids:#?}");
    }
    let (code, out, _) = flakeproof(project, &["validate", reports]);
    assert_eq!(code, Some(0), "{out}");
}
