//! What every history promises about causes.

use flakeproof_core::{
    Cause, CauseAnswer, CauseProgress, CauseRecord, History, LeverName, NotTried, RunPair,
    RunPairs, Tally, TriedLever,
};
use flakeproof_store::{MemoryHistory, SqliteHistory};

use super::{object_history, postgres_history};

contract! {
    an_answer_comes_back_as_it_was
    the_latest_answer_about_a_test_counts
    an_open_experiment_is_no_answer_and_is_found_again
    a_finished_experiment_is_not_taken_up
    an_experiment_kept_again_takes_the_place_of_the_first
}

fn an_answer_comes_back_as_it_was(history: &mut dyn History) {
    assert_eq!(history.causes(), Ok(Vec::new()));
    history.keep_cause(&finished("1", CauseAnswer::CausedBy)).expect("keeps");
    assert_eq!(history.causes(), Ok(vec![finished("1", CauseAnswer::CausedBy)]));
}

fn the_latest_answer_about_a_test_counts(history: &mut dyn History) {
    history.keep_cause(&finished("1", CauseAnswer::CausedBy)).expect("keeps");
    history.keep_cause(&finished("2", CauseAnswer::None)).expect("keeps");
    assert_eq!(history.causes(), Ok(vec![finished("2", CauseAnswer::None)]));
}

fn an_open_experiment_is_no_answer_and_is_found_again(history: &mut dyn History) {
    history.keep_cause(&open("1")).expect("keeps");
    assert_eq!(history.causes(), Ok(Vec::new()));
    let command = open("1").command;
    assert_eq!(history.unfinished_cause(&"a".into(), &command), Ok(Some(open("1"))));
    assert_eq!(history.unfinished_cause(&"b".into(), &command), Ok(None));
    assert_eq!(history.unfinished_cause(&"a".into(), &["jest".into()]), Ok(None));
}

fn a_finished_experiment_is_not_taken_up(history: &mut dyn History) {
    history.keep_cause(&open("1")).expect("keeps");
    history.keep_cause(&finished("2", CauseAnswer::None)).expect("keeps");
    assert_eq!(history.unfinished_cause(&"a".into(), &open("1").command), Ok(None));
}

fn an_experiment_kept_again_takes_the_place_of_the_first(history: &mut dyn History) {
    history.keep_cause(&open("1")).expect("keeps");
    history.keep_cause(&finished("1", CauseAnswer::RaisedBy)).expect("keeps");
    assert_eq!(history.causes(), Ok(vec![finished("1", CauseAnswer::RaisedBy)]));
    assert_eq!(history.unfinished_cause(&"a".into(), &open("1").command), Ok(None));
}

fn open(id: &str) -> CauseRecord {
    let pairs = RunPairs { pairs: vec![RunPair { plain: None, with: None }] };
    CauseRecord {
        id: id.into(),
        started: "2026-11-15T02:53:00Z".into(),
        command: vec!["pytest".into(), "-q".into()],
        seed: u64::MAX.to_string(),
        test: "a".into(),
        found: None,
        progress: CauseProgress {
            plain: Tally { runs: 3, failures: 1 },
            known: Vec::new(),
            tried: vec![(LeverName::HashSeed, "0".into(), pairs)],
        },
    }
}

fn finished(id: &str, answer: CauseAnswer) -> CauseRecord {
    let lever = TriedLever {
        name: LeverName::Zone,
        value: "Asia/Kolkata".into(),
        answer: Some(answer),
        plain: Tally { runs: 9, failures: 0 },
        with: Tally { runs: 9, failures: 9 },
        beside: None,
        remark: None,
    };
    let cause = Cause {
        test: "a".into(),
        answer,
        plain: Tally { runs: 20, failures: 0 },
        levers: vec![lever],
        not_tried: vec![NotTried { name: LeverName::Clock, why: "no library".into() }],
        category: Some("time".into()),
        command: Some("TZ=Asia/Kolkata pytest a".into()),
        failure: None,
    };
    CauseRecord { found: Some(cause), ..open(id) }
}
