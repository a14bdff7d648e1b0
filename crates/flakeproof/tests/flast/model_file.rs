//! A model file that is not what was written is refused, whatever happened to it.

use std::fs;
use std::path::Path;

use crate::labelled::PURE;
use crate::program::{assert_refuses, flakeproof, ids, model, predict, project, tests};

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
    assert_eq!(ids(&ran), ["shop.WaitTest#waits"]);
    assert_eq!(tests(&ran)[0]["flaky"], true, "{}", ran.text());
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
