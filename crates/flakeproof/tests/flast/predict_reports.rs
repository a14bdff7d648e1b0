//! Predictions for other programs: `--reporter` and `--output-format`.

use std::fs;

use flakeproof_testkit::{Project, Ran};
use serde_json::Value;

use crate::labelled::{PURE, SUSPECT};
use crate::{assert_says, finish, flakeproof, model, project, stdout};

fn suspicious() -> Project {
    project().file("sub/QueueTest.java", SUSPECT).file("sub/TextTest.java", PURE)
}

fn predict(project: &Project, options: &[&str]) -> Ran {
    let ran = flakeproof(project, &[&["predict", "--model", model()], options].concat());
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    ran
}

/// What `--reporter TYPE=FILE` wrote.
fn report(kind: &str) -> String {
    let project = suspicious();
    let _ = predict(&project, &["--reporter", &format!("{kind}=reports/out")]);
    fs::read_to_string(project.path().join("reports/out")).expect("the report is written")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// One result for the suspect, at its lines.
fn assert_is_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    let results = log["runs"][0]["results"].as_array().expect("results are a list");
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["ruleId"], "flaky-test/async_wait");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "sub/QueueTest.java");
    assert_eq!([&place["region"]["startLine"], &place["region"]["endLine"]], [4, 9]);
}

fn assert_is_annotation(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(lines[0].starts_with("::warning file=sub/QueueTest.java,line=4,endLine=9,"), "{text}");
}

#[test]
fn the_json_report_lists_suspects_and_the_rest() {
    let report = parsed(&report("json"));
    assert_eq!(report["schema"], 1);
    assert_eq!(report["tests"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_sarif_report_has_a_result_for_each_suspect_and_no_other() {
    assert_is_sarif(&parsed(&report("sarif")));
}

#[test]
fn the_github_report_annotates_each_suspect() {
    assert_is_annotation(&report("github"));
}

#[test]
fn the_markdown_report_is_a_table_of_suspects() {
    let text = report("markdown");
    assert!(text.starts_with("## flakeproof: 1 of 2 tests may be flaky\n"), "{text}");
    assert!(text.contains("QueueTest#drainsSlowly") && !text.contains("dropsSpaces"), "{text}");
}

#[test]
fn several_reports_are_written_at_once() {
    let project = suspicious();
    let _ = predict(&project, &["--reporter", "json=a", "--reporter", "sarif=b"]);
    let read = |name: &str| fs::read_to_string(project.path().join(name)).expect("it is there");
    assert_eq!(parsed(&read("a"))["schema"], 1);
    assert_is_sarif(&parsed(&read("b")));
}

#[test]
fn the_output_format_json_is_the_json_report() {
    let ran = predict(&suspicious(), &["--output-format", "json"]);
    assert_eq!(parsed(&stdout(&ran)), parsed(&report("json")));
}

#[test]
fn the_output_format_sarif_is_nothing_but_sarif() {
    assert_is_sarif(&parsed(&stdout(&predict(&suspicious(), &["--output-format", "sarif"]))));
}

#[test]
fn the_output_format_github_is_nothing_but_annotations() {
    assert_is_annotation(&stdout(&predict(&suspicious(), &["--output-format", "github"])));
}

#[test]
fn the_output_format_markdown_is_the_markdown_report() {
    let ran = predict(&suspicious(), &["--output-format", "markdown"]);
    assert_eq!(stdout(&ran), report("markdown"));
}

#[test]
fn a_report_on_stdout_has_it_alone_and_people_read_stderr() {
    let ran = predict(&suspicious(), &["--reporter", "sarif=-"]);
    assert_is_sarif(&parsed(&stdout(&ran)));
    assert_says(&ran, 0, &["1 suspect among 2 tests"]);
}

#[test]
fn annotations_name_files_as_the_repository_does() {
    let project = suspicious();
    let mut command = project.flakeproof(&["predict", "--model", model()]);
    command.args(["--output-format", "github"]).env("GITHUB_WORKSPACE", project.path());
    let ran = finish(command.current_dir(project.path().join("sub")));
    assert_is_annotation(&stdout(&ran));
}

#[test]
fn a_place_that_cannot_be_written_is_named_and_nothing_is_lost() {
    let project = suspicious();
    let arguments = ["predict", "--model", model(), "--reporter", "json=sub"];
    let ran = flakeproof(&project, &arguments);
    assert_says(&ran, 6, &["the report sub cannot be written", "next: "]);
    assert!(stdout(&ran).contains("1 suspect among 2 tests"));
}

#[test]
fn a_reporter_that_is_none_is_told_which_there_are() {
    let ran = flakeproof(&suspicious(), &["predict", "--reporter", "junit=out.xml"]);
    assert_says(&ran, 2, &["there is no reporter `junit`", "json=FILE, sarif=FILE, github=FILE"]);
}
