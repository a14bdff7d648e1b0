//! The same levers reach the processes of every other adapter.

use flakeproof_testkit::{Project, skipped};

use super::{cause_by, named};

fn empty() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// Whether a tool is here; if not, the test is noted as skipped.
fn has(tool: &str, test: &str) -> bool {
    let version = if tool == "go" { "version" } else { "--version" };
    let output = std::process::Command::new(tool).arg(version).output();
    let is_here = output.is_ok_and(|it| it.status.success());
    if !is_here {
        skipped::note(test, &format!("{tool} is not installed"));
    }
    is_here
}

#[test]
fn a_go_test_fails_in_another_zone() {
    if !has("go", "a_go_test_fails_in_another_zone") {
        return;
    }
    let project = empty().file("go.mod", "module example.com/pay\n\ngo 1.20\n").file(
        "pay_test.go",
        "package pay\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestDay(t *testing.T) {\n\t\
         if day := time.Unix(1700000000, 0).Format(\"2006-01-02 15:04\"); day != \"2023-11-14 22:13\" {\n\t\t\
         t.Fatalf(\"paid on %s\", day)\n\t}\n}\n\nfunc TestFine(t *testing.T) {}\n",
    );
    let ran =
        cause_by(&project, "TestDay", "zone=Asia/Kolkata,umask,clock", &["go", "test", "./..."]);
    assert_eq!(named(&ran), ["zone"], "{}", ran.text());
    let why = ran.json["not_tried"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("without the C library"), "{why}");
}

#[test]
fn a_cargo_test_fails_with_an_empty_home() {
    let project = empty()
        .file("Cargo.toml", "[package]\nname = \"pay\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
        .file(
            "src/lib.rs",
            "#[test]\nfn has_settings() {\n    let home = std::env::var(\"HOME\").unwrap();\n    \
             assert!(std::fs::read_dir(home).unwrap().next().is_some());\n}\n\n#[test]\nfn is_fine() {}\n",
        );
    let ran = cause_by(&project, "has_settings", "home,umask", &["cargo", "test"]);
    assert_eq!(named(&ran), ["home"], "{}", ran.text());
}

#[test]
fn a_described_runner_fails_in_another_zone() {
    if !has("node", "a_described_runner_fails_in_another_zone") {
        return;
    }
    let project = empty().file(
        "pay.test.mjs",
        "import test from 'node:test';\nimport assert from 'node:assert';\n\
         test('day', () => assert.equal(new Date(1700000000000).getHours(), 22));\n\
         test('fine', () => {});\n",
    );
    let ran =
        cause_by(&project, "day", "zone=Asia/Kolkata,umask", &["node", "--test", "pay.test.mjs"]);
    assert_eq!(named(&ran), ["zone"], "{}", ran.text());
}
