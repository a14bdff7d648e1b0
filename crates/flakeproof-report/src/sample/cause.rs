//! A cause with one of everything.

use std::time::Duration;

use flakeproof_core::{
    Cause, CauseAnswer, CauseEnd, CauseFindings, ExitCode, Failure, LeverName, Location, NotTried,
    Notice, Phase, RunFacts, Seed, Signature, Tally, TriedLever,
};

/// A test that fails in one time zone.
pub(crate) fn cause() -> CauseFindings {
    let lever = |name, value: &str, answer, failures| TriedLever {
        name,
        value: value.into(),
        answer,
        plain: Tally { runs: 9, failures: 0 },
        with: Tally { runs: 9, failures },
        beside: None,
        remark: None,
    };
    let message = "AssertionError: assert 18 == 17";
    let location = Some(Location { file: "tests/test_day.py".into(), line: Some(12) });
    CauseFindings {
        run: RunFacts {
            id: "20261118-031500-abcdef".into(),
            command: vec!["pytest".into()],
            runner: "pytest 8.3.5, Python 3.11.7".into(),
            started: "2026-11-18T03:15:00Z".into(),
            duration: Duration::from_secs(74),
            seed: Seed(7),
            revision: None,
            version: "0.1.0".into(),
        },
        cause: Cause {
            test: "tests/test_day.py::test_today".into(),
            answer: CauseAnswer::CausedBy,
            plain: Tally { runs: 21, failures: 0 },
            levers: vec![
                lever(LeverName::Zone, "Asia/Kolkata", Some(CauseAnswer::CausedBy), 9),
                TriedLever {
                    remark: Some("failed 3 times in another way".into()),
                    ..lever(LeverName::Locale, "C in ASCII", None, 0)
                },
            ],
            not_tried: vec![NotTried {
                name: LeverName::Clock,
                why: "libfaketime is not installed here".into(),
            }],
            category: Some("time".into()),
            command: Some("TZ=Asia/Kolkata pytest tests/test_day.py::test_today".into()),
            failure: Some(Failure {
                phase: Phase::Call,
                message: message.into(),
                text: format!("    assert today == 17\nE   {message}"),
                signature: Signature::compute(message, location.as_ref()),
                location,
            }),
        },
        executions: 61,
        end: CauseEnd::Decided,
        notices: vec![Notice { what: "the history is read-only".into(), next: "nothing".into() }],
        exit: ExitCode::Failures,
    }
}
