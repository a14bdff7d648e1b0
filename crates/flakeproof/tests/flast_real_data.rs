//! FLAST on real data: the figures that `evaluation/flast` promises, within noise.
//!
//! The data stands beside the repository; without it these tests are skipped by name.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use flakeproof_testkit::skipped;
use serde_json::Value;

/// What `evaluate flast` says about FlakeFlagger's tests, unless they are not here.
fn evaluated(test: &str, options: &[&str]) -> Option<Value> {
    let data = "../../../shared/data/flakeflagger/tests.jsonl.zst";
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(data);
    if !data.is_file() {
        skipped::note(test, &format!("{} is not there", data.display()));
        return None;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .args(["evaluate", "flast", "--output-format", "json", "--seed", "1", "--data"])
        .arg(data)
        .args(options)
        .output()
        .expect("flakeproof starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("it prints JSON"))
}

#[track_caller]
fn assert_within(evaluated: &Value, key: &str, range: &Range<f64>) {
    let number = evaluated[key].as_f64().expect("it is a number");
    assert!(range.contains(&number), "{key} is {number}, not within {range:?}");
}

#[test]
fn the_reference_recipe_has_the_precision_and_recall_of_the_papers_program() {
    let name = "the_reference_recipe_has_the_precision_and_recall_of_the_papers_program";
    let options = ["--recipe", "paper", "--without", "google-jimfs", "--protocol", "random"];
    let Some(evaluated) = evaluated(name, &options) else { return };
    assert_eq!([&evaluated["tests"], &evaluated["flaky"]], [21_802, 809]);
    assert_within(&evaluated, "precision", &(0.75..0.83));
    assert_within(&evaluated, "recall", &(0.53..0.61));
}

#[test]
fn new_classes_of_known_projects_are_told_apart() {
    let name = "new_classes_of_known_projects_are_told_apart";
    let Some(evaluated) = evaluated(name, &["--protocol", "class"]) else { return };
    assert_within(&evaluated, "f1", &(0.45..1.0));
}

#[test]
fn tests_of_a_new_project_are_ranked_better_than_by_chance() {
    let name = "tests_of_a_new_project_are_ranked_better_than_by_chance";
    let Some(evaluated) = evaluated(name, &["--protocol", "project"]) else { return };
    // By chance it would be the share of flaky tests, 0.037.
    assert_within(&evaluated, "average_precision", &(0.10..1.0));
}
