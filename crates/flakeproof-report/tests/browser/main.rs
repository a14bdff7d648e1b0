//! The page in a real browser: what people do with it works, and nothing leaves it.
//!
//! Each test writes a page and has `check.mjs` look at it in headless Chromium. Where there is no
//! Chromium or no Node, the tests are skipped by name. The pictures of the guide are made anew with
//! `UPDATE_SCREENSHOTS=1 cargo test -p flakeproof-report --test browser`.

#[path = "../../src/sample/overview.rs"]
mod overview;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use flakeproof_core::{Overview, Scores, Timeline};
use flakeproof_report::page;
use flakeproof_testkit::{node, skipped};

/// One browser at a time: two on a small machine would only wait for each other.
static BROWSER: Mutex<()> = Mutex::new(());

#[test]
fn every_column_sorts_both_ways() {
    check("sorts", &small());
}

#[test]
fn filters_narrow_the_table_and_live_in_the_address() {
    check("filters", &overview::large_overview(300, 60));
}

#[test]
fn a_test_opens_from_its_row_and_from_its_address() {
    check("opens", &small());
}

#[test]
fn three_failures_come_first_and_steady_tests_are_folded() {
    check("first", &small());
}

#[test]
fn the_marks_of_a_test_fill_the_days_below_them() {
    check("axis", &small());
}

#[test]
fn the_keyboard_is_enough() {
    check("keyboard", &overview::large_overview(300, 60));
}

#[test]
fn the_theme_follows_the_system_until_it_is_chosen() {
    check("theme", &small());
}

#[test]
fn ten_thousand_tests_stay_fluid() {
    check("large", &overview::large_overview(10_000, 500));
}

#[test]
fn a_phone_shows_everything_without_scrolling_sideways() {
    check("phone", &small());
}

#[test]
fn no_serious_barrier_is_found_by_axe() {
    check("barriers", &small());
}

#[test]
fn a_hostile_name_is_shown_and_not_run() {
    check("hostile", &hostile());
}

#[test]
fn without_a_script_and_on_paper_the_flaky_tests_are_there() {
    check("plain", &small());
}

#[test]
fn nothing_known_says_what_to_do_next() {
    check("empty", &empty());
}

#[test]
fn the_pictures_of_the_guide_can_be_made() {
    check("screenshots", &overview::large_overview(420, 90));
}

fn small() -> Overview {
    let overview = overview::overview();
    let [broken, alike] = overview::BROKEN;
    for id in [overview::WORST, overview::ONLY_HUNTED, overview::ONLY_PREDICTED, broken, alike] {
        assert!(overview.details.contains_key(id));
    }
    overview
}

fn empty() -> Overview {
    Overview {
        timeline: Timeline::default(),
        scores: Scores::default(),
        details: std::collections::BTreeMap::new(),
        hunt: None,
        notices: Vec::new(),
        ..overview::overview()
    }
}

/// Names that try to be markup, to turn the direction of text, and to be very long.
fn hostile() -> Overview {
    let mut overview = overview::overview();
    let names = [
        "t.py::</script><script>alert('id')</script>".to_owned(),
        "t.py::\"><img src=x onerror=alert(1)>".to_owned(),
        "t.py::test_\u{202e}gnp.exe".to_owned(),
        format!("t.py::{}", "long".repeat(2_500)),
        "%&#test=x".to_owned(),
    ];
    overview.project = names[0].clone();
    let detail = overview.details[overview::WORST].clone();
    for (test, name) in overview.timeline.tests.iter_mut().zip(&names) {
        test.test = name.as_str().into();
        let mut detail = detail.clone();
        detail.failures[0].message.clone_from(&names[1]);
        detail.reproduce = Some(names[0].clone());
        overview.details.insert(test.test.clone(), detail);
    }
    for run in &mut overview.timeline.runs {
        run.job = Some(names[1].clone());
        run.branch = Some(names[2].clone());
    }
    overview.scores = Scores::from_timeline(&overview.timeline);
    overview
}

/// Write the page and look at it in the browser; skip by name where there is none.
fn check(scenario: &str, overview: &Overview) {
    let tools = match tools() {
        Ok(tools) => tools,
        Err(why) => return skipped::note(&format!("the page in a browser: {scenario}"), &why),
    };
    let _one_at_a_time = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("report.html");
    let page = page(overview).expect("every overview is a page");
    std::fs::write(&file, page).expect("the folder can be written");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("node");
    command.arg(here.join("tests/browser/check.mjs")).args([scenario.into(), file]);
    command.args([tools.modules, tools.chromium, pictures(folder.path())]);
    let output = command.output().expect("node is there");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Where pictures go: into the book if that is asked for.
fn pictures(folder: &Path) -> PathBuf {
    let is_asked_for = std::env::var_os("UPDATE_SCREENSHOTS").is_some_and(|value| value == "1");
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/images");
    if is_asked_for { book } else { folder.to_owned() }
}

struct Tools {
    modules: PathBuf,
    chromium: PathBuf,
}

fn tools() -> Result<Tools, String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let chromium = names.into_iter().find_map(on_path).ok_or("there is no Chromium")?;
    on_path("node").ok_or("there is no Node")?;
    let modules = node::modules(&["playwright-core@1.65.0", "axe-core@4.14.0"])?;
    Ok(Tools { modules, chromium })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
