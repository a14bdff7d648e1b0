//! Few tests of one kind: SMOTE makes do with the neighbours there are, or says that it cannot.

use crate::program::{assert_refuses, assert_says, evaluate, project, project_with, train};
use crate::tables::{PROJECTS, Tables};

#[test]
fn fewer_positives_than_neighbours_are_enough() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40).with_nod_at(&[1, 7, 30]));
    for balance in ["smote", "smote-enn", "smote-tomek"] {
        let options = ["--trees", "5", "--balance", balance];
        assert_says(&train(&project, "nod", &options), 0, &["3 NOD flaky of 40", "3 random folds"]);
    }
    let ran = evaluate(&project, "nod", &["--folds", "3", "--repeats", "1"]);
    assert_says(&ran, 0, &["all "]);
}

#[test]
fn two_positives_can_be_learned_from_but_not_measured() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40).with_nod_at(&[1, 7]));
    assert_says(&train(&project, "nod", &[]), 0, &["2 NOD flaky of 40", "nobody knows what it is"]);
    let ran = evaluate(&project, "nod", &["--folds", "2", "--repeats", "1"]);
    assert_refuses(&ran, &["the smaller class has 1 rows", "--balance none"]);
}

#[test]
fn one_positive_cannot_be_balanced_but_can_be_learned_from() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40).with_nod_at(&[7]));
    for balance in ["smote", "smote-enn", "smote-tomek"] {
        let ran = train(&project, "nod", &["--balance", balance]);
        assert_refuses(&ran, &["the smaller class has 1 rows", "`--balance none`"]);
    }
    let ran = train(&project, "nod", &["--balance", "none"]);
    assert_says(&ran, 0, &["1 NOD flaky of 40", "nobody knows what it is"]);
}

#[test]
fn balancing_that_drops_every_test_is_told_from_one_that_drops_none() {
    let mut features = String::from("test,run_time\n");
    let mut outcomes = String::from("test,baseline_runs,baseline_failures\n");
    for number in 0..4 {
        features += &format!("t{number},{number}\n");
        outcomes += &format!("t{number},3,{}\n", number % 2);
    }
    let project = project().file("features.csv", &features).file("outcomes.csv", &outcomes);
    let ran = train(&project, "nod", &["--balance", "smote-enn"]);
    assert_refuses(&ran, &["balancing dropped too many tests", "--balance smote"]);
    assert_says(&train(&project, "nod", &["--balance", "smote"]), 0, &[]);
}

#[test]
fn a_project_that_holds_nearly_all_positives_does_not_keep_a_forest_from_growing() {
    // With the first project held out there is one left, which SMOTE has no neighbour for.
    let project = project_with(&Tables::usual().with_nod_at(&[1, 7, 9, 30, 50]));
    let ran = train(&project, "nod", &["--trees", "5"]);
    assert_says(&ran, 0, &["5 NOD flaky of 240", "5 random folds"]);
}

#[test]
fn positives_of_one_project_alone_do_not_keep_a_forest_from_growing() {
    let project = project_with(&Tables::usual().with_nod_at(&[1, 7, 9, 30]));
    let ran = train(&project, "nod", &["--trees", "5"]);
    assert_says(&ran, 0, &["4 NOD flaky of 240", "4 random folds"]);
}
