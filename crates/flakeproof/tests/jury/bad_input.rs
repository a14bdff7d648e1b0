//! What is refused, and how.

use crate::{assert_refuses, command, finish, project, shelf, with_sources};

#[test]
fn a_folder_that_is_not_there_is_named() {
    let project = project();
    for (verb, model) in [("evaluate", "jury"), ("train", "peeler")] {
        let ran = finish(&mut command(&project, verb, model, &["--sources", "elsewhere"]));
        assert_refuses(&ran, &["there is no folder elsewhere", "a folder for each project"]);
    }
}

#[test]
fn a_folder_without_any_of_the_projects_is_refused() {
    let project = project().file("empty/readme.txt", "");
    let ran = finish(&mut command(&project, "train", "jury", &["--sources", "empty"]));
    assert_refuses(&ran, &["empty has no folder for a project of the data"]);
}

#[test]
fn a_project_whose_name_leads_elsewhere_is_not_followed() {
    let line = shelf::lines(&[0], 1).replace("\"apple\"", "\"../sources\"");
    let project = project().file("tests.jsonl", &line);
    let ran = finish(&mut command(&project, "train", "jury", &["--sources", "sources"]));
    assert_refuses(&ran, &["sources has no folder for a project of the data"]);
}

#[test]
fn too_few_tests_are_refused() {
    let few = project().file("tests.jsonl", &shelf::lines(&[0, 4], 3));
    let ran = with_sources(&few, "evaluate", "jury", &["--protocol", "class", "--folds", "9"]);
    assert_refuses(&ran, &["9 folds cannot be made of 6 tests"]);

    let two = project().file("tests.jsonl", &shelf::lines(&[0, 4, 5], 2));
    let ran = with_sources(&two, "evaluate", "jury", &[]);
    assert_refuses(&ran, &["2 projects are too few", "--protocol class"]);

    let one = project().file("tests.jsonl", &shelf::lines(&[0, 4], 1));
    for model in ["jury", "peeler"] {
        assert_refuses(&with_sources(&one, "train", model, &[]), &[]);
    }
}

#[test]
fn tests_of_one_kind_are_refused() {
    let project = project().file("tests.jsonl", &shelf::lines(&[4, 5, 6], 6));
    let ran = with_sources(&project, "evaluate", "peeler", &[]);
    assert_refuses(&ran, &["all 18 tests are not flaky"]);
    assert_refuses(&with_sources(&project, "train", "jury", &[]), &["0 of them flaky"]);
}

#[test]
fn a_network_without_paths_is_refused() {
    let project = project();
    let ran = finish(&mut command(&project, "train", "peeler", &[]));
    assert_refuses(&ran, &["no test has a path", "--sources"]);
}

#[test]
fn damaged_vectors_are_refused_with_their_line() {
    let project = project().file("vectors.txt", "2 2\nmade 1 0\ngot 0.5 x\n");
    for (verb, model) in [("train", "jury"), ("train", "peeler"), ("evaluate", "peeler")] {
        let options = ["--sources", "sources", "--embeddings", "vectors.txt"];
        let ran = finish(&mut command(&project, verb, model, &options));
        assert_refuses(&ran, &["vectors.txt", "line 3: number 2 is `x`"]);
    }
}

#[test]
fn ids_that_are_nowhere_are_refused() {
    let project = project().file("ids.txt", "a\nb\n");
    let ran = with_sources(&project, "evaluate", "jury", &["--only-ids", "ids.txt"]);
    assert_refuses(&ran, &["none of the 2 ids in ids.txt is in the data"]);
    let ran = with_sources(&project, "evaluate", "jury", &["--only-ids", "none.txt"]);
    assert_refuses(&ran, &["none.txt cannot be read"]);
}

#[test]
fn numbers_that_make_no_network_are_refused() {
    let project = project();
    for option in ["--members=1", "--epochs=0", "--hidden=0", "--dimension=5000"] {
        let ran = finish(&mut command(&project, "train", "peeler", &[option]));
        assert_eq!(ran.code(), Some(2), "{}", ran.text());
    }
}
