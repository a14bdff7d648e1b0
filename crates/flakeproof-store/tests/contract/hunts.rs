//! What every history promises about hunts.

use std::time::Duration;

use flakeproof_core::{
    ExitCode, Failure, FlakyKind, History, HistoryError, HuntCost, HuntEnd, HuntFindings,
    HuntRecord, HuntedTest, Isolation, Outcome, Phase, Reproduction, Signature, Tally,
    TrialFailure, TrialRecord,
};
use flakeproof_store::{MemoryHistory, SqliteHistory};

use super::{object_history, postgres_history};

contract! {
    a_trial_comes_back_as_it_was
    a_trial_is_known_by_its_whole_key
    a_trial_recorded_again_takes_the_place_of_the_first
    a_trial_belongs_to_its_hunt
    a_hunt_that_is_taken_up_again_has_its_trials
    the_latest_unfinished_hunt_of_a_command_is_found
    a_finished_hunt_is_not_taken_up
    an_interrupted_hunt_is
    without_an_open_hunt_nothing_is_kept
    what_a_hunt_found_comes_back_as_it_was
    a_later_hunt_decides_about_the_tests_it_looked_at
    an_unfinished_hunt_takes_nothing_back
    findings_take_the_place_of_earlier_ones_of_the_same_hunt
    a_run_and_a_hunt_do_not_disturb_each_other
}

fn a_trial_comes_back_as_it_was(history: &mut dyn History) {
    history.begin_hunt(&hunt("1")).expect("begins");
    history.record_trial("alone/a", &trial()).expect("records");
    assert_eq!(history.trial("alone/a"), Ok(Some(trial())));
}

fn a_trial_is_known_by_its_whole_key(history: &mut dyn History) {
    history.begin_hunt(&hunt("1")).expect("begins");
    history.record_trial("pair/'a' \u{0} é", &trial()).expect("records");
    assert_eq!(history.trial("pair/'a' \u{0} é"), Ok(Some(trial())));
    for other in ["pair/'a'", "PAIR/'a' \u{0} é", "", "pair/%"] {
        assert_eq!(history.trial(other), Ok(None), "{other}");
    }
}

fn a_trial_recorded_again_takes_the_place_of_the_first(history: &mut dyn History) {
    history.begin_hunt(&hunt("1")).expect("begins");
    history.record_trial("a", &trial()).expect("records");
    let other = TrialRecord { executions: 99, ..trial() };
    history.record_trial("a", &other).expect("records");
    assert_eq!(history.trial("a"), Ok(Some(other)));
}

fn a_trial_belongs_to_its_hunt(history: &mut dyn History) {
    history.begin_hunt(&hunt("1")).expect("begins");
    history.record_trial("a", &trial()).expect("records");
    history.begin_hunt(&hunt("2")).expect("begins");
    assert_eq!(history.trial("a"), Ok(None));
}

fn a_hunt_that_is_taken_up_again_has_its_trials(history: &mut dyn History) {
    history.begin_hunt(&hunt("1")).expect("begins");
    history.record_trial("a", &trial()).expect("records");
    history.begin_hunt(&hunt("2")).expect("begins");
    history.begin_hunt(&hunt("1")).expect("is taken up");
    assert_eq!(history.trial("a"), Ok(Some(trial())));
}

fn the_latest_unfinished_hunt_of_a_command_is_found(history: &mut dyn History) {
    let of = |id: &str, command: &str| HuntRecord { command: words(command), ..hunt(id) };
    for (id, command) in [("z", "pytest"), ("a", "pytest"), ("b", "pytest -q")] {
        history.begin_hunt(&of(id, command)).expect("begins");
    }
    assert_eq!(history.unfinished_hunt(&words("pytest")), Ok(Some(of("a", "pytest"))));
    assert_eq!(history.unfinished_hunt(&words("pytest -q")), Ok(Some(of("b", "pytest -q"))));
    assert_eq!(history.unfinished_hunt(&words("pytest -x")), Ok(None));
}

fn a_finished_hunt_is_not_taken_up(history: &mut dyn History) {
    complete(history, "1", vec![]);
    assert_eq!(history.unfinished_hunt(&hunt("1").command), Ok(None));
    let kept = history.record_trial("a", &trial());
    assert!(matches!(kept, Err(HistoryError::Unwritable { .. })), "{kept:?}");
}

fn an_interrupted_hunt_is(history: &mut dyn History) {
    for end in [HuntEnd::Interrupted, HuntEnd::BudgetSpent] {
        history.begin_hunt(&hunt("1")).expect("begins");
        history.finish_hunt(&findings(vec![], end)).expect("is kept");
        assert_eq!(history.unfinished_hunt(&hunt("1").command), Ok(Some(hunt("1"))));
    }
}

fn without_an_open_hunt_nothing_is_kept(history: &mut dyn History) {
    let kept = history.record_trial("a", &trial());
    assert!(matches!(kept, Err(HistoryError::Unwritable { .. })), "{kept:?}");
    let kept = history.finish_hunt(&findings(vec![], HuntEnd::Finished));
    assert!(matches!(kept, Err(HistoryError::Unwritable { .. })), "{kept:?}");
    assert_eq!(history.trial("a"), Ok(None));
    assert_eq!(history.known_flaky(), Ok(vec![]));
}

fn what_a_hunt_found_comes_back_as_it_was(history: &mut dyn History) {
    let flaky = [FlakyKind::Victim, FlakyKind::Nod, FlakyKind::Brittle]
        .map(|kind| found(&format!("test_{kind}"), Some(kind)));
    let mut tests = flaky.to_vec();
    tests.push(found("test_sound", None));
    complete(history, "1", tests);
    let known = history.known_flaky().expect("is read");
    assert!(known.iter().all(|it| it.hunt == hunt("1")));
    let kept: Vec<_> = known.into_iter().map(|it| it.test).collect();
    let [victim, nod, brittle] = flaky;
    assert_eq!(kept, [nod, brittle, victim], "by id");
}

fn a_later_hunt_decides_about_the_tests_it_looked_at(history: &mut dyn History) {
    let both = ["test_a", "test_b", "test_c"].map(|id| found(id, Some(FlakyKind::Nod)));
    complete(history, "1", both.to_vec());
    let not_run = HuntedTest::new("test_c".into(), None);
    let victim = found("test_b", Some(FlakyKind::Victim));
    complete(history, "2", vec![found("test_a", None), victim, not_run]);
    assert_eq!(known(history), [("2", "test_b", "victim"), ("1", "test_c", "NOD")].map(owned));
}

fn an_unfinished_hunt_takes_nothing_back(history: &mut dyn History) {
    let both = ["test_a", "test_b"].map(|id| found(id, Some(FlakyKind::Nod)));
    complete(history, "1", both.to_vec());
    history.begin_hunt(&hunt("2")).expect("begins");
    let so_far = vec![found("test_a", None), found("test_b", Some(FlakyKind::Victim))];
    history.finish_hunt(&findings(so_far, HuntEnd::Interrupted)).expect("is kept");
    assert_eq!(known(history), [("1", "test_a", "NOD"), ("2", "test_b", "victim")].map(owned));
}

fn findings_take_the_place_of_earlier_ones_of_the_same_hunt(history: &mut dyn History) {
    history.begin_hunt(&hunt("1")).expect("begins");
    let early = vec![found("test_a", Some(FlakyKind::Nod))];
    history.finish_hunt(&findings(early, HuntEnd::BudgetSpent)).expect("is kept");
    let late = vec![found("test_a", Some(FlakyKind::Victim))];
    history.finish_hunt(&findings(late, HuntEnd::Finished)).expect("is kept");
    assert_eq!(known(history), [("1", "test_a", "victim")].map(owned));
}

fn a_run_and_a_hunt_do_not_disturb_each_other(history: &mut dyn History) {
    history.begin(&super::run("1")).expect("begins");
    history.begin_hunt(&hunt("1")).expect("begins");
    history.record_trial("a", &trial()).expect("records");
    history.record(&[super::first("test_a", Outcome::Passed)]).expect("records");
    history.finish(&super::findings()).expect("finishes");
    assert_eq!(history.trial("a"), Ok(Some(trial())));
}

fn complete(history: &mut dyn History, id: &str, tests: Vec<HuntedTest>) {
    history.begin_hunt(&hunt(id)).expect("begins");
    history.finish_hunt(&findings(tests, HuntEnd::Finished)).expect("finishes");
}

/// The hunt, the test and the kind of every test that is known to be flaky.
fn known(history: &dyn History) -> Vec<(String, String, String)> {
    let known = history.known_flaky().expect("is read");
    let brief = |it: &flakeproof_core::KnownFlaky| {
        let kind = it.test.kind.map(FlakyKind::word).unwrap_or_default();
        owned((&it.hunt.id, it.test.id.as_str(), kind))
    };
    known.iter().map(brief).collect()
}

fn owned((hunt, test, kind): (&str, &str, &str)) -> (String, String, String) {
    (hunt.into(), test.into(), kind.into())
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

pub(crate) fn hunt(id: &str) -> HuntRecord {
    HuntRecord {
        id: id.into(),
        started: "2026-11-15T02:53:00Z".into(),
        command: vec!["pytest".into(), "-k".into(), "it's \"odd\"".into()],
        fingerprint: format!("digest of {id}"),
        seed: u64::MAX.to_string(),
        settings: "{\"runs\":10}".into(),
        version: "0.2.0".into(),
    }
}

fn trial() -> TrialRecord {
    let failure = TrialFailure { branch: 1, position: 0, failure: failure() };
    TrialRecord {
        outcomes: vec![vec![Some(Outcome::Passed), None], vec![Some(Outcome::Failed)], vec![]],
        failures: vec![failure],
        executions: 3,
        duration: Duration::from_micros(1_234_567),
    }
}

fn failure() -> Failure {
    Failure {
        phase: Phase::Call,
        message: "KeyError: 'a'".into(),
        text: "Traceback".into(),
        location: None,
        signature: Signature::compute("KeyError: 'a'", None),
    }
}

pub(crate) fn found(id: &str, kind: Option<FlakyKind>) -> HuntedTest {
    let mut test = HuntedTest::new(id.into(), None);
    test.baseline = Tally { runs: 10, failures: 0 };
    test.kind = kind;
    if kind.is_some() {
        test.shuffled = Tally { runs: 20, failures: 3 };
        test.polluters = vec![vec!["test_p".into()], vec!["test_q".into(), "test_r".into()]];
        test.failure = Some(failure());
        test.reproduction = Some(Reproduction {
            order: vec!["test_p".into(), id.into()],
            isolation: Isolation::Spawn,
            command: format!("pytest test_p {id}"),
        });
    }
    test
}

pub(crate) fn findings(tests: Vec<HuntedTest>, end: HuntEnd) -> HuntFindings {
    HuntFindings {
        run: super::findings().run,
        tests,
        cost: HuntCost { executions: 1000, time: Duration::from_secs(61), ..HuntCost::default() },
        end,
        latent: Vec::new(),
        hidden: None,
        notices: vec![],
        exit: ExitCode::Failures,
    }
}
