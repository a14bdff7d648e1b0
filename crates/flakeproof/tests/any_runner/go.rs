//! `go test`.

use std::collections::BTreeMap;

use flakeproof_testkit::Project;

use crate::{flakeproof, has, project, run};

fn module() -> Project {
    project().file("go.mod", "module example.com/m\n\ngo 1.20\n")
}

const TESTS: &str = r#"package p

import (
    "os"
    "testing"
)

func TestPasses(t *testing.T) {}

func TestFails(t *testing.T) {
    t.Run("part", func(t *testing.T) { t.Error("bad") })
}

func TestSkips(t *testing.T) { t.Skip("why") }

func TestFlaky(t *testing.T) {
    if _, err := os.Stat("seen"); err != nil {
        os.WriteFile("seen", nil, 0o600)
        t.Fatal("first time")
    }
}
"#;

#[test]
fn outcomes_parts_and_a_flaky_test() {
    if !has("go", "go: outcomes_parts_and_a_flaky_test") {
        return;
    }
    let project = module().file("p/p_test.go", TESTS);
    let ran = run(&project, &["go", "test", "./..."]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("p.TestPasses"), "passed");
    assert_eq!(ran.outcome("p.TestSkips"), "skipped");
    assert_eq!((ran.outcome("p.TestFails"), ran.verdict("p.TestFails")), ("failed", "unknown"));
    assert_eq!(ran.verdict("p.TestFlaky"), "flaky", "{}", ran.text());
    assert!(ran.attempts("p.TestFlaky").starts_with("first failed, fresh(spawn) passed"));
    assert!(ran.text().contains("go test -count=1 -run '^(TestFails)$' example.com/m/p"));
}

#[test]
fn a_test_that_runs_alone_again_and_again_is_linked_once() {
    if !has("go", "go: a_test_that_runs_alone_again_and_again_is_linked_once") {
        return;
    }
    let text = r#"package p

import (
    "os"
    "testing"
)

func TestFails(t *testing.T) {
    ran, _ := os.OpenFile("ran", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
    binary, _ := os.Executable()
    ran.WriteString(binary + "\n")
    ran.Close()
    t.Fatal("bad")
}

func TestPasses(t *testing.T) {}
"#;
    let project = module().file("p/p_test.go", text);
    let ran = flakeproof(&project, "run", &["--fresh", "6"], &["go", "test", "./..."]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("p.TestFails"), "failed");
    let log = std::fs::read_to_string(project.path().join("p/ran")).expect("it ran");
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for binary in log.lines() {
        *times.entry(binary).or_default() += 1;
    }
    assert!(times.values().any(|times| *times > 3), "{log}{}", ran.text());
}

#[test]
fn a_suite_without_failures_is_built_and_run_once() {
    if !has("go", "go: a_suite_without_failures_is_built_and_run_once") {
        return;
    }
    let text = r#"package p

import (
    "os"
    "testing"
)

func TestMain(m *testing.M) {
    log, _ := os.OpenFile("../processes", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
    log.WriteString("one\n")
    os.Exit(m.Run())
}

func TestSlow(t *testing.T) { t.Parallel() }
func TestQuick(t *testing.T) {}
func FuzzSeeds(f *testing.F) { f.Fuzz(func(t *testing.T, it int) {}) }
"#;
    let project = module().file("p/p_test.go", text);
    let ran = run(&project, &["go", "test", "./..."]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    let tests = ["p.TestSlow", "p.TestQuick", "p.FuzzSeeds"].map(|test| ran.outcome(test));
    assert_eq!(tests, ["passed"; 3]);
    assert_eq!(
        std::fs::read_to_string(project.path().join("processes")).unwrap_or_default(),
        "one\n"
    );
}

#[test]
fn a_panic_is_a_crash_and_the_tests_after_it_still_run() {
    if !has("go", "go: a_panic_is_a_crash_and_the_tests_after_it_still_run") {
        return;
    }
    let text = "package p\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { panic(\"boom\") }\n\n\
                func TestB(t *testing.T) {}\n\nfunc TestC(t *testing.T) { t.Fatal(\"bad\") }\n";
    let project = module().file("p/p_test.go", text);
    let ran = run(&project, &["go", "test", "./..."]);
    assert!(["crashed", "failed"].contains(&ran.outcome("p.TestA")), "{}", ran.text());
    assert_eq!((ran.outcome("p.TestB"), ran.outcome("p.TestC")), ("passed", "failed"));
    assert_ne!(ran.verdict("p.TestA"), "flaky");
}

#[test]
fn a_package_that_does_not_build_is_never_green() {
    if !has("go", "go: a_package_that_does_not_build_is_never_green") {
        return;
    }
    let fine = "package p\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n";
    let broken = "package q\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { x }\n";
    let project = module().file("p/p_test.go", fine).file("q/q_test.go", broken);
    let ran = run(&project, &["go", "test", "./..."]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("p.TestA"), "passed");
}

#[test]
fn a_hanging_test_is_told_from_the_others() {
    if !has("go", "go: a_hanging_test_is_told_from_the_others") {
        return;
    }
    // Somebody always runs, or Go itself would see that everybody waits.
    let text = "package p\n\nimport \"testing\"\n\nvar tick = make(chan int)\n\n\
                func TestA(t *testing.T) {}\n\nfunc TestHangs(t *testing.T) {\n\tgo func() {\n\t\t\
                for {\n\t\t\ttick <- 1\n\t\t}\n\t}()\n\tfor {\n\t\t<-tick\n\t}\n}\n";
    let project = module().file("p/p_test.go", text);
    let options = ["--timeout", "10s", "--fresh", "1", "--dependencies", "off"];
    let ran = flakeproof(&project, "run", &options, &["go", "test", "./..."]);
    assert_eq!(ran.outcome("p.TestA"), "passed", "{}", ran.text());
    assert_eq!(ran.outcome("p.TestHangs"), "timed_out");
    assert_ne!(ran.verdict("p.TestHangs"), "flaky");
}

#[test]
fn a_failure_that_does_not_touch_the_change_is_unrelated_by_its_coverage() {
    if !has("go", "go: a_failure_that_does_not_touch_the_change_is_unrelated_by_its_coverage") {
        return;
    }
    let function = |name: &str, value: u32| {
        let package = name.to_lowercase();
        format!("package {package}\n\nfunc {name}() int {{\n\tx := {value}\n\treturn x\n}}\n")
    };
    let test = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tA()\n\t\
                t.Fatal(\"no server\")\n}\n";
    let project = module()
        .file("a/a.go", &function("A", 1))
        .file("b/b.go", &function("B", 1))
        .file("a/a_test.go", test)
        .file(".gitignore", ".flakeproof\n");
    let base = project.commit();
    let options = ["--base", base.as_str(), "--dependencies", "function"];
    project.write("b/b.go", &function("B", 2));
    project.commit();
    let ran = flakeproof(&project, "run", &options, &["go", "test", "./..."]);
    assert_eq!(ran.outcome("a.TestA"), "failed");
    assert_eq!(ran.verdict("a.TestA"), "unrelated", "it fails on the base too: {}", ran.text());
    project.write("a/a.go", &function("A", 2));
    project.commit();
    let ran = flakeproof(&project, "run", &options, &["go", "test", "./..."]);
    assert_eq!(ran.verdict("a.TestA"), "real", "it runs what changed: {}", ran.text());
}

/// Fails in the suite's own run and passes from then on.
const FAILS_ONCE: &str = "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n\
    func TestFailsOnce(t *testing.T) {\n\tif _, err := os.Stat(\"seen\"); err != nil {\n\t\t\
    os.WriteFile(\"seen\", nil, 0o600)\n\t\tt.Fatal(\"first time\")\n\t}\n}\n";

#[test]
fn a_flaky_test_does_not_excuse_a_panic_of_its_package() {
    if !has("go", "go: a_flaky_test_does_not_excuse_a_panic_of_its_package") {
        return;
    }
    let main = "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n\
         func TestMain(m *testing.M) {\n\tcode := m.Run()\n\tif code != 0 {\n\t\t\
         panic(\"teardown\")\n\t}\n\tos.Exit(code)\n}\n";
    let project = module().file("p/p_test.go", FAILS_ONCE).file("p/main_test.go", main);
    let ran = run(&project, &["go", "test", "./..."]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert!(ran.text().contains("fails outside of its tests"), "{}", ran.text());
}

#[test]
fn a_package_named_like_another_runner_is_still_of_go() {
    if !has("go", "go: a_package_named_like_another_runner_is_still_of_go") {
        return;
    }
    let text = "package pytest\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n";
    let project = module().file("pytest/a_test.go", text);
    let ran = run(&project, &["go", "test", "./pytest/..."]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert_eq!(ran.outcome("pytest.TestA"), "passed");
}
