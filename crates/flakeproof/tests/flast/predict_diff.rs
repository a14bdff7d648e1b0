//! `--diff`: only tests that were added or changed.

use std::fs;

use flakeproof_testkit::Project;

use crate::{assert_refuses, assert_says, finish, flakeproof, ids, predict, project};

const THREE: &str = "\
def test_a():
    assert 1

def test_b():
    assert 2

def test_c():
    assert 3
";

/// A repository with three tests in `sub/test_x.py`.
fn committed() -> Project {
    let project = project().file("sub/test_x.py", THREE);
    project.commit();
    project
}

#[test]
fn only_added_and_changed_tests_are_asked_about() {
    let project = committed();
    let changed = THREE.replace("assert 2", "assert 22") + "\ndef test_d():\n    assert 4\n";
    project.write("sub/test_x.py", &changed);
    let ran = predict(&project, &["--diff", "HEAD"]);
    assert_eq!(ids(&ran), ["sub/test_x.py::test_b", "sub/test_x.py::test_d"]);
}

#[test]
fn a_file_that_git_does_not_know_yet_is_added() {
    let project = committed().file("test_new.py", "def test_new(): pass\n");
    assert_eq!(ids(&predict(&project, &["--diff", "HEAD"])), ["test_new.py::test_new"]);
}

#[test]
fn what_was_committed_since_counts() {
    let project = committed();
    project.write("sub/test_x.py", &THREE.replace("assert 3", "assert 33"));
    project.commit();
    assert_eq!(ids(&predict(&project, &["--diff", "HEAD~1"])), ["sub/test_x.py::test_c"]);
}

#[test]
fn a_test_that_lost_a_line_is_changed() {
    let project =
        project().file("test_x.py", "def test_a():\n    x = 1\n    y = 2\n    assert x\n");
    project.commit();
    project.write("test_x.py", "def test_a():\n    x = 1\n    assert x\n");
    assert_eq!(ids(&predict(&project, &["--diff", "HEAD"])), ["test_x.py::test_a"]);
}

#[test]
fn lines_that_moved_are_no_change() {
    let project = committed();
    project.write("sub/test_x.py", &format!("import os\n\n{THREE}"));
    let ran = predict(&project, &["--diff", "HEAD"]);
    assert!(ids(&ran).is_empty(), "{:?}", ids(&ran));
}

#[test]
fn without_a_change_there_is_nothing_to_say() {
    let ran = flakeproof(&committed(), &["predict", "--diff", "HEAD"]);
    assert_says(&ran, 0, &["no test was added or changed"]);
}

#[test]
fn a_change_is_seen_from_a_folder_below_the_repository() {
    let project = committed();
    project.write("sub/test_x.py", &THREE.replace("assert 1", "assert 11"));
    let mut command = project.flakeproof(&["predict", "--output-format", "json", "--diff", "HEAD"]);
    let ran = finish(command.current_dir(project.path().join("sub")));
    assert_eq!(ids(&ran), ["test_x.py::test_a"]);
}

#[test]
fn a_change_is_seen_in_a_folder_beside_the_one_it_is_run_in() {
    let project = committed().file("beside/empty.txt", "");
    project.write("sub/test_x.py", &THREE.replace("assert 1", "assert 11"));
    let arguments = ["predict", "--output-format", "json", "--diff", "HEAD", "../sub"];
    let mut command = project.flakeproof(&arguments);
    let ran = finish(command.current_dir(project.path().join("beside")));
    assert_eq!(ids(&ran), ["../sub/test_x.py::test_a"], "{}", ran.text());
}

#[test]
fn a_file_that_was_renamed_and_changed_is_read() {
    let project = committed();
    project.git(&["mv", "sub/test_x.py", "sub/test_y.py"]);
    project.write("sub/test_y.py", &THREE.replace("assert 2", "assert 22"));
    let ran = predict(&project, &["--diff", "HEAD"]);
    assert!(ids(&ran).contains(&"sub/test_y.py::test_b"), "{:?}", ids(&ran));
}

#[test]
fn a_deleted_file_is_no_trouble() {
    let project = committed().file("test_kept.py", "def test_kept(): pass\n");
    fs::remove_file(project.path().join("sub/test_x.py")).expect("the file is there");
    assert_eq!(ids(&predict(&project, &["--diff", "HEAD"])), ["test_kept.py::test_kept"]);
}

#[test]
fn a_revision_that_is_not_there_is_named() {
    let ran = flakeproof(&committed(), &["predict", "--diff", "nowhere"]);
    assert_refuses(&ran, 2, &["--diff nowhere", "name a revision of this repository"]);
}

#[test]
fn a_revision_that_looks_like_an_option_is_no_option() {
    let ran = flakeproof(&committed(), &["predict", "--diff=--output=gone"]);
    assert_refuses(&ran, 2, &["--diff --output=gone"]);
}

#[test]
fn outside_of_git_nothing_can_have_changed() {
    let project = project().file("test_x.py", THREE);
    let ran = flakeproof(&project, &["predict", "--diff", "HEAD"]);
    assert_refuses(&ran, 2, &["`--diff HEAD` needs git"]);
}
