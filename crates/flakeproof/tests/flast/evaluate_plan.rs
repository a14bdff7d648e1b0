//! `flakeproof evaluate plan`: the planner beside its yardsticks, and what cannot be measured.

use flakeproof_testkit::Ran;

use crate::labelled;
use crate::program::{assert_refuses, assert_says, finish, project};

/// The small data set, its flaky tests failing in 5 of 100 runs.
fn with_runs() -> String {
    let runs = |line: &str| {
        let failing = if line.contains("\"flaky\":true") { 5 } else { 0 };
        let passing = 100 - failing;
        line.replacen('{', &format!("{{\"failing_runs\":{failing},\"passing_runs\":{passing},"), 1)
    };
    labelled::lines().lines().map(runs).collect::<Vec<_>>().join("\n")
}

fn evaluate(data: &str, options: &[&str]) -> Ran {
    let project = project().file("tests.jsonl", data);
    let common = ["evaluate", "plan", "--data", "tests.jsonl", "--repeats", "3"];
    finish(project.flakeproof(&common).args(options))
}

#[test]
fn the_plan_finds_more_than_reruns_and_less_than_an_oracle() {
    let ran = evaluate(&with_runs(), &["--output-format", "json"]);
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
    assert_eq!(evaluate(&with_runs(), &options).json, evaluate(&with_runs(), &options).json);
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
    let ran = evaluate(&labelled::lines(), &[]);
    assert_refuses(&ran, 2, &["no test of the data has both failing and passing runs"]);
}
