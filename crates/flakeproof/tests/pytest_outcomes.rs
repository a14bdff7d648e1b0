//! Outcomes under flakeproof are plain pytest's: the same ids, the same order, the same outcomes,
//! in the report and in the eyes of the project's own plugins.

#![expect(clippy::panic, reason = "a helper of tests fails a test by panicking")]

use std::path::Path;
use std::process::Command;

use flakeproof_testkit::{Project, python, skipped};
use serde_json::Value;

/// Writes `id outcome` per test, from the reports that every plugin sees.
const WITNESS: &str = r#"
import os

_reports = {}

def pytest_runtest_logreport(report):
    _reports.setdefault(report.nodeid, []).append(report)

def _outcome(reports):
    if any(it.failed and it.when == "call" for it in reports):
        return "failed"
    if any(it.failed for it in reports):
        return "errored"
    plain = [it for it in reports if not hasattr(it, "context")]
    return "skipped" if any(it.skipped for it in plain) else "passed"

def pytest_sessionfinish(exitstatus):
    with open(os.environ["WITNESS"], "w", encoding="utf-8") as log:
        for test, reports in _reports.items():
            log.write(f"{_outcome(reports)} {test}\n")
        log.write(f"exit {int(exitstatus)}\n")
"#;

/// No reruns: the suite's own run alone.
const ONCE: [&str; 6] = ["--retries", "0", "--postponed", "0", "--fresh", "0"];

/// Run plain pytest and flakeproof, and fail where they differ. Returns what both saw.
fn same_as_plain(project: &Project, folder: &str, arguments: &[&str]) -> Vec<String> {
    let outside = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(outside.path().join("witness_plugin.py"), WITNESS).expect("written");
    let folder = project.path().join(folder);
    let (plain, ours) = (outside.path().join("plain"), outside.path().join("ours"));
    let prepare = |command: &mut Command, log: &Path| {
        command
            .args(["-p", "witness_plugin"])
            .args(arguments)
            .current_dir(&folder)
            .env("PYTHONPATH", outside.path())
            .env("WITNESS", log)
            .output()
            .expect("it starts")
    };
    let alone = prepare(&mut project.pytest(&[]), &plain);
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let python = project.python();
    let mut command = project.flakeproof(&["run", "--reporter", &reporter]);
    command.args(ONCE).args(["--", &python, "-m", "pytest"]);
    let output = prepare(&mut command, &ours);

    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = |path: &Path| -> Vec<String> {
        let log = std::fs::read_to_string(path).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    };
    let (expected, seen) = (log(&plain), log(&ours));
    assert!(!expected.is_empty(), "plain pytest: {}", text(&alone.stdout) + &text(&alone.stderr));
    assert_eq!(
        seen,
        expected,
        "the project's own plugin saw something else\n{}",
        text(&output.stdout)
    );
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    let json: Value = json.unwrap_or_else(|| panic!("no report: {}", text(&output.stderr)));
    let word = |test: &Value, key: &str| test[key].as_str().unwrap_or("?").to_owned();
    let mut reported: Vec<String> = json["tests"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|test| format!("{} {}", word(test, "outcome"), word(test, "id")))
        .collect();
    reported.extend(expected.last().cloned());
    assert_eq!(reported, expected, "the report says something else");
    expected
}

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

const PHASES: &str = r#"
import pytest

@pytest.fixture
def broken_set_up(): raise OSError("set-up")

@pytest.fixture
def broken_teardown():
    yield
    raise OSError("teardown")

@pytest.fixture
def skipping(): pytest.skip("in set-up")

def test_passes(): pass
def test_fails(): assert 1 == 2
def test_set_up_fails(broken_set_up): pass
def test_teardown_fails(broken_teardown): pass
def test_call_and_teardown_fail(broken_teardown): assert 0
@pytest.mark.skip(reason="by mark")
def test_skipped_by_mark(): assert 0
def test_skipped_by_call(): pytest.skip("here")
def test_skipped_in_set_up(skipping): pass
def test_skipped_and_teardown_fails(broken_teardown): pytest.skip("here")
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail(strict=True)
def test_xfail_strict(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_xpass_strict(): pass
@pytest.mark.xfail(raises=KeyError)
def test_xfail_for_another_reason(): assert 0
@pytest.mark.xfail(run=False)
def test_xfail_not_run(): assert 0
def test_imperative_xfail(): pytest.xfail("known")
@pytest.mark.parametrize("value", [1, "a b", "[x]", "ü–日本", "a/b", "a::b", "", "new\nline"])
def test_parameters(value): assert value != "a b"
@pytest.mark.parametrize("value", [0, 0], ids=["same", "same"])
def test_equal_ids(value): pass
"#;

#[test]
fn every_way_a_phase_can_end_has_plain_pytests_outcome() {
    let project = project().file("test_phases.py", PHASES).file(
        "test_skipped_module.py",
        "import pytest\npytest.skip('all', allow_module_level=True)\ndef test_never(): pass\n",
    );
    let seen = same_as_plain(&project, "", &[]);
    assert!(seen.contains(&"errored test_phases.py::test_teardown_fails".to_owned()), "{seen:#?}");
    assert!(seen.contains(&"failed test_phases.py::test_call_and_teardown_fail".to_owned()));
}

const UNITTEST: &str = r#"
import unittest

class Plain(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.fail("no")
    def test_skips(self): self.skipTest("why not")
    @unittest.expectedFailure
    def test_expected(self): self.fail("yes")
    @unittest.expectedFailure
    def test_unexpected_success(self): pass
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)

class SetUp(unittest.TestCase):
    def setUp(self): raise OSError("setUp")
    def test_it(self): pass

class TearDown(unittest.TestCase):
    def tearDown(self): raise OSError("tearDown")
    def test_it(self): pass

class SetUpClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("setUpClass")
    def test_one(self): pass
    def test_two(self): pass

class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_passes(self): pass
    async def test_fails(self): self.fail("no")
"#;

const BROKEN_MODULE: &str = r#"
import unittest
def setUpModule(): raise OSError("setUpModule")
class Any(unittest.TestCase):
    def test_one(self): pass
    def test_two(self): pass
"#;

#[test]
fn unittest_classes_have_plain_pytests_outcomes() {
    let project =
        project().file("test_unittest.py", UNITTEST).file("test_broken_module.py", BROKEN_MODULE);
    let seen = same_as_plain(&project, "", &[]);
    assert!(seen.contains(&"errored test_broken_module.py::Any::test_two".to_owned()), "{seen:#?}");
}

const ASYNC: &str = r#"
import pytest

@pytest.mark.asyncio
async def test_asyncio(): pass
@pytest.mark.asyncio
async def test_asyncio_fails(): assert 0

class TestWithAnyio:
    pytestmark = pytest.mark.anyio
    @pytest.fixture
    def anyio_backend(self): return "asyncio"
    async def test_anyio(self): pass
    async def test_anyio_fails(self): assert 0

def test_parts(subtests):
    with subtests.test("a"):
        assert 0
    with subtests.test("b"):
        pass
    with subtests.test("c"):
        pytest.skip("part")

def test_good_parts(subtests):
    with subtests.test("a"):
        pytest.skip("part")
"#;

const DOCTESTS: &str = r#"
"""
>>> 1 + 1
2
"""
def wrong():
    """
    >>> 1 + 1
    3
    """
"#;

#[test]
fn async_tests_subtests_and_doctests_have_plain_pytests_outcomes() {
    let project = project()
        .with_python(python::asynchronous())
        .file("test_async.py", ASYNC)
        .file("documented.py", DOCTESTS)
        .file("notes.txt", ">>> 2 * 2\n5\n");
    let arguments = ["--doctest-modules", "--doctest-glob=*.txt"];
    let seen = same_as_plain(&project, "", &arguments);
    assert!(seen.contains(&"failed test_async.py::test_parts".to_owned()), "{seen:#?}");
    assert!(seen.contains(&"passed test_async.py::test_good_parts".to_owned()), "{seen:#?}");
    assert!(seen.contains(&"failed documented.py::documented.wrong".to_owned()), "{seen:#?}");
}

#[test]
fn builtin_subtests_of_pytest_9_have_plain_pytests_outcomes() {
    let python = match python::with("python3.12", &["pytest==9.0.1"]) {
        Ok(python) => python,
        Err(why) => {
            return skipped::note("builtin_subtests_of_pytest_9_have_plain_pytests_outcomes", &why);
        }
    };
    let content = ASYNC.split("def test_parts").nth(1).unwrap_or_default();
    let content = format!("import pytest\ndef test_parts{content}");
    let project = project().with_python(python).file("test_parts.py", &content);
    let seen = same_as_plain(&project, "", &[]);
    assert!(seen.contains(&"failed test_parts.py::test_parts".to_owned()), "{seen:#?}");
}

const MARKED: &str = r#"
import pytest
@pytest.mark.slow
def test_one(): assert 0
def test_two(tool): pass
@pytest.mark.slow
def test_three(): assert 0
def test_four(): assert 0
class TestGroup:
    def test_five(self): pass
"#;

/// A project of folders, with fixtures and a plugin of its own.
fn layered() -> Project {
    project()
        .file("pytest.ini", "[pytest]\naddopts = -q --strict-markers\nmarkers = slow: slow\n")
        .file("conftest.py", "pytest_plugins = ['tooling']\n")
        .file(
            "tooling.py",
            "import pytest\n@pytest.fixture(scope='session')\ndef tool(): return 1\n",
        )
        .file("a/__init__.py", "")
        .file(
            "a/conftest.py",
            "import pytest\n@pytest.fixture(scope='package', autouse=True)\ndef folder(): yield\n",
        )
        .file("a/test_a.py", MARKED)
        .file("b/conftest.py", "import pytest\n@pytest.fixture\ndef tool(): raise OSError('b')\n")
        .file("b/test_b.py", MARKED)
}

#[test]
fn selections_select_what_plain_pytest_selects() {
    let project = layered();
    for arguments in [
        &["-k", "one or five"][..],
        &["-m", "not slow"],
        &["--deselect", "a/test_a.py::test_one", "--deselect", "b"],
        &["b/test_b.py::TestGroup", "a/test_a.py::test_two"],
    ] {
        same_as_plain(&project, "", arguments);
    }
}

#[test]
fn a_session_stops_where_plain_pytest_stops() {
    let project = layered();
    let seen = same_as_plain(&project, "", &["-x"]);
    assert_eq!(seen.len(), 2, "{seen:#?}");
    same_as_plain(&project, "", &["--maxfail=2"]);
}

#[test]
fn the_last_failures_are_the_same_ones_with_and_without_flakeproof() {
    let project = layered();
    let _ = project.run(&ONCE, &[]);
    let seen = same_as_plain(&project, "", &["--lf"]);
    assert_eq!(seen.iter().filter(|line| line.starts_with("passed")).count(), 0, "{seen:#?}");
}

#[test]
fn options_that_change_how_pytest_works_change_no_outcome() {
    let project = layered()
        .file("c/test_warns.py", "import warnings\ndef test_warns(): warnings.warn('old')\n");
    for arguments in [
        &["-p", "no:cacheprovider", "-s"][..],
        &["--capture=sys", "-W", "error"],
        &["--capture=tee-sys"],
    ] {
        same_as_plain(&project, "", arguments);
    }
}

#[test]
fn ids_stay_relative_to_the_root_wherever_pytest_runs() {
    let project = layered();
    let seen = same_as_plain(&project, "b", &[]);
    assert!(seen.contains(&"errored b/test_b.py::test_two".to_owned()), "{seen:#?}");
    same_as_plain(&project, "b", &["../a", "--rootdir", ".."]);
    let root = project.path().to_string_lossy().into_owned();
    same_as_plain(&project, "a", &["--rootdir", &root, "-c", "../pytest.ini"]);
}

#[test]
fn a_run_that_stopped_at_a_flaky_failure_is_not_a_success() {
    let ran = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file(
            "test_once.py",
            "import os, pathlib\n\
             def test_fails_once():\n    \
             seen = pathlib.Path(__file__).with_name('seen')\n    \
             first = not seen.exists()\n    \
             seen.touch()\n    \
             assert not first\n\
             def test_never_reached():\n    pass\n",
        )
        .run(&[], &["-x"]);
    assert_eq!(ran.verdict("test_fails_once"), "flaky");
    assert_eq!(ran.code(), Some(5), "{}", ran.text());
}

#[test]
fn a_session_that_fails_besides_its_tests_is_not_a_success() {
    let fails_like_a_coverage_threshold = "import pytest\n\
        @pytest.hookimpl(hookwrapper=True)\n\
        def pytest_runtestloop(session):\n    yield\n    session.testsfailed += 1\n";
    let ran = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("conftest.py", fails_like_a_coverage_threshold)
        .file("test_a.py", "def test_passes():\n    pass\n")
        .run(&[], &[]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert!(ran.text().contains("not only for its tests"), "{}", ran.text());
}
