//! `flakeproof features` where each test is measured in a process of its own.

use flakeproof_testkit::{Project, node, skipped};
use serde_json::Value;

use crate::node_orders::with;
use crate::{has, project};

const SHOP: &str = "package shop\n\nfunc Total(prices []int) int {\n\ttotal := 0\n\tfor _, price := range prices {\n\t\t\
                    total += price\n\t}\n\treturn total\n}\n\nfunc Idle() int {\n\treturn 1\n}\n";

const TESTS: &str = r#"package shop

import (
    "os/exec"
    "testing"
)

func TestTotal(t *testing.T) {
    if Total([]int{1, 2}) != 3 {
        t.Error("wrong")
    }
}

func TestMemory(t *testing.T) {
    room := make([]byte, 200<<20)
    for at := range room {
        room[at] = byte(at)
    }
    if room[77] != 77 {
        t.Error("wrong")
    }
}

func TestChild(t *testing.T) {
    busy := "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    if exec.Command("sh", "-c", busy).Run() != nil {
        t.Error("wrong")
    }
}
"#;

/// `features` on a project, as JSON.
fn features(project: &Project, command: &[&str]) -> Value {
    let options = ["features", "--output-format", "json", "--"];
    let output = project.flakeproof(&options).args(command).output().expect("flakeproof starts");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// A feature of the test whose id ends like this.
#[track_caller]
fn of(report: &Value, ending: &str, feature: &str) -> f64 {
    let tests = report["tests"].as_array().expect("a list of tests");
    let test = tests.iter().find(|it| it["test"].as_str().is_some_and(|id| id.ends_with(ending)));
    let value = test.and_then(|test| test["features"][feature].as_f64());
    assert!(value.is_some(), "{ending} has no {feature}: {report:#}");
    value.unwrap_or_default()
}

#[test]
fn a_go_test_is_measured_without_the_go_command() {
    if !has("go", "measured: a_go_test_is_measured_without_the_go_command") {
        return;
    }
    let module = project().file("go.mod", "module example.com/shop\n\ngo 1.20\n");
    let module = module.file("shop.go", SHOP).file("shop_test.go", TESTS);
    let report = features(&module, &["go", "test", "./..."]);
    let megabytes = |test| of(&report, test, "max_memory") / 1e6;
    assert!(megabytes("TestMemory") > 200.0 && megabytes("TestTotal") < 100.0);
    assert!(of(&report, "TestChild", "max_children") >= 1.0);
    assert_eq!(of(&report, "TestTotal", "max_children"), 0.0);
    assert!(of(&report, "TestTotal", "max_threads") >= 1.0);
    assert!(of(&report, "TestChild", "run_time") > of(&report, "TestTotal", "run_time"));
    assert!(of(&report, "TestTotal", "context_switches") > 0.0);
    // Lines 3 to 9 of the product, as Go's own profile has its blocks; no test runs the other function.
    assert_eq!(of(&report, "TestTotal", "covered_lines"), lines_by_go(&module, "TestTotal"));
    assert_eq!(of(&report, "TestMemory", "covered_lines"), 0.0);
    assert_eq!(of(&report, "TestTotal", "assertions"), 1.0, "the source is found, too");
}

/// The lines of the blocks that ran, as `go test` itself tells them.
fn lines_by_go(module: &Project, test: &str) -> f64 {
    let profile = module.path().join("profile");
    let ended = std::process::Command::new("go")
        .args(["test", "-count=1", "-run", test, "-coverpkg=./..."])
        .arg(format!("-coverprofile={}", profile.display()))
        .current_dir(module.path())
        .output()
        .expect("go starts");
    assert!(ended.status.success());
    let mut lines = std::collections::BTreeSet::new();
    let text = std::fs::read_to_string(&profile).expect("a profile");
    for block in text.lines().filter(|line| !line.starts_with("mode:") && !line.ends_with(" 0")) {
        let (_, place) = block.rsplit_once(':').expect("a file and a place");
        let (from, to) =
            place.split(' ').next().and_then(|it| it.split_once(',')).expect("both ends");
        let line =
            |it: &str| it.split('.').next().and_then(|it| it.parse::<u32>().ok()).expect("a line");
        lines.extend(line(from)..=line(to));
    }
    lines.len() as f64
}

#[test]
fn a_test_of_mocha_is_measured_with_the_lines_that_the_engine_ran() {
    let test = "a_test_of_mocha_is_measured_with_the_lines_that_the_engine_ran";
    let Some(project) = with(&[node::MOCHA], test) else { return };
    let product = "function total(prices) {\n  let sum = 0;\n  for (const price of prices) sum += price;\n  \
                   return sum;\n}\n\nfunction idle() {\n  return 1;\n}\n\nmodule.exports = { total, idle };\n";
    let tests = "const assert = require('node:assert');\nconst { total } = require('../shop.js');\n\
                 describe('shop', () => {\n  it('adds up', () => { assert.equal(total([1, 2]), 3); });\n  \
                 it('has room', () => { const room = Buffer.alloc(300e6, 1); assert.equal(room[7], 1); });\n});\n";
    let project = project.file("shop.js", product).file("test/shop.js", tests);
    let report = features(&project, &["npx", "mocha"]);
    // Lines 1 to 5 and 11: nobody calls the other function.
    assert_eq!(of(&report, "shop > adds up", "source_covered_lines"), 6.0);
    let more =
        of(&report, "shop > has room", "max_memory") - of(&report, "shop > adds up", "max_memory");
    assert!(more > 200e6, "{more}");
    assert_eq!(of(&report, "shop > adds up", "assertions"), 1.0);
}

#[test]
fn a_rust_test_is_measured_with_the_lines_that_the_compiler_counts() {
    if !has("cargo", "measured: a_rust_test_is_measured_with_the_lines_that_the_compiler_counts") {
        return;
    }
    let product = "pub fn total(prices: &[u32]) -> u32 {\n    let mut total = 0;\n    for price in prices {\n        \
                   total += price;\n    }\n    total\n}\n\npub fn idle() -> u32 {\n    1\n}\n";
    let tests = "#[test]\nfn adds_up() {\n    assert_eq!(shop::total(&[1, 2]), 3);\n}\n\n\
                 #[test]\nfn has_room() {\n    let room = vec![7_u8; 200 << 20];\n    assert_eq!(room[77], 7);\n}\n\n\
                 #[test]\nfn has_a_child() {\n    let busy = \"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done\";\n    \
                 assert!(std::process::Command::new(\"sh\").args([\"-c\", busy]).status().unwrap().success());\n}\n";
    let manifest =
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    let package = project().file("Cargo.toml", manifest);
    let package = package.file("src/lib.rs", product).file("tests/shop.rs", tests);
    let report = features(&package, &["cargo", "test"]);
    let megabytes = |test| of(&report, test, "max_memory") / 1e6;
    assert!(megabytes("has_room") > 200.0 && megabytes("adds_up") < 100.0);
    assert!(of(&report, "has_a_child", "max_children") >= 1.0);
    assert_eq!(of(&report, "adds_up", "max_children"), 0.0);
    assert!(of(&report, "has_a_child", "run_time") > of(&report, "adds_up", "run_time"));
    assert_eq!(of(&report, "adds_up", "assertions"), 1.0, "the source is found, too");
    if !report["notices"].to_string().contains("llvm-tools") {
        // The whole function; nobody calls the other one.
        assert_eq!(of(&report, "adds_up", "source_covered_lines"), 7.0);
        assert_eq!(of(&report, "has_room", "source_covered_lines"), 0.0);
    } else {
        skipped::note("measured: lines of a Rust test", "no llvm-tools in the toolchain");
    }
}
