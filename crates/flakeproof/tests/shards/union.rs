//! Every test is in exactly one shard, whatever the history says and however often it is asked.

use std::collections::BTreeMap;
use std::process::Command;

use flakeproof_testkit::{Project, node, python, skipped};

use crate::{ids, project, run_shard, run_with, shard_json, zoo};

/// Run all shards of a zoo one after the other, on one history, and see which tests ran how often.
fn every_test_runs_once(project: &Project, shards: u32, command: &[&str]) {
    let all = shard_json(project, &["--shard", "1/1"], command);
    let all = all["tests"].as_array().expect("tests");
    let mut runs: BTreeMap<String, usize> = BTreeMap::new();
    let mut plans = Vec::new();
    for shard in 1..=shards {
        let ran = run_shard(project, &format!("{shard}/{shards}"), command);
        assert!(matches!(ran.code(), Some(0 | 1)), "{}", ran.text());
        let text = ran.text();
        plans.extend(text.split("(plan ").nth(1).map(|rest| rest[..8].to_owned()));
        for test in ran.json["tests"].as_array().into_iter().flatten() {
            let attempts = test["attempts"].as_array().expect("attempts").iter();
            let first = attempts.filter(|attempt| attempt["stage"] == "first").count();
            *runs.entry(test["id"].as_str().expect("an id").to_owned()).or_default() += first;
        }
    }
    let twice: Vec<_> = runs.iter().filter(|(_, count)| **count != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let mut wanted: Vec<&str> = all.iter().filter_map(|test| test.as_str()).collect();
    wanted.sort_unstable();
    assert_eq!(runs.keys().map(String::as_str).collect::<Vec<_>>(), wanted);
    plans.dedup();
    assert_eq!(plans.len(), 1, "{plans:?}");
}

fn has(tool: &str, version: &str) -> bool {
    let is_here = Command::new(tool).arg(version).output().is_ok_and(|it| it.status.success());
    if !is_here {
        skipped::note(&format!("shards of the zoo of {tool}"), &format!("{tool} is not installed"));
    }
    is_here
}

#[test]
fn every_test_of_the_pytest_zoo_runs_in_exactly_one_shard() {
    let python = python::usual().to_string_lossy().into_owned();
    every_test_runs_once(&zoo("pytest"), 3, &[&python, "-m", "pytest", "-q"]);
}

#[test]
fn every_test_of_the_go_zoo_runs_in_exactly_one_shard() {
    if has("go", "version") {
        every_test_runs_once(&zoo("go"), 2, &["go", "test", "./..."]);
    }
}

#[test]
fn every_test_of_the_node_zoo_runs_in_exactly_one_shard() {
    if has("node", "--version") {
        every_test_runs_once(&zoo("node"), 3, &["node", "--test"]);
    }
}

#[test]
fn every_test_of_the_jest_zoo_runs_in_exactly_one_shard_and_files_stay_whole() {
    let modules = match node::modules(&[node::JEST]) {
        Ok(modules) => modules,
        Err(why) => return skipped::note("shards of the zoo of jest", &why),
    };
    let project = zoo("jest");
    std::os::unix::fs::symlink(modules, project.path().join("node_modules")).expect("a link");
    every_test_runs_once(&project, 2, &["npx", "jest"]);
    let files = |shard: &str| {
        let told = shard_json(&project, &["--shard", shard], &["npx", "jest"]);
        told["files"].as_array().cloned().unwrap_or_default()
    };
    let (first, second) = (files("1/2"), files("2/2"));
    assert!(!first.is_empty() && first.iter().all(|file| !second.contains(file)));
}

/// One test takes half of the time, and most take next to none.
const SKEWED: &str = "
import pytest, time

@pytest.mark.parametrize('tenths', [8, 4, 2, 1, 1] + [0] * 15)
def test_takes(tenths):
    time.sleep(tenths / 10)
";

#[test]
fn a_skewed_history_gives_shards_within_one_test_of_each_other_and_goes_on_doing_so() {
    let project = project().file("test_skewed.py", SKEWED).file("pytest.ini", "[pytest]\n");
    let python = project.python();
    let command = [&python, "-m", "pytest", "-q"];
    let before = shard_json(&project, &["--shard", "1/3"], &command);
    assert_eq!((&before["known_times"], &before["seconds"]), (&0.into(), &serde_json::Value::Null));
    assert_eq!(run_with(&project, &[], &command).code(), Some(0));
    let told = shard_json(&project, &["--shard", "1/3"], &command);
    assert_eq!(told["known_times"], 20);
    let seconds: Vec<f64> = told["shards"]
        .as_array()
        .expect("shards")
        .iter()
        .filter_map(|shard| shard["seconds"].as_f64())
        .collect();
    let (longest, shortest) =
        (seconds.iter().copied().fold(0.0, f64::max), seconds.iter().copied().fold(9.0, f64::min));
    assert!((0.7..1.2).contains(&longest), "the longest test alone: {seconds:?}");
    // Four tests share the other half: none of them is longer than the difference may be.
    assert!(seconds.len() == 3 && longest - shortest < 0.8, "{seconds:?}");
    assert_eq!(told["tests"].as_array().map(Vec::len), Some(1), "{told:#}");

    // What the first shards take changes nothing for the last, nor for a second try.
    let first = run_shard(&project, "2/3", &command);
    let again = run_shard(&project, "2/3", &command);
    assert_eq!(ids(&first), ids(&again));
    let plan = format!("(plan {})", told["plan"].as_str().expect("a plan"));
    assert!(first.text().contains(&plan) && again.text().contains(&plan), "{}", again.text());
}

#[test]
fn what_the_user_selects_is_what_is_shared() {
    let text = "def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n";
    let project = project().file("test_it.py", text).file("pytest.ini", "[pytest]\n");
    let python = project.python();
    let selected = [&python, "-m", "pytest", "-q", "-k", "a or c"];
    let mut both = ids(&run_shard(&project, "1/2", &selected));
    both.extend(ids(&run_shard(&project, "2/2", &selected)));
    both.sort();
    assert_eq!(both, ["test_it.py::test_a", "test_it.py::test_c"]);
}

#[test]
fn any_runner_can_hand_in_its_list() {
    let project = project().file("list.txt", "spec/a_spec.rb\nspec/b_spec.rb\n\nspec/c_spec.rb\n");
    let lines = |shard: &str| {
        let mut program = project.flakeproof(&["shard", "--shard", shard, "--tests", "list.txt"]);
        let output = program.output().expect("it starts");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines("1/2"), ["spec/a_spec.rb", "spec/c_spec.rb"]);
    assert_eq!(lines("2/2"), ["spec/b_spec.rb"]);
}
