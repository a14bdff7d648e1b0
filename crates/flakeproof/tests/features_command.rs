//! `flakeproof features` as a user runs it: what it prints, exports and keeps.
//!
//! What is measured about a test is asked in `features.rs`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use flakeproof_testkit::Project;
use serde_json::Value;

const PRODUCT: &str = "def double(n):\n    return 2 * n\n";

const SUITE: &str = "\
import os
import pytest
import base
from product import double


def test_double():
    assert double(2) == 4


@pytest.mark.parametrize('n', [1, 2])
def test_each(n):
    # Both ways.
    with pytest.raises(TypeError):
        double()
    assert double(n) == n + n


def test_fails():
    assert double(1) == 1


@pytest.mark.skip
def test_skipped():
    assert double(1) == 2


class TestChild(base.SharedTests):
    def test_own(self):
        assert os.sep
";

/// Tests for classes in other files to inherit.
const BASE: &str = "\
import unittest


class SharedTests(unittest.TestCase):
    def test_inherited(self):
        for number in [1, 2]:
            if number:
                self.assertTrue(number)
                self.assertEqual(number, number)
";

fn project() -> Project {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("product.py", PRODUCT)
        .file("base.py", BASE)
        .file("test_all.py", SUITE)
        .file(".gitignore", "__pycache__/\n");
    project.commit();
    project
}

fn features(project: &Project, options: &[&str]) -> Output {
    let python = project.python();
    let mut command = project.flakeproof(&["features"]);
    command.args(options).args(["--", &python, "-m", "pytest", "-p", "no:cacheprovider"]);
    command.output().expect("flakeproof runs")
}

fn text(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// A project whose tests were measured in two runs, and the report. It is made once.
fn measured() -> &'static (Project, Value) {
    static MEASURED: OnceLock<(Project, Value)> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let project = project();
        let options = ["-n", "2", "--output-format", "json", "--project", "shop"];
        let files = ["--export", "features.csv"];
        let output = features(&project, &[&options[..], &files[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let report = serde_json::from_slice(&output.stdout).expect("one JSON document");
        (project, report)
    })
}

/// The features of the test whose id ends like this.
fn of_test<'r>(report: &'r Value, ending: &str) -> Option<&'r Value> {
    let tests = report["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
    let test = tests.iter().find(|it| it["test"].as_str().is_some_and(|id| id.ends_with(ending)));
    test.map(|test| &test["features"])
}

/// The seven features that the source of a test tells, in the order of the paper.
fn of_source(features: &Value) -> Vec<Option<f64>> {
    const NAMES: [&str; 7] = [
        "ast_depth",
        "assertions",
        "external_modules",
        "halstead_volume",
        "cyclomatic_complexity",
        "test_lines_of_code",
        "maintainability",
    ];
    NAMES.iter().map(|name| features[name].as_f64()).collect()
}

#[track_caller]
fn assert_source_tells(features: &Value, expected: [f64; 7]) {
    let found = of_source(features);
    let is_near = |(found, expected): (&Option<f64>, f64)| {
        found.is_some_and(|found| (found - expected).abs() < 1e-9)
    };
    assert!(found.iter().zip(expected).all(is_near), "{found:?} is not {expected:?}");
}

#[test]
fn a_test_has_all_eighteen_features() {
    let (_, report) = measured();
    let features = of_test(report, "::test_double").expect("it was measured");
    let values = features.as_object().expect("a map");
    assert_eq!(values.len(), 18);
    for (name, value) in values {
        // Whether time spent waiting is known is for the kernel to say.
        assert!(value.is_number() || name == "wait_time", "{name} is missing: {features:#}");
    }
}

#[test]
fn what_the_source_tells_is_what_a_hand_counts() {
    let (_, report) = measured();
    // One operator and two operands: a length of three out of a vocabulary of three.
    let volume = 3.0 * 3f64.log2();
    let index = |volume: f64, branches: f64, lines: f64| {
        (171.0 - 5.2 * volume.ln() - 0.23 * branches - 16.2 * lines.ln()) * 100.0 / 171.0
    };
    let double = of_test(report, "::test_double").expect("it was measured");
    assert_source_tells(double, [2.0, 1.0, 1.0, volume, 2.0, 2.0, index(volume, 2.0, 2.0)]);
    // Without an operator there is no volume, and nothing is easier to maintain.
    let own = of_test(report, "::TestChild::test_own").expect("it was measured");
    assert_source_tells(own, [2.0, 1.0, 0.0, 0.0, 2.0, 2.0, 100.0]);
}

#[test]
fn each_parameter_set_is_a_test_of_its_own_with_the_same_source() {
    let (_, report) = measured();
    let first = of_test(report, "::test_each[1]").expect("it was measured");
    let second = of_test(report, "::test_each[2]").expect("it was measured");
    assert!(of_test(report, "::test_each").is_none());
    assert!(of_source(first).iter().all(Option::is_some), "{first:#}");
    assert_eq!(of_source(first), of_source(second));
    assert_eq!(first["test_lines_of_code"], 6.0);
}

#[test]
fn an_inherited_test_has_the_source_of_where_it_is_written() {
    let (_, report) = measured();
    let inherited = of_test(report, "test_all.py::TestChild::test_inherited").expect("it ran");
    // A loop and a condition, one in the other; no operators, no modules.
    assert_source_tells(inherited, [4.0, 2.0, 0.0, 0.0, 3.0, 5.0, 100.0]);
}

#[test]
fn a_failing_test_has_features_and_a_skipped_one_has_none() {
    let (_, report) = measured();
    let failing = of_test(report, "::test_fails").expect("it was measured");
    assert_eq!(failing["covered_lines"], 2.0);
    assert!(of_test(report, "::test_skipped").is_none());
    let notices = report["notices"].to_string();
    assert!(notices.contains("1 of the tests skipped and have no features"), "{notices}");
}

#[test]
fn two_runs_are_two_runs_of_the_history() {
    let (project, report) = measured();
    assert_eq!(report["tests"][0]["runs"], 2);
    let history = history(project.path());
    let ask = |query: &str| count(&history, query);
    assert_eq!(ask("SELECT count(*) FROM run WHERE state = 'finished' AND exit_code = 0"), 2);
    // Six that ran and one that was skipped.
    assert_eq!(ask("SELECT count(*) FROM execution"), 14);
    assert_eq!(ask("SELECT count(*) FROM execution WHERE outcome = 'failed'"), 2);
    assert_eq!(ask("SELECT count(*) FROM feature"), 12);
    assert_eq!(ask("SELECT count(*) FROM feature WHERE covered_lines IS NULL"), 0);
    assert_eq!(project.git(&["status", "--porcelain", "--", ".flakeproof"]), "");
}

fn history(project: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(project.join(".flakeproof/history.db")).expect("the history opens")
}

fn count(history: &rusqlite::Connection, query: &str) -> u32 {
    history.query_row(query, [], |row| row.get(0)).expect("the history answers")
}

#[test]
fn the_exported_table_has_a_line_for_each_run_and_trains_a_forest() {
    let (project, _) = measured();
    let csv = std::fs::read_to_string(project.path().join("features.csv")).expect("a table");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("project,test,run,read_count,"), "{csv}");
    assert_eq!(lines.len(), 1 + 2 * 6);
    assert!(lines[1].starts_with("shop,test_all.py::test_double,1,"), "{csv}");
    assert!(lines[7].starts_with("shop,test_all.py::test_double,2,"), "{csv}");

    let outcomes = "project,test,baseline_runs,baseline_failures\n\
        shop,test_all.py::test_double,9,2\nshop,test_all.py::test_fails,9,9\n\
        shop,test_all.py::test_each[1],9,0\nshop,test_all.py::test_each[2],9,0\n";
    project.write("outcomes.csv", outcomes);
    let trained = project
        .flakeproof(&["train", "forest", "--problem", "nod", "--balance", "none"])
        .args(["--features", "features.csv", "--outcomes", "outcomes.csv", "-o", "own.forest"])
        .output()
        .expect("flakeproof runs");
    let said = text(&trained);
    assert_eq!(trained.status.code(), Some(0), "{said}");
    assert!(said.contains("1 NOD flaky of 4 tests from 1 project"), "{said}");
    assert!(said.contains("2 measured tests left out"), "{said}");
}

/// The samples of all languages that predictions understand.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/languages")
}

/// A project that holds the samples, and in which nothing can be run.
fn project_of_samples() -> Project {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"));
    for entry in std::fs::read_dir(samples()).expect("there are samples") {
        let entry = entry.expect("a sample");
        let text = std::fs::read_to_string(entry.path()).expect("a text");
        project.write(&format!("samples/{}", entry.file_name().to_string_lossy()), &text);
    }
    project
}

#[test]
fn the_source_of_five_languages_is_measured_without_running_anything() {
    let project = project_of_samples();
    let mut command = project.flakeproof(&["features", "--static", "samples"]);
    // Without a path there is no program that could run.
    let output = command.args(["--output-format", "json"]).env("PATH", "").output();
    let output = output.expect("flakeproof runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    for test in [
        "CartTest#sumsPrices",
        "clock.test.js > clock > ticks",
        "store.test.ts > store > keeps what is put",
        ".TestPoolIsEmpty",
        "test_words.py::test_upper",
        "::one_and_one_is_two",
    ] {
        let features = of_test(&report, test).expect(test);
        assert!(of_source(features).iter().all(Option::is_some), "{test}: {features:#}");
        assert!(features["assertions"].as_f64() >= Some(1.0), "{test}: {features:#}");
        assert!(features["run_time"].is_null(), "{test}: {features:#}");
    }
    assert!(!project.path().join(".flakeproof").exists(), "nothing ran, so nothing is kept");
}

#[test]
fn a_parquet_file_begins_and_ends_as_such() {
    let project = project_of_samples();
    let arguments = ["features", "--static", "samples", "--export", "all.parquet"];
    let output = project.flakeproof(&arguments).output().expect("flakeproof runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let bytes = std::fs::read(project.path().join("all.parquet")).expect("a file");
    assert!(bytes.len() > 100 && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn a_folder_without_tests_has_no_features() {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"));
    let output = project.flakeproof(&["features", "--static"]).output().expect("flakeproof runs");
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(text(&output).contains("no test was found"), "{}", text(&output));
    let output = project.flakeproof(&["features", "--static", "no-such-folder"]).output();
    let output = output.expect("flakeproof runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("no-such-folder does not exist"), "{}", text(&output));
}

#[test]
fn an_interrupt_keeps_the_runs_that_were_complete() {
    let suite = "import os, time\n\
        def test_before(): pass\n\
        def test_waits():\n    \
            if not os.path.exists('once'):\n        \
                open('once', 'w').close()\n        \
                return\n    \
            with open('ready', 'w') as ready: ready.write('now\\n')\n    \
            time.sleep(300)\n\
        def test_after(): pass\n";
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_all.py", suite);
    let ready = project.path().join("ready");
    assert!(Command::new("mkfifo").arg(&ready).status().is_ok_and(|status| status.success()));
    let python = project.python();
    let mut running = project
        .flakeproof(&["features", "-n", "3", "--export", "features.csv"])
        .args(["--", &python, "-m", "pytest", "-p", "no:cacheprovider"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let fifo = std::fs::File::open(&ready).expect("the test opens the other end");
    let _ = BufReader::new(fifo).read_line(&mut line);
    assert_eq!(line, "now\n");
    let pid = running.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().is_ok_and(|it| it.success()));
    assert_eq!(running.wait().expect("it ends").code(), Some(130));

    let history = history(project.path());
    let ask = |query: &str| count(&history, query);
    assert_eq!(ask("SELECT count(*) FROM run"), 2, "the third run never began");
    assert_eq!(ask("SELECT exit_code FROM run WHERE number = 1"), 0);
    assert_eq!(ask("SELECT exit_code FROM run WHERE number = 2"), 130);
    assert_eq!(ask("SELECT count(*) FROM feature WHERE run = 1"), 3);
    assert_eq!(ask("SELECT count(*) FROM feature WHERE run = 2"), 1, "of the test before");
    let csv = std::fs::read_to_string(project.path().join("features.csv")).expect("a table");
    assert!(csv.lines().filter(|line| line.contains(",1,")).count() >= 3, "{csv}");
}
