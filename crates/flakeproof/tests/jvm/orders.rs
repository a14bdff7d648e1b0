//! Orders that the specification of the JDK leaves open, chosen by a seed.

use std::process::Command;

use flakeproof_core::{Outcome, Shuffle};
use flakeproof_runner::{Adapter, OpenOrders};
use serde_json::Value;

use crate::claims::Claim;
use crate::scene::{JUNIT4, JUPITER, MavenProject, Pom, Scene, TESTNG, run};

pub(crate) const CLAIMS: &[Claim] = claims![
    each_framework_runs_its_tests_with_the_orders_of_a_seed,
    tests_that_rely_on_an_order_are_hunted_down_to_the_call,
];

const METHODS: &str = r#"
    static java.util.Map<String, Integer> map() {
        java.util.Map<String, Integer> map = new java.util.HashMap<>();
        for (String key : "a b c d".split(" ")) map.put(key, map.size());
        return map;
    }
    @Test public void text() { eq("{a=0, b=1, c=2, d=3}", map().toString()); }
    @Test public void sorted() { eq("{a=0, b=1, c=2, d=3}", new java.util.TreeMap<>(map()).toString()); }
    static void eq(String expected, String seen) { if (!expected.equals(seen)) throw new AssertionError(seen); }
"#;

fn scene(dependencies: &'static str, import: &str) -> Scene {
    let pom = Pom { dependencies, ..Pom::default() };
    let class = format!("import {import}.Test;\npublic class OrderTest {{\n{METHODS}\n}}\n");
    MavenProject::new(pom).class("src/test/java/acme/OrderTest", &class).collect(&[])
}

fn each_framework_runs_its_tests_with_the_orders_of_a_seed() {
    let frameworks = [
        (JUNIT4, "org.junit"),
        (JUPITER, "org.junit.jupiter.api"),
        (TESTNG, "org.testng.annotations"),
    ];
    for (dependencies, import) in frameworks {
        let scene = scene(dependencies, import);
        assert_eq!(scene.adapter.open_orders(), OpenOrders::Usual);
        let order = [scene.id("#text"), scene.id("#sorted")];
        let mut environment = scene.adapter.open_shuffled(&Shuffle::all(7)).expect("it opens");
        let ran = run(&mut *environment, &order).expect("no trouble but a test's");
        let outcomes: Vec<Outcome> = ran.iter().map(|execution| execution.outcome).collect();
        assert_eq!(outcomes, [Outcome::Failed, Outcome::Passed], "{import}: {ran:?}");
        environment.close().expect("it ends");
        let calls = scene.adapter.calls_shuffled(&order[0], &Shuffle::all(7)).expect("calls");
        let expected = "acme.OrderTest.text (OrderTest.java:10): the order of a HashMap or HashSet";
        assert_eq!(calls, [expected], "{import}");
        let other = Shuffle::only(7, vec!["acme.Other.call (Other.java:1): x".into()]);
        let mut environment = scene.adapter.open_shuffled(&other).expect("it opens");
        let ran = run(&mut *environment, &order[..1]).expect("no trouble but a test's");
        assert_eq!(ran[0].outcome, Outcome::Passed, "{import}");
    }
}

fn tests_that_rely_on_an_order_are_hunted_down_to_the_call() {
    let scene = scene(JUNIT4, "org.junit");
    let ran = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .args(["hunt", "--kinds", "id", "--shuffles", "1", "--seed", "1"])
        .args(["--reporter", "json=hunt.json", "--", "mvn", "-q", "test"])
        .current_dir(scene.project.path())
        .output()
        .expect("it runs");
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = std::fs::read_to_string(scene.project.path().join("hunt.json")).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let tests = report["tests"].as_array().expect("tests");
    let found: Vec<_> = tests.iter().filter(|test| test["kind"] == "ID").collect();
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(found[0]["id"], "acme.OrderTest#text");
    let call = found[0]["implementation"]["calls"][0].as_str().expect("a call");
    assert!(call.starts_with("acme.OrderTest.text (OrderTest.java:10)"), "{call}");
    let shown = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .args(["repro", "acme.OrderTest#text", "--runs", "1"])
        .current_dir(scene.project.path())
        .output()
        .expect("it runs");
    assert_eq!(shown.status.code(), Some(1), "{}", String::from_utf8_lossy(&shown.stderr));
}
