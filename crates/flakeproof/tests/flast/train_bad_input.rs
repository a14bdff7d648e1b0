//! What nothing can be learned from says so, with the place and what to do next.

use flakeproof_testkit::{Project, Ran};

use crate::{assert_refuses, flakeproof, labelled, project};

/// Train on this file, with these options.
fn train(data: &str, options: &[&str]) -> Ran {
    let project = project().file("tests.jsonl", data);
    train_in(&project, options)
}

fn train_in(project: &Project, options: &[&str]) -> Ran {
    let arguments = ["train", "flast", "--data", "tests.jsonl", "-o", "m"];
    let ran = flakeproof(project, &[&arguments, options].concat());
    assert!(!project.path().join("m").is_file(), "a model is written all the same");
    ran
}

fn lines_with(part: &str) -> String {
    labelled::lines()
        .lines()
        .filter(|line| line.contains(part))
        .map(|it| format!("{it}\n"))
        .collect()
}

#[test]
fn flaky_tests_alone_teach_nothing() {
    let ran = train(&lines_with("\"flaky\":true"), &[]);
    assert_refuses(&ran, 2, &["all 36 tests are flaky", "both kinds"]);
}

#[test]
fn stable_tests_alone_teach_nothing() {
    let ran = train(&lines_with("\"flaky\":false"), &[]);
    assert_refuses(&ran, 2, &["all 60 tests are not flaky", "both kinds"]);
}

#[test]
fn a_broken_line_is_named_by_file_and_number() {
    let mut lines: Vec<String> = labelled::lines().lines().map(str::to_owned).collect();
    lines[40].truncate(20);
    let ran = train(&lines.join("\n"), &[]);
    assert_refuses(&ran, 2, &["tests.jsonl: line 41 is no labelled test"]);
}

#[test]
fn a_line_without_a_label_is_named() {
    let ran = train(&(labelled::lines() + "{\"source\": \"x\"}\n"), &[]);
    assert_refuses(&ran, 2, &["line 97", "neither `flaky` nor `category`"]);
}

#[test]
fn fewer_tests_than_neighbours_are_too_few() {
    let ran = train(&labelled::of_projects(1), &[]);
    assert_refuses(&ran, 2, &["16 labelled tests are too few", "30 neighbours", "`-k`"]);
}

#[test]
fn an_empty_file_is_too_few() {
    assert_refuses(&train("", &[]), 2, &["0 labelled tests are too few"]);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let ran = flakeproof(&project(), &["train", "flast", "--data", "nowhere.jsonl"]);
    assert_refuses(&ran, 2, &["nowhere.jsonl cannot be read"]);
}

#[test]
fn compressed_data_that_is_cut_off_is_named() {
    let project = project();
    let path = project.path().join("tests.jsonl");
    std::fs::write(path, [0x28, 0xb5, 0x2f, 0xfd, 0x04]).expect("the folder can be written");
    assert_refuses(&train_in(&project, &[]), 2, &["tests.jsonl cannot be read"]);
}

#[test]
fn data_that_is_no_text_is_named() {
    let project = project();
    std::fs::write(project.path().join("tests.jsonl"), [0xff, 0xfe]).expect("it can be written");
    assert_refuses(&train_in(&project, &[]), 2, &["tests.jsonl", "not UTF-8"]);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let ran = flakeproof(&project(), &["train", "flast", "--flaky", "no", "--stable", "no"]);
    assert_refuses(&ran, 2, &["the folder no cannot be read"]);
}

#[test]
fn a_precision_above_one_is_no_share() {
    let ran = train(&labelled::lines(), &["--precision", "2"]);
    assert_refuses(&ran, 2, &["`--precision 2` is not a share", "from 0 to 1"]);
}

#[test]
fn a_threshold_above_one_is_no_share() {
    let ran = train(&labelled::lines(), &["--sigma", "1.5"]);
    assert_refuses(&ran, 2, &["`--sigma 1.5` is not a share"]);
}

#[test]
fn no_neighbours_cannot_vote() {
    assert_refuses(&train(&labelled::lines(), &["-k", "0"]), 2, &["`-k` 1 or more"]);
}

#[test]
fn a_projection_belongs_to_a_recipe_that_projects() {
    let ran = train(&labelled::lines(), &["--epsilon", "0.2"]);
    assert_refuses(&ran, 2, &["--epsilon", "--recipe paper"]);
}

#[test]
fn a_project_that_nobody_knows_is_named_with_those_there_are() {
    let ran = train(&labelled::lines(), &["--without", "oak"]);
    assert_refuses(&ran, 2, &["no test belongs to the project `oak`", "apple, birch, cedar"]);
}

#[test]
fn nothing_to_learn_from_is_told_what_there_could_be() {
    let ran = flakeproof(&project(), &["train", "flast"]);
    assert_refuses(&ran, 2, &["nothing to learn from", "--data FILE", "--history"]);
}

#[test]
fn a_history_without_runs_teaches_nothing() {
    let project = project().file("test_a.py", "def test_a(): pass\n");
    let ran = flakeproof(&project, &["train", "flast", "--history", "-o", "m"]);
    assert_refuses(&ran, 2, &["there is no history at", "flakeproof run"]);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let project = project().file("tests.jsonl", &labelled::lines()).file("file", "");
    let ran = flakeproof(&project, &["train", "flast", "--data", "tests.jsonl", "-o", "file/m"]);
    assert_refuses(&ran, 6, &["the model file/m cannot be written", "-o"]);
}

#[test]
fn a_folder_is_no_place_for_a_model() {
    let project = project().file("tests.jsonl", &labelled::lines()).file("folder/a", "");
    let ran = flakeproof(&project, &["train", "flast", "--data", "tests.jsonl", "-o", "folder"]);
    assert_refuses(&ran, 6, &["the model folder cannot be written"]);
    let entries = std::fs::read_dir(project.path()).expect("the project is there");
    assert_eq!(entries.count(), 2, "a part of the model is left behind");
}
