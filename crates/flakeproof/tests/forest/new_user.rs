//! The way of a new user: measure, train, ask.

use flakeproof_testkit::Project;

use crate::{assert_refuses, assert_says, finish, flakeproof, project};

/// Six tests, of which one fails every second time. It counts in a file that git ignores, so that
/// the code stays the same.
const SUITE: &str = r#"
import pathlib
from shop import total

RUNS = pathlib.Path(__file__).with_name("runs")

def test_every_second_time():
    before = len(RUNS.read_text()) if RUNS.exists() else 0
    RUNS.write_text("x" * (before + 1))
    for _ in range(3):
        assert total([1, 2]) == 3
    assert before % 2 == 0

def test_empty(): assert total([]) == 0
def test_one(): assert total([7]) == 7
def test_two(): assert total([1, 1]) == 2
def test_words():
    assert "shop".upper() == "SHOP"
    assert "SHOP".lower() == "shop"
def test_always_fails(): assert total([1]) == 2
"#;

fn shop() -> Project {
    let project = project()
        .file("shop.py", "def total(prices):\n    return sum(prices)\n")
        .file("test_shop.py", SUITE)
        .file(".gitignore", "runs\n__pycache__/\n");
    project.commit();
    project
}

fn measure(project: &Project, runs: &str) {
    let python = project.python();
    let mut command = project.flakeproof(&["features", "-n", runs, "--", &python, "-m", "pytest"]);
    let ran = finish(command.args(["-p", "no:cacheprovider"]));
    assert_says(&ran, 0, &["6 tests measured"]);
}

#[test]
fn measuring_training_and_asking_explains_a_flaky_test() {
    let project = shop();
    measure(&project, "6");
    assert_eq!(project.git(&["status", "--porcelain"]), "", "measuring leaves nothing to commit");
    let train = ["train", "forest", "--problem", "nod", "--history"];

    // One flaky test has no neighbours; the way out is named, and it works.
    let ran = flakeproof(&project, &train);
    assert_refuses(&ran, &["the smaller class has 1 rows", "`--balance none`"]);
    let ran = flakeproof(&project, &[&train[..], &["--balance", "none"]].concat());
    assert_says(&ran, 0, &["1 NOD flaky of 6 tests from 1 project", "nobody knows what it is"]);

    let ran = flakeproof(&project, &["explain", "test_every_second_time"]);
    assert_says(&ran, 0, &["NOD flaky? by its features, nod answers", "no probability"]);
    assert_says(&ran, 0, &["█", "the forest answers"]);
    // Which of the ten bars are longest depends on what was measured; not all of these are short.
    let only_it_has = ["ast depth", "cyclomatic complexity", "halstead volume", "lines of code"];
    assert!(only_it_has.iter().any(|name| ran.text().contains(name)), "{}", ran.text());
    assert!(answer(&ran.text()) > 0.5, "{}", ran.text());
    let other = flakeproof(&project, &["explain", "test_one"]);
    assert!(answer(&other.text()) < 0.5, "{}", other.text());
}

/// What the forest answers.
fn answer(text: &str) -> f64 {
    let rest = text.split("the forest answers ").nth(1).unwrap_or_default();
    rest.trim().parse().expect("a number at the end")
}

#[test]
fn a_folder_of_the_project_has_the_projects_history() {
    let project = shop();
    project.write("more/test_more.py", "def test_more(): assert 1 + 1 == 2\n");
    let (python, folder) = (project.python(), project.path().join("more"));
    let pytest = ["features", "--", &python, "-m", "pytest", "-p", "no:cacheprovider"];
    let ran = finish(project.flakeproof(&pytest).current_dir(&folder));
    assert_says(&ran, 0, &["1 test measured"]);
    let train = ["train", "forest", "--problem", "nod", "--history"];
    let ran = finish(project.flakeproof(&train).current_dir(&folder));
    assert_refuses(&ran, &["the outcomes of 1 tests do not tell how they fared"]);
}

#[test]
fn one_run_cannot_tell_who_is_flaky() {
    let project = shop();
    measure(&project, "1");
    let ran = flakeproof(&project, &["train", "forest", "--problem", "nod", "--history"]);
    assert_refuses(&ran, &["how they fared in several runs", "features -n 5"]);
}

#[test]
fn the_history_knows_nothing_of_shuffled_orders() {
    let project = shop();
    measure(&project, "1");
    let ran = flakeproof(&project, &["train", "forest", "--problem", "victim", "--history"]);
    assert_refuses(&ran, &["do not tell how they fared in shuffled orders", "--outcomes"]);
}
