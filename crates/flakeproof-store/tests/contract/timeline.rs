//! What every history promises about the timeline of its runs.

use std::time::Duration;

use flakeproof_core::{
    Again, Attempt, Findings, History, Mark, Origin, Outcome, RunRecord, Scores, Stage, Standing,
    Timeline, TreeState, Verdict,
};
use flakeproof_store::{MemoryHistory, SqliteHistory};

use super::{object_history, postgres_history};

use super::{findings, first, flaky, on_code, run};

contract! {
    a_mark_tells_the_first_attempt_the_reruns_and_the_verdict
    a_run_from_reports_has_its_job_and_its_duration
    a_run_from_reports_is_nothing_to_compare_a_change_with
    passes_of_reports_are_as_good_as_any_for_scores
    runs_of_the_same_code_share_its_number
    code_that_is_not_wholly_known_has_no_number
    a_run_that_was_never_finished_is_in_the_timeline
    a_run_is_found_by_its_id
    what_is_said_in_brief_is_what_the_whole_comes_to
    an_outage_that_goes_on_is_said_in_brief_too
}

fn a_mark_tells_the_first_attempt_the_reruns_and_the_verdict(history: &mut dyn History) {
    history.begin(&run("1")).expect("begins");
    let failed = first("test_a", Outcome::Failed);
    let attempts = [failed, again("test_a", Outcome::Failed), again("test_a", Outcome::Passed)];
    history.record(&attempts).expect("records");
    let found = Findings { tests: vec![flaky("test_a")], ..findings() };
    history.finish(&found).expect("finishes");
    let mark = Mark {
        run: 0,
        outcome: Outcome::Failed,
        again: Again::Passed,
        verdict: Some(Verdict::Flaky),
        milliseconds: 3,
        again_milliseconds: 6,
    };
    assert_eq!(marks(history, "test_a"), [mark]);
    assert_eq!(timeline(history).runs[0].duration, Duration::from_millis(61_500));
}

fn a_run_from_reports_has_its_job_and_its_duration(history: &mut dyn History) {
    read_reports(history, "1", &[first("test_a", Outcome::Passed)]);
    let past = timeline(history).runs.remove(0);
    assert_eq!(past.job.as_deref(), Some("test-linux"));
    assert_eq!(past.duration, Duration::from_secs(90));
}

fn a_run_from_reports_is_nothing_to_compare_a_change_with(history: &mut dyn History) {
    read_reports(history, "1", &[first("test_a", Outcome::Passed)]);
    assert_eq!(history.last_pass(&"test_a".into()), Ok(None));
}

fn passes_of_reports_are_as_good_as_any_for_scores(history: &mut dyn History) {
    read_reports(history, "1", &[first("test_a", Outcome::Passed)]);
    read_reports_of(history, &RunRecord { id: "2".into(), ..reported("1") }, Outcome::Failed);
    let scores = Scores::from_timeline(&timeline(history));
    assert_eq!(scores.tests[0].standing, Standing::Flaky);
    assert_eq!(scores.executions, 2);
}

fn runs_of_the_same_code_share_its_number(history: &mut dyn History) {
    for (code, id) in [("one", "1"), ("two", "2"), ("one", "3")] {
        history.begin(&on_code(code, id)).expect("begins");
        history.finish(&findings()).expect("finishes");
    }
    let codes: Vec<Option<u32>> = timeline(history).runs.iter().map(|run| run.code).collect();
    assert!(codes[0].is_some() && codes[0] == codes[2] && codes[0] != codes[1], "{codes:?}");
}

fn code_that_is_not_wholly_known_has_no_number(history: &mut dyn History) {
    let tree = TreeState { is_complete: false, ..run("1").tree };
    history.begin(&RunRecord { tree, ..run("1") }).expect("begins");
    assert_eq!(timeline(history).runs[0].code, None);
}

fn a_run_that_was_never_finished_is_in_the_timeline(history: &mut dyn History) {
    let now = "2999-01-01T00:00:00Z".to_owned();
    history.begin(&RunRecord { started: now, ..run("1") }).expect("begins");
    history.record(&[first("test_a", Outcome::Passed)]).expect("records");
    assert_eq!(marks(history, "test_a").len(), 1);
    // Whoever looked in between hides nothing that comes later.
    history.record(&[first("test_b", Outcome::Failed)]).expect("records");
    assert_eq!(marks(history, "test_b").len(), 1);
}

fn a_run_is_found_by_its_id(history: &mut dyn History) {
    assert_eq!(history.has_run("1"), Ok(false));
    history.begin(&run("1")).expect("begins");
    assert_eq!(history.has_run("1"), Ok(true));
    assert_eq!(history.has_run("2"), Ok(false));
}

fn what_is_said_in_brief_is_what_the_whole_comes_to(history: &mut dyn History) {
    // Some pass and some are skipped; one fails once, one each time since, one is known for something else; one
    // goes and one comes in its place.
    let outcome = |test: &str, run: u32| match (test, run) {
        ("test_fails", 2) | ("test_broken", 3..) => Some(Outcome::Failed),
        ("test_skipped", _) => Some(Outcome::Skipped),
        ("test_gone", 3..) | ("test_new", ..3) => None,
        _ => Some(Outcome::Passed),
    };
    let plain = ["test_a", "test_b", "test_hunted", "test_skipped"];
    let tests = [&plain[..], &["test_fails", "test_broken", "test_gone", "test_new"]].concat();
    for number in 0..6 {
        let attempts: Vec<Attempt> =
            tests.iter().filter_map(|test| Some(first(test, outcome(test, number)?))).collect();
        history.begin(&on_code("same", &number.to_string())).expect("begins");
        history.record(&attempts).expect("records");
        history.finish(&findings()).expect("finishes");
    }
    let whole = Scores::from_timeline(&timeline(history));
    let brief = history.brief_timeline(&["test_hunted".into()]).expect("is read");
    let in_brief = Scores::from_timeline(&brief);
    assert_eq!(in_brief.executions, whole.executions);
    assert_eq!(in_brief.outages, whole.outages);
    assert_eq!(brief.runs, timeline(history).runs);
    for score in &in_brief.tests {
        assert_eq!(Some(score), whole.find(&score.test));
    }
    let there = |test: &str| in_brief.find(&test.into()).is_some();
    for test in ["test_fails", "test_broken", "test_gone", "test_new", "test_hunted"] {
        assert!(there(test), "{test} is left out");
    }
    let left_out = whole.tests.iter().filter(|score| !there(score.test.as_str()));
    assert!(left_out.clone().all(|score| score.standing == Standing::Steady));
}

fn an_outage_that_goes_on_is_said_in_brief_too(history: &mut dyn History) {
    for (number, outcome) in [(1, Outcome::Passed), (2, Outcome::Failed), (3, Outcome::Failed)] {
        let attempts: Vec<Attempt> =
            (0..12).map(|test| first(&format!("test_{test}"), outcome)).collect();
        history.begin(&on_code(&number.to_string(), &number.to_string())).expect("begins");
        history.record(&attempts).expect("records");
        history.finish(&findings()).expect("finishes");
    }
    let whole = Scores::from_timeline(&timeline(history));
    assert!(whole.tests.iter().all(|score| score.standing == Standing::Broken), "{whole:?}");
    let brief = history.brief_timeline(&[]).expect("is read");
    assert_eq!(Scores::from_timeline(&brief), whole);
}

fn again(test: &str, outcome: Outcome) -> Attempt {
    Attempt { stage: Stage::Fresh, ..first(test, outcome) }
}

fn reported(id: &str) -> RunRecord {
    RunRecord { origin: Origin::Reports { job: Some("test-linux".into()) }, ..run(id) }
}

fn read_reports(history: &mut dyn History, id: &str, attempts: &[Attempt]) {
    history.begin(&reported(id)).expect("begins");
    history.record(attempts).expect("records");
    history.close(Duration::from_secs(90)).expect("closes");
}

fn read_reports_of(history: &mut dyn History, run: &RunRecord, outcome: Outcome) {
    history.begin(run).expect("begins");
    history.record(&[first("test_a", outcome)]).expect("records");
    history.close(Duration::from_secs(90)).expect("closes");
}

fn timeline(history: &dyn History) -> Timeline {
    history.timeline().expect("is read")
}

fn marks(history: &dyn History, test: &str) -> Vec<Mark> {
    let tests = timeline(history).tests;
    tests.into_iter().find(|it| it.test.as_str() == test).map(|it| it.marks).unwrap_or_default()
}
