//! From a proven cause to a proven patch, with the real program.

use flakeproof_testkit::{Project, Ran};
use serde_json::Value;

use crate::{cause, plain_surroundings};

const CODE: &str = "\
from datetime import datetime


def labels():
    return {'cash', 'card', 'coin', 'voucher'}


def in_the_order_of_the_till():
    return list(labels())


def day(paid):
    return datetime.fromtimestamp(paid).strftime('%H:%M')
";

const TESTS: &str = "\
import unittest

import shop


def test_labels():
    names = [label.upper() for label in shop.labels()]
    assert names == LABELS


def test_there_are_labels():
    assert 'coin' in shop.labels()


def test_till():
    assert shop.in_the_order_of_the_till() == TILL


class TestDay(unittest.TestCase):
    def test_day(self):
        self.assertEqual(shop.day(1_700_000_000), '22:13')
";

/// A project whose labels are expected in the order that they have with the seed 1 of hashes.
fn project() -> Project {
    let rooted = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n";
    let project = crate::project("").file("conftest.py", rooted).file("shop.py", CODE);
    let in_order =
        "import shop; print([it.upper() for it in shop.labels()]); print(list(shop.labels()))";
    let ran = std::process::Command::new(project.python())
        .args(["-c", in_order])
        .env("PYTHONHASHSEED", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(project.path())
        .output()
        .expect("Python runs");
    let said = String::from_utf8(ran.stdout).expect("it is text");
    let (labels, till) = said.trim().split_once('\n').expect("it printed both");
    project.file("test_a.py", &TESTS.replace("LABELS", labels).replace("TILL", till))
}

/// `flakeproof fix TEST`, with its JSON report.
fn fix(project: &Project, options: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let options = [&["fix", "--reporter", &reporter], options].concat();
    let output = plain_surroundings(&mut project.flakeproof(&options)).output().expect("it starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or(Value::Null) }
}

#[track_caller]
fn exits(ran: &Ran, code: i32) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = text(&ran.output.stdout) + &text(&ran.output.stderr);
    assert_eq!(ran.output.status.code(), Some(code), "{all}");
}

#[test]
fn an_order_that_the_test_takes_from_a_set_is_no_longer_compared_and_one_that_code_makes_is() {
    let project = project();
    let found = cause(&project, "test_labels", "hash-seed=1");
    assert_eq!(found.json["levers"][0]["name"], "hash-seed", "{}", found.json);
    let mended = fix(&project, &["test_labels", "--apply"]);
    exits(&mended, 0);
    let patch = &mended.json["patches"][0];
    let diff = patch["diff"].as_str().unwrap_or_default();
    assert!(diff.contains("+    assert sorted(names) == sorted(['"), "{diff}");
    let under = patch["proof"]["under"].as_array().map_or(0, Vec::len);
    assert!(under >= 7, "it is proven under each seed: {patch}");
    assert_eq!(patch["proof"]["with"]["failures"], 0);
    let fault = patch["proof"]["faults"][0]["fault"].as_str().unwrap_or_default();
    assert!(fault.starts_with("shop.py:5"), "{patch}");

    // The till may promise an order, and break that promise: no assertion is made weaker for it.
    assert_eq!(cause(&project, "test_till", "hash-seed=1").json["levers"][0]["name"], "hash-seed");
    let kept = fix(&project, &["test_till"]);
    exits(&kept, 5);
    assert_eq!(kept.json["patches"], serde_json::json!([]));
    let why_not = kept.json["tried"][0]["why_not"].as_str().unwrap_or_default();
    assert!(why_not.contains("it is a `list`, whose order"), "{}", kept.json);
}

#[test]
fn a_zone_that_was_shown_to_matter_is_pinned_until_that_is_undone() {
    let project = project();
    let found = cause(&project, "test_day", "zone=Asia/Kolkata");
    assert_eq!(found.json["levers"][0]["answer"], "caused by", "{}", found.json);
    let pinned = fix(&project, &["test_day", "--apply"]);
    exits(&pinned, 0);
    let patch = &pinned.json["patches"][0];
    let hides = patch["hides"].as_str().unwrap_or_default();
    assert!(hides.contains("hides it from users in other zones"), "{patch}");
    let path = project.path().join("test_a.py");
    let written = std::fs::read_to_string(&path).expect("the tests are there");
    assert!(written.contains("        self.addCleanup(time.tzset)\n"), "{written}");
    let verify = |verdict| {
        let options = ["verify", "test_day", "--lever", "zone=Asia/Kolkata", "--was", "90%"];
        let mut command = project.flakeproof(&options);
        let python = project.python();
        let output = plain_surroundings(command.args(["--", &python, "-m", "pytest"])).output();
        assert_eq!(output.expect("it starts").status.code(), Some(verdict));
    };
    verify(0);
    project.write("test_a.py", &written.replace("        time.tzset()\n", ""));
    verify(1);
}
