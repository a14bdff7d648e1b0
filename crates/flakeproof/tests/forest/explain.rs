//! `flakeproof explain` with and without a forest, and with and without features.

use std::fs;
use std::sync::OnceLock;

use flakeproof_testkit::Project;

use crate::tables::Tables;
use crate::{assert_says, finish, flakeproof, project, train};

const SUITE: &str = "import pytest\n\
    @pytest.mark.parametrize('n', [1, 2])\n\
    def test_each(n): assert n\n\
    def test_one(): assert 1 + 1 == 2\n";

/// A project with tests, whose features are on record. They are measured once.
pub(crate) fn measured() -> Project {
    static HISTORY: OnceLock<Vec<u8>> = OnceLock::new();
    let history = HISTORY.get_or_init(|| {
        let project = project().file("test_all.py", SUITE);
        let python = project.python();
        let pytest = ["features", "--", &python, "-m", "pytest", "-p", "no:cacheprovider"];
        assert_says(&flakeproof(&project, &pytest), 0, &["3 tests measured"]);
        fs::read(project.path().join(".flakeproof/history.db")).expect("there is a history")
    });
    let project = project().file("test_all.py", SUITE).file(".flakeproof/.gitignore", "*\n");
    fs::write(project.path().join(".flakeproof/history.db"), history).expect("it is written");
    project
}

/// Give a project a forest for a problem.
pub(crate) fn give_forest(project: &Project, problem: &str) {
    let tables = Tables::usual();
    project.write("features.csv", &tables.features());
    project.write("outcomes.csv", &tables.outcomes());
    assert_says(&train(project, problem, &["--trees", "10"]), 0, &[]);
}

#[test]
fn without_a_forest_there_is_nothing_about_features() {
    let ran = flakeproof(&measured(), &["explain", "test_one"]);
    assert_says(&ran, 0, &["test_all.py::test_one"]);
    assert!(!ran.text().contains("by its features"), "{}", ran.text());
    assert!(!ran.text().contains("forest"), "{}", ran.text());
}

#[test]
fn without_features_explain_says_how_to_get_them() {
    let project = project().file("test_all.py", SUITE);
    give_forest(&project, "nod");
    let ran = flakeproof(&project, &["explain", "test_one"]);
    let said = ["the features of this test are not known", "flakeproof features -- pytest"];
    assert_says(&ran, 0, &said);
    assert!(!project.path().join(".flakeproof/history.db").exists(), "explaining keeps nothing");
}

#[test]
fn each_forest_of_the_project_explains_itself_in_bars() {
    let project = measured();
    give_forest(&project, "nod");
    give_forest(&project, "victim");
    let ran = flakeproof(&project, &["explain", "test_one"]);
    let said = ["% NOD flaky by its features, says nod (extra trees, 10 trees", "% victim by its"];
    assert_says(&ran, 0, &said);
    assert_says(&ran, 0, &["run time", "covered lines", "max threads", "█", "starts from 0."]);
    assert!(!ran.text().contains("ast depth"), "the forest has not learned from it");
}

#[test]
fn the_parts_of_an_answer_add_up() {
    let project = measured();
    give_forest(&project, "nod");
    let text = flakeproof(&project, &["explain", "test_one"]).text();
    let forest = text.split("by its features").nth(1).expect("a forest speaks");
    let of_bars: f64 = forest
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| {
            line.split_whitespace().find(|it| it.starts_with(['+', '-']))?.parse::<f64>().ok()
        })
        .sum();
    let number = |before: &str| -> f64 {
        let rest = forest.split(before).nth(1).unwrap_or_default();
        let word: String =
            rest.chars().take_while(|it| it.is_ascii_digit() || "+-.".contains(*it)).collect();
        word.parse().expect("a number")
    };
    let all = number("starts from ") + of_bars + number("features add ");
    assert!((all - number("forest answers ")).abs() < 0.01, "{text}");
}

#[test]
fn the_most_suspicious_case_of_a_test_with_parameters_is_explained() {
    let project = measured();
    give_forest(&project, "nod");
    let ran = flakeproof(&project, &["explain", "test_each"]);
    assert_says(&ran, 0, &["by its features", "test_all.py::test_each["]);
}

#[test]
fn programs_get_one_document_with_a_forest_too() {
    let project = measured();
    give_forest(&project, "nod");
    let mut command = project.flakeproof(&["explain", "test_one", "--output-format", "json"]);
    let ran = finish(&mut command);
    assert_says(&ran, 0, &[]);
    assert!(ran.json.is_object(), "{}", ran.text());
}
