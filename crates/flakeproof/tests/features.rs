//! `flakeproof features` on small suites: what is measured, and what is not.

use std::process::Output;

use flakeproof_testkit::{Project, python, skipped};
use serde_json::Value;

const SUITE: &str = r#"
import concurrent.futures, multiprocessing, os, subprocess, sys, threading
import pytest
from product import double

def test_double():
    assert double(2) == 4

def test_threads():
    gate = threading.Barrier(4)
    threads = [threading.Thread(target=gate.wait) for _ in range(3)]
    for thread in threads: thread.start()
    gate.wait()
    for thread in threads: thread.join()

def test_pool():
    gate = threading.Barrier(2)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: gate.wait(), range(2)))

def test_children():
    cat = [sys.executable, "-c", "input()"]
    children = [subprocess.Popen(cat, stdin=subprocess.PIPE) for _ in range(2)]
    for child in children: child.communicate(b"\n")

def wait(gate): gate.wait()

@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    context = multiprocessing.get_context(method)
    gate = context.Event()
    children = [context.Process(target=wait, args=(gate,)) for _ in range(2)]
    for child in children: child.start()
    gate.set()
    for child in children: child.join()

def test_memory():
    assert len(b"x" * 200_000_000)

def test_after():
    pass

def test_fails():
    assert double(1) == 1

@pytest.fixture
def broken():
    double(3)
    raise OSError

def test_errors(broken): pass

@pytest.mark.skip
def test_skipped(): pass

def test_thread_lines():
    thread = threading.Thread(target=double, args=(1,))
    thread.start()
    thread.join()

def test_generator():
    def numbers():
        yield 1
        yield 2
    first, second = numbers()
    assert double(first) == second
"#;

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("product.py", "def double(n):\n    return 2 * n\n")
        .file("test_all.py", SUITE)
}

fn features(project: &Project, options: &[&str], arguments: &[&str]) -> Output {
    let python = project.python();
    project
        .flakeproof(&["features"])
        .args(options)
        .args(["--", &python, "-m", "pytest", "-p", "no:cacheprovider"])
        .args(arguments)
        .output()
        .expect("flakeproof runs")
}

fn json(project: &Project, options: &[&str], arguments: &[&str]) -> Value {
    let output = features(project, &[&["--output-format", "json"], options].concat(), arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let read = serde_json::from_slice(&output.stdout);
    assert!(read.is_ok(), "{read:?}\n{stderr}");
    read.unwrap_or_default()
}

fn tests(report: &Value) -> Vec<&Value> {
    report["tests"].as_array().map(|tests| tests.iter().collect()).unwrap_or_default()
}

fn feature(report: &Value, ending: &str, name: &str) -> Option<f64> {
    let test = tests(report)
        .into_iter()
        .find(|test| test["test"].as_str().is_some_and(|id| id.ends_with(ending)));
    assert!(test.is_some(), "no test {ending} in {report:#}");
    test?["features"][name].as_f64()
}

fn what_a_test_uses_is_measured(interpreter: &str) {
    let python = match python::with(interpreter, &["pytest==8.3.5"]) {
        Ok(python) => python,
        Err(why) => return skipped::note(&format!("features on {interpreter}"), &why),
    };
    let project = project().with_python(python);
    project.commit();
    let report = json(&project, &[], &[]);
    let value = |test, name| feature(&report, test, name);
    assert_eq!(value("test_double", "covered_lines"), Some(2.0));
    assert_eq!(value("test_double", "source_covered_lines"), Some(1.0));
    assert_eq!(value("test_double", "covered_changes"), Some(2.0));
    assert_eq!(value("test_double", "max_threads"), Some(1.0));
    assert_eq!(value("test_double", "max_children"), Some(0.0));
    assert_eq!(value("test_threads", "max_threads"), Some(4.0));
    assert_eq!(value("test_pool", "max_threads"), Some(3.0));
    assert_eq!(value("test_children", "max_children"), Some(2.0));
    assert!(value("test_processes[fork]", "max_children") >= Some(2.0));
    assert!(value("test_processes[spawn]", "max_children") >= Some(2.0));
    assert!(value("test_memory", "max_memory") > Some(200e6));
    assert!(value("test_after", "max_memory") < Some(200e6), "the peak is the test's own");
    assert_eq!(value("test_fails", "covered_lines"), Some(2.0));
    assert_eq!(value("test_errors", "source_covered_lines"), Some(1.0));
    assert_eq!(value("test_thread_lines", "source_covered_lines"), Some(1.0));
    assert_eq!(value("test_generator", "covered_lines"), Some(6.0));
    assert!(value("test_threads", "context_switches") >= Some(0.0));
    let ids: Vec<_> = tests(&report).iter().map(|test| test["test"].to_string()).collect();
    assert!(!ids.iter().any(|id| id.contains("test_skipped")), "{ids:?}");
}

#[test]
fn what_a_test_uses_is_measured_on_python_3_9() {
    what_a_test_uses_is_measured("python3.9");
}

#[test]
fn what_a_test_uses_is_measured_on_python_3_10() {
    what_a_test_uses_is_measured("python3.10");
}

#[test]
fn what_a_test_uses_is_measured_on_python_3_11() {
    what_a_test_uses_is_measured("python3.11");
}

#[test]
fn what_a_test_uses_is_measured_on_python_3_12() {
    what_a_test_uses_is_measured("python3.12");
}

#[test]
fn what_a_test_uses_is_measured_on_python_3_13() {
    what_a_test_uses_is_measured("python3.13");
}

#[test]
fn features_are_the_mean_of_the_runs_in_which_a_test_ran() {
    let suite = "import os, pytest\n\
        from product import double\n\
        def test_a():\n    \
            with open('runs', 'a') as file: file.write('x')\n    \
            for _ in range(os.path.getsize('runs')):\n        \
                if os.path.getsize('runs') > 1: double(1)\n\
        def test_b():\n    \
            if os.path.getsize('runs') == 2: pytest.skip('the second time')\n";
    let project = project().file("test_all.py", suite);
    let report = json(&project, &["-n", "3"], &[]);
    let runs: Vec<_> = tests(&report).iter().map(|test| test["runs"].as_u64()).collect();
    assert_eq!(runs, [Some(3), Some(2)]);
    // Once three lines, twice three of the test and one of the product.
    let covered = feature(&report, "test_a", "covered_lines").expect("covered lines");
    assert!((covered - 11.0 / 3.0).abs() < 1e-9, "{report:#}");
    let changes = feature(&report, "test_a", "covered_changes");
    assert_eq!(changes, None, "without git there are no changes");
}

#[test]
fn a_crash_costs_one_test_its_features_and_no_other() {
    let suite = "import os\ndef test_a(): pass\ndef test_crash(): os.abort()\n\
                 def test_b(): pass\n";
    let project = project().file("test_all.py", suite);
    let report = json(&project, &[], &[]);
    let ids: Vec<_> = tests(&report).iter().filter_map(|test| test["test"].as_str()).collect();
    assert_eq!(ids, ["test_all.py::test_a", "test_all.py::test_b"]);
    assert!(report["notices"].to_string().contains("1 of the tests crashed"), "{report:#}");
}

#[test]
fn a_trace_function_that_is_there_stays_and_is_told() {
    let python = match python::with("python3.11", &["pytest==8.3.5"]) {
        Ok(python) => python,
        Err(why) => return skipped::note("features beside a trace function", &why),
    };
    let suite = "import sys\n\
        def spy(*_): return None\n\
        def test_before(): pass\n\
        def test_sets(): sys.settrace(spy)\n\
        def test_keeps(): assert sys.gettrace() is spy\n\
        def test_ends(): sys.settrace(None)\n\
        def test_after(): pass\n";
    let project = project().with_python(python).file("test_all.py", suite);
    let report = json(&project, &[], &[]);
    let lines = |test| feature(&report, test, "covered_lines");
    assert_eq!(tests(&report).len(), 5);
    assert_eq!(lines("test_before"), Some(1.0));
    assert_eq!((lines("test_sets"), lines("test_keeps"), lines("test_ends")), (None, None, None));
    assert_eq!(lines("test_after"), Some(1.0));
    let notices = report["notices"].to_string();
    assert!(notices.contains("test_all.spy traces this session already"), "{notices}");
    assert!(!notices.contains("failed"), "{notices}");
}

#[test]
fn a_suite_without_tests_and_a_command_that_is_none_are_told() {
    let project = project().file("test_all.py", "");
    let none = features(&project, &[], &[]);
    assert_eq!(none.status.code(), Some(4), "{none:?}");
    let typed = project.flakeproof(&["features", "--", "no-such-program"]).output();
    assert_eq!(typed.expect("flakeproof runs").status.code(), Some(2));
    let never = project.flakeproof(&["features", "-n", "0"]).output();
    assert_eq!(never.expect("flakeproof runs").status.code(), Some(2));
}
