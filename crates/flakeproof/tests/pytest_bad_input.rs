//! What cannot work says what happened and what to do next, with the right exit code.

use std::process::Command;

use flakeproof_testkit::{Project, Ran, python, skipped};

const GOOD: &str = "def test_good(): pass\n";

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// It ends with this code and says all of this, with no traceback or type of ours.
fn assert_says(ran: &Ran, code: i32, words: &[&str]) {
    let text = ran.text();
    assert_eq!(ran.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
    for ours in ["flakeproof_agent", "panicked at", "RUST_BACKTRACE", "Error {"] {
        assert!(!text.contains(ours), "`{ours}` is in:\n{text}");
    }
}

/// Run a command that is not `python -m pytest`.
fn run_command(project: &Project, command: &[&str]) -> Ran {
    let output = project.flakeproof(&["run", "--"]).args(command).output().expect("it starts");
    Ran { output, json: serde_json::Value::Null }
}

#[test]
fn an_interpreter_without_pytest_is_told_how_to_get_it() {
    let python = match python::with("python3", &[]) {
        Ok(python) => python,
        // `pip install` with no package is an error; the environment itself is there.
        Err(_) => bare_python(),
    };
    let ran = project().with_python(python).file("test_a.py", GOOD).run(&[], &[]);
    assert_says(&ran, 2, &["finds no pytest", "pip install pytest"]);
}

fn bare_python() -> std::path::PathBuf {
    let folder = python::target().join("venvs/bare");
    if !folder.join("bin/python").exists() {
        let made =
            Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&folder).output();
        assert!(made.is_ok_and(|made| made.status.success()), "no venv");
    }
    folder.join("bin/python")
}

#[test]
fn a_pytest_that_is_not_on_the_path_is_named() {
    let project = project().file("test_a.py", GOOD);
    let ran = run_command(&project, &["nowhere/pytest"]);
    assert_says(&ran, 2, &["`nowhere/pytest` cannot be started", "install pytest"]);
}

#[test]
fn a_command_that_runs_no_pytest_is_told_what_it_must_do() {
    let project = project().file("test_a.py", GOOD);
    let output = project.flakeproof(&["run", "--adapter", "pytest", "--", "true"]).output();
    let ran = Ran { output: output.expect("it starts"), json: serde_json::Value::Null };
    assert_says(&ran, 2, &["without starting pytest", "PYTHONPATH"]);
}

#[test]
fn a_conftest_that_does_not_import_is_shown() {
    let project = project().file("conftest.py", "import nowhere\n").file("test_a.py", GOOD);
    let ran = project.run(&[], &[]);
    let text = ran.text();
    assert!(matches!(ran.code(), Some(2 | 6)), "{text}");
    assert!(text.contains("No module named 'nowhere'"), "{text}");
    assert!(!text.contains("flakeproof_agent"), "{text}");
}

#[test]
fn a_module_that_does_not_import_stops_the_run_unless_told_to_go_on() {
    let project = project().file("test_a.py", GOOD).file("test_b.py", "import nowhere\n");
    let ran = project.run(&[], &[]);
    assert_says(&ran, 6, &["test_b.py", "nowhere", "--continue-on-collection-errors"]);
    let ran = project.run(&[], &["--continue-on-collection-errors"]);
    assert_says(&ran, 1, &["test_b.py", "nowhere"]);
    assert_eq!(ran.outcome("test_good"), "passed");
}

#[test]
fn an_unknown_option_of_pytest_is_pytests_own_message() {
    let ran = project().file("test_a.py", GOOD).run(&[], &["--nonsense"]);
    assert_says(&ran, 2, &["--nonsense", "unrecognized arguments"]);
}

#[test]
fn a_selection_of_nothing_is_exit_code_4() {
    let ran = project().file("test_a.py", GOOD).run(&[], &["-k", "nothing"]);
    assert_says(&ran, 4, &["selects no test", "-k"]);
    let ran = project().file("empty/readme", "").run(&[], &["empty"]);
    assert_says(&ran, 4, &["selects no test"]);
}

#[test]
fn a_path_that_does_not_exist_is_a_usage_error() {
    let ran = project().file("test_a.py", GOOD).run(&[], &["nowhere"]);
    assert_says(&ran, 2, &["nowhere"]);
}

#[test]
fn a_python_that_is_too_old_is_refused() {
    let python = match python::with("python3.8", &["pytest==7.4.4"]) {
        Ok(python) => python,
        Err(why) => return skipped::note("a_python_that_is_too_old_is_refused", &why),
    };
    let ran = project().with_python(python).file("test_a.py", GOOD).run(&[], &[]);
    assert_says(&ran, 2, &["Python 3.8", "3.9 or newer"]);
}

#[test]
fn options_that_only_print_are_printed() {
    let project = project().file("test_a.py", GOOD);
    assert_says(&project.run(&[], &["--collect-only", "-q"]), 0, &["test_a.py::test_good"]);
    assert_says(&project.run(&[], &["--version"]), 0, &["pytest 8."]);
    assert_says(&project.run(&[], &["--help"]), 0, &["usage:", "--maxfail"]);
}

#[test]
fn a_broken_configuration_file_is_shown_with_line_and_column() {
    let project = project().file("test_a.py", GOOD).file("flakeproof.toml", "retries = \"many\"\n");
    assert_says(&project.run(&[], &[]), 2, &["flakeproof.toml", "line 1, column 11"]);
}

/// Tests run, and the trouble with the store is a notice. Where there is a history that cannot be
/// read, a flaky failure stays a failure.
fn assert_runs_without_store(project: &Project, code: i32, options: &[&str], words: &[&str]) {
    project.write(
        "test_a.py",
        "import os\ndef test_flaky(): assert os.environ['FLAKEPROOF_ATTEMPT'] != '1'\n",
    );
    let ran = project.run(options, &[]);
    assert_says(&ran, code, words);
    assert_eq!(ran.verdict("test_flaky"), "flaky", "{}", ran.text());
}

#[test]
fn tests_run_when_the_store_is_a_text_file() {
    let project = project().file("history.db", "this is not a database, it is a text file\n");
    assert_runs_without_store(&project, 1, &["--store", "history.db"], &["history.db"]);
    let kept = std::fs::read_to_string(project.path().join("history.db")).expect("it is there");
    assert!(kept.starts_with("this is not"), "{kept}");
}

#[test]
fn tests_run_when_the_store_is_from_a_newer_version() {
    let project = project();
    let path = project.path().join("newer.db");
    let store = rusqlite::Connection::open(&path).expect("a database");
    store.execute_batch("PRAGMA user_version = 999").expect("written");
    drop(store);
    assert_runs_without_store(&project, 1, &["--store", "newer.db"], &["newer.db", "newer"]);
}

#[test]
fn tests_run_when_the_store_is_a_folder() {
    let project = project().file("folder/file", "");
    assert_runs_without_store(&project, 1, &["--store", "folder"], &["folder"]);
}

#[test]
fn tests_run_when_the_folder_of_the_store_cannot_be_made() {
    let project = project().file(".flakeproof", "a file\n");
    assert_runs_without_store(&project, 0, &[], &[".flakeproof"]);
}
