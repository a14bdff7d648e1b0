//! `flakeproof explain`: one test, suspect or not.

use flakeproof_testkit::Project;

use crate::labelled::{PURE, SUSPECT};
use crate::program::{assert_refuses, assert_says, flakeproof, model, project};

fn two_tests() -> Project {
    project().file("QueueTest.java", SUSPECT).file("TextTest.java", PURE)
}

#[test]
fn the_end_of_an_id_is_enough() {
    let ran = flakeproof(&two_tests(), &["explain", "drainsSlowly", "--model", model()]);
    assert_says(&ran, 0, &["SUSPECT", "org.fresh.QueueTest#drainsSlowly", "both have: "]);
}

#[test]
fn a_test_that_is_no_suspect_is_explained_too() {
    let ran = flakeproof(&two_tests(), &["explain", "dropsSpaces", "--model", model()]);
    assert_says(&ran, 0, &["FINE", "TrimTest#checks (not flaky)", "both have: "]);
}

#[test]
fn an_explanation_for_programs_holds_the_one_test() {
    let arguments = ["explain", "dropsSpaces", "--output-format", "json", "--model", model()];
    let ran = flakeproof(&two_tests(), &arguments);
    assert_eq!(ran.json["tests"].as_array().map(Vec::len), Some(1), "{}", ran.text());
    assert_eq!(ran.test("#dropsSpaces")["flaky"], false);
}

#[test]
fn a_whole_id_is_never_ambiguous() {
    let text = "def test_a(): pass\n";
    let project = project().file("test_x.py", text).file("sub/test_x.py", text);
    let ran = flakeproof(&project, &["explain", "test_x.py::test_a", "--model", model()]);
    assert_says(&ran, 0, &["test_x.py:1"]);
    assert!(!ran.text().contains("sub/test_x.py"), "{}", ran.text());
}

#[test]
fn an_end_that_fits_several_ids_lists_them() {
    let text = "def test_a(): pass\n";
    let project = project().file("test_x.py", text).file("test_y.py", text);
    let ran = flakeproof(&project, &["explain", "test_a", "--model", model()]);
    let listed = ["2 tests end in `test_a`", "test_x.py::test_a", "test_y.py::test_a"];
    assert_refuses(&ran, 2, &listed);
}

#[test]
fn a_part_of_an_id_suggests_the_whole() {
    let ran = flakeproof(&two_tests(), &["explain", "drains", "--model", model()]);
    let suggested = ["no test is called `drains`", "org.fresh.QueueTest#drainsSlowly"];
    assert_refuses(&ran, 2, &suggested);
}

#[test]
fn an_id_like_no_other_is_told_where_ids_are_listed() {
    let ran = flakeproof(&two_tests(), &["explain", "zzz", "--model", model()]);
    assert_refuses(
        &ran,
        2,
        &["no test is called `zzz`", "flakeproof predict --output-format json"],
    );
}

#[test]
fn a_folder_without_tests_has_nothing_to_explain() {
    let ran = flakeproof(&project(), &["explain", "a", "--model", model()]);
    assert_refuses(&ran, 4, &["no test was found"]);
}
