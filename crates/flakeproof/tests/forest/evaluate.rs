//! `flakeproof evaluate forest`: the paper's table, and the picture.

use std::fs;

use crate::tables::{PROJECTS, Tables};
use crate::{assert_refuses, assert_says, evaluate, project_with, stdout};

#[test]
fn the_table_has_a_line_for_each_project_and_one_for_all() {
    let ran = evaluate(&project_with(&Tables::usual()), "nod", &["--repeats", "2"]);
    let said = ["nod (extra trees, 100 trees, SMOTE), 10 folds, mean of 2 repetitions", "random"];
    assert_says(&ran, 0, &said);
    let text = stdout(&ran);
    let lines: Vec<Vec<&str>> = text.lines().map(|it| it.split_whitespace().collect()).collect();
    let head = lines.iter().position(|it| it.contains(&"MCC")).expect("a head");
    assert_eq!(lines[head], ["tests", "positive", "TN", "FN", "FP", "TP", "MCC"]);
    let names: Vec<&str> = lines[head + 1..head + 8].iter().map(|line| line[0]).collect();
    assert_eq!(names, [&PROJECTS[..], &["all"]].concat());
    assert_eq!(lines[head + 1][1..3], ["40", "5"]);
    assert_eq!(lines[head + 7][1..3], ["240", "30"]);
    assert!(text.contains("average precision 0.") && text.contains("Brier score 0."), "{text}");
}

#[test]
fn programs_get_all_numbers() {
    let options = ["--repeats", "2", "--folds", "5", "--trees", "20", "--output-format", "json"];
    let ran = evaluate(&project_with(&Tables::usual()), "victim", &options);
    assert_says(&ran, 0, &[]);
    let report = &ran.json;
    for (field, value) in [
        ("schema", 1),
        ("folds", 5),
        ("repeats", 2),
        ("runs", 1),
        ("tests", 240),
        ("positive", 30),
        ("without_label", 0),
    ] {
        assert_eq!(report[field], value, "{field} of {report:#}");
    }
    assert_eq!((&report["what"], &report["problem"]), (&"forest".into(), &"victim".into()));
    assert_eq!(report["protocol"], "random");
    assert_eq!(report["pipeline"]["trees"], 20);
    assert_eq!(report["features"].as_array().map(Vec::len), Some(4));
    assert!(report["mcc"].as_f64() > Some(0.2), "threads tell victims: {report:#}");
    for field in ["average_precision", "roc_auc", "brier_score"] {
        assert!(report[field].as_f64().is_some(), "{field} of {report:#}");
    }
    let sum = |of: &serde_json::Value| -> f64 {
        ["tn", "fn", "fp", "tp"].iter().filter_map(|field| of[field].as_f64()).sum()
    };
    assert!((sum(&report["confusion"]) - 240.0).abs() < 1e-9, "{report:#}");
    let projects = report["per_project"].as_array().expect("projects");
    assert_eq!(projects.len(), 6);
    assert!(projects.iter().all(|it| (sum(it) - 40.0).abs() < 1e-9), "{report:#}");
}

#[test]
fn a_project_can_be_left_out_at_a_time() {
    let options = ["--protocol", "project", "--repeats", "1", "--output-format", "json"];
    let ran = evaluate(&project_with(&Tables::usual()), "nod", &options);
    assert_says(&ran, 0, &[]);
    assert_eq!((&ran.json["protocol"], &ran.json["folds"]), (&"project".into(), &6.into()));
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_other_runs_give_others() {
    let project = project_with(&Tables::usual().with_runs(4));
    let measured = |options: &[&str]| {
        let usual = ["--trees", "20", "--repeats", "2", "--output-format", "json"];
        let ran = evaluate(&project, "nod", &[&usual, options].concat());
        assert_says(&ran, 0, &[]);
        ran.json["roc_auc"].as_f64().expect("a number")
    };
    let one = measured(&["--runs", "1"]);
    assert!((one - measured(&["--runs", "1"])).abs() < f64::EPSILON);
    assert!(measured(&["--runs", "4"]) > one, "the mean of four runs has less noise");
}

#[test]
fn the_picture_has_a_dot_for_each_test_and_feature() {
    let tables = Tables::usual();
    let project = project_with(&tables);
    let options = ["--shap", "pictures/nod.svg", "--repeats", "1", "--trees", "10"];
    let ran = evaluate(&project, "nod", &options);
    assert_says(&ran, 0, &["the strongest features: run time", "pictures/nod.svg"]);
    let svg = fs::read_to_string(project.path().join("pictures/nod.svg")).expect("a picture");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!(svg.matches("h0").count(), 4 * tables.len());
}

#[test]
fn more_folds_than_tests_of_the_rarer_kind_are_refused() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40));
    let ran = evaluate(&project, "nod", &[]);
    assert_refuses(&ran, &["10 folds cannot each have one of 5 tests", "--folds"]);
    for folds in ["0", "1"] {
        assert_refuses(&evaluate(&project, "nod", &["--folds", folds]), &["at least 2"]);
    }
    assert_says(&evaluate(&project, "nod", &["--folds", "5", "--repeats", "1"]), 0, &[]);
}

#[test]
fn one_project_cannot_be_left_out() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40));
    let ran = evaluate(&project, "nod", &["--protocol", "project"]);
    assert_refuses(&ran, &["all tests belong to one project", "--protocol random"]);
}

#[test]
fn a_project_without_outcomes_does_not_count_as_one_to_leave_out() {
    let measured = Tables::of(&PROJECTS[..2], 40);
    let known = Tables::of(&PROJECTS[..1], 40);
    let project = project_with(&measured).file("outcomes.csv", &known.outcomes());
    let ran = evaluate(&project, "nod", &["--protocol", "project"]);
    assert_refuses(&ran, &["all tests belong to one project", "--protocol random"]);
}
