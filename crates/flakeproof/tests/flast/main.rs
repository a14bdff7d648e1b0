//! `flakeproof predict`, `explain`, `train flast` and `evaluate flast`, as a user runs them.
//!
//! What the numbers are on real data is asked in `flast_real_data.rs`.

mod evaluate;
mod labelled;
mod predict;
mod predict_bad_input;
mod predict_diff;
mod predict_languages;
mod predict_reports;
mod train;
mod train_bad_input;

use std::path::PathBuf;
use std::sync::OnceLock;

use flakeproof_testkit::{Project, Ran};
pub(crate) use flakeproof_testkit::{assert_says, finish};
use serde_json::Value;

/// An empty project.
pub(crate) fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// Run flakeproof in a project.
pub(crate) fn flakeproof(project: &Project, arguments: &[&str]) -> Ran {
    finish(&mut project.flakeproof(arguments))
}

/// `flakeproof predict` with these arguments, as JSON.
pub(crate) fn predict(project: &Project, arguments: &[&str]) -> Ran {
    let mut all = vec!["predict", "--output-format", "json"];
    all.extend(arguments);
    let ran = flakeproof(project, &all);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    ran
}

/// The ids of all tests in a report, in its order.
pub(crate) fn ids(ran: &Ran) -> Vec<&str> {
    tests(ran).iter().filter_map(|test| test["id"].as_str()).collect()
}

/// All tests in a report.
pub(crate) fn tests(ran: &Ran) -> &[Value] {
    ran.json["tests"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// What was printed on stdout.
pub(crate) fn stdout(ran: &Ran) -> String {
    String::from_utf8_lossy(&ran.output.stdout).into_owned()
}

/// It is refused with this code, says all of this, and says what to do next.
#[track_caller]
pub(crate) fn assert_refuses(ran: &Ran, code: i32, words: &[&str]) {
    assert_says(ran, code, words);
    assert_says(ran, code, &["error: ", "next: "]);
    assert_eq!(stdout(ran), "", "nothing is data when nothing was found");
}

/// A model trained on [`labelled::lines`], as the argument of `--model`. It is made once.
pub(crate) fn model() -> &'static str {
    static MODEL: OnceLock<(Project, String)> = OnceLock::new();
    let (_, path) = MODEL.get_or_init(|| {
        let project = project().file("tests.jsonl", &labelled::lines());
        let ran = flakeproof(&project, &["train", "flast", "--data", "tests.jsonl", "-o", "m"]);
        assert_eq!(ran.code(), Some(0), "{}", ran.text());
        let path = project.path().join("m").to_string_lossy().into_owned();
        (project, path)
    });
    path
}

/// A file beside the repository, or why there is none.
pub(crate) fn beside_the_repository(path: &str) -> Result<String, String> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../../shared", path].iter().collect();
    match path.is_file() {
        true => Ok(path.to_string_lossy().into_owned()),
        false => Err(format!("{} is not there", path.display())),
    }
}
