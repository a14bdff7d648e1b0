//! What a hunt finds, how it says so, and what tests leave on disk, removed or not.

use flakeproof_testkit::Project;
use serde_json::json;

use crate::{ODD, assert_says, empty, hunt, hunt_as_typed, shop};

#[test]
fn each_kind_is_found_with_who_makes_it_fail() {
    let ran = hunt(&shop().file("test_odd.py", ODD), &[]);
    assert_says(&ran, 1, &["VICTIM (1)", "BRITTLE (1)", "NOD (1)", "SET ASIDE (2)"]);
    let kind = |ending| ran.test(ending)["kind"].clone();
    assert_eq!(kind("test_total"), "victim");
    assert_eq!(kind("test_receipt"), "brittle");
    assert_eq!(kind("test_network"), "NOD");
    for sound in ["test_sound", "test_currency", "test_broken", "test_crash"] {
        assert_eq!(kind(sound), json!(null), "{sound}");
    }
    let total = ran.test("test_total");
    assert_eq!(total["polluters"], json!([["test_shop.py::test_currency"]]));
    assert_eq!(total["cleaners"], json!(["test_shop.py::test_reset"]));
    assert_eq!(ran.test("test_receipt")["setters"], json!([["test_shop.py::test_login"]]));
    let pair = json!([{
        "polluter": "test_shop.py::test_currency", "victim": "test_shop.py::test_total",
    }]);
    assert_eq!(ran.json["pairs"], pair);
    assert_eq!(ran.json["seed"], 7);
}

#[test]
fn a_finding_is_told_as_it_comes_and_in_the_end() {
    let ran = hunt(&shop(), &[]);
    let err = String::from_utf8_lossy(&ran.output.stderr).into_owned();
    let out = String::from_utf8_lossy(&ran.output.stdout).into_owned();
    assert!(err.contains("victim  test_shop.py::test_total"), "{err}");
    assert!(err.contains("runs in other orders\n"), "{err}");
    for word in [
        "fails after: test_shop.py::test_currency",
        "healed by: test_shop.py::test_reset",
        "passes after: test_shop.py::test_login",
        "2 flaky tests (1 victim, 1 brittle) among 6 tests",
        "4 tests always passed",
        "seed 7",
    ] {
        assert!(out.contains(word), "`{word}` is not in:\n{out}");
    }
}

#[test]
fn a_sound_suite_is_clean_and_says_what_that_is_worth() {
    let project = empty().file("test_a.py", "def test_a(): pass\ndef test_b(): pass\n");
    let ran = hunt(&project, &[]);
    assert_says(&ran, 0, &["no flaky test among 2 tests", "2 tests always passed"]);
    assert!(!ran.text().contains("95 %"), "{}", ran.text());
    let ran = hunt(&project, &["-v"]);
    assert_says(&ran, 0, &["no flaky test among 2 tests", "would have shown itself with 95 %"]);
    assert!(ran.test("test_a")["missed"].is_f64(), "{}", ran.json);
}

#[test]
fn environments_side_by_side_find_the_same() {
    let one = hunt(&shop(), &[]);
    let three = hunt(&shop(), &["-j", "3"]);
    assert_eq!(one.json["tests"], three.json["tests"]);
}

#[test]
fn markdown_goes_where_it_was_asked_for() {
    let project = shop();
    let ran = hunt(&project, &["--reporter", "markdown=-", "--polluters", "prefix"]);
    let out = String::from_utf8_lossy(&ran.output.stdout).into_owned();
    assert!(out.starts_with("## flakeproof: 2 flaky tests"), "{out}");
    assert!(out.contains("| **victim** | `test_shop.py::test_total` |"), "{out}");
}

#[test]
fn one_victim_is_looked_at_alone() {
    let ran = hunt(&shop(), &["--victim", "test_total", "--polluters", "prefix"]);
    assert_says(&ran, 1, &["fails after: test_shop.py::test_currency"]);
    assert_eq!(ran.json["tests"].as_array().map(Vec::len), Some(1), "{}", ran.json);
}

/// A thread that outlives its test keeps environments from being copied; the polluter comes a hundred
/// tests later.
#[test]
fn a_thread_that_is_left_behind_does_not_make_the_search_start_again() {
    let thread = "import threading\ndef test_starts():\n    \
                  threading.Thread(target=threading.Event().wait, daemon=True).start()\n";
    let many = "import pytest\n@pytest.mark.parametrize('n', range(100))\ndef test_many(n): pass\n";
    let project = empty()
        .file("conftest.py", "import os\nos.environ.pop('SHOP_CLOSED', None)\n")
        .file("test_a.py", "import os\ndef test_closes(): os.environ['SHOP_CLOSED'] = '1'\n")
        .file("test_many.py", many)
        .file("test_u.py", thread)
        .file("test_v.py", "import os\ndef test_open(): assert 'SHOP_CLOSED' not in os.environ\n");
    let ran = hunt(&project, &["--victim", "test_open", "--polluters", "prefix"]);
    assert_says(&ran, 1, &["fails after: test_a.py::test_closes"]);
    let executions = ran.json["cost"]["executions"].as_u64();
    assert!(executions.is_some_and(|it| it < 300), "{}", ran.json["cost"]);
}

/// A polluter that leaves a folder in the project, and a victim that fails when it is there.
const LEAVING: &str = "
import pathlib

HERE = pathlib.Path(__file__).parent

def test_export():
    (HERE / 'data' / 'export').mkdir(parents=True, exist_ok=True)
    (HERE / 'data' / 'export' / 'rows.csv').write_text('1')

def test_nothing_is_exported():
    assert not (HERE / 'data').exists()

def test_sound():
    pass

def test_rewrites_the_notes():
    (HERE / 'notes.md').write_text('rewritten')
";

fn leaving() -> Project {
    let project = empty()
        .file("test_export.py", LEAVING)
        .file("notes.md", "notes\n")
        .file(".gitignore", "__pycache__/\n.pytest_cache/\n*.log\n");
    project.commit();
    project.write("mine.txt", "not yet added\n");
    project
}

#[test]
fn a_victim_of_what_stays_on_disk_is_found_with_its_polluter() {
    let project = leaving();
    let ran = hunt(&project, &["--tidy", "-j", "4"]);
    let found = ["VICTIM (1)", "fails after: test_export.py::test_export"];
    assert_says(&ran, 1, &found);
    assert_says(&ran, 1, &["tests left files or folders, which were removed: data", "rows.csv"]);
    assert_says(&ran, 1, &["tests changed files that git tracks: notes.md"]);
    let victim = ran.test("test_nothing_is_exported");
    assert_eq!(victim["kind"], "victim");
    assert_eq!(victim["polluters"], json!([["test_export.py::test_export"]]));
    assert!(!project.path().join("data").exists());
    let kept = |name: &str| std::fs::read_to_string(project.path().join(name)).unwrap_or_default();
    assert_eq!(
        (kept("mine.txt").as_str(), kept("notes.md").as_str()),
        ("not yet added\n", "rewritten")
    );
}

#[test]
fn without_tidying_nothing_is_removed() {
    let project = leaving();
    let ran = hunt(&project, &[]);
    assert!(!ran.text().contains("were removed"), "{}", ran.text());
    assert!(project.path().join("data/export/rows.csv").exists());
}

#[test]
fn tidying_needs_git() {
    let project = empty().file("test_export.py", LEAVING);
    assert_says(&hunt(&project, &["--tidy"]), 2, &["`--tidy` needs git", "git init"]);
}

#[test]
fn a_hunt_that_did_not_tidy_does_not_go_on_with_it() {
    let project = leaving();
    hunt(&project, &["--budget", "1ms"]);
    let ran = hunt_as_typed(&project, &["--resume", "--tidy"]);
    assert_says(&ran, 2, &["`--tidy` is not what the hunt", "without `--resume`"]);
}

#[test]
fn what_one_copy_takes_away_from_disk_hides_no_state_setter_of_the_others() {
    let tests = "
import os, unittest

class TestFile(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        os.remove('kept.txt')

    def write(self):
        with open('kept.txt', 'w') as file:
            file.write('kept')

    def test_1_write(self):
        self.write()

    def test_2_size(self):
        assert os.path.getsize('kept.txt') == 4

    def test_3_text(self):
        with open('kept.txt') as file:
            assert file.read() == 'kept'

    def test_4_again(self):
        self.write()
";
    let ran = hunt(&empty().file("test_file.py", tests), &[]);
    let id = |name: &str| format!("test_file.py::TestFile::{name}");
    for brittle in ["test_2_size", "test_3_text"] {
        assert_eq!(ran.test(brittle)["kind"], "brittle", "{}", ran.text());
        let setters = json!([[id("test_1_write")], [id("test_4_again")]]);
        assert_eq!(ran.test(brittle)["setters"], setters, "{}", ran.text());
    }
}

const ON_DISK: &str = "
import pathlib
LEFT = pathlib.Path(__file__).with_name('left.txt')

def test_reads():
    assert not LEFT.exists()

def test_cleans():
    LEFT.unlink(missing_ok=True)

def test_writes():
    LEFT.write_text('left')
";

#[test]
fn a_victim_of_a_file_on_disk_is_not_called_flaky_by_chance_and_found_with_tidy() {
    let project = empty().file("test_disk.py", ON_DISK);
    project.commit();
    let ran = hunt(&project, &[]);
    assert_eq!(ran.test("test_reads")["kind"], json!(null), "{}", ran.text());
    assert_says(&ran, 5, &["a test left something on disk", "hunt with `--tidy`"]);
    project.git(&["clean", "-fdq"]);
    let ran = hunt(&project, &["--tidy"]);
    assert_eq!(ran.test("test_reads")["kind"], "victim", "{}", ran.text());
    assert_eq!(ran.test("test_reads")["polluters"], json!([["test_disk.py::test_writes"]]));
}

#[test]
fn a_test_that_fails_in_an_old_process_is_asked_about_in_a_new_one() {
    // The age of a process, counted in environments and not in seconds: a fork is a copy of the first.
    let tests = "
import os
BORN = os.getpid()

def test_young():
    assert os.getpid() == BORN

def test_broken():
    assert False
";
    let ran = hunt(&empty().file("test_age.py", tests), &[]);
    assert_says(&ran, 0, &["`test_age.py::test_young` fails only in copies of a process"]);
    assert_eq!(ran.test("test_young")["failures"].as_u64().unwrap_or_default(), 0);
    assert!(ran.text().contains("SET ASIDE (1)"), "{}", ran.text());
}

#[test]
fn two_polluters_that_work_only_in_one_order_are_found() {
    let tests = "
log = []

def test_victim():
    assert log != ['first', 'second']

def test_second():
    log.append('second')

def test_sound():
    pass

def test_first():
    log.append('first')
";
    let options = ["--orders", "20", "--seed", "7", "--runs", "3", "--max-reruns", "3"];
    let ran = hunt_as_typed(&empty().file("test_two.py", tests), &options);
    assert_eq!(ran.test("test_victim")["kind"], "victim", "{}", ran.text());
    let both = json!([["test_two.py::test_first", "test_two.py::test_second"]]);
    assert_eq!(ran.test("test_victim")["polluters"], both);
}
