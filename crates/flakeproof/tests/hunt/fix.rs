//! From a hunt to a proven patch, with the real program.

use flakeproof_testkit::{Project, Ran};
use serde_json::{Value, json};

use crate::{assert_says, empty, flakeproof, hunt};

const CODE: &str = "\
ITEMS = []
session = None


def add(item):
    ITEMS.append(item)
    return len(ITEMS)


def receipt():
    return f'{session}: {len(ITEMS)}'
";

/// A victim of `test_add`, a brittle test that relies on `test_login`, and a victim of what nobody sees.
const TESTS: &str = "\
import decimal

import shop


def test_add():
    assert shop.add(3) == 1


def test_empty():
    assert shop.ITEMS == []


def test_login():
    shop.session = 'open'


def test_receipt():
    assert shop.receipt().startswith('open')


def test_coarse():
    decimal.getcontext().prec = 3
    assert decimal.Decimal(1) / 3 == decimal.Decimal('0.333')


def test_exact():
    assert decimal.Decimal(1) / 8 * 3 == decimal.Decimal('0.375') and decimal.getcontext().prec == 28
";

/// A project in which a hunt has been, under git.
fn hunted() -> Project {
    let rooted = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n";
    let project =
        empty().file("conftest.py", rooted).file("shop.py", CODE).file("test_shop.py", TESTS);
    project.commit();
    assert_says(&hunt(&project, &[]), 1, &["VICTIM (2)", "BRITTLE (1)"]);
    project
}

/// `flakeproof fix` with its JSON report.
fn fix(project: &Project, options: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let options = [&["fix", "--reporter", &reporter], options].concat();
    let output = project.flakeproof(&options).output().expect("it starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or(Value::Null) }
}

/// The tests as they are in the user's own tree.
fn written(project: &Project) -> String {
    std::fs::read_to_string(project.path().join("test_shop.py")).expect("the tests are there")
}

#[test]
fn a_hunt_finds_a_victim_until_it_is_mended_and_again_when_that_is_undone() {
    let project = hunted();
    let shown = fix(&project, &["test_empty", "--branch", "mend"]);
    let says = [
        "+def test_add(monkeypatch):",
        "+    monkeypatch.setattr(shop, \"ITEMS\", shop.ITEMS[:])",
        "put back `shop.ITEMS` after test_shop.py::test_add",
        "test_shop.py::test_add still fails with a fault in shop.py:",
        "committed to the branch `mend`",
    ];
    assert_says(&shown, 0, &says);
    assert_eq!(written(&project), TESTS, "it is only committed");
    assert!(project.git(&["show", "mend:test_shop.py"]).contains("def test_add(monkeypatch):"));
    assert_says(&fix(&project, &["test_empty", "--branch", "mend"]), 2, &["one of this name"]);
    let patch = &shown.json["patches"][0];
    assert_eq!((&patch["file"], &patch["proven"]), (&json!("test_shop.py"), &json!(true)));
    assert_eq!(patch["proof"]["with"]["failures"], 0);
    assert_eq!(patch["proof"]["without"]["failures"], 3);

    assert_says(&fix(&project, &["test_empty", "--apply"]), 0, &["written to test_shop.py"]);
    let mended = written(&project);
    assert!(mended.contains("def test_add(monkeypatch):"), "{mended}");
    assert_says(&hunt(&project, &["--victim", "test_empty"]), 0, &[]);
    project.write("test_shop.py", TESTS);
    assert_says(&hunt(&project, &["--victim", "test_empty"]), 1, &["VICTIM (1)"]);
}

#[test]
fn a_brittle_test_is_set_up_and_what_is_not_proven_is_not_offered() {
    let project = hunted();
    let brittle = fix(&project, &["test_receipt"]);
    assert_says(&brittle, 0, &["+    shop.session = 'open'", "begin with what"]);
    let refused = fix(&project, &["test_exact"]);
    let says = ["no patch is proven", "test_coarse", "what it leaves behind is not seen"];
    assert_says(&refused, 5, &says);
    assert_eq!(refused.json["patches"], json!([]));
    assert!(refused.json["tried"][0]["why_not"].is_string());
    assert_eq!(written(&project), TESTS);

    project.write("test_shop.py", "def broken(:\n");
    assert_says(&flakeproof(&project, &["fix", "test_empty"]), 6, &["test_shop.py"]);
    let unknown = flakeproof(&project, &["fix", "test_other"]);
    assert_says(&unknown, 2, &["no hunt knows a flaky test `test_other`", "flakeproof fix"]);
}

#[test]
fn what_cannot_be_changed_is_told_and_nothing_is_half_written() {
    let project = hunted();
    // Work that is not committed stays: a branch would leave it out.
    let dirty = format!("{TESTS}\n\ndef test_new():\n    pass\n");
    project.write("test_shop.py", &dirty);
    let refused = fix(&project, &["test_empty", "--branch", "mend"]);
    assert_says(&refused, 2, &["test_shop.py has changes that are not committed", "--apply"]);
    assert!(!project.git(&["branch"]).contains("mend"));
    assert_eq!(written(&project), dirty);

    let path = project.path().join("test_shop.py");
    let rights = |is_readonly| {
        let mut rights = std::fs::metadata(&path).expect("it is there").permissions();
        rights.set_readonly(is_readonly);
        std::fs::set_permissions(&path, rights).expect("it is ours");
    };
    rights(true);
    let refused = fix(&project, &["test_empty", "--apply"]);
    assert_says(&refused, 2, &["test_shop.py cannot be written", "apply the diff yourself"]);
    assert_eq!(written(&project), dirty);
    rights(false);

    project.write("test_shop.py", &format!("# Made by make_tests.py. DO NOT EDIT.\n{TESTS}"));
    let refused = fix(&project, &["test_empty"]);
    assert_says(&refused, 5, &["test_shop.py is generated: change what it is made from"]);
}

#[test]
fn a_test_of_another_package_is_not_changed() {
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let library = elsewhere.path().join("shared_tests");
    std::fs::create_dir(&library).expect("a folder");
    let shared = "import shop\n\n\nclass Shared:\n    def test_add(self):\n        assert shop.add(3) == 1\n";
    std::fs::write(library.join("__init__.py"), shared).expect("it is written");
    let rooted = format!(
        "import sys, pathlib\nsys.path[:0] = [str(pathlib.Path(__file__).parent), {:?}]\n",
        elsewhere.path()
    );
    let tests = "import shared_tests\nimport shop\n\n\nclass TestShop(shared_tests.Shared):\n    \
                 pass\n\n\ndef test_empty():\n    assert shop.ITEMS == []\n";
    let project =
        empty().file("conftest.py", &rooted).file("shop.py", CODE).file("test_shop.py", tests);
    assert_says(&hunt(&project, &[]), 1, &["VICTIM (1)"]);
    let found = fix(&project, &["test_empty"]);
    // The polluter is out of reach, and so the victim gets what it relies on.
    assert_says(&found, 0, &["+    monkeypatch.setattr(shop, \"ITEMS\", [])"]);
    let why_not = found.json["tried"][0]["why_not"].as_str().unwrap_or_default();
    assert!(why_not.contains("test_add is not written in test_shop.py"), "{}", found.json);
}
