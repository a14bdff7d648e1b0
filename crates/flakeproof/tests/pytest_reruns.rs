//! A rerun in the same environment is a first run: fixtures, instances, output and reports are
//! as if the test had not run before.

use flakeproof_testkit::{Project, assert_says, python};

/// One rerun at once, none later; a pass is still confirmed by a spawned environment.
const AT_ONCE: [&str; 6] = ["--retries", "1", "--postponed", "0", "--fresh", "0"];
/// One rerun at the end only.
const AT_THE_END: [&str; 6] = ["--retries", "0", "--postponed", "1", "--fresh", "0"];

/// Fixtures of every scope that write down what happens to them, and `fails_first`.
const CONFTEST: &str = r#"
import os, pytest

LOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "events")

def say(word):
    if os.environ["FLAKEPROOF_ATTEMPT"] in "12":  # What confirms a pass has its own fixtures.
        with open(LOG, "a") as log:
            log.write(word + "\n")

def scoped(scope):
    @pytest.fixture(scope=scope, name="in_" + scope)
    def fixture():
        say("+" + scope)
        yield scope
        say("-" + scope)
    return fixture

in_function, in_class, in_module, in_session = map(
    scoped, ["function", "class", "module", "session"])

@pytest.fixture
def fails_first(request):
    def check():
        say(request.node.name)
        assert os.environ["FLAKEPROOF_ATTEMPT"] != "1", "the first time"
    return check
"#;

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("conftest.py", CONFTEST)
}

/// A project with a package, whose fixture ends with it, and a test outside.
fn scoped_project() -> Project {
    project()
        .file("p/__init__.py", "")
        .file("p/conftest.py", "from conftest import scoped\nin_package = scoped('package')\n")
        .file("p/test_scopes.py", SCOPES)
        .file("test_z.py", "def test_z(in_session, fails_first): fails_first()\n")
}

fn events(project: &Project) -> String {
    let events = std::fs::read_to_string(project.path().join("events")).unwrap_or_default();
    events.split_whitespace().collect::<Vec<_>>().join(" ")
}

const SCOPES: &str = r#"
import pytest

class TestGroup:
    def test_a(self, in_session, in_package, in_module, in_class, in_function, fails_first):
        fails_first()
    def test_b(self, in_class, fails_first):
        fails_first()

def test_c(in_module, fails_first): fails_first()
"#;

#[test]
fn an_immediate_rerun_sets_up_only_what_a_new_test_would() {
    let project = scoped_project();
    let ran = project.run(&AT_ONCE, &[]);
    assert_eq!(
        events(&project),
        "+session +package +module +class +function test_a -function \
         +function test_a -function \
         test_b -class +class test_b -class \
         test_c -module -package +module test_c -module \
         test_z -session +session test_z -session",
        "{}",
        ran.text()
    );
}

#[test]
fn a_postponed_rerun_sets_up_anew_and_tears_down_at_the_end() {
    let project = scoped_project().file("test_z.py", "def test_last(): pass\n");
    let ran = project.run(&AT_THE_END, &["-k", "test_a or test_last"]);
    assert!(ran.attempts("test_a").starts_with("first failed, postponed passed"), "{}", ran.text());
    assert!(
        events(&project).ends_with(
            "+session +package +module +class +function test_a -function -class -module -package \
             -session"
        ),
        "{}",
        events(&project)
    );
}

const FAILING_SET_UPS: &str = r#"
import os, pytest, unittest

_tries = set()
def fail_once(what):
    if what not in _tries and os.environ["FLAKEPROOF_ATTEMPT"] == "1":
        _tries.add(what)
        raise OSError(what)

def setup_module(): fail_once("setup_module")

@pytest.fixture(scope="session")
def session(): fail_once("session")
@pytest.fixture(scope="module")
def module(): fail_once("module")

def test_after_setup_module(): pass
def test_session(session): pass
def test_module(module): pass

class TestPlain:
    @classmethod
    def setup_class(cls): fail_once("setup_class")
    def test_it(self): pass

class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls): fail_once("setUpClass")
    def test_it(self): pass
"#;

#[test]
fn a_set_up_that_failed_is_tried_again_in_a_rerun() {
    let project = project().file("test_a.py", FAILING_SET_UPS);
    let ran = project.run(&AT_ONCE, &[]);
    let healed = "first errored, immediate passed";
    for test in [
        "test_after_setup_module",
        "test_session",
        "test_module",
        "TestPlain::test_it",
        "Case::test_it",
    ] {
        assert!(ran.attempts(test).starts_with(healed), "{test}: {}", ran.text());
    }
}

const LEFT_BEHIND: &str = r#"
import os, unittest, pytest

def is_rerun(): return os.environ["FLAKEPROOF_ATTEMPT"] != "1"

class TestInstance:
    def test_attributes(self, fails_first):
        assert not hasattr(self, "mark")
        self.mark = 1
        fails_first()

class Case(unittest.TestCase):
    def setUp(self): self.fresh = []
    def test_case(self):
        assert not hasattr(self, "mark") and self.fresh == []
        self.mark = 1
        self.fresh.append(1)
        assert is_rerun()

class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_isolated(self): assert is_rerun()

@pytest.mark.asyncio
async def test_asyncio(fails_first): fails_first()

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_anyio(anyio_backend, fails_first): fails_first()

def test_parts(subtests):
    with subtests.test("part"):
        assert is_rerun()

class Parts(unittest.TestCase):
    def test_unittest_parts(self):
        with self.subTest("part"):
            assert is_rerun()
"#;

const DOCTEST: &str = r#"
import os
def documented():
    """
    >>> "name" in globals()
    False
    >>> name = os.environ["FLAKEPROOF_ATTEMPT"]
    >>> name != "1"
    True
    """
"#;

#[test]
fn nothing_of_the_first_run_is_left_in_the_rerun() {
    let project = project()
        .with_python(python::asynchronous())
        .file("test_a.py", LEFT_BEHIND)
        .file("documented.py", DOCTEST);
    let ran = project.run(&AT_ONCE, &["--doctest-modules"]);
    for test in [
        "test_attributes",
        "test_case",
        "test_isolated",
        "test_asyncio",
        "test_anyio[asyncio]",
        "test_parts",
        "test_unittest_parts",
        "documented.documented",
    ] {
        let attempts = ran.attempts(test);
        assert!(attempts.starts_with("first failed, immediate passed"), "{test}: {}", ran.text());
    }
}

const BUILTINS: &str = r#"
import logging, os, sys, warnings, pytest

def test_tools(caplog, capsys, monkeypatch, tmp_path, recwarn):
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("x")
    assert os.environ.get("PATCHED") is None
    monkeypatch.setenv("PATCHED", "1")
    logging.getLogger().warning("logged")
    assert [record.message for record in caplog.records] == ["logged"]
    print("printed")
    assert capsys.readouterr().out == "printed\n"
    warnings.warn("warned", UserWarning)
    assert len(recwarn) == 1
    assert os.environ["FLAKEPROOF_ATTEMPT"] >= GOOD

def test_descriptors(capfd):
    os.write(1, b"raw")
    assert capfd.readouterr().out == "raw"
    assert os.environ["FLAKEPROOF_ATTEMPT"] >= GOOD

def test_warnings_are_errors():
    with pytest.raises(DeprecationWarning):
        warnings.warn("old", DeprecationWarning)
    assert os.environ["FLAKEPROOF_ATTEMPT"] >= GOOD
"#;

/// The builtin fixtures work from the attempt of this number on, made with these options.
fn builtins_work_in(attempt: u32, options: &[&str], attempts: &str) {
    let content = format!("GOOD = \"{attempt}\"\n{BUILTINS}");
    let project = project().file("test_a.py", &content);
    let ran = project.run(options, &["-W", "error::DeprecationWarning"]);
    for test in ["test_tools", "test_descriptors", "test_warnings_are_errors"] {
        assert!(ran.attempts(test).starts_with(attempts), "{test}: {}", ran.text());
    }
}

#[test]
fn builtin_fixtures_work_in_a_rerun() {
    builtins_work_in(2, &AT_ONCE, "first failed, immediate passed");
}

#[test]
fn builtin_fixtures_work_in_a_forked_environment() {
    let options = ["--retries", "0", "--postponed", "0", "--fresh", "1", "--dependencies", "off"];
    builtins_work_in(2, &options, "first failed, fresh(fork) passed");
}

#[test]
fn builtin_fixtures_work_in_a_spawned_environment() {
    let options = ["--retries", "0", "--postponed", "0", "--fresh", "1"];
    builtins_work_in(2, &options, "first failed, fresh(spawn) passed");
}

#[test]
fn the_output_of_a_rerun_is_only_its_own() {
    let project = project().file(
        "test_a.py",
        "import os\ndef test_a():\n    print('attempt', os.environ['FLAKEPROOF_ATTEMPT'])\n    assert 0\n",
    );
    let ran = project.run(&["--retries", "1", "--fresh", "0", "--reporter", "junit=ours.xml"], &[]);
    let xml = std::fs::read_to_string(project.path().join("ours.xml")).unwrap_or_default();
    assert_eq!(xml.matches("attempt 1").count(), 1, "{xml}\n{}", ran.text());
}

const FLAKY: &str = r#"
import os
def test_flaky(): assert os.environ["FLAKEPROOF_ATTEMPT"] != "1"
def test_real(): assert 0
def test_good(): pass
"#;

#[test]
fn the_projects_own_report_has_each_test_once_and_its_first_outcome() {
    let project = project().file("test_a.py", FLAKY);
    let _ = project.run(&[], &["--junitxml=own.xml"]);
    let xml = std::fs::read_to_string(project.path().join("own.xml")).unwrap_or_default();
    assert_eq!(xml.matches("<testcase").count(), 3, "{xml}");
    assert_eq!(xml.matches("<failure").count(), 2, "{xml}");
    assert!(xml.contains("tests=\"3\""), "{xml}");
}

#[test]
fn reruns_and_fresh_environments_leave_the_projects_cache_alone() {
    let project = project().file("test_a.py", FLAKY);
    let _ = project.run(&[], &[]);
    let cache = project.path().join(".pytest_cache/v/cache");
    let failed = std::fs::read_to_string(cache.join("lastfailed")).unwrap_or_default();
    assert!(failed.contains("test_flaky") && failed.contains("test_real"), "{failed}");
    let known = std::fs::read_to_string(cache.join("nodeids")).unwrap_or_default();
    assert!(known.contains("test_good"), "{known}");
}

#[test]
fn many_failures_of_one_cause_are_tried_on_one_of_them_and_told_once() {
    let test = "import pytest\nfrom product import double\n\
                @pytest.mark.parametrize('n', range(1, 21))\n\
                def test_double(n): assert double(n) == 2 * n\n\
                def test_zero(): assert double(0) == 0, 'zero'\n";
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file(".gitignore", ".flakeproof\n__pycache__\n.pytest_cache\n")
        .file("product.py", "def double(n): return 2 * n\n")
        .file("test_many.py", test);
    project.commit();
    let project = project.file("product.py", "def double(n): return 2 * n + 1\n");
    let ran = project.run(&[], &[]);
    assert_says(&ran, 1, &["21 real", "19 tests fail like this one:", "and 16 more"]);
    let text = ran.text();
    assert_eq!(text.matches("──── ").count(), 2, "one text for each way to fail:\n{text}");
    assert_eq!(text.matches("reproduce: ").count(), 2, "{text}");
}
