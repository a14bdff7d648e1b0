//! Paths through set-up, fixtures, helpers and the code under test, in every language that has
//! graphs.

use crate::program::{graph, sample, stdout};

#[track_caller]
fn shown(language: &str, test: &str) -> String {
    let ran = graph(&sample(language), &[test, "--show", "100"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    stdout(&ran)
}

#[test]
fn java_goes_through_base_classes_and_before_methods() {
    insta::assert_snapshot!(shown("java", "BasketTest#expiresInAnHour"));
}

#[test]
fn python_goes_through_fixtures_of_conftest() {
    insta::assert_snapshot!(shown("python", "test_basket.py::test_expires"));
}

#[test]
fn typescript_goes_through_before_each() {
    insta::assert_snapshot!(shown("typescript", "expires in an hour"));
}

#[test]
fn go_goes_through_conditions_that_fail_the_test() {
    insta::assert_snapshot!(shown("go", "TestExpires"));
}

#[test]
fn rust_goes_through_macros() {
    insta::assert_snapshot!(shown("rust", "basket::expires"));
}
