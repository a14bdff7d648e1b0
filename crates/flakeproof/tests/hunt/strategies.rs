//! Hunts that spend their time where models expect flaky tests.

use flakeproof_testkit::{Project, Ran};
use serde_json::{Value, json};

use crate::{ODD, assert_says, empty, flakeproof, hunt_as_typed, shop};

/// A victim that the suite's own order does not show, and the suite backwards does.
const ORDERED: &str = "
LEFT = []

def test_victim():
    assert LEFT == []

def test_polluter():
    LEFT.append(1)

def test_sound():
    pass
";

fn ordered() -> Project {
    empty().file("test_ordered.py", ORDERED)
}

fn planned(project: &Project, options: &[&str]) -> Ran {
    hunt_as_typed(project, &[&["--steer", "plan", "--seed", "7"], options].concat())
}

/// A project with a model of its own.
fn with_a_model(project: Project) -> Project {
    let line = |name: &str, body: &str, flaky: bool| {
        let source = format!("def test_{name}():\n    {body}\n");
        let id = format!("tests/test_{name}.py::test_{name}");
        format!("{}\n", json!({"id": id, "project": "p", "source": source, "flaky": flaky}))
    };
    let flaky = (0..12).map(|it| line(&format!("f{it}"), "time.sleep(1); fetch(url)", true));
    let sound = (0..12).map(|it| line(&format!("s{it}"), "assert add(1, 2) == 3", false));
    project.write("labelled.jsonl", &flaky.chain(sound).collect::<String>());
    let train = ["train", "flast", "--data", "labelled.jsonl", "-k", "3"];
    assert_says(&flakeproof(&project, &train), 0, &[]);
    project
}

#[test]
fn a_plan_finds_a_test_that_fails_at_times_and_a_victim_with_its_polluter() {
    let ran = planned(&ordered().file("test_odd.py", ODD), &[]);
    assert_says(&ran, 1, &["a plan steers this hunt, by what the model inside flakeproof says"]);
    assert_eq!(ran.test("test_network")["kind"], "NOD", "{}", ran.text());
    assert_eq!(ran.test("test_victim")["kind"], "victim", "{}", ran.text());
    assert_eq!(ran.test("test_victim")["polluters"], json!([["test_ordered.py::test_polluter"]]));
}

#[test]
fn a_plan_says_what_remains_hidden() {
    let ran = planned(&ordered(), &["-v"]);
    assert_says(&ran, 1, &["are expected to be still hidden (with 95 %: at most "]);
    assert!(ran.json["hidden"]["expected"].is_f64(), "{}", ran.json["hidden"]);
    assert_eq!(ran.json["hidden"]["failing"], 0.05);
    assert!(ran.text().contains("learned from Java; nobody measured it on python"));
}

#[test]
fn a_plan_needs_fewer_executions_than_a_hunt_that_treats_all_alike() {
    let alike = hunt_as_typed(&ordered(), &["--seed", "7"]);
    let ran = planned(&ordered(), &[]);
    let executions = |ran: &Ran| ran.json["cost"]["executions"].as_u64().unwrap_or_default();
    assert_eq!(alike.json["hidden"], Value::Null);
    assert!(executions(&ran) < executions(&alike), "{}\n{}", ran.text(), alike.text());
}

#[test]
fn a_model_of_its_own_steers_a_project_by_default() {
    let project = with_a_model(ordered());
    let ran = hunt_as_typed(&project, &["--seed", "7"]);
    assert_says(&ran, 1, &["a plan steers this hunt, by what ", "flast.model says"]);
    let off = hunt_as_typed(&project, &["--seed", "7", "--steer", "off"]);
    assert!(!off.text().contains("steers this hunt"), "{}", off.text());
}

/// A test that fails every second time; it counts in a file that git ignores.
const SECOND: &str = "
import pathlib
RUNS = pathlib.Path(__file__).with_name('runs')

def test_every_second_time():
    before = len(RUNS.read_text()) if RUNS.exists() else 0
    RUNS.write_text('x' * (before + 1))
    assert before % 2 == 0

def test_words(): assert 'shop'.upper() == 'SHOP'
def test_sum(): assert 1 + 1 == 2
def test_list(): assert [1][0] == 1
";

#[test]
fn a_forest_steers_once_features_were_measured() {
    let project = empty().file("test_a.py", SECOND).file(".gitignore", "runs\n__pycache__/\n");
    project.commit();
    let (python, no_cache) = (project.python(), ["-p", "no:cacheprovider"]);
    let measure = ["features", "-n", "4", "--", &python, "-m", "pytest"];
    assert_says(
        &flakeproof(&project, &[&measure[..], &no_cache].concat()),
        0,
        &["4 tests measured"],
    );
    let train = ["train", "forest", "--problem", "nod", "--history", "--balance", "none"];
    assert_says(&flakeproof(&project, &train), 0, &["1 NOD flaky of 4 tests"]);
    let ran = hunt_as_typed(&project, &["--seed", "7"]);
    assert_says(&ran, 1, &["a plan steers this hunt", " and ", "nod.forest say", "NOD (1)"]);
    let ran = hunt_as_typed(&project, &["--seed", "7", "--steer", "cannier", "--max-reruns", "2"]);
    assert_says(&ran, 1, &["CANNIER steers", "no thresholds are kept for nod", "NOD (1)"]);
}

#[test]
fn cannier_reruns_only_the_tests_between_its_thresholds() {
    let project = shop();
    let said = flakeproof(&project, &["predict", "--output-format", "json"]);
    let said: Value = serde_json::from_slice(&said.output.stdout).expect("it is JSON");
    let tests = said["tests"].as_array().expect("it lists tests");
    let probability = |test: &Value| test["probability"].as_f64().unwrap_or_default();
    let most = tests.iter().map(probability).fold(0.0, f64::max);
    let few = ["--runs", "2", "--orders", "1", "--order-kind", "reverse", "--max-reruns", "4"];
    let lower = most.to_string();
    let chosen = ["--steer", "cannier", "--lower", &lower, "--upper", "1.01", "--seed", "7"];
    let ran = hunt_as_typed(&project, &[&few[..], &chosen].concat());
    assert_says(&ran, 1, &["CANNIER steers this hunt"]);
    for test in tests {
        let id = test["id"].as_str().unwrap_or_default();
        let hunted = ran.test(id);
        if hunted["kind"].is_null() {
            let is_rerun = hunted["alone"]["runs"].as_u64() > Some(1);
            assert_eq!(is_rerun, probability(test) >= most, "{id}\n{}", ran.text());
        }
    }
}

#[test]
fn a_test_that_a_model_is_sure_of_is_named_and_not_called_flaky() {
    let project = empty().file("test_a.py", "def test_a(): pass\ndef test_b(): pass\n");
    let options = ["--steer", "cannier", "--lower", "0", "--upper", "0", "--seed", "7"];
    let ran = hunt_as_typed(&project, &options);
    assert_says(&ran, 0, &["`test_a.py::test_a` and 1 more", "not called flaky without a run"]);
}

#[test]
fn a_planned_hunt_that_was_stopped_ends_as_if_it_had_not_been() {
    let project = ordered();
    assert_says(&planned(&project, &["--budget", "1ms"]), 5, &["--resume"]);
    let ran = hunt_as_typed(&project, &["--resume", "--budget", "10m"]);
    assert_says(&ran, 1, &["VICTIM (1)", "are expected to be still hidden"]);
    assert_eq!(ran.json["seed"], 7);
    let kinds = |ran: &Ran| ran.test("test_victim")["polluters"].clone();
    assert_eq!(kinds(&ran), kinds(&planned(&ordered(), &[])));
}

#[test]
fn a_planned_hunt_cannot_go_on_with_another_steering_or_another_model() {
    let project = ordered();
    planned(&project, &["--budget", "1ms"]);
    let resumed = |options: &[&str]| hunt_as_typed(&project, &[&["--resume"], options].concat());
    for option in [["--steer", "off"], ["--hidden", "20%"], ["--lower", "0.1"]] {
        assert_says(&resumed(&option), 2, &[option[0], "without `--resume`"]);
    }
    let project = with_a_model(project);
    let resumed = hunt_as_typed(&project, &["--resume"]);
    assert_says(&resumed, 2, &["the models", "changed since", "without `--resume`"]);
}

#[test]
fn numbers_without_effect_are_refused() {
    let ran = hunt_as_typed(&ordered(), &["--lower", "0.1"]);
    assert_says(&ran, 2, &["`--lower` says something only with `--steer cannier`"]);
    let ran = hunt_as_typed(&ordered(), &["--steer", "cannier", "--lower", "2"]);
    assert_says(&ran, 2, &["not in order from 0 to 1.01", "--lower 0.07 --upper 1.01"]);
}
