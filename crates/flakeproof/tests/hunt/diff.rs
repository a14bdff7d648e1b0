//! What a hunt looks at in a pull request.

use flakeproof_testkit::{Project, Ran};
use serde_json::Value;

use crate::{assert_says, hunt_as_typed, shop};

/// A test that fails each third time.
const NEW: &str = "
import pathlib

def test_network():
    counter = pathlib.Path(__file__).with_name('counter.txt')
    count = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(count + 1))
    assert count % 3 != 2, 'the server did not answer'
";

/// The shop with its flaky tests is what there was before.
fn committed() -> Project {
    let project = shop();
    project.commit();
    project
}

fn hunt(project: &Project, options: &[&str]) -> Ran {
    hunt_as_typed(project, &[&["--diff", "main", "--seed", "7"], options].concat())
}

fn ids(ran: &Ran) -> Vec<&str> {
    let tests = ran.json["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
    tests.iter().filter_map(|test| test["id"].as_str()).collect()
}

#[test]
fn only_the_new_test_is_looked_at() {
    let project = committed();
    project.write("test_new.py", NEW);
    let ran = hunt(&project, &[]);
    assert_says(&ran, 1, &["1 test was added or changed since `main`", "NOD (1)"]);
    assert_eq!(ids(&ran), ["test_new.py::test_network"]);
    assert_eq!(hunt(&project, &["--flaky-result", "pass"]).code(), Some(0));
}

#[test]
fn a_changed_test_is_looked_at_and_its_neighbours_are_not() {
    let project = committed();
    project.git(&["checkout", "-q", "-b", "topic"]);
    let path = project.path().join("test_shop.py");
    let source = std::fs::read_to_string(&path).expect("it is there");
    project.write("test_shop.py", &source.replace("def test_sound():\n    pass", SOUND));
    project.commit();
    let ran = hunt(&project, &[]);
    assert_says(&ran, 0, &["1 test was added or changed", "no flaky test among 1 test"]);
    assert_eq!(ids(&ran), ["test_shop.py::test_sound"]);
}

const SOUND: &str = "def test_sound():\n    assert 1 + 1 == 2";

#[test]
fn nothing_changed_is_no_failure() {
    let project = committed();
    project.write("state.py", "currency = 'USD'\nsession = None\nunused = 1\n");
    let ran = hunt(&project, &[]);
    assert_says(&ran, 0, &["no test was added or changed since `main`, so nothing was run"]);
    assert_eq!(ran.json["exit_code"], 0);
    assert_eq!(ran.json["cost"]["executions"], 0);
}

#[test]
fn a_pull_request_does_not_fail_because_time_ran_out() {
    let project = committed();
    project.write("test_new.py", "def test_new(): pass\n");
    let ran = hunt(&project, &["--budget", "1ms"]);
    assert_says(&ran, 0, &["the time was over before all was looked at"]);
    assert_eq!(ran.json["end"], "budget_spent");
}

#[test]
fn an_old_test_that_a_new_one_makes_fail_is_shown() {
    let project = committed();
    project.write("test_z_new.py", "import state\ndef test_new():\n    state.currency = 'EUR'\n");
    let ran = hunt(&project, &[]);
    assert_says(&ran, 1, &["VICTIM (1)", "test_z_new.py::test_new"]);
    assert_eq!(ids(&ran), ["test_shop.py::test_total", "test_z_new.py::test_new"]);
}

#[test]
fn what_git_does_not_know_is_asked_for_again() {
    let ran = hunt_as_typed(&committed(), &["--diff", "nowhere"]);
    assert_says(&ran, 2, &["`--diff nowhere`", "name a revision of this repository"]);
    let ran = hunt_as_typed(&shop(), &["--diff", "main"]);
    assert_says(&ran, 2, &["needs git"]);
    assert_eq!(ran.json, Value::Null);
}
