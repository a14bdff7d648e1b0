//! A small overview, with ids that nobody would wish for.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{Mark, Outcome, Overview, PastRun, Scores, TestTimeline, Timeline};

/// A test that is flaky.
pub(crate) const FLAKY: &str = "tests/test_pay.py::test_total[a/b]";

/// Ids that try to be something else.
pub(crate) const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "../../../../etc/passwd",
    "/etc/passwd",
    "quote\"'&amp;",
    "line\r\nSet-Cookie: stolen=1",
    "nul\0and\u{202e}right-to-left",
    "%2e%2e%2f?#&=+",
];

/// An overview in which one test is flaky, and as many more are steady.
pub(crate) fn overview(steady: usize) -> Overview {
    let runs: Vec<PastRun> = (0..4_u32).map(run).collect();
    let fast = Duration::from_millis(5);
    let test = |id: &str, outcomes: [Outcome; 4]| TestTimeline {
        test: id.into(),
        marks: (0..).zip(outcomes).map(|(run, outcome)| Mark::first(run, outcome, fast)).collect(),
    };
    let pass = [Outcome::Passed; 4];
    let (good, bad) = (Outcome::Passed, Outcome::Failed);
    let mut tests = vec![test(FLAKY, [good, bad, good, good])];
    tests.extend(HOSTILE.iter().map(|id| test(id, pass)));
    tests.push(test(&"long".repeat(2500), pass));
    tests.extend((0..steady).map(|number| test(&format!("steady::{number:05}"), pass)));
    let timeline = Timeline { runs, tests, others: Vec::new() };
    Overview {
        project: "shop".into(),
        made: "2026-11-16T00:00:00Z".into(),
        version: "0.1.0".into(),
        scores: Scores::from_timeline(&timeline),
        timeline,
        owners: BTreeMap::new(),
        formerly: BTreeMap::new(),
        clusters: Vec::new(),
        details: BTreeMap::new(),
        hunt: None,
        notices: Vec::new(),
    }
}

fn run(number: u32) -> PastRun {
    PastRun {
        id: format!("run-{number}"),
        started: format!("2026-11-1{number}T00:00:00Z"),
        duration: Duration::from_secs(60),
        revision: Some("abc".into()),
        code: Some(1),
        ..PastRun::default()
    }
}
