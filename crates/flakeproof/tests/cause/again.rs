//! What was found is used: the test is run again where it fails, a fix is proven there, and lists and pages
//! show it.

use std::process::Output;

use flakeproof_testkit::{Project, skipped};

use super::shell::{cause_in_shell, suite};
use super::{is_not_tried, plain_surroundings};

const LOCAL: &str = "test_a() { [ \"$(date -d @1700000000 +%d)\" = 14 ]; }";
const MENDED: &str = "test_a() { [ \"$(date -u -d @1700000000 +%d)\" = 14 ]; }";
/// It passes in that zone, and nowhere else.
const OTHERWISE: &str = "test_a() { [ \"$(date -d @1700000000 +%d)\" = 15 ]; }";

/// A project in which the cause of a failure is known.
fn with_known_cause() -> Project {
    let project = suite(LOCAL);
    let ran = cause_in_shell(&project, "test_a", "zone=Asia/Kolkata,umask=000");
    assert_eq!(ran.json["answer"], "caused by", "{}", ran.text());
    project
}

fn replace_tests(project: &Project, tests: &str) {
    let script = std::fs::read_to_string(project.path().join("suite.sh")).expect("it is there");
    let main = script.split_once("is_fine()").expect("it is whole").1;
    project.write("suite.sh", &format!("{tests}\nis_fine(){main}"));
}

fn flakeproof(project: &Project, arguments: &[&str]) -> (Output, String) {
    let mut command = project.flakeproof(arguments);
    let output = plain_surroundings(&mut command).output().expect("flakeproof starts");
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into();
    (output, text)
}

#[test]
fn repro_runs_it_under_the_lever() {
    let project = with_known_cause();
    let (output, text) = flakeproof(&project, &["repro", "test_a", "-n", "2"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("when the time zone is Asia/Kolkata, 2 times"), "{text}");
    assert!(text.contains("failed 2 of 2"), "{text}");
    let (output, text) = flakeproof(&project, &["repro", "test_a", "-n", "2", "--lever", "none"]);
    assert_eq!(output.status.code(), Some(0), "it passes without: {text}");
    let (_, text) = flakeproof(&project, &["repro", "test_a", "-n", "1", "--lever", "umask=077"]);
    assert!(text.contains("with the umask 077, once"), "{text}");
    let (output, text) = flakeproof(&project, &["repro", "test_a", "--lever", "umask=moon"]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("these are tried here: "), "{text}");
}

#[test]
fn a_lever_that_no_shell_has_is_pulled_by_a_command_that_works_elsewhere() {
    let tests = "test_a() { rm -f made renamed; : > made; mv made renamed; }";
    let ran = cause_in_shell(&suite(tests), "test_a", "slow-calls=rename refused,umask=000");
    if is_not_tried(&ran, "slow-calls") {
        let test = "a_lever_that_no_shell_has_is_pulled_by_a_command_that_works_elsewhere";
        skipped::note(test, "holding system calls is not allowed here");
        return;
    }
    let command = ran.json["command"].as_str().unwrap_or_default().to_owned();
    let words = shlex::split(&command).unwrap_or_default();
    assert_eq!(words.first().map(String::as_str), Some("flakeproof"), "{}", ran.text());
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let (output, text) = flakeproof(&suite(tests), &words);
    assert_eq!(output.status.code(), Some(1), "nothing is known there: {command}\n{text}");
    assert!(text.contains("with rename refused"), "{text}");
}

#[test]
fn a_bundle_takes_the_lever_along() {
    let project = with_known_cause();
    let (_, text) = flakeproof(&project, &["repro", "test_a", "-n", "1", "--bundle", "b.json"]);
    assert!(text.contains("failed 1 of 1"), "{text}");
    let (output, text) = flakeproof(&project, &["repro", "--from", "b.json", "--yes", "-n", "1"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("when the time zone is Asia/Kolkata"), "{text}");
}

#[test]
fn verify_proves_a_fix_where_it_used_to_fail() {
    let project = with_known_cause();
    let (output, text) = flakeproof(&project, &["verify", "test_a"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("still flaky"), "{text}");
    let (_, text) = flakeproof(&project, &["list"]);
    assert!(text.contains("latent") && text.contains("caused by zone"), "{text}");
    replace_tests(&project, MENDED);
    let (output, text) = flakeproof(&project, &["verify", "test_a", "--reporter", "json=v.json"]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("fixed, 95 %") && text.contains("Asia/Kolkata"), "{text}");
    let report = std::fs::read_to_string(project.path().join("v.json")).expect("it is written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
    assert_eq!(report["lever"]["name"], "zone");
    assert_eq!(report["was"]["source"], "under_lever");
    let (_, text) = flakeproof(&project, &["list"]);
    assert!(!text.contains("caused by zone"), "it is mended: {text}");
}

#[test]
fn what_passes_under_the_lever_and_fails_without_is_not_mended() {
    let project = with_known_cause();
    replace_tests(&project, OTHERWISE);
    let (output, text) = flakeproof(&project, &["verify", "test_a"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(!text.contains("fixed, 95 %"), "{text}");
}

#[test]
fn lists_and_pages_show_the_cause_and_do_not_call_it_flaky() {
    let project = with_known_cause();
    let (_, text) = flakeproof(&project, &["list"]);
    assert!(text.contains("latent") && text.contains("caused by zone"), "{text}");
    assert!(text.contains("no flaky test is known in this project, 1 latent"), "{text}");
    let (output, text) = flakeproof(&project, &["list", "--output-format", "json"]);
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(listed["tests"].as_array().map(Vec::len), Some(0), "{text}");
    assert_eq!(listed["latent"][0]["lever"], "zone", "{text}");
    assert_eq!(listed["latent"][0]["category"], "time", "{text}");
    flakeproof(&project, &["report", "--reporter", "html=page.html"]);
    let page = std::fs::read_to_string(project.path().join("page.html")).expect("it is written");
    assert!(page.contains("fails 8 of 8 when the time zone is Asia/Kolkata"), "no such sentence");
}
