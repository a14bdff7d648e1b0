//! `go test`: who depends on whom in the process that the tests of a package share.

use std::process::Command;

use flakeproof_testkit::{Project, Ran};
use serde_json::Value;

use crate::{flakeproof, has, project};

fn module() -> Project {
    project().file("go.mod", "module example.com/m\n\ngo 1.20\n")
}

/// The time is far more than it takes: nothing is cut short.
const HUNT: [&str; 4] = ["--seed", "1", "--budget", "20m"];

fn hunt(project: &Project, command: &[&str]) -> Ran {
    flakeproof(project, "hunt", &HUNT, command)
}

/// What is told about a test: its kind, and who makes it so.
fn found(ran: &Ran, id: &str) -> (String, Vec<Vec<String>>) {
    let tests = ran.json["tests"].as_array().cloned().unwrap_or_default();
    let test = tests.into_iter().find(|it| it["id"] == *id);
    assert!(test.is_some(), "no {id} in {}", ran.text());
    let test = test.unwrap_or_default();
    let sets = |name: &str| -> Vec<Vec<String>> {
        serde_json::from_value(test[name].clone()).unwrap_or_default()
    };
    let kind = test["kind"].as_str().unwrap_or("none").to_owned();
    (kind, [sets("polluters"), sets("setters")].concat())
}

fn set(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("example.com/m/p.{name}")).collect()
}

const STATE: &str = r#"package p

import "testing"

var currency, customer = "EUR", ""
var isOpen, isClosed bool

func TestVictim(t *testing.T) {
	if currency != "EUR" {
		t.Fatal(currency)
	}
}

func TestPolluter(t *testing.T) { currency = "USD" }

func TestBrittle(t *testing.T) {
	if customer == "" {
		t.Fatal("nobody is logged in")
	}
}

func TestSetter(t *testing.T) { customer = "ada" }

func TestVictimOfTwo(t *testing.T) {
	if isClosed {
		t.Fatal("the year is closed")
	}
}

func TestCloses(t *testing.T) { isClosed = isOpen }

func TestOpens(t *testing.T) { isOpen = true }

func TestHealthy(t *testing.T) {}
"#;

#[test]
fn victims_brittle_tests_and_who_makes_them_so_are_found() {
    if !has("go", "go: victims_brittle_tests_and_who_makes_them_so_are_found") {
        return;
    }
    let project = module().file("p/p_test.go", STATE);
    let ran = hunt(&project, &["go", "test", "./..."]);
    let of = |name: &str| found(&ran, &format!("example.com/m/p.{name}"));
    assert_eq!(of("TestVictim"), ("victim".into(), vec![set(&["TestPolluter"])]), "{}", ran.text());
    assert_eq!(of("TestBrittle"), ("brittle".into(), vec![set(&["TestSetter"])]));
    let both = vec![set(&["TestOpens", "TestCloses"])];
    assert_eq!(of("TestVictimOfTwo"), ("victim".into(), both), "both, and in this order");
    assert_eq!(of("TestHealthy").0, "none");
}

#[test]
fn what_is_told_to_reproduce_a_victim_does_so_without_flakeproof() {
    if !has("go", "go: what_is_told_to_reproduce_a_victim_does_so_without_flakeproof") {
        return;
    }
    let project = module().file("p/p_test.go", STATE);
    let ran = hunt(&project, &["go", "test", "./..."]);
    for name in ["TestVictim", "TestVictimOfTwo"] {
        let tests = ran.json["tests"].as_array().cloned().unwrap_or_default();
        let test = tests.iter().find(|it| it["id"] == format!("example.com/m/p.{name}").as_str());
        let typed = test.and_then(|it| it["reproduce"].as_str()).unwrap_or_default().to_owned();
        assert!(typed.starts_with("go test -shuffle="), "{typed}");
        let output = Command::new("sh").args(["-c", &typed]).current_dir(project.path()).output();
        let said = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
        let said = said.unwrap_or_else(|error| error.to_string());
        assert!(said.contains(&format!("--- FAIL: {name} ")), "{typed}\n{said}");
    }
}

const WHOLE: &str = r#"package p

import (
	"fmt"
	"os"
	"testing"
)

var state string

func TestMain(m *testing.M) {
	state = "clean"
	os.Exit(m.Run())
}

// Runs after all tests that do not run beside others: it can spoil nothing for them.
func TestBeside(t *testing.T) {
	t.Parallel()
	state = "spoilt beside"
}

func TestChecks(t *testing.T) {
	if state != "clean" {
		t.Fatal(state)
	}
}

func TestParts(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two/three", func(t *testing.T) { t.Skip("not today") })
}

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, number int) { state = "spoilt by a seed" })
}

func Example() {
	state = "spoilt by an example"
	fmt.Println("fine")
	// Output: fine
}
"#;

#[test]
fn what_go_runs_after_all_tests_spoils_none_of_them() {
    if !has("go", "go: what_go_runs_after_all_tests_spoils_none_of_them") {
        return;
    }
    let project = module().file("p/p_test.go", WHOLE);
    let ran = hunt(&project, &["go", "test", "./p"]);
    let tests = ran.json["tests"].as_array().cloned().unwrap_or_default();
    assert_eq!(tests.len(), 5, "{}", ran.text());
    for test in &tests {
        assert_eq!(test["kind"], Value::Null, "{test}");
        assert_eq!(test["baseline"]["failures"], 0, "{test}");
        assert!(test["shuffled"]["runs"].as_u64() > Some(0), "{test}");
    }
}

const ENDS: &str = r#"package p

import (
	"log"
	"testing"
)

var isSpoilt bool

func TestBefore(t *testing.T) {}

func TestEnds(t *testing.T) { log.Fatal("out of luck") }

func TestPanicsElsewhere(t *testing.T) {
	go func() { panic("far away") }()
	select {}
}

func TestSpoils(t *testing.T) { isSpoilt = true }

func TestVictim(t *testing.T) {
	if isSpoilt {
		t.Fatal("spoilt")
	}
}
"#;

#[test]
fn tests_that_end_their_process_do_not_hide_the_others() {
    if !has("go", "go: tests_that_end_their_process_do_not_hide_the_others") {
        return;
    }
    let project = module().file("p/p_test.go", ENDS);
    let ran = hunt(&project, &["go", "test", "./..."]);
    let of = |name: &str| found(&ran, &format!("example.com/m/p.{name}"));
    assert_eq!(of("TestVictim"), ("victim".into(), vec![set(&["TestSpoils"])]), "{}", ran.text());
    for name in ["TestEnds", "TestPanicsElsewhere", "TestBefore"] {
        assert_eq!(of(name).0, "none", "{}", ran.text());
    }
}

#[test]
fn where_no_order_can_be_told_each_test_has_its_process_and_that_is_said() {
    if !has("go", "go: where_no_order_can_be_told_each_test_has_its_process_and_that_is_said") {
        return;
    }
    let project = module().file("p/p_test.go", STATE);
    let ran = hunt(&project, &["go", "test", "-exec", "env", "./..."]);
    assert_eq!(found(&ran, "example.com/m/p.TestVictim").0, "none", "{}", ran.text());
    assert!(ran.text().contains("`-exec` is in use"), "{}", ran.text());
}

#[test]
fn a_data_race_is_real_at_once() {
    let test = "go: a_data_race_is_real_at_once";
    if !has("go", test) || !has("gcc", test) {
        return;
    }
    let text = "package p\n\nimport \"testing\"\n\nfunc TestRaces(t *testing.T) {\n\tnumber := 0\n\t\
                done := make(chan bool)\n\tgo func() {\n\t\tnumber++\n\t\tdone <- true\n\t}()\n\t\
                number++\n\t<-done\n\tt.Log(number)\n}\n";
    let project = module().file("p/p_test.go", text);
    let ran = flakeproof(&project, "run", &[], &["go", "test", "-race", "./..."]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.verdict("p.TestRaces"), "real", "{}", ran.text());
    assert_eq!(ran.attempts("p.TestRaces"), "first failed", "it is not rerun: {}", ran.text());
}
