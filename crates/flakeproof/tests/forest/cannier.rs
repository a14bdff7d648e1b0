//! `flakeproof evaluate cannier`: the pins, the table of each project, the front for programs, and
//! the picture.

use std::fs;

use flakeproof_testkit::Project;
use serde_json::Value;

use crate::tables::{PROJECTS, Tables};
use crate::{assert_refuses, assert_says, cannier, flakeproof, project, project_with, stdout};

/// Small forests, once: enough to see that it works.
const QUICK: [&str; 6] = ["--trees", "10", "--repeats", "1", "--folds", "5"];

fn quick(project: &Project, options: &[&str]) -> flakeproof_testkit::Ran {
    cannier(project, &[&QUICK, options].concat())
}

/// A project whose probabilities are known, for these problems.
fn project_told(problems: &[&str]) -> Project {
    let tables = Tables::usual();
    let mut all = String::from("project,test,problem,probability,runs,seconds\n");
    for problem in problems {
        all.extend(tables.probabilities(problem).lines().skip(1).flat_map(|it| [it, "\n"]));
    }
    project()
        .file("said.csv", &all)
        .file("outcomes.csv", &tables.outcomes())
        .file("pairs.csv", &tables.pairs())
}

fn told(project: &Project, options: &[&str]) -> flakeproof_testkit::Ran {
    let begin =
        ["evaluate", "cannier", "--probabilities", "said.csv", "--outcomes", "outcomes.csv"];
    flakeproof(project, &[&begin, options].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn the_pins_come_first_and_then_each_project_at_the_balance() {
    let ran = quick(&project_with(&Tables::usual()), &["--technique", "rerun"]);
    let said = [
        "CANNIER+RERUN: 30 NOD flaky of 240 tests, mean of 1 repetition, seed 1; at most 10 runs",
        "random folds",
        "seconds by `run_time`",
        "original RERUN",
        "model alone",
    ];
    assert_says(&ran, 0, &said);
    let text = stdout(&ran);
    let lines: Vec<Vec<&str>> = text.lines().map(|it| it.split_whitespace().collect()).collect();
    let head = lines.iter().position(|it| it.contains(&"CANNIER+")).expect("a head");
    assert_eq!(lines[head], ["balanced", "TN", "FN", "FP", "TP", "MCC", "CANNIER+", "original"]);
    let names: Vec<&str> = lines[head + 1..head + 8].iter().map(|line| line[0]).collect();
    assert_eq!(names, [&PROJECTS[..], &["all"]].concat());
}

#[test]
fn programs_get_the_front_the_pins_and_each_project() {
    let project = project_with(&Tables::usual().with_runs(3));
    let options = ["--technique", "rerun", "--output-format", "json", "--max-reruns", "50"];
    let ran = quick(&project, &options);
    assert_says(&ran, 0, &[]);
    let report = &ran.json;
    let words = [("what", "cannier"), ("technique", "rerun"), ("protocol", "random")];
    for (field, value) in [&words[..], &[("costs", "run_time")]].concat() {
        assert_eq!(report[field], value, "{field} of {report:#}");
    }
    assert_eq!(report["schema"], 1);
    let points = report["points"].as_array().expect("points");
    for pair in points.windows(2) {
        assert!(number(&pair[0]["cost"]) < number(&pair[1]["cost"]), "{report:#}");
        assert!(number(&pair[0]["performance"]) < number(&pair[1]["performance"]), "{report:#}");
    }
    assert!(points.iter().all(|it| it["runs"].as_u64() <= Some(3)), "{report:#}");
    let pins = &report["pins"];
    assert_eq!(
        (&pins["original"]["runs"], &pins["original"]["performance"]),
        (&0.into(), &1.0.into())
    );
    assert!(number(&pins["balanced"]["cost"]) < number(&pins["original"]["cost"]));
    assert_eq!(pins["model"]["lower"], pins["model"]["upper"]);
    assert_eq!(report["per_project"].as_array().map(Vec::len), Some(6));
    let overall = &report["overall"];
    assert!((number(&overall["cost"]) - number(&pins["balanced"]["cost"])).abs() < 1e-6);
    assert!((number(&overall["original"]) - number(&pins["original"]["cost"])).abs() < 1e-6);
}

#[test]
fn all_techniques_are_traded_when_the_data_is_enough() {
    let tables = Tables::usual();
    let project = project_with(&tables).file("pairs.csv", &tables.pairs());
    let options = ["--pairs", "pairs.csv", "--output-format", "json", "--svg", "p/front.svg"];
    let ran = quick(&project, &options);
    assert_says(&ran, 0, &[]);
    let names: Vec<&str> = ran.json["techniques"]
        .as_array()
        .expect("techniques")
        .iter()
        .filter_map(|it| it["technique"].as_str())
        .collect();
    assert_eq!(names, ["rerun", "idfclass", "pairwise"]);
    assert_eq!(ran.json["skipped"].as_array().map(Vec::len), Some(0));
    for name in names {
        let path = project.path().join(format!("p/front.{name}.svg"));
        let svg = fs::read_to_string(path).expect("a picture");
        assert!(svg.starts_with("<svg ") && svg.contains("balanced: ["), "{svg}");
    }
}

#[test]
fn what_the_data_is_not_enough_for_is_named() {
    let ran = quick(&project_with(&Tables::usual()), &[]);
    let said = ["CANNIER+RERUN", "CANNIER+iDFClass", "PAIRWISE left out: PAIRWISE needs to know"];
    assert_says(&ran, 0, &said);
    let ran = quick(&project_with(&Tables::usual()), &["--technique", "pairwise"]);
    assert_refuses(&ran, &["PAIRWISE needs to know which pairs", "--pairs CSV"]);
}

#[test]
fn given_probabilities_are_traded_as_worked_by_hand() {
    let options = ["--technique", "rerun", "--output-format", "json", "--max-reruns", "10"];
    let ran = told(&project_told(&["nod"]), &options);
    assert_says(&ran, 0, &[]);
    let report = &ran.json;
    assert_eq!((&report["protocol"], &report["costs"]), (&"given".into(), &"seconds".into()));
    // 210 tests run ten times; 30 that fail 3 of 10 times end after 1 + Σ (0.3^k + 0.7^k) runs.
    let ends: f64 = 1.0 + (1..10).map(|it| 0.3f64.powi(it) + 0.7f64.powi(it)).sum::<f64>();
    let original = 0.5 * (210.0 * 10.0 + 30.0 * ends);
    assert!((number(&report["pins"]["original"]["cost"]) - original).abs() < 1e-6, "{report:#}");
    // From 0.3 on every NOD flaky test is rerun, and of the others only the 0.4: nothing is missed.
    let balanced = &report["pins"]["balanced"];
    assert!(number(&balanced["lower"]) > 0.05, "{balanced:#}");
    assert!(number(&balanced["cost"]) < 0.5 * original, "{balanced:#}");
}

#[test]
fn pairs_are_found_among_candidates() {
    let project = project_told(&["victim", "polluter"]);
    let ran = told(&project, &["--technique", "pairwise", "--pairs", "pairs.csv"]);
    let said = ["CANNIER+PAIRWISE: 30 pairs of 240 tests", "probabilities as given", "TPR"];
    assert_says(&ran, 0, &said);
    assert!(!stdout(&ran).contains("model alone"), "{}", stdout(&ran));
    let options = ["--technique", "pairwise", "--pairs", "pairs.csv", "--output-format", "json"];
    let report = told(&project, &options).json;
    // Six suites of 40 tests at half a second: 2 · 40 · 20 s each.
    assert!((number(&report["pins"]["original"]["cost"]) - 9600.0).abs() < 1e-6, "{report:#}");
    assert_eq!(report["pins"]["model"], Value::Null);
    assert_eq!(report["overall"]["pairs"], 30);
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let project = project_with(&Tables::usual());
    let options = ["--technique", "rerun", "--output-format", "json"];
    let once = stdout(&quick(&project, &options));
    assert_eq!(once, stdout(&quick(&project, &options)));
    assert_ne!(once, stdout(&quick(&project, &[&options[..], &["--seed", "2"]].concat())));
}

#[test]
fn a_project_can_be_left_out_at_a_time_where_there_are_several() {
    let options = ["--technique", "rerun", "--protocol", "project"];
    let ran = quick(&project_with(&Tables::usual()), &options);
    assert_says(&ran, 0, &["one project left out at a time"]);
    let ran = quick(&project_with(&Tables::of(&PROJECTS[..1], 40)), &options);
    assert_refuses(&ran, &["all tests belong to one project", "--protocol random"]);
}

#[test]
fn nothing_to_find_is_refused() {
    let project = project_with(&Tables::usual().with_nod_at(&[]));
    assert_refuses(&quick(&project, &["--technique", "rerun"]), &["0 of 240 tests are positive"]);
    let mut problems = project_told(&["nod"]);
    problems = problems.file("outcomes.csv", &Tables::usual().with_nod_at(&[]).outcomes());
    let ran = told(&problems, &["--technique", "rerun"]);
    assert_refuses(&ran, &["0 of 240 tests are NOD flaky"]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let project = project_told(&["nod"]);
    assert_refuses(&flakeproof(&project, &["evaluate", "cannier"]), &["nothing to learn from"]);
    let ran = told(&project, &["--technique", "rerun", "--max-reruns", "1"]);
    assert_refuses(&ran, &["1 runs of a test cannot show", "--max-reruns"]);
    let ran = told(&project, &["--technique", "idfclass"]);
    assert_refuses(&ran, &["no test has both a probability for `nod-vs-victim`"]);
    let ran = told(&project, &["--recheck", "2"]);
    assert_says(&ran, 2, &["not a share"]);
    let bad = project_told(&["nod"]).file("said.csv", "test,problem,probability\na,nod,7\n");
    assert_refuses(&told(&bad, &[]), &["said.csv: line 2: the probability 7 is not from 0 to 1"]);
    let options = ["--technique", "pairwise", "--pairs", "bad.csv"];
    let bad = project_told(&["nod"]).file("bad.csv", "polluter,prey\na,b\n");
    assert_refuses(&told(&bad, &options), &["bad.csv: the column `prey` is none of pairs"]);
}
