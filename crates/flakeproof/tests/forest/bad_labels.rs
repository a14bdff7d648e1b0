//! Tables that can be read, but that do not tell what is asked.

use std::fmt::Write as _;

use crate::program::{assert_refuses, assert_says, evaluate, project_with, train};
use crate::tables::{PROJECTS, Tables};

#[test]
fn tests_of_one_kind_teach_nothing() {
    let project = project_with(&Tables::usual().with_nod_at(&[]));
    let said = ["0 of 240 tests are positive", "add tests of the kind that is missing"];
    assert_refuses(&train(&project, "nod", &[]), &said);
    assert_refuses(&evaluate(&project, "nod", &[]), &said);
    let all: Vec<usize> = (0..240).collect();
    let project = project_with(&Tables::usual().with_nod_at(&all));
    assert_refuses(&train(&project, "nod", &[]), &["240 of 240 tests are positive"]);
}

#[test]
fn outcomes_of_other_tests_are_no_help() {
    let tables = Tables::usual();
    let others = tables.outcomes().replace("tests/", "spec/");
    let project = project_with(&tables).file("outcomes.csv", &others);
    let said = [
        "none of the 240 measured tests has outcomes",
        "tests/test_alder.py::test_0",
        "spelled alike",
    ];
    assert_refuses(&train(&project, "nod", &[]), &said);
}

#[test]
fn what_was_not_observed_cannot_be_learned() {
    let tables = Tables::usual();
    let mut outcomes = String::new();
    for line in tables.outcomes().lines() {
        let cells: Vec<&str> = line.split(',').take(4).collect();
        let _ = writeln!(outcomes, "{}", cells.join(","));
    }
    let project = project_with(&tables).file("outcomes.csv", &outcomes);
    for problem in ["victim", "nod-vs-victim"] {
        let ran = train(&project, problem, &[]);
        assert_refuses(&ran, &["do not tell how they fared in shuffled orders", "--outcomes"]);
    }
    assert_refuses(&train(&project, "polluter", &[]), &["do not tell whether they pollute"]);
    assert_says(&train(&project, "nod", &["--trees", "5"]), 0, &[]);
}

#[test]
fn no_trees_and_more_than_fit_are_refused() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40));
    for trees in ["0", "18446744073709551615"] {
        assert_says(&train(&project, "nod", &["--trees", trees]), 2, &["--trees", "1..=10000"]);
    }
}

#[test]
fn a_hundred_thousand_tests_are_learned_from() {
    let project = project_with(&Tables::of(&["huge"], 100_000));
    let ran = train(&project, "nod", &["--trees", "5", "--folds", "2", "--balance", "none"]);
    assert_says(&ran, 0, &["12500 NOD flaky of 100000 tests", "2 random folds"]);
}
