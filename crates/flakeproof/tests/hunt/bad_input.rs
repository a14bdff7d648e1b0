//! What cannot be hunted says so, with what was spent.

use flakeproof_testkit::Ran;

use crate::{assert_says, empty, hunt, hunt_as_typed, shop};

#[test]
fn a_suite_where_everything_fails_is_told_to_be_mended() {
    let project = empty().file("test_a.py", "def test_a(): assert 0\ndef test_b(): assert 0\n");
    let ran = hunt(&project, &[]);
    assert_says(&ran, 0, &["SET ASIDE (2)", "every test fails every time", "executions in"]);
}

#[test]
fn a_single_test_has_no_order() {
    let ran = hunt(&empty().file("test_a.py", "def test_a(): pass\n"), &[]);
    assert_says(&ran, 0, &["no flaky test among 1 test", "one test has no order"]);
}

#[test]
fn a_test_that_kills_the_runner_hides_nobody() {
    let killer = "import os\ndef test_crash(): os._exit(3)\n";
    // Every test directly after every other one: nothing is left to chance.
    let ran = hunt(&shop().file("test_a.py", killer), &["--order-kind", "tuscan"]);
    assert_says(&ran, 1, &["SET ASIDE (1)", "test_a.py::test_crash", "VICTIM (1)", "BRITTLE (1)"]);
}

#[test]
fn a_victim_that_no_longer_fails_is_told() {
    let ran = hunt(&shop(), &["--victim", "test_sound"]);
    assert_says(&ran, 0, &["test_sound` did not show that it depends on other tests"]);
    assert_says(&ran, 0, &["passes alone and in every order that was tried", "executions in"]);
}

#[test]
fn a_victim_that_is_not_there_is_asked_for_again() {
    let ran = hunt(&shop(), &["--victim", "test_to"]);
    assert_says(&ran, 2, &["no test is called `test_to`", "test_shop.py::test_total"]);
}

#[test]
fn no_test_is_exit_four() {
    let ran = hunt(&empty().file("test_a.py", "def helper(): pass\n"), &[]);
    assert_says(&ran, 4, &["selects no test"]);
}

#[test]
fn a_test_that_hangs_does_not_outlast_the_budget() {
    let hangs = "import time\ndef test_first(): pass\ndef test_hangs(): time.sleep(3600)\n";
    // On a busy machine a short budget is over before the first test begins, which is another matter.
    let mut budgets = ["1s", "10s", "100s"].iter().map(|budget| {
        let project = empty().file("test_a.py", hangs);
        hunt(&project, &["--budget", budget])
    });
    let words =
        "`test_a.py::test_hangs` was still running when the budget was spent, and was ended";
    let names_it = |ran: &Ran| ran.text().contains(words);
    let ran = budgets.find(names_it).expect("the test begins within the longest budget");
    assert_says(&ran, 5, &[words, "--timeout"]);
}

#[test]
fn a_spent_budget_without_a_finding_is_inconclusive() {
    let project = empty().file("test_a.py", "def test_a(): pass\n");
    let ran = hunt(&project, &["--budget", "1ms"]);
    assert_says(&ran, 5, &["the budget is spent before all was looked at; go on: flakeproof hunt"]);
    assert_eq!(ran.json["end"], "budget_spent");
}

#[test]
fn a_report_that_a_hunt_does_not_have_is_refused() {
    let ran = hunt_as_typed(&shop(), &["--reporter", "junit=out.xml"]);
    assert_says(&ran, 2, &["a hunt has no JUnit report", "json=FILE"]);
}

#[test]
fn wrong_options_are_told_what_is_right() {
    for (options, words) in [
        (["--order-kind", "random"], "tests, classes, files, within, reverse, tuscan"),
        (["--recheck", "20"], "write for example 20% or 0.2"),
        (["--budget", "soon"], "30s, 1m30s"),
        (["--polluters", "some"], "pairs, prefix, off"),
    ] {
        assert_says(&hunt_as_typed(&shop(), &options), 2, &[words]);
    }
}

#[test]
fn a_history_that_cannot_be_kept_stops_no_hunt() {
    let project = shop().file("history.db", "no database at all, but long enough to be one");
    let ran = hunt(&project, &["--store", "history.db"]);
    assert_says(&ran, 1, &["VICTIM (1)", "this hunt is not kept and cannot be resumed"]);
}

#[test]
fn a_module_that_does_not_import_makes_a_clean_hunt_inconclusive() {
    let project = empty()
        .file("pytest.ini", "[pytest]\naddopts = --continue-on-collection-errors\n")
        .file("test_a.py", "def test_a(): pass\n")
        .file("test_b.py", "import nowhere\n");
    assert_says(&hunt(&project, &[]), 5, &["test_b.py could not be collected", "nowhere"]);
}
