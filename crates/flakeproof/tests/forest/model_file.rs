//! A forest that is not what was written is refused when `explain` reads it.

use std::fs;
use std::path::PathBuf;

use flakeproof_testkit::Project;

use crate::explain::{give_forest, measured};
use crate::program::{assert_says, flakeproof};

/// A project with a forest and features, the place of the forest, and its bytes.
fn whole() -> (Project, PathBuf, Vec<u8>) {
    let project = measured();
    give_forest(&project, "nod");
    let path = project.path().join(".flakeproof/nod.forest");
    let bytes = fs::read(&path).expect("the forest was trained");
    (project, path, bytes)
}

/// Asserts that `explain` refuses the project's forest in these words.
#[track_caller]
fn assert_is_refused(project: &Project, words: &[&str]) {
    let ran = flakeproof(project, &["explain", "test_one"]);
    let said = ["nod.forest cannot be used", "next: ", "flakeproof train forest"];
    assert_says(&ran, 2, &said);
    assert_says(&ran, 2, words);
}

#[test]
fn a_forest_that_is_cut_off_is_refused() {
    let (project, path, bytes) = whole();
    for end in [1, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..end]).expect("it is written");
        assert_is_refused(&project, &["cut off"]);
    }
}

#[test]
fn a_flipped_bit_is_noticed() {
    let (project, path, bytes) = whole();
    for at in [0, 3, 8, 60, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        fs::write(&path, damaged).expect("it is written");
        assert_is_refused(&project, &[]);
    }
}

#[test]
fn an_empty_file_and_a_text_are_no_forests() {
    let (project, path, _) = whole();
    fs::write(&path, "").expect("it is written");
    assert_is_refused(&project, &[]);
    fs::write(&path, "This is no forest, but a letter.\n".repeat(9)).expect("it is written");
    assert_is_refused(&project, &["no model"]);
}

#[test]
fn a_model_of_another_kind_is_named_as_such() {
    let (project, path, bytes) = whole();
    let mut lines = String::new();
    for number in 0..40 {
        let flaky = number % 4 == 0;
        let body = if flaky { "time.sleep(1)" } else { "parse(text)" };
        lines += &format!(
            "{{\"source\": \"def test_{number}(): {body}\", \"flaky\": {flaky}, \
             \"project\": \"p{}\"}}\n",
            number % 5
        );
    }
    project.write("tests.jsonl", &lines);
    let train = ["train", "flast", "--data", "tests.jsonl", "-o", ".flakeproof/nod.forest"];
    assert_says(&flakeproof(&project, &train), 0, &[]);
    assert_is_refused(&project, &["a model of kind `flast`, not `forest`"]);

    fs::remove_file(&path).expect("it was there");
    fs::write(project.path().join(".flakeproof/flast.model"), bytes).expect("it is written");
    let ran = flakeproof(&project, &["explain", "test_one"]);
    assert_says(&ran, 2, &["a model of kind `forest`, not `flast`", "next: "]);
}
