//! What tests leave on disk, removed or not.

use flakeproof_testkit::Project;
use serde_json::json;

use super::program::{assert_says, empty, hunt, hunt_as_typed};

/// A polluter that leaves a folder in the project, and a victim that fails when it is there.
const LEAVING: &str = "
import pathlib

HERE = pathlib.Path(__file__).parent

def test_export():
    (HERE / 'data' / 'export').mkdir(parents=True, exist_ok=True)
    (HERE / 'data' / 'export' / 'rows.csv').write_text('1')

def test_nothing_is_exported():
    assert not (HERE / 'data').exists()

def test_sound():
    pass

def test_rewrites_the_notes():
    (HERE / 'notes.md').write_text('rewritten')
";

fn leaving() -> Project {
    let project = empty()
        .file("test_export.py", LEAVING)
        .file("notes.md", "notes\n")
        .file(".gitignore", "__pycache__/\n.pytest_cache/\n*.log\n");
    project.commit();
    project.write("mine.txt", "not yet added\n");
    project
}

#[test]
fn a_victim_of_what_stays_on_disk_is_found_with_its_polluter() {
    let project = leaving();
    let ran = hunt(&project, &["--tidy", "-j", "4"]);
    let found = ["VICTIM (1)", "fails after: test_export.py::test_export"];
    assert_says(&ran, 1, &found);
    assert_says(&ran, 1, &["tests left files or folders, which were removed: data", "rows.csv"]);
    assert_says(&ran, 1, &["tests changed files that git tracks: notes.md"]);
    let victim = ran.test("test_nothing_is_exported");
    assert_eq!(victim["kind"], "victim");
    assert_eq!(victim["polluters"], json!([["test_export.py::test_export"]]));
    assert!(!project.path().join("data").exists());
    let kept = |name: &str| std::fs::read_to_string(project.path().join(name)).unwrap_or_default();
    assert_eq!(
        (kept("mine.txt").as_str(), kept("notes.md").as_str()),
        ("not yet added\n", "rewritten")
    );
}

#[test]
fn without_tidying_nothing_is_removed() {
    let project = leaving();
    let ran = hunt(&project, &[]);
    assert!(!ran.text().contains("were removed"), "{}", ran.text());
    assert!(project.path().join("data/export/rows.csv").exists());
}

#[test]
fn tidying_needs_git() {
    let project = empty().file("test_export.py", LEAVING);
    assert_says(&hunt(&project, &["--tidy"]), 2, &["`--tidy` needs git", "git init"]);
}

#[test]
fn a_hunt_that_did_not_tidy_does_not_go_on_with_it() {
    let project = leaving();
    hunt(&project, &["--budget", "1ms"]);
    let ran = hunt_as_typed(&project, &["--resume", "--tidy"]);
    assert_says(&ran, 2, &["`--tidy` is not what the hunt", "without `--resume`"]);
}
