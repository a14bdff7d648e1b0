//! `flakeproof evaluate flast` and `evaluate plan`: what is printed, the planner beside its baselines, and
//! what cannot be measured.

use flakeproof_testkit::Ran;
use serde_json::Value;

use crate::{assert_refuses, assert_says, finish, flakeproof, labelled, project};

/// Evaluate on this data, with these options, as JSON.
fn evaluate(data: &str, options: &[&str]) -> Ran {
    evaluate_on("2", data, options)
}

fn evaluate_on(threads: &str, data: &str, options: &[&str]) -> Ran {
    let project = project().file("tests.jsonl", data);
    let arguments = ["evaluate", "flast", "--data", "tests.jsonl", "--output-format", "json"];
    let mut command = project.flakeproof(&arguments);
    finish(command.args(options).env("RAYON_NUM_THREADS", threads))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("it is an object").keys().map(String::as_str).collect()
}

#[test]
fn the_document_has_the_published_fields_and_no_other() {
    let ran = evaluate(&labelled::lines(), &["--protocol", "project"]);
    let promised = [
        "schema",
        "what",
        "protocol",
        "folds",
        "tests",
        "flaky",
        "precision",
        "recall",
        "f1",
        "mcc",
        "confusion",
        "seconds",
        "per_project",
    ];
    let besides = [
        "recipe",
        "seed",
        "within_project",
        "average_precision",
        "category_accuracy",
        "categories_told",
        "microseconds_per_prediction",
        "perturbed",
    ];
    let mut expected = [&promised[..], &besides[..]].concat();
    expected.sort_unstable();
    let mut found = keys(&ran.json);
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!([&ran.json["schema"], &ran.json["tests"], &ran.json["flaky"]], [1, 96, 36]);
    assert_eq!(ran.json["what"], "flast");
    assert_eq!(keys(&ran.json["seconds"]), ["predict", "train"]);
}

#[test]
fn the_confusion_counts_every_test_once() {
    let ran = evaluate(&labelled::lines(), &["--protocol", "class"]);
    let confusion = &ran.json["confusion"];
    let mut found = keys(confusion);
    found.sort_unstable();
    assert_eq!(found, ["fn", "fp", "tn", "tp"]);
    let count = |key: &str| confusion[key].as_u64().expect("it is a count");
    assert_eq!((count("tp") + count("fn"), count("fp") + count("tn")), (36, 60));
}

#[test]
fn each_project_has_its_own_line() {
    let ran = evaluate(&labelled::lines(), &["--protocol", "project"]);
    assert_eq!([&ran.json["protocol"], &ran.json["folds"]], [&Value::from("project"), &6.into()]);
    let projects = ran.json["per_project"].as_array().expect("projects are a list");
    let names: Vec<&str> = projects.iter().filter_map(|it| it["project"].as_str()).collect();
    assert_eq!(names, ["apple", "birch", "cedar", "elder", "hazel", "maple"]);
    assert!(projects.iter().all(|it| it["tests"] == 16 && it["flaky"] == 6), "{projects:?}");
}

#[test]
fn subjects_that_every_project_has_are_found_again_in_each() {
    let ran = evaluate(&labelled::lines(), &["--protocol", "project"]);
    assert!(ran.json["f1"].as_f64() > Some(0.9), "{}", ran.text());
    assert!(ran.json["category_accuracy"].as_f64() > Some(0.9), "{}", ran.text());
}

#[test]
fn the_same_seed_gives_the_same_numbers_on_any_number_of_threads() {
    for protocol in ["random", "class", "project"] {
        for recipe in ["rarity", "paper"] {
            let numbers = |threads: &str| {
                let options = ["--protocol", protocol, "--recipe", recipe, "--seed", "3"];
                let mut json = evaluate_on(threads, &labelled::lines(), &options).json;
                // How long it took is the one thing that may differ.
                json["seconds"].take();
                json["microseconds_per_prediction"].take();
                json
            };
            assert_eq!(numbers("1"), numbers("2"), "{protocol}, {recipe}");
        }
    }
}

#[test]
fn the_number_of_folds_can_be_chosen() {
    let ran = evaluate(&labelled::lines(), &["--protocol", "random", "--folds", "4"]);
    assert_eq!(ran.json["folds"], 4);
}

#[test]
fn each_project_can_be_measured_alone() {
    let options = ["--protocol", "random", "--within-project", "-k", "3", "--folds", "4"];
    let ran = evaluate(&labelled::lines(), &options);
    assert_eq!(ran.json["within_project"], true, "{}", ran.text());
    assert_eq!([&ran.json["tests"], &ran.json["folds"]], [96, 4]);
}

#[test]
fn people_see_a_table_with_a_line_for_each_project_when_asked() {
    let project = project().file("tests.jsonl", &labelled::lines());
    let arguments = ["evaluate", "flast", "--data", "tests.jsonl"];
    let ran = flakeproof(&project, &arguments);
    assert_says(&ran, 0, &["average precision", "category right", "\nall  ", "seed 1"]);
    assert!(!ran.text().contains("birch"), "{}", ran.text());
    let by_project = flakeproof(&project, &[&arguments[..], &["--by-project"]].concat());
    assert_says(&by_project, 0, &["\nbirch  ", "\nall  "]);
}

#[test]
fn one_project_cannot_be_left_out() {
    let ran = evaluate(&labelled::of_projects(1), &["--protocol", "project", "-k", "3"]);
    let said = ["belong to one project", "choose `--protocol class` or `--protocol random`"];
    assert_refuses(&ran, 2, &said);
}

#[test]
fn projects_alone_cannot_be_left_out_of_themselves() {
    let options = ["--protocol", "project", "--within-project", "-k", "3"];
    assert_refuses(&evaluate(&labelled::lines(), &options), 2, &["--within-project"]);
}

#[test]
fn projects_that_are_too_small_to_be_measured_alone_are_refused() {
    let options = ["--protocol", "random", "--within-project"];
    assert_refuses(&evaluate(&labelled::lines(), &options), 2, &["-k"]);
}

#[test]
fn fewer_tests_than_neighbours_are_too_few() {
    let ran = evaluate(&labelled::of_projects(1), &["--protocol", "random"]);
    assert_refuses(&ran, 2, &["16 tests are too few for 30 neighbours"]);
}

#[test]
fn one_kind_of_tests_cannot_be_told_apart() {
    let stable: String = labelled::lines()
        .lines()
        .filter(|line| line.contains("\"flaky\":false"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_refuses(&evaluate(&stable, &[]), 2, &["all 60 tests are not flaky", "both kinds"]);
}

#[test]
fn one_fold_is_no_fold() {
    let ran = evaluate(&labelled::lines(), &["--protocol", "random", "--folds", "1"]);
    assert_refuses(&ran, 2, &["1 folds cannot be made", "--folds"]);
}

#[test]
fn a_broken_line_is_named_by_file_and_number() {
    let ran = evaluate(&format!("{}{{\n", labelled::lines()), &[]);
    assert_refuses(&ran, 2, &["tests.jsonl: line 97 is no labelled test"]);
}

/// The small data set, its flaky tests failing in 5 of 100 runs.
fn with_runs() -> String {
    let runs = |line: &str| {
        let failing = if line.contains("\"flaky\":true") { 5 } else { 0 };
        let passing = 100 - failing;
        line.replacen('{', &format!("{{\"failing_runs\":{failing},\"passing_runs\":{passing},"), 1)
    };
    labelled::lines().lines().map(runs).collect::<Vec<_>>().join("\n")
}

fn evaluate_plan(data: &str, options: &[&str]) -> Ran {
    let project = project().file("tests.jsonl", data);
    let common = ["evaluate", "plan", "--data", "tests.jsonl", "--repeats", "3"];
    finish(project.flakeproof(&common).args(options))
}

#[test]
fn the_plan_finds_more_than_reruns_and_less_than_an_oracle() {
    let ran = evaluate_plan(&with_runs(), &["--output-format", "json"]);
    assert_says(&ran, 0, &[]);
    let json = &ran.json;
    assert_eq!([&json["schema"], &json["tests"], &json["flaky"]], [1, 96, 36]);
    assert_eq!([&json["what"], &json["protocol"]], ["plan", "each project left out"]);
    let number = |at: usize, key: &str| json["budgets"][at][key].as_f64().expect("a number");
    // Two, five and ten runs a test; later everything is found by everybody.
    for at in 0..3 {
        assert!(number(at, "plan") > number(at, "rerun"), "{json:#}");
        assert!(number(at, "plan") <= number(at, "oracle") + 1.0, "{json:#}");
    }
    assert!(json["front"].as_array().is_some_and(|front| !front.is_empty()));
}

#[test]
fn the_same_seed_gives_the_same_document() {
    let options = ["--output-format", "json", "--cost", "heavy-tailed", "--protocol", "class"];
    assert_eq!(
        evaluate_plan(&with_runs(), &options).json,
        evaluate_plan(&with_runs(), &options).json
    );
}

#[test]
fn a_person_reads_a_table_and_gets_a_picture() {
    let project = project().file("tests.jsonl", &with_runs());
    let arguments =
        ["evaluate", "plan", "--data", "tests.jsonl", "--repeats", "2", "--svg", "plan.svg"];
    let ran = finish(&mut project.flakeproof(&arguments));
    assert_says(&ran, 0, &["flaky tests found of 36", "RERUN", "CANNIER", "oracle"]);
    let svg = std::fs::read_to_string(project.path().join("plan.svg")).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("oracle that knows the labels"));
}

#[test]
fn without_reruns_there_is_nothing_to_measure() {
    let ran = evaluate_plan(&labelled::lines(), &[]);
    assert_refuses(&ran, 2, &["no test of the data has both failing and passing runs"]);
}
