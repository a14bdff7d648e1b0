//! A test of the zoo of causes, whose runner is pytest: what is found is kept, and shown. All tests of it
//! under all levers are asked by `evaluation/cause/zoo`.

use std::path::{Path, PathBuf};

use flakeproof_testkit::Project;

use super::{cause, named, plain_surroundings};

/// A copy of the zoo.
fn zoo() -> Project {
    let place =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo/causes/pytest");
    let mut project = Project::new(env!("CARGO_BIN_EXE_flakeproof"));
    for path in files_below(&place) {
        let name = path.strip_prefix(&place).expect("it is below").to_string_lossy().into_owned();
        project = project.file(&name, &std::fs::read_to_string(&path).expect("a text"));
    }
    project
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the zoo is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let kept = paths.filter(|it| !it.ends_with("__pycache__"));
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    kept.flat_map(below).collect()
}

#[test]
fn the_answer_is_kept_and_explained() {
    let zoo = zoo();
    let test = "test_zone_day_of_a_payment";
    let ran = cause(&zoo, test, "zone=Asia/Kolkata,umask=000");
    assert_eq!(named(&ran), ["zone"], "{}", ran.text());
    let mut explain = zoo.flakeproof(&["explain", test]);
    let explained = plain_surroundings(&mut explain).output().expect("flakeproof starts");
    let text = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(text.contains("caused by zone"), "{text}");
    assert!(text.contains("TZ=Asia/Kolkata"), "{text}");
}
