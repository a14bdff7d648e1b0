//! `flakeproof report` and `flakeproof list`: what is flaky now, from the history of real runs.

use std::path::Path;

use flakeproof_testkit::Project;
use serde_json::Value;

/// A test that fails at every other run, one that always fails, and one that passes.
const TESTS: &str = "
import pathlib

def test_every_other():
    mark = pathlib.Path(__file__).with_name('ran')
    if mark.exists():
        mark.unlink()
        return
    mark.touch()
    assert False, 'every other time'

def test_broken():
    assert 1 == 2, 'always'

def test_sound():
    pass
";

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("pytest.ini", "[pytest]\n")
        .file("test_a.py", TESTS)
}

/// Three runs without reruns, so that only the history knows.
fn with_three_runs() -> Project {
    let project = project();
    for _ in 0..3 {
        let _ = project.run(&["--dependencies", "off"], &[]);
    }
    project
}

fn flakeproof(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let output = project.flakeproof(words).output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn json(project: &Project) -> Value {
    let output =
        project.flakeproof(&["report", "--json", "-"]).output().expect("the program starts");
    serde_json::from_slice(&output.stdout).expect("is JSON")
}

fn standing(report: &Value, test: &str) -> String {
    let tests = report["tests"].as_array().expect("has tests");
    let is_meant = |it: &&Value| it["id"].as_str().is_some_and(|id| id.ends_with(test));
    let found = tests.iter().find(is_meant).map(|it| it["standing"].clone());
    found.as_ref().and_then(Value::as_str).unwrap_or("none").to_owned()
}

#[test]
fn flaky_broken_and_steady_are_told_apart() {
    let report = json(&with_three_runs());
    assert_eq!(standing(&report, "test_every_other"), "flaky", "{report:#}");
    assert_eq!(standing(&report, "test_broken"), "broken", "{report:#}");
    assert_eq!(standing(&report, "test_sound"), "steady", "{report:#}");
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_page_is_written_beside_the_history_unless_a_place_is_named() {
    let project = with_three_runs();
    let (code, text) = flakeproof(&project, &["report"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("report.html") && text.contains("1 flaky, 1 broken"), "{text}");
    let page = std::fs::read_to_string(project.path().join(".flakeproof/report.html"));
    let page = page.expect("is there");
    assert!(page.starts_with("<!doctype html>") && page.contains("test_every_other"));
    let (code, _) = flakeproof(&project, &["report", "--html", "out/page.html"]);
    assert_eq!(code, Some(0));
    assert!(project.path().join("out/page.html").is_file());
}

#[test]
fn comments_for_pull_and_merge_requests_come_from_the_same_data() {
    let project = with_three_runs();
    for form in ["--markdown", "--gitlab-note", "--gitlab-quality"] {
        let (code, text) = flakeproof(&project, &["report", form, "-"]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("test_every_other"), "{form}: {text}");
    }
}

#[test]
fn a_job_of_github_gets_a_summary() {
    let project = with_three_runs();
    let summary = project.path().join("summary.md");
    let ended = project
        .flakeproof(&["report", "--json", "-"])
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output()
        .expect("the program starts");
    assert!(ended.status.success());
    assert!(std::fs::read_to_string(summary).expect("is there").contains("test_every_other"));
}

#[test]
fn without_a_history_it_says_how_to_get_one() {
    let (code, text) = flakeproof(&project(), &["report"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("flakeproof run --") && text.contains("flakeproof ingest"), "{text}");
    assert!(!Path::new(".flakeproof").exists());
}

#[test]
fn a_list_has_what_runs_have_shown_and_says_what_else_there_is() {
    let (code, text) = flakeproof(&with_three_runs(), &["list"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 flaky test known"), "{text}");
    assert!(text.contains("besides: 1 broken"), "{text}");
}
