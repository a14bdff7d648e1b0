//! What evaluations print and write.

use std::fs;

use crate::{assert_says, command, finish, project, shelf, with_sources};

#[test]
fn a_jury_is_measured_with_each_of_its_members() {
    let project = project();
    let options = ["--protocol", "class", "--folds", "3", "--by-project"];
    let ran = with_sources(&project, "evaluate", "jury", &options);
    let said = ["72 tests: 72 found in sources, 72 with a path", "fold 3 of 3", "apple", "paths"];
    assert_says(&ran, 0, &said);
    assert_says(&ran, 0, &["average precision", "neighbours alone", "mean weight"]);
}

#[test]
fn programs_get_the_same_as_json() {
    let project = project();
    let options = ["--no-paths", "--output-format", "json"];
    let ran = with_sources(&project, "evaluate", "jury", &options);
    assert_says(&ran, 0, &["fold 6 of 6"]);
    assert_eq!((&ran.json["tests"], &ran.json["flaky"]), (&72.into(), &24.into()));
    assert_eq!(ran.json["members"].as_array().map(Vec::len), Some(4), "{}", ran.text());
    assert_eq!(ran.json["per_project"].as_array().map(Vec::len), Some(6));
    assert!(ran.json["average_precision"].as_f64() > Some(0.5), "{}", ran.text());
}

#[test]
fn what_was_said_of_each_test_can_be_kept() {
    let project = project();
    let ids: Vec<String> = (0..12)
        .flat_map(|subject| {
            ["cedar", "apple", "maple", "hazel"].map(|name| shelf::id(name, subject))
        })
        .collect();
    project.write("ids.txt", &ids.join("\n"));
    let options = ["--no-paths", "--only-ids", "ids.txt", "--predictions", "said.csv"];
    assert_says(&with_sources(&project, "evaluate", "jury", &options), 0, &["48 tests"]);
    let said = fs::read_to_string(project.path().join("said.csv")).expect("it is written");
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("id,flaky,fold,probability,predicted,score"));
    assert_eq!(lines.clone().count(), 48);
    assert!(lines.all(|line| ids.iter().any(|id| line.starts_with(&format!("{id},")))), "{said}");
}

#[test]
fn without_sources_the_texts_alone_are_read() {
    let project = project();
    let ran = finish(&mut command(&project, "evaluate", "jury", &[]));
    let said = ["0 found in sources", "no test has a path", "--sources", "average precision"];
    assert_says(&ran, 0, &said);
}

#[test]
fn a_project_without_source_is_read_from_its_texts_and_named() {
    let project = project();
    fs::remove_dir_all(project.path().join("sources/cedar")).expect("it was there");
    let ran = with_sources(&project, "evaluate", "jury", &["--no-paths"]);
    assert_says(&ran, 0, &["sources has no folder for cedar:", "60 found in sources"]);
}

#[test]
fn the_network_alone_is_measured_and_logs_what_chose_it() {
    let project = project();
    let options = ["--protocol", "random", "--folds", "2", "--log", "log.jsonl"];
    let ran = with_sources(&project, "evaluate", "peeler", &options);
    assert_says(&ran, 0, &["peeler", "average precision", "µs a prediction"]);
    let log = fs::read_to_string(project.path().join("log.jsonl")).expect("it is written");
    assert_eq!(log.lines().count(), 2 * 2 * 2, "folds, members, epochs: {log}");
    for word in ["\"fold\":1", "\"member\":1", "\"loss\":", "\"held_out_average_precision\":"] {
        assert!(log.contains(word), "{log}");
    }
}

#[test]
fn a_part_of_the_paths_can_be_taken_away() {
    let project = project();
    for part in ["inner", "cut"] {
        let options = ["--protocol", "class", "--folds", "2", "--ablate", part];
        let ran = with_sources(&project, "evaluate", "peeler", &options);
        assert_says(&ran, 0, &[&format!("peeler without {part}, 2 folds")]);
    }
}
