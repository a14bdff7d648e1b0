//! Proof of a fix, with the real program.

use std::process::{Command, Stdio};

use flakeproof_testkit::{Project, Ran};
use serde_json::{Value, json};

use crate::{SHOP, assert_says, empty, flakeproof, hunt, shop};

/// A project in which a hunt has been, under git.
fn hunted() -> Project {
    let project = shop();
    project.commit();
    assert_says(&hunt(&project, &[]), 1, &["VICTIM (1)"]);
    project
}

/// The same project with its victim mended.
fn mended() -> Project {
    let project = hunted();
    project.write("test_shop.py", &SHOP.replace("state.currency = 'EUR'", "pass"));
    project
}

/// A proof that needs no hunt, with its JSON report.
fn verify(project: &Project, options: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let output = project
        .flakeproof(&["verify", "--reporter", &format!("json={}", report.display())])
        .args(options)
        .args(["--", &project.python(), "-m", "pytest"])
        .output()
        .expect("it starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or(Value::Null) }
}

/// A test that fails each so manieth time, from this run on.
fn failing_each(times: u32, first: u32) -> Project {
    let counting = format!(
        "import pathlib
def test_network():
    counter = pathlib.Path(__file__).with_name('counter.txt')
    count = int(counter.read_text()) if counter.exists() else {first}
    counter.write_text(str(count + 1))
    assert count % {times} != 0, 'the server did not answer'
"
    );
    empty().file("test_net.py", &counting)
}

#[test]
fn a_victim_is_flaky_until_it_is_mended() {
    let project = hunted();
    let ran = flakeproof(&project, &["verify", "test_total"]);
    let says = ["after test_shop.py::test_currency", "clean runs are needed", "still flaky"];
    assert_says(&ran, 1, &says);
    assert_says(&ran, 1, &["assert 'EUR' == 'USD'", "reproduce: ", "neither code nor packages"]);
    project.write("test_shop.py", &SHOP.replace("state.currency = 'EUR'", "pass"));
    let ran = flakeproof(&project, &["verify", "test_total"]);
    assert_says(&ran, 0, &["fixed, 95 %: it passed", "the last in a new process"]);
    assert_says(&ran, 0, &["as often as before", "is not excluded"]);
}

#[test]
fn a_test_that_is_proven_to_be_mended_leaves_the_list() {
    let project = mended();
    assert!(flakeproof(&project, &["list"]).text().contains("test_total"));
    assert_says(&flakeproof(&project, &["verify", "test_total"]), 0, &["fixed"]);
    let list = flakeproof(&project, &["list"]);
    assert_says(&list, 0, &["test_receipt", "1 flaky test known"]);
    assert!(!list.text().contains("test_total"), "{}", list.text());
}

#[test]
fn a_brittle_test_is_proven_alone() {
    let project = hunted();
    let ran = flakeproof(&project, &["verify", "test_receipt"]);
    assert_says(&ran, 1, &["test_shop.py::test_receipt alone", "still flaky: it failed 1 of 1"]);
    project.write("state.py", "currency = 'USD'\nsession = 'open'\n");
    assert_says(&flakeproof(&project, &["verify", "test_receipt"]), 0, &["fixed, 95 %"]);
}

#[test]
fn a_mended_test_that_fails_everywhere_is_broken() {
    let project = hunted();
    project.write("test_shop.py", &SHOP.replace("== 'USD'", "== 'GBP'"));
    let ran = flakeproof(&project, &["verify", "test_total"]);
    assert_says(&ran, 1, &["fails every time, also where it used to pass: broken, not flaky"]);
}

#[test]
fn the_rate_that_was_typed_decides_how_many_runs() {
    let project = empty().file("test_a.py", "def test_a(): pass\n");
    let ran = verify(&project, &["test_a", "--was", "1/10", "--confidence", "90%"]);
    assert_says(&ran, 0, &["1 time in 10", "22 clean runs are needed", "fixed, 90 %"]);
    assert_eq!(ran.json["needed"], 22);
    assert_eq!(ran.json["runs"], json!({ "runs": 23, "failures": 0 }));
    assert_eq!(ran.json["verdict"], "fixed");
    assert_eq!(ran.json["was"]["source"], "given");
    let spawned = verify(&project, &["test_a", "--was", "100%", "--isolation", "spawn"]);
    assert_says(&spawned, 0, &["1 clean run is needed", "it passed 1 of 1 runs"]);
}

#[test]
fn a_rare_failure_refutes_a_fix() {
    let ran = verify(&failing_each(7, 1), &["test_network", "--was", "10%"]);
    assert_says(&ran, 1, &["still flaky: it failed 1 of 7", "the server did not answer"]);
    assert_eq!(ran.json["verdict"], "still_flaky");
    let ran = verify(&failing_each(1, 0), &["test_network", "--was", "10%"]);
    assert_says(&ran, 1, &["fails every time: broken, not flaky (failed 3 of 3)"]);
    assert_eq!(ran.json["verdict"], "always_fails");
    // Three failures in a row are nothing new for one that failed two times in three.
    let ran = verify(&failing_each(1, 0), &["test_network", "--was", "2/3"]);
    assert_says(&ran, 1, &["fails every time: broken, not flaky (failed 8 of 8)"]);
}

#[test]
fn a_spent_budget_says_what_can_be_said_so_far() {
    let project = empty().file("test_a.py", "def test_a(): pass\n");
    let ran = verify(&project, &["test_a", "--was", "0.1%", "--budget", "1ms"]);
    assert_says(&ran, 5, &["2,995 clean runs are needed", "not decided: the budget is spent"]);
    assert_eq!((&ran.json["end"], &ran.json["verdict"]), (&json!("budget_spent"), &Value::Null));
}

#[test]
fn an_interrupt_ends_with_what_is_known() {
    // Once only: a second interrupt would stop the program at once.
    let interrupting = "import os, pathlib, signal
def test_a():
    marker = pathlib.Path(__file__).with_name('interrupted')
    if not marker.exists():
        marker.touch()
        os.kill(int(os.environ['TO_INTERRUPT']), signal.SIGINT)
";
    let project = empty().file("test_a.py", interrupting);
    let mut command = Command::new("sh");
    // The shell becomes the program, so that the test knows whom to interrupt.
    let plain = project.flakeproof(&[]);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .args(["-c", "TO_INTERRUPT=$$ exec \"$@\"", "sh"])
        .arg(plain.get_program())
        .args(["verify", "test_a", "--was", "0.01%", "--", &project.python(), "-m", "pytest"])
        .current_dir(project.path())
        .stdin(Stdio::null());
    let output = command.output().expect("it starts");
    let ran = Ran { output, json: Value::Null };
    assert_says(&ran, 130, &["not decided: interrupted"]);
}

#[test]
fn a_skipped_test_decides_nothing() {
    let skipped = "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n";
    let ran = verify(&empty().file("test_a.py", skipped), &["test_a", "--was", "10%"]);
    assert_says(&ran, 5, &["not decided: the test is skipped, or never reached after 0 of 29"]);
}

#[test]
fn what_cannot_be_proven_says_what_to_do() {
    let project = empty().file("test_a.py", "def test_a(): pass\n");
    assert_says(&verify(&project, &["test_a"]), 2, &["no hunt knows", "--was 3%"]);
    let ran = verify(&project, &["test_b", "--was", "3%"]);
    assert_says(&ran, 4, &["no test is called `test_b`"]);
    let ran = verify(&project, &["test_a", "--was", "3"]);
    assert_says(&ran, 2, &["write for example 3%, 0.03 or 1/30"]);
    let ran = verify(&project, &["test_a", "--was", "3%", "--reporter", "junit=a.xml"]);
    assert_says(&ran, 2, &["writes JSON only"]);
}

#[test]
fn a_polluter_that_is_gone_leaves_nothing_to_prove() {
    let project = hunted();
    project.write("test_shop.py", &SHOP.replace("def test_currency", "def test_euro"));
    let ran = flakeproof(&project, &["verify", "test_total"]);
    assert_says(&ran, 5, &["no order in which", "flakeproof hunt --victim"]);
    project.write("test_shop.py", &SHOP.replace("def test_total", "def test_sum"));
    let ran = flakeproof(&project, &["verify", "test_total"]);
    assert_says(&ran, 4, &["is not in the suite here", "--was"]);
}
