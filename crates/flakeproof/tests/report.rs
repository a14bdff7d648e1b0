//! `flakeproof report` and `flakeproof list`: what is flaky now, from the history of real runs.

use std::path::Path;

use flakeproof_testkit::Project;
use serde_json::Value;

/// A test that fails at every other run, one that always fails, and one that passes.
const TESTS: &str = "
import pathlib

def test_every_other():
    mark = pathlib.Path(__file__).with_name('ran')
    if mark.exists():
        mark.unlink()
        return
    mark.touch()
    assert False, 'every other time'

def test_broken():
    assert 1 == 2, 'always'

def test_sound():
    pass
";

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("pytest.ini", "[pytest]\n")
        .file("test_a.py", TESTS)
}

/// Three runs without reruns, so that only the history knows.
fn with_three_runs() -> Project {
    let project = project();
    for _ in 0..3 {
        let _ = project.run(&["--dependencies", "off"], &[]);
    }
    project
}

fn flakeproof(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let output = project.flakeproof(words).output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn json(project: &Project) -> Value {
    let output =
        project.flakeproof(&["report", "--json", "-"]).output().expect("the program starts");
    serde_json::from_slice(&output.stdout).expect("is JSON")
}

fn standing(report: &Value, test: &str) -> String {
    let tests = report["tests"].as_array().expect("has tests");
    let is_meant = |it: &&Value| it["id"].as_str().is_some_and(|id| id.ends_with(test));
    let found = tests.iter().find(is_meant).map(|it| it["standing"].clone());
    found.as_ref().and_then(Value::as_str).unwrap_or("none").to_owned()
}

#[test]
fn flaky_broken_and_steady_are_told_apart() {
    let report = json(&with_three_runs());
    assert_eq!(standing(&report, "test_every_other"), "flaky", "{report:#}");
    assert_eq!(standing(&report, "test_broken"), "broken", "{report:#}");
    assert_eq!(standing(&report, "test_sound"), "steady", "{report:#}");
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_page_is_written_beside_the_history_unless_a_place_is_named() {
    let project = with_three_runs();
    let (code, text) = flakeproof(&project, &["report"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("report.html") && text.contains("1 flaky, 1 broken"), "{text}");
    let page = std::fs::read_to_string(project.path().join(".flakeproof/report.html"));
    let page = page.expect("is there");
    assert!(page.starts_with("<!doctype html>") && page.contains("test_every_other"));
    let (code, _) = flakeproof(&project, &["report", "--html", "out/page.html"]);
    assert_eq!(code, Some(0));
    assert!(project.path().join("out/page.html").is_file());
}

#[test]
fn comments_for_pull_and_merge_requests_come_from_the_same_data() {
    let project = with_three_runs();
    for form in ["--markdown", "--gitlab-note", "--gitlab-quality"] {
        let (code, text) = flakeproof(&project, &["report", form, "-"]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("test_every_other"), "{form}: {text}");
    }
}

#[test]
fn a_job_of_github_gets_a_summary() {
    let project = with_three_runs();
    let summary = project.path().join("summary.md");
    let ended = project
        .flakeproof(&["report", "--json", "-"])
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output()
        .expect("the program starts");
    assert!(ended.status.success());
    assert!(std::fs::read_to_string(summary).expect("is there").contains("test_every_other"));
}

#[test]
fn without_a_history_it_says_how_to_get_one() {
    let (code, text) = flakeproof(&project(), &["report"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("flakeproof run --") && text.contains("flakeproof ingest"), "{text}");
    assert!(!Path::new(".flakeproof").exists());
}

#[test]
fn a_list_has_what_runs_have_shown_and_says_what_else_there_is() {
    let (code, text) = flakeproof(&with_three_runs(), &["list"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 flaky test known, 1 broken"), "{text}");
    assert!(text.contains("fails since") && text.contains("test_broken"), "{text}");
}

/// The row of a test in the report.
fn row(project: &Project, test: &str) -> Value {
    let report = json(project);
    let is_meant = |it: &&Value| it["id"].as_str().is_some_and(|id| id.ends_with(test));
    report["tests"].as_array().and_then(|all| all.iter().find(is_meant)).cloned().expect("is there")
}

#[test]
fn a_test_that_a_run_called_real_is_broken_until_it_passes_and_mended_since() {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("pytest.ini", "[pytest]\n")
        .file("shop.py", "PRICE = 12\n")
        .file("test_shop.py", "import shop\n\ndef test_price():\n    assert shop.PRICE == 12\n");
    project.commit();
    let ran = project.run(&[], &[]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    project.write("shop.py", "PRICE = 13\n");
    let broken = project.commit();
    let ran = project.run(&[], &[]);
    assert_eq!(ran.verdict("test_price"), "real", "{}", ran.text());
    let since = format!("fails since {}, 1 of 1 run", &broken[..10]);
    let listed = flakeproof(&project, &["list"]).1;
    assert!(listed.contains("broken") && listed.contains(&since), "{listed}");
    let explained = flakeproof(&project, &["explain", "test_price"]).1;
    assert!(explained.contains("BROKEN") && explained.contains(&since), "{explained}");
    let written = flakeproof(&project, &["report"]).1;
    assert!(written.contains("0 flaky, 1 broken"), "{written}");
    let page = std::fs::read_to_string(project.path().join(".flakeproof/report.html"));
    assert!(page.expect("is there").contains(&since));
    assert_eq!(row(&project, "test_price")["standing"], "broken");

    project.write("shop.py", "PRICE = 12\n\nCURRENCY = 'EUR'\n");
    let mended = project.commit();
    for _ in 0..10 {
        assert_eq!(project.run(&[], &[]).code(), Some(0));
    }
    let since = format!("mended since {}, passed 10 of 10 runs", &mended[..10]);
    let listed = flakeproof(&project, &["list"]).1;
    assert!(listed.contains(&since) && !listed.contains("broken"), "{listed}");
    let explained = flakeproof(&project, &["explain", "test_price"]).1;
    assert!(explained.contains("MENDED") && explained.contains(&since), "{explained}");
    let row = row(&project, "test_price");
    assert_eq!((&row["standing"], &row["since"]["runs"]), (&"mended".into(), &10.into()));
    let written = flakeproof(&project, &["report"]).1;
    assert!(written.contains("0 flaky, 0 broken"), "{written}");
}

/// Read a run of one test from a report of CI.
fn ingest(project: &Project, number: usize, revision: &str, has_failed: bool) {
    let failure = if has_failed { "<failure message=\"late\">late</failure>" } else { "" };
    let report = format!(
        "<testsuite name=\"s\" tests=\"1\"><testcase classname=\"tests.test_pay\" \
         name=\"test_total\" time=\"7{number}\">{failure}</testcase></testsuite>"
    );
    let file = format!("report-{number}.xml");
    project.write(&file, &report);
    let started = format!("2026-11-{:02}T10:00:00Z", number + 1);
    let words = ["ingest", "--revision", revision, "--started", &started, &file];
    let (code, text) = flakeproof(project, &words);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn every_command_and_every_form_of_the_report_has_the_same_rate_and_cost() {
    let project = project();
    let (good, bad, newer) = ("a".repeat(40), "b".repeat(40), "c".repeat(40));
    let runs = [".F......", "FFF", ".."].into_iter().zip([&good, &bad, &newer]);
    let runs = runs.flat_map(|(marks, revision)| marks.chars().map(move |mark| (mark, revision)));
    for (number, (mark, revision)) in runs.enumerate() {
        ingest(&project, number, revision, mark == 'F');
    }
    let listed = flakeproof(&project, &["list"]).1;
    let (_, rate) = listed.split_once("failed 1 of 10 (").unwrap_or_else(|| panic!("{listed}"));
    let (interval, _) = rate.split_once(')').expect("the interval ends");
    assert!(listed.contains("  1 min burnt"), "{listed}");
    let explained = flakeproof(&project, &["explain", "test_total"]).1;
    let repeats = "2 more failures repeat one on the same code";
    assert!(explained.contains(interval) && explained.contains(repeats), "{explained}");
    for form in ["--markdown", "--gitlab-note", "--gitlab-quality", "--html"] {
        let (_, text) = flakeproof(&project, &["report", form, "-"]);
        assert!(text.contains(interval) || form == "--gitlab-quality", "{form}: {text}");
        assert!(text.contains("1 min") || form == "--gitlab-quality", "{form}");
    }
    let output = project.flakeproof(&["list", "--output-format", "json"]).output();
    let listed: Value =
        serde_json::from_slice(&output.expect("the program starts").stdout).expect("is JSON");
    let (listed, reported) = (listed["tests"][0].clone(), row(&project, "test_total"));
    for end in ["low", "mean", "high"] {
        let [one, other] =
            [&listed, &reported].map(|it| it["rate"][end].as_f64().expect("is there"));
        assert!((one - other).abs() < 1e-6, "{end}: {one} {other}");
    }
    assert_eq!(listed["runs"], reported["proven_runs"]);
}
