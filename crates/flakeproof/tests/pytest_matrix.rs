//! The oldest and the newest pytest, on the oldest and the newest Python.

use flakeproof_testkit::{Project, python, skipped};

const SUITE: &str = r#"
import os, pytest
from product import double

_runs = []

def test_passes(tmp_path, capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\n"

def test_flaky():
    seen = os.getcwd() + ".seen"
    is_first = not os.path.exists(seen)
    open(seen, "w").close()
    assert not is_first

@pytest.mark.parametrize("n", [1, 2])
def test_real(n):
    assert double(n) == 2 * n

def test_crashes():
    if os.path.exists("crash"):
        os.kill(os.getpid(), 11)

def test_after_the_crash():
    _runs.append(1)
    assert len(_runs) == 1
"#;

/// Each fails in the first attempt, in a way that pytest or the test remembers.
const AGAIN: &str = r#"
import os, pytest, unittest

_tries = set()
def fail_once(what, error=OSError):
    if what not in _tries and os.environ["FLAKEPROOF_ATTEMPT"] == "1":
        _tries.add(what)
        raise error(what)

def setup_module(): fail_once("setup_module")
def test_setup_module(): pass

@pytest.fixture(scope="session")
def session():
    fail_once("session")
    yield
    fail_once("teardown")
def test_session(session): pass
def test_interrupt(): fail_once("interrupt", KeyboardInterrupt)

class TestClass:
    @classmethod
    def setup_class(cls): fail_once("setup_class")
    def test_class(self): pass
    def test_instance(self):
        assert not hasattr(self, "mark")
        self.mark = 1
        fail_once("instance")

class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls): fail_once("setUpClass")
    def test_case(self):
        assert not hasattr(self, "mark")
        self.mark = 1
    def test_parts(self):
        with self.subTest("part"):
            fail_once("part")
"#;

/// A doctest in a text file: it has no module whose state could count, so it counts elsewhere.
const DOCUMENTED: &str = "
>>> 'name' in globals()
False
>>> import os
>>> name = os.environ['FLAKEPROOF_ATTEMPT']
>>> name != '1'
True
";

/// Reruns and every verdict are right on a suite with one of each.
fn reruns_and_verdicts_are_right(interpreter: &str, pytest: &str) {
    let python = match python::with(interpreter, &[pytest]) {
        Ok(python) => python,
        Err(why) => return skipped::note(&format!("{interpreter} with {pytest}"), &why),
    };
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .with_python(python)
        .file(".gitignore", ".flakeproof\n__pycache__\n.pytest_cache\ncrash\n")
        .file("product.py", "def double(n): return 2 * n\n")
        .file("documented.txt", DOCUMENTED)
        .file("test_again.py", AGAIN)
        .file("test_all.py", SUITE);
    project.commit();
    let before = project.run(&["--postponed", "0", "--fresh", "0"], &["--doctest-glob=*.txt"]);
    for test in [
        "test_setup_module",
        "test_session",
        "test_interrupt",
        "test_class",
        "test_instance",
        "test_case",
        "test_parts",
        "documented.txt",
        "test_flaky",
    ] {
        let attempts = before.attempts(test);
        assert!(attempts.contains("immediate passed"), "{test}: {attempts}\n{}", before.text());
    }
    project.write("product.py", "def double(n): return n\n");
    project.write("crash", "");
    project.commit();
    let seen_once = format!("{}.seen", project.path().display());
    std::fs::remove_file(&seen_once).expect("the first run left it");
    let after = project.run(&["--dependencies", "function"], &["test_all.py"]);
    let seen = |test| (after.outcome(test), after.verdict(test));
    assert_eq!(seen("test_passes"), ("passed", "none"), "{}", after.text());
    assert_eq!(seen("test_flaky"), ("failed", "flaky"), "{}", after.text());
    assert_eq!(seen("test_real[1]"), ("failed", "real"), "{}", after.text());
    assert_eq!(seen("test_real[2]"), ("failed", "real"), "{}", after.text());
    assert_eq!(seen("test_crashes"), ("crashed", "real"), "{}", after.text());
    assert_eq!(seen("test_after_the_crash"), ("passed", "none"), "{}", after.text());
    assert_eq!(after.code(), Some(1));
    let _ = std::fs::remove_file(seen_once);
}

#[test]
fn python_3_9_with_pytest_7_0() {
    reruns_and_verdicts_are_right("python3.9", "pytest==7.0.1");
}

#[test]
fn python_3_9_with_pytest_7_4() {
    reruns_and_verdicts_are_right("python3.9", "pytest==7.4.4");
}

#[test]
fn python_3_10_with_pytest_8_0() {
    reruns_and_verdicts_are_right("python3.10", "pytest==8.0.2");
}

#[test]
fn python_3_11_with_pytest_8_3() {
    reruns_and_verdicts_are_right("python3.11", "pytest==8.3.5");
}

#[test]
fn python_3_12_with_pytest_8_4() {
    reruns_and_verdicts_are_right("python3.12", "pytest==8.4.2");
}

#[test]
fn python_3_13_with_the_newest_pytest() {
    reruns_and_verdicts_are_right("python3.13", "pytest");
}
