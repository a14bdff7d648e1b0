//! The wrapped command's word stands: a pytest that ends red for something else than its tests is
//! red under flakeproof too, whatever its tests are.

use flakeproof_testkit::{Project, Ran};

const PASSES: &str = "def test_passes():\n    pass\n";

/// Fails in the suite's own run and passes from then on: flaky by every rule.
const FAILS_ONCE: &str = "import pathlib\n\
    def test_fails_once():\n    \
    seen = pathlib.Path(__file__).with_name('seen')\n    \
    first = not seen.exists()\n    \
    seen.touch()\n    \
    assert not first\n";

fn project(conftest: &str, test: &str) -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("conftest.py", conftest)
        .file("test_a.py", test)
}

fn ran(conftest: &str, test: &str) -> Ran {
    project(conftest, test).run(&[], &[])
}

#[track_caller]
fn is_red(name: &str, conftest: &str, test: &str) {
    let ran = ran(conftest, test);
    let text = ran.text();
    assert_eq!(ran.code(), Some(1), "{name}: {text}");
    let is_told = ["not only for its tests", "not by its tests"].iter().any(|it| text.contains(it));
    assert!(is_told, "{name}: {text}");
}

const ENDS: [(&str, &str); 8] = [
    ("status set", "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n"),
    ("exit in a hook", "import pytest\ndef pytest_sessionfinish():\n    pytest.exit('x', 7)\n"),
    ("raise in sessionfinish", "def pytest_sessionfinish():\n    raise OSError('x')\n"),
    ("raise in unconfigure", "def pytest_unconfigure():\n    raise OSError('x')\n"),
    ("raise in the summary", "def pytest_terminal_summary():\n    raise OSError('x')\n"),
    (
        "a late wrapper",
        "import pytest\n@pytest.hookimpl(hookwrapper=True, tryfirst=True)\n\
         def pytest_sessionfinish(session):\n    yield\n    session.exitstatus = 3\n",
    ),
    ("exit 3 at the end", "import atexit, os\natexit.register(os._exit, 3)\n"),
    ("killed at the end", "import atexit, os\natexit.register(lambda: os.kill(os.getpid(), 11))\n"),
];

#[test]
fn a_red_pytest_without_a_failing_test_is_red() {
    for (name, conftest) in ENDS {
        is_red(name, conftest, PASSES);
    }
    is_red("exit 1 at the end", "import atexit, os\natexit.register(os._exit, 1)\n", PASSES);
}

#[test]
fn a_flaky_test_does_not_excuse_what_else_fails() {
    for (name, conftest) in &ENDS[1..] {
        is_red(name, conftest, FAILS_ONCE);
    }
}

#[test]
fn a_flaky_test_explains_a_pytest_that_ends_with_1_or_is_forgiven() {
    let ran_plainly = ran("", FAILS_ONCE);
    assert_eq!(ran_plainly.code(), Some(0), "{}", ran_plainly.text());
    let forgiven =
        ran("def pytest_sessionfinish(session):\n    session.exitstatus = 0\n", FAILS_ONCE);
    assert_eq!(forgiven.code(), Some(0), "{}", forgiven.text());
}

#[test]
fn what_runs_pytest_is_heard_to_its_end() {
    let python = project("", PASSES).python();
    for (script, test, code) in [
        ("-m pytest | cat", PASSES, 0),
        ("-m pytest && exit 4", PASSES, 1),
        ("-m pytest || exit 2", FAILS_ONCE, 0),
        ("-m pytest; exit 0", FAILS_ONCE, 0),
    ] {
        let project = project("", test);
        let output = project
            .flakeproof(&["run", "--adapter", "pytest", "--", "sh", "-c"])
            .arg(format!("{python} {script}"))
            .output()
            .expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{script}: {text}");
    }
}

#[test]
fn a_pytest_that_dies_between_two_tests_is_red() {
    let dies = "import os, pytest\n\
        def pytest_runtest_logfinish(nodeid):\n    \
        if 'fails_once' in nodeid: os._exit(9)\n";
    let ran = ran(dies, &format!("{FAILS_ONCE}{PASSES}"));
    assert_ne!(ran.code(), Some(0), "{}", ran.text());
}
