//! What is asked for and cannot be answered.

use super::shell::{cause_in_shell, suite};
use super::{cause, named, project};

#[test]
fn a_test_that_is_not_there_is_told() {
    let ran = cause_in_shell(&suite(""), "test_b", "zone");
    assert_eq!(ran.output.status.code(), Some(4), "{}", ran.text());
    assert!(ran.text().contains("no test is called `test_b`"), "{}", ran.text());
}

#[test]
fn a_lever_that_is_not_there_is_told() {
    let ran = cause_in_shell(&suite(""), "is_fine", "moon");
    assert_eq!(ran.output.status.code(), Some(2), "{}", ran.text());
    assert!(ran.text().contains("there is no lever `moon`"), "{}", ran.text());
    let ran = cause_in_shell(&suite(""), "is_fine", "zone=Mare/Tranquillitatis");
    assert_eq!(ran.output.status.code(), Some(2), "{}", ran.text());
    assert!(ran.text().contains("these are tried here: "), "{}", ran.text());
}

#[test]
fn a_test_that_always_fails_is_called_broken() {
    let ran = cause_in_shell(&suite("test_a() { false; }"), "test_a", "zone,umask");
    assert_eq!(ran.output.status.code(), Some(1), "{}", ran.text());
    assert!(ran.text().contains("broken rather than flaky"), "{}", ran.text());
    assert_eq!(named(&ran), [""; 0]);
}

#[test]
fn a_test_that_never_fails_is_not_reproduced() {
    let ran = cause_in_shell(&suite(""), "is_fine", "zone,umask");
    assert_eq!(ran.output.status.code(), Some(5), "{}", ran.text());
    assert_eq!(ran.json["answer"], "not reproduced");
}

#[test]
fn a_skipped_test_says_nothing() {
    let ran = cause_in_shell(&suite("test_a() { return 77; }"), "test_a", "zone");
    assert_eq!(ran.output.status.code(), Some(5), "{}", ran.text());
    assert!(ran.text().contains("skipped, or never reached"), "{}", ran.text());
}

#[test]
fn a_limit_that_keeps_the_runner_from_working_is_no_evidence() {
    // The runner itself needs more files than this to start, whatever the test does.
    let tests = "def test_a(): pass\ndef test_b(): pass\n";
    let hungry = "import os\nheld = [open(os.devnull) for _ in range(300)]\n";
    let ran =
        cause(&project(tests).file("conftest.py", hungry), "test_a", "descriptors=256 open files");
    assert_eq!(named(&ran), [""; 0], "{}", ran.text());
    assert!(ran.text().contains("the runner does not work under it"), "{}", ran.text());
}

#[test]
fn only_json_is_written() {
    let project = project("def test_a(): pass\n");
    let output = project
        .flakeproof(&["cause", "test_a", "--reporter", "junit=a.xml"])
        .output()
        .expect("flakeproof starts");
    assert_eq!(output.status.code(), Some(2));
}
