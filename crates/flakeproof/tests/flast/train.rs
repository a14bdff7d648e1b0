//! `flakeproof train flast`: all that can be learned from. A model file that is not what was written is
//! refused, whatever happened to it.

use std::fs;
use std::path::Path;

use flakeproof_testkit::{Project, skipped};

use crate::labelled::{self, PURE, SUSPECT};
use crate::{
    assert_refuses, assert_says, beside_the_repository, finish, flakeproof, model, predict,
    project, tests,
};

/// Asserts that the model `m` of a project tells a suspect from a pure test.
#[track_caller]
fn assert_tells_them_apart(project: &Project) {
    project.write("new/QueueTest.java", SUSPECT);
    project.write("new/TextTest.java", PURE);
    let ran = predict(project, &["--model", "m", "new"]);
    assert_eq!(ran.test("#drainsSlowly")["flaky"], true, "{}", ran.text());
    assert_eq!(ran.test("#dropsSpaces")["flaky"], false, "{}", ran.text());
}

#[test]
fn a_model_learns_from_json_lines() {
    let project = project().file("tests.jsonl", &labelled::lines());
    let ran = flakeproof(&project, &["train", "flast", "--data", "tests.jsonl", "-o", "m"]);
    let said = ["36 flaky of 96 tests from 6 projects", "balanced", "flakeproof predict --model m"];
    assert_says(&ran, 0, &said);
    assert_tells_them_apart(&project);
}

#[test]
fn a_model_learns_from_several_files() {
    let all = labelled::lines();
    let middle = all.len() / 2 + all[all.len() / 2..].find('\n').expect("a line ends") + 1;
    let project = project().file("a.jsonl", &all[..middle]).file("b.jsonl", &all[middle..]);
    let arguments = ["train", "flast", "--data", "a.jsonl", "--data", "b.jsonl", "-o", "m"];
    assert_says(&flakeproof(&project, &arguments), 0, &["36 flaky of 96 tests"]);
}

#[test]
fn a_project_can_be_left_out() {
    let project = project().file("tests.jsonl", &labelled::lines());
    let arguments = ["train", "flast", "--data", "tests.jsonl", "--without", "cedar", "-o", "m"];
    let ran = flakeproof(&project, &arguments);
    assert_says(&ran, 0, &["30 flaky of 80 tests from 5 projects"]);
}

#[test]
fn a_model_learns_from_compressed_data() {
    let data = match beside_the_repository("data/deflaker/tests.jsonl.zst") {
        Ok(data) => data,
        Err(why) => return skipped::note("a_model_learns_from_compressed_data", &why),
    };
    let project = project();
    let ran = flakeproof(&project, &["train", "flast", "--data", &data, "-o", "m"]);
    assert_says(&ran, 0, &["flaky of", "tests from"]);
    project.write("QueueTest.java", SUSPECT);
    assert_eq!(tests(&predict(&project, &["--model", "m"])).len(), 1);
}

#[test]
fn a_model_learns_from_two_folders() {
    let project = project();
    for (folder, flaky) in [("flaky", true), ("stable", false)] {
        for (name, text) in labelled::files(flaky) {
            project.write(&format!("{folder}/{name}"), &text);
        }
    }
    let arguments = ["train", "flast", "--flaky", "flaky", "--stable", "stable", "-o", "m"];
    assert_says(&flakeproof(&project, &arguments), 0, &["36 flaky of 96 tests"]);
    assert_tells_them_apart(&project);
}

#[test]
fn a_model_learns_from_the_projects_own_history() {
    let mut text = String::from("import os\n");
    for number in 0..8 {
        text += &format!("def test_stable_{number}():\n    assert {number} + 1 > {number}\n");
    }
    // Each fails the first time it runs, and passes ever after.
    for number in 0..4 {
        text += &format!(
            "def test_flaky_{number}():\n    seen = os.path.exists('seen_{number}')\n    \
             open('seen_{number}', 'w').close()\n    assert seen\n"
        );
    }
    let project = project().file("test_own.py", &text);
    let ran = project.run(&[], &[]);
    assert_eq!(ran.json["tests"].as_array().map(Vec::len), Some(12), "{}", ran.text());

    let trained = flakeproof(&project, &["train", "flast", "--history", "-k", "3", "-o", "m"]);
    assert_says(&trained, 0, &["4 flaky of 12 tests from 1 project"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let project = project().file("tests.jsonl", &labelled::lines());
    for recipe in ["rarity", "paper"] {
        let trained_on = |threads: &str| {
            let options = ["train", "flast", "--data", "tests.jsonl", "--seed", "7", "-o", "m"];
            let mut command = project.flakeproof(&options);
            command.args(["--recipe", recipe]).env("RAYON_NUM_THREADS", threads);
            assert_says(&finish(&mut command), 0, &[]);
            fs::read(project.path().join("m")).expect("the model is written")
        };
        let one = trained_on("1");
        assert!(one == trained_on("2"), "{recipe}: two threads give other bytes than one");
    }
}

#[test]
fn each_recipe_makes_a_model_that_can_be_asked() {
    let project = project().file("tests.jsonl", &labelled::lines());
    project.write("QueueTest.java", SUSPECT);
    for recipe in ["rarity", "white-space", "paper"] {
        let data = ["train", "flast", "--data", "tests.jsonl", "-o", "m", "--recipe", recipe];
        assert_says(&flakeproof(&project, &data), 0, &[]);
        let ran = predict(&project, &["--model", "m"]);
        assert_eq!(ran.json["model"]["recipe"], recipe);
        assert_eq!(ran.test("#drainsSlowly")["flaky"], true, "{recipe}: {}", ran.text());
    }
}

#[test]
fn a_model_replaces_the_one_before_and_leaves_nothing_beside_it() {
    let project = project().file("tests.jsonl", &labelled::lines()).file("models/m", "old");
    let arguments = ["train", "flast", "--data", "tests.jsonl", "-o", "models/m"];
    assert_says(&flakeproof(&project, &arguments), 0, &[]);
    let entries = fs::read_dir(project.path().join("models")).expect("the folder is there");
    assert_eq!(entries.count(), 1);
}

/// Asserts that these bytes are refused as a model, in these words.
#[track_caller]
fn assert_is_refused(bytes: &[u8], words: &[&str]) {
    let project = project().file("TextTest.java", PURE);
    fs::write(project.path().join("bad.model"), bytes).expect("the folder can be written");
    let ran = flakeproof(&project, &["predict", "--model", "bad.model"]);
    assert_refuses(&ran, 2, &["the model bad.model cannot be used", "flakeproof train flast"]);
    assert_refuses(&ran, 2, words);
}

fn whole() -> Vec<u8> {
    fs::read(model()).expect("the model was trained")
}

#[test]
fn a_model_of_the_version_before_predicts() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/version_before");
    let java = fs::read_to_string(samples.join("WaitTest.java")).expect("a test");
    let project = project().file("WaitTest.java", &java);
    let model = samples.join("flast.model");
    let ran = predict(&project, &["--model", &model.to_string_lossy()]);
    assert_eq!(ran.test("shop.WaitTest#waits")["flaky"], true, "{}", ran.text());
}

#[test]
fn a_model_that_is_cut_off_is_refused() {
    let whole = whole();
    for end in [1, 7, 8, 100, whole.len() / 2, whole.len() - 1] {
        assert_is_refused(&whole[..end], &["cut off"]);
    }
}

#[test]
fn a_model_with_something_added_is_refused() {
    let mut bytes = whole();
    bytes.push(0);
    assert_is_refused(&bytes, &[]);
}

#[test]
fn a_flipped_bit_in_the_content_is_noticed() {
    let whole = whole();
    let content = 8 + header_length(&whole);
    for at in [content, content + (whole.len() - content) / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        assert_is_refused(&bytes, &["does not match its digest"]);
    }
}

#[test]
fn a_flipped_bit_in_the_header_is_noticed() {
    let whole = whole();
    let header = header_length(&whole);
    for at in [0, 3, 8, 8 + header / 4, 8 + header / 2, 8 + header - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        assert_is_refused(&bytes, &[]);
    }
}

/// How many bytes the header has: the first number of the file.
fn header_length(bytes: &[u8]) -> usize {
    let first: [u8; 8] = bytes[..8].try_into().expect("eight bytes are eight bytes");
    usize::try_from(u64::from_le_bytes(first)).expect("the header is small")
}

#[test]
fn an_empty_file_is_no_model() {
    assert_is_refused(b"", &["cut off"]);
}

#[test]
fn a_text_is_no_model() {
    assert_is_refused("This is not a model, but a letter.\n".repeat(9).as_bytes(), &["no model"]);
}

#[test]
fn a_model_of_another_version_is_named_as_such() {
    let (mut bytes, version) = (whole(), b"version\\\":1");
    let at = bytes.windows(version.len()).position(|it| it == version).expect("it has a version");
    bytes[at + version.len() - 1] = b'9';
    assert_is_refused(&bytes, &["version 9", "reads version 1"]);
}

#[test]
fn a_folder_is_no_model() {
    let project = project().file("TextTest.java", PURE).file("models/a", "");
    let ran = flakeproof(&project, &["predict", "--model", "models"]);
    assert_refuses(&ran, 2, &["the model models cannot be"]);
}
