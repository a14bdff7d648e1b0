//! What training writes.

use std::fs;

use flakeproof_testkit::Project;

use crate::{QUICK, assert_says, command, finish, project, with_sources};

fn bytes(project: &Project, file: &str) -> Vec<u8> {
    fs::read(project.path().join(file)).expect("the model is written")
}

#[test]
fn a_jury_is_written_where_it_is_kept() {
    let project = project();
    let ran = with_sources(&project, "train", "jury", &[]);
    let said = ["24 flaky of 72 tests from 6 projects", "whole projects held out", "balanced"];
    assert_says(&ran, 0, &said);
    // The projects are alike, so that neighbours alone know it all.
    assert_says(&ran, 0, &["neighbours weight", "words      sits out"]);
    assert!(!bytes(&project, ".flakeproof/jury.model").is_empty());
    assert_eq!(bytes(&project, ".flakeproof/.gitignore"), b"*\n");
}

#[test]
fn a_network_is_written_where_it_is_kept() {
    let project = project();
    let ran = with_sources(&project, "train", "peeler", &["--hold-out", "class"]);
    assert_says(&ran, 0, &["24 flaky of 72 tests", "whole classes held out", "of 2, loss"]);
    assert!(!bytes(&project, ".flakeproof/peeler.model").is_empty());
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let project = project();
    for model in ["jury", "peeler"] {
        let trained_on = |threads: &str, seed: &str| {
            let options = ["--sources", "sources", "-o", "m", "--seed", seed];
            let mut command = command(&project, "train", model, &options);
            command.args(QUICK).env("RAYON_NUM_THREADS", threads);
            assert_says(&finish(&mut command), 0, &[]);
            bytes(&project, "m")
        };
        let one = trained_on("1", "7");
        assert!(one == trained_on("2", "7"), "{model}: two threads give other bytes than one");
        assert!(one != trained_on("2", "8"), "{model}: another seed gives the same bytes");
    }
}

#[test]
fn the_order_of_the_projects_in_the_data_does_not_matter() {
    let project = project();
    let trained = |data: &str| {
        let arguments = ["train", "jury", "--no-paths", "--sources", "sources", "-o", "m"];
        assert_says(&finish(project.flakeproof(&arguments).args(["--data", data])), 0, &[]);
        bytes(&project, "m")
    };
    let text = fs::read_to_string(project.path().join("tests.jsonl")).expect("it is there");
    // Subjects keep their order within each project.
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_by_key(|line| line.contains("\"project\":\"apple\""));
    project.write("other.jsonl", &lines.join("\n"));
    assert!(trained("tests.jsonl") == trained("other.jsonl"));
}

#[test]
fn vectors_of_words_can_be_given() {
    let project = project();
    project.write("vectors.txt", "3 2\nmade 1 0\ngot 0.5 -1\nnowhere 2 2\n");
    let options = ["--sources", "sources", "--embeddings", "vectors.txt", "--epochs", "1"];
    let ran = finish(&mut command(&project, "train", "peeler", &options));
    assert_says(&ran, 0, &["24 flaky of 72 tests"]);
    // Where classes are held out, and not projects, nobody sits out.
    let ran = finish(command(&project, "train", "jury", &options).args(["--hold-out", "class"]));
    assert_says(&ran, 0, &["paths      weight"]);
}

#[test]
fn a_project_can_be_left_out() {
    let project = project();
    let ran = with_sources(&project, "train", "jury", &["--no-paths", "--without", "cedar"]);
    assert_says(&ran, 0, &["20 flaky of 60 tests from 5 projects"]);
}
