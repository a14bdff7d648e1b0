//! A test that fails only because of who ran before it in its shard.

use flakeproof_testkit::Project;

use crate::{project, run_with, shard_json};

const SUITE: &str = "
import state

def test_pollutes():
    state.currency = 'EUR'

def test_restores():
    state.currency = 'USD'

def test_total():
    assert state.currency == 'USD'
";

/// Where no times are known, tests are dealt out by name: polluter and victim without what restores.
const APART: [&str; 4] = ["--store", "none.db", "--shard", "1/2"];

fn shop() -> Project {
    project()
        .file("pytest.ini", "[pytest]\n")
        .file("state.py", "currency = 'USD'\n")
        .file("test_shop.py", SUITE)
}

#[test]
fn a_test_whose_cleaner_runs_elsewhere_is_a_victim_and_stays_red() {
    let project = shop();
    let python = project.python();
    let command = [&python, "-m", "pytest", "-q"];
    let whole = run_with(&project, &[], &command);
    assert_eq!(whole.code(), Some(0), "{}", whole.text());

    let told = shard_json(&project, &APART, &command);
    let tests = told["tests"].as_array().cloned().unwrap_or_default();
    assert_eq!(tests, ["test_shop.py::test_pollutes", "test_shop.py::test_total"]);
    let ran = run_with(&project, &APART, &command);
    let text = ran.text();
    assert_eq!(ran.code(), Some(1), "{text}");
    assert_ne!(ran.verdict("test_total"), "flaky");
    assert!(text.contains("it is a victim of one of them"), "{text}");
    let hunt = "flakeproof hunt --victim test_shop.py::test_total -- ";
    assert!(text.contains(hunt), "{text}");
    let again = ran.test("test_total")["reproduce"].as_str().unwrap_or_default().to_owned();
    let order = "test_shop.py::test_pollutes test_shop.py::test_total";
    assert!(again.ends_with(order), "the tests of the shard show it again: {again}");
}

#[test]
fn a_victim_is_green_only_where_the_same_shard_fails_before_the_change_too() {
    let project = shop();
    project.commit();
    project.write("notes.txt", "a change that touches no test\n");
    let python = project.python();
    let command = [&python, "-m", "pytest", "-q"];
    let ran = run_with(&project, &APART, &command);
    assert_eq!((ran.code(), ran.verdict("test_total")), (Some(0), "flaky"), "{}", ran.text());

    // What restored before the change may have run in this shard, and is not there to be asked.
    let without = SUITE.replace("def test_restores():\n    state.currency = 'USD'\n\n", "");
    project.write("test_shop.py", &without);
    let ran = run_with(&project, &["--store", "other.db", "--shard", "1/1"], &command);
    assert_eq!((ran.code(), ran.verdict("test_total")), (Some(1), "unknown"), "{}", ran.text());
    assert!(ran.text().contains("is there and not here"), "{}", ran.text());
}

#[test]
fn a_test_that_fails_alone_is_no_victim() {
    let project = project()
        .file("pytest.ini", "[pytest]\n")
        .file("test_it.py", "def test_a():\n    assert 0\n\ndef test_b():\n    pass\n");
    let python = project.python();
    let ran = run_with(&project, &["--shard", "1/1"], &[&python, "-m", "pytest", "-q"]);
    assert_eq!(ran.code(), Some(1));
    assert!(!ran.text().contains("victim"), "{}", ran.text());
}
