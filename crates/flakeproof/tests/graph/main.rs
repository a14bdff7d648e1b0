//! `flakeproof graph`, as a user runs it.

mod bad_input;
mod formats;

use std::path::{Path, PathBuf};

use flakeproof_testkit::{Project, Ran};
use serde_json::Value;

/// An empty project.
pub(crate) fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// A copy of one of the small projects in `samples`.
pub(crate) fn sample(name: &str) -> Project {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/graph/samples", name].iter().collect();
    let project = project();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("it is text").replace("\r\n", "\n");
            project.write(&below(&path, &root), &text);
        }
    }
    project
}

fn below(path: &Path, root: &Path) -> String {
    let path = path.strip_prefix(root).expect("it was found there");
    path.to_string_lossy().replace('\\', "/")
}

/// `flakeproof graph` with these arguments.
pub(crate) fn graph(project: &Project, arguments: &[&str]) -> Ran {
    let mut all = vec!["graph"];
    all.extend(arguments);
    let output = project.flakeproof(&all).output().expect("flakeproof starts");
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Ran { output, json }
}

/// `flakeproof graph` as JSON, which must succeed.
#[track_caller]
pub(crate) fn graph_json(project: &Project, test: &str) -> Value {
    let ran = graph(project, &[test, "--format", "json"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    ran.json
}

/// What was printed on stdout.
pub(crate) fn stdout(ran: &Ran) -> String {
    String::from_utf8_lossy(&ran.output.stdout).into_owned()
}

/// It is refused with this code, says all of this, and says what to do next.
#[track_caller]
pub(crate) fn assert_refuses(ran: &Ran, code: i32, words: &[&str]) {
    let text = ran.text();
    assert_eq!(ran.code(), Some(code), "{text}");
    for word in words.iter().chain(&["error: ", "next: "]) {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
    assert!(!text.contains("panicked at"), "{text}");
    assert_eq!(stdout(ran), "", "nothing is data when nothing was drawn");
}

/// The members of a list.
pub(crate) fn list<'v>(document: &'v Value, name: &str) -> &'v [Value] {
    document[name].as_array().map(Vec::as_slice).unwrap_or_default()
}
