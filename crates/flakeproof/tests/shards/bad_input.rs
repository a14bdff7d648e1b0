//! Shards that there are not, and histories that cannot be read.

use crate::{ids, project, run_shard};

const TESTS: &str = "def test_a(): pass\ndef test_b(): pass\n";

#[test]
fn what_is_no_shard_is_refused_before_anything_runs() {
    let project = project().file("test_it.py", "open('ran', 'w')\ndef test_a(): pass\n");
    let python = project.python();
    for (typed, said) in [
        ("0/4", "count from 1 to 4"),
        ("5/4", "count from 1 to 4"),
        ("a/b", "`2/4`"),
        ("1/0", "no shards"),
        ("auto", "no variable"),
        ("auto/x", "`auto/4`"),
    ] {
        let ran = run_shard(&project, typed, &[&python, "-m", "pytest"]);
        assert_eq!(ran.code(), Some(2), "{typed}: {}", ran.text());
        assert!(ran.text().contains(said), "{typed}: {}", ran.text());
    }
    assert!(!project.path().join("ran").exists());
}

#[test]
fn an_empty_shard_says_so_and_passes() {
    let project = project().file("test_it.py", TESTS);
    let python = project.python();
    let ran = run_shard(&project, "3/3", &[&python, "-m", "pytest"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(ran.text().contains("shard 3/3 is empty"), "{}", ran.text());
    assert_eq!(ids(&ran), Vec::<String>::new());
}

#[test]
fn the_variables_of_a_ci_system_say_which_shard_it_is() {
    let project = project().file("test_it.py", TESTS);
    let python = project.python();
    let mut program = project.flakeproof(&["shard", "--shard", "auto"]);
    program.env("CIRCLE_NODE_INDEX", "1").env("CIRCLE_NODE_TOTAL", "2");
    let output = program.args(["--", &python, "-m", "pytest"]).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "test_it.py::test_b\n");
}

#[test]
fn a_history_that_cannot_be_read_would_lose_tests_and_ends_the_run() {
    let project =
        project().file("test_it.py", TESTS).file("bad.db", "this is no database at all\n");
    let python = project.python();
    let command = ["--", &python, "-m", "pytest"];
    for verb in ["run", "shard"] {
        let mut program = project.flakeproof(&[verb, "--shard", "1/2", "--store", "bad.db"]);
        let output = program.args(command).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(6), "{text}");
        assert!(text.contains("all shards need the same history"), "{text}");
    }
}
