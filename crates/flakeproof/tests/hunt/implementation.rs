//! Tests that rely on an order that the language leaves open.

use flakeproof_testkit::{Project, assert_says, finish};
use serde_json::{Value, json};

use crate::{empty, hunt_as_typed};

/// One that takes the order of a set of strings for granted, and one that does not.
const SETS: &str = "
def letters():
    return list({'alpha', 'beta', 'gamma', 'delta'})

def test_first():
    assert letters()[0] == 'alpha', 'it is not the first'

def test_sorted():
    assert sorted(letters())[0] == 'alpha'

def test_broken():
    assert False
";

fn project() -> Project {
    empty().file("test_sets.py", SETS)
}

#[test]
fn a_test_that_relies_on_the_order_of_a_set_is_found_listed_explained_and_shown_again() {
    let project = project();
    // Of the hash seeds that follow from this seed, some show it and some do not.
    let ran = hunt_as_typed(&project, &["--kinds", "id", "--shuffles", "9", "--seed", "7"]);
    assert_says(&ran, 1, &["ID (1): relies on an order that the language leaves open"]);
    let tests = ran.json["tests"].as_array().expect("tests");
    let kinds: Vec<&Value> = tests.iter().map(|test| &test["kind"]).collect();
    assert_eq!(kinds, [&json!("ID"), &Value::Null, &Value::Null]);
    let seen = &tests[0]["implementation"];
    assert_eq!(seen["failing"]["failures"], seen["failing"]["runs"]);
    assert_eq!((&seen["passing"]["failures"], &seen["passing"]["runs"]), (&json!(0), &json!(5)));
    assert_ne!(seen["fails_with"], seen["passes_with"]);
    let command = tests[0]["reproduce"].as_str().expect("a command");
    assert!(command.starts_with(&format!("PYTHONHASHSEED={} ", seen["fails_with"])), "{command}");

    let flakeproof = |words: &[&str]| finish(&mut project.flakeproof(words));
    let shown = flakeproof(&["repro", "test_first", "--runs", "2"]);
    let with = format!("in the order of seed {}", seen["fails_with"]);
    assert_says(&shown, 1, &["failed 2 of 2", "it is not the first", &with]);
    assert_says(&flakeproof(&["list"]), 0, &["ID", "test_sets.py::test_first"]);
    let sentence = "relies on an order that the language leaves open";
    assert_says(&flakeproof(&["explain", "test_first"]), 0, &[sentence]);
}

#[test]
fn a_hunt_for_other_kinds_does_not_forget_what_was_found() {
    let project = project();
    let id = ["--kinds", "id", "--shuffles", "9", "--seed", "7"];
    assert_eq!(hunt_as_typed(&project, &id).code(), Some(1));
    let usual = ["--runs", "1", "--orders", "1", "--max-reruns", "1", "--seed", "7"];
    hunt_as_typed(&project, &usual);
    let listed = finish(&mut project.flakeproof(&["list"]));
    assert_says(&listed, 0, &["test_sets.py::test_first"]);
}
