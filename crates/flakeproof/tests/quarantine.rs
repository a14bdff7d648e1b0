//! The quarantine: known flaky tests do not fail the build, broken ones do, and nothing is for ever.

use flakeproof_testkit::{Project, Ran};

/// A test that fails at its first run in each process, one that always fails, and one that passes.
const TESTS: &str = "
import pathlib, pytest

@pytest.mark.parametrize('port', [8080, 9090])
def test_port(port):
    first = pathlib.Path(__file__).with_name(f'used-{port}')
    is_first = not first.exists()
    first.write_text('used')
    assert not is_first, 'the port is in use'

def test_broken():
    assert 1 == 2

def test_sound():
    pass
";

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("pytest.ini", "[pytest]\n")
        .file("test_a.py", TESTS)
}

fn quarantine(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = project.flakeproof(&["quarantine"]);
    let output = command.args(arguments).output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn add(project: &Project, test: &str, more: &[&str]) {
    let words = ["add", test, "--reason", "the port is taken", "--owner", "ann"];
    let (code, text) = quarantine(project, &[&words, more].concat());
    assert_eq!(code, Some(0), "{text}");
}

fn run(project: &Project, arguments: &[&str]) -> Ran {
    let options = ["--flaky-result", "fail", "--fresh", "2", "--dependencies", "off"];
    project.run(&options, arguments)
}

#[test]
fn a_flaky_test_in_quarantine_does_not_fail_the_build() {
    let project = project();
    add(&project, "test_a.py::test_port[*]", &[]);
    let ran = run(&project, &["-k", "port or sound"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert_eq!(ran.test("[8080]")["quarantine"]["hold"], "excused");
    assert!(ran.text().contains("2 in quarantine, not held against the build"), "{}", ran.text());
}

#[test]
fn without_its_entry_the_same_run_fails() {
    let ran = run(&project(), &["-k", "port or sound"]);
    assert_eq!(ran.code(), Some(3), "{}", ran.text());
}

#[test]
fn a_test_that_fails_every_time_fails_the_build_in_spite_of_its_entry() {
    let project = project();
    add(&project, "test_a.py::test_broken", &[]);
    let ran = run(&project, &["-k", "broken"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.test("test_broken")["quarantine"]["hold"], "fails-always");
    assert!(ran.text().contains("fails every time now"), "{}", ran.text());
}

#[test]
fn an_entry_for_another_branch_or_parameter_does_not_hold() {
    let project = project();
    project.commit();
    add(&project, "test_a.py::test_port[8080]", &[]);
    add(&project, "test_a.py::test_port[9090]", &["--branch", "release/*"]);
    let ran = run(&project, &["-k", "port"]);
    assert_eq!(ran.code(), Some(3), "{}", ran.text());
    assert_eq!(ran.test("[8080]")["quarantine"]["hold"], "excused");
    assert!(ran.test("[9090]")["quarantine"].is_null());
}

#[test]
fn an_expired_entry_fails_the_check_and_excuses_nothing() {
    let project = project().file(
        "flakeproof-quarantine.toml",
        "[[test]]\nid = \"test_a.py::test_port[*]\"\nowner = \"ann\"\nreason = \"port\"\n\
         added = \"2020-01-01\"\nexpires = \"2020-02-01\"\n",
    );
    let (code, text) = quarantine(&project, &["check"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("1 expired") && text.contains("mend each expired test"), "{text}");
    let ran = run(&project, &["-k", "port"]);
    assert_eq!(ran.code(), Some(3), "{}", ran.text());
    assert!(ran.text().contains("its quarantine ended on 2020-02-01"), "{}", ran.text());
}

#[test]
fn a_test_that_passed_often_enough_since_is_called_mended() {
    let project = project().file(
        "flakeproof-quarantine.toml",
        "[[test]]\nid = \"test_a.py::test_sound\"\nowner = \"ann\"\nreason = \"it was slow\"\n\
         added = \"2020-01-01\"\nexpires = \"2999-01-01\"\n",
    );
    let _ = run(&project, &["-k", "sound"]);
    let (code, text) = quarantine(&project, &["check"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("passed 1 of 1 runs since 2020-01-01; 59 would say it is mended"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_not_valid_says_where() {
    let project = project().file("flakeproof-quarantine.toml", "[[test]]\nid = \"a\"\nowned = 1\n");
    for code in [quarantine(&project, &["list"]), quarantine(&project, &["check"])] {
        assert_eq!(code.0, Some(2), "{}", code.1);
        assert!(code.1.contains("owned"), "{}", code.1);
    }
    let ran = run(&project, &["-k", "sound"]);
    assert_eq!(ran.code(), Some(2), "{}", ran.text());
}

#[test]
fn an_id_that_no_test_has_is_doubted() {
    let project = project();
    let _ = run(&project, &["-k", "sound"]);
    let added =
        |test: &str| quarantine(&project, &["add", test, "--reason", "unknown", "--owner", "ann"]);
    let (code, text) = added("test_soun");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("did you mean `test_a.py::test_sound`?"), "{text}");
    assert_eq!(added(" ").0, Some(2), "nothing is no test");
    let (_, text) = added("test_a.py::test_sound");
    assert!(!text.contains("note"), "{text}");
}

#[test]
fn a_test_is_not_added_twice_nor_for_a_day_that_is_over() {
    let project = project();
    add(&project, "test_a.py::test_sound", &["--expires", "7d"]);
    let again = ["add", "test_a.py::test_sound", "--reason", "r", "--owner", "o"];
    let (code, text) = quarantine(&project, &again);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("in quarantine already"), "{text}");
    let over = ["add", "b", "--reason", "r", "--owner", "o", "--expires", "2020-01-01"];
    assert_eq!(quarantine(&project, &over).0, Some(2));
}

#[test]
fn the_end_of_an_id_is_enough_to_add_and_to_remove() {
    let project = project();
    run(&project, &["-k", "port or sound"]);
    add(&project, "test_port[*]", &[]);
    let (_, listed) = quarantine(&project, &["list"]);
    assert!(listed.contains("test_a.py::test_port[*]"), "{listed}");
    for port in ["8080", "9090"] {
        std::fs::remove_file(project.path().join(format!("used-{port}"))).expect("it was used");
    }
    let ran = run(&project, &["-k", "port or sound"]);
    assert_eq!(ran.test("[8080]")["quarantine"]["hold"], "excused", "{}", ran.text());
    let (code, text) = quarantine(&project, &["remove", "port[*]"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("test_a.py::test_port[*] is no longer in quarantine"), "{text}");
    let (code, text) = quarantine(&project, &["remove", "port[*]"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("flakeproof quarantine list"), "{text}");
}
