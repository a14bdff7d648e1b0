//! What hunts found, afterwards: the list, the replay, the explanation.

use flakeproof_testkit::Project;
use serde_json::{Value, json};

use crate::{SHOP, assert_says, empty, flakeproof, hunt, shop};

/// A project in which a hunt has been.
fn hunted() -> Project {
    let project = shop();
    assert_says(&hunt(&project, &[]), 1, &["VICTIM (1)"]);
    project
}

#[test]
fn a_project_without_a_hunt_is_told_what_to_run() {
    assert_says(
        &flakeproof(&empty(), &["list"]),
        0,
        &["no flaky test is known", "flakeproof hunt"],
    );
    let ran = flakeproof(&empty(), &["repro", "test_a"]);
    assert_says(&ran, 2, &["no flaky test is known", "flakeproof hunt"]);
}

#[test]
fn known_flaky_tests_are_listed() {
    let project = hunted();
    let ran = flakeproof(&project, &["list"]);
    assert_says(
        &ran,
        0,
        &["victim", "test_shop.py::test_total  1 polluter", "2 flaky tests known"],
    );
    let ran = flakeproof(&project, &["list", "--output-format", "json"]);
    let json: Value = serde_json::from_slice(&ran.output.stdout).expect("is JSON");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["tests"][1]["id"], "test_shop.py::test_total");
    assert_eq!(json["tests"][1]["polluters"], json!([["test_shop.py::test_currency"]]));
}

#[test]
fn a_test_that_was_mended_is_no_longer_listed() {
    let project = hunted();
    project.write("test_shop.py", &SHOP.replace("state.currency = 'EUR'", "pass"));
    hunt(&project, &[]);
    let ran = flakeproof(&project, &["list"]);
    assert_says(&ran, 0, &["1 flaky test known"]);
    assert!(!ran.text().contains("test_total"), "{}", ran.text());
}

#[test]
fn a_failure_is_shown_again_until_it_is_mended() {
    let project = hunted();
    let ran = flakeproof(&project, &["repro", "test_total", "-n", "2"]);
    assert_says(&ran, 1, &["after 1 other test", "failed 2 of 2", "as it did in the hunt"]);
    let forked = ["repro", "test_receipt", "-n", "2", "--isolation", "fork"];
    assert_says(&flakeproof(&project, &forked), 1, &["alone", "failed 2 of 2"]);
    project.write("test_shop.py", &SHOP.replace("state.currency = 'EUR'", "pass"));
    let ran = flakeproof(&project, &["repro", "test_total", "-n", "2"]);
    assert_says(&ran, 0, &["it no longer fails", "4 executions in"]);
    project.write("test_shop.py", "def test_other(): pass\n");
    let ran = flakeproof(&project, &["repro", "test_total"]);
    assert_says(&ran, 2, &["1 more of the order are not in the suite here", "hunt again"]);
}

#[test]
fn a_bundle_is_replayed_elsewhere_and_says_what_differs() {
    let project = hunted();
    let there = shop();
    let revision = there.commit();
    let bundle = there.path().join("bundle.json").display().to_string();
    let ran = flakeproof(&project, &["repro", "test_total", "-n", "1", "--bundle", &bundle]);
    assert_says(&ran, 1, &["failed 1 of 1"]);
    let text = std::fs::read_to_string(&bundle).expect("is written");
    let json: Value = serde_json::from_str(&text).expect("is JSON");
    assert_eq!(json["order"], json!(["test_shop.py::test_currency", "test_shop.py::test_total"]));
    assert_eq!(json["kind"], "victim");
    assert_eq!(json["seed"], 7);
    let ran = flakeproof(&there, &["repro", "--from", &bundle, "-n", "1"]);
    assert_says(&ran, 2, &["wants to run `", "pytest", "--yes"]);
    let ran = flakeproof(&there, &["repro", "--from", &bundle, "-n", "1", "--yes"]);
    let says = format!("it failed on code that git does not know, and this is {revision}");
    assert_says(&ran, 1, &[&says, "failed 1 of 1", "as it did in the hunt"]);
}

#[test]
fn a_test_that_is_not_known_is_asked_for_again() {
    let ran = flakeproof(&hunted(), &["repro", "test_tot"]);
    assert_says(&ran, 2, &["no test is called `test_tot`", "test_shop.py::test_total"]);
}

#[test]
fn an_explanation_begins_with_what_the_hunt_found() {
    let project = hunted();
    let ran = flakeproof(&project, &["explain", "test_total"]);
    assert_says(
        &ran,
        0,
        &[
            "VICTIM",
            "fails after: test_shop.py::test_currency",
            "healed by",
            "left behind",
            "model:",
            "KNOWN",
        ],
    );
    assert!(!ran.text().contains("FINE"), "{}", ran.text());
    let ran = flakeproof(&project, &["explain", "test_total", "--output-format", "json"]);
    let json: Value = serde_json::from_slice(&ran.output.stdout).expect("is JSON");
    assert_eq!(json["hunted"][0]["kind"], "victim");
    assert_eq!(
        (&json["tests"][0]["known"], &json["tests"][0]["flaky"]),
        (&json!("victim"), &json!(true))
    );
    let ran = flakeproof(&project, &["explain", "test_sound", "--output-format", "json"]);
    let json: Value = serde_json::from_slice(&ran.output.stdout).expect("is JSON");
    assert_eq!(json["hunted"], json!([]));
}

#[test]
fn an_explanation_tells_what_runs_said() {
    let project = empty().file("test_a.py", "def test_total(): assert 1 == 2\n");
    assert_eq!(project.run(&[], &[]).code(), Some(1));
    let ran = flakeproof(&project, &["explain", "test_total"]);
    let said = [
        "test_a.py::test_total",
        "failed its only run",
        ": assert 1 == 2 (last",
        "called it unknown:",
    ];
    assert_says(&ran, 0, &said);
    assert_says(&ran, 0, &["fresh environments", "model:", "KNOWN"]);
    assert!(!ran.text().contains("FINE"), "{}", ran.text());
    let predicted = flakeproof(&project, &["predict", "--output-format", "json"]);
    let json: Value = serde_json::from_slice(&predicted.output.stdout).expect("is JSON");
    let test = &json["tests"][0];
    assert!(test["known"].is_string() && test["flaky"] == false, "{test}");
}

#[test]
fn a_test_that_ran_elsewhere_is_explained_by_its_record() {
    let failed =
        "<testcase classname=\"shop.Cart\" name=\"adds\"><failure message=\"lost\"/></testcase>";
    let project = empty().file("a.xml", &format!("<testsuite>{failed}</testsuite>"));
    assert_eq!(flakeproof(&project, &["ingest", "a.xml"]).code(), Some(0));
    assert_says(&flakeproof(&project, &["explain", "adds"]), 0, &["shop.Cart", "in 1 run: lost"]);
}
