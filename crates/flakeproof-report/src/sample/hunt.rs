//! A small hunt with one test of each kind.

use std::time::Duration;

use flakeproof_core::{
    ExitCode, Failure, FlakyKind, Hidden, HuntCost, HuntEnd, HuntFindings, HuntedTest, Isolation,
    LeftBehind, LeftKind, Location, Notice, Phase, Reproduction, Signature, StageCost, Tally,
    TestId,
};

/// A hunt that found a victim, a brittle test and a `NOD` test, beside a test that always fails, one
/// that was not run, one that failed once and was not looked at again, and one that is sound.
pub(crate) fn hunt_findings() -> HuntFindings {
    HuntFindings {
        run: super::of(Vec::new()).run,
        tests: vec![
            tested("tests/test_cart.py::test_currency", (10, 0), (20, 0), (21, 0)),
            victim(),
            brittle(),
            nod(),
            failing(tested("tests/test_old.py::test_broken", (10, 10), (0, 0), (1, 1))),
            failing(tested("tests/test_old.py::test_late", (10, 0), (3, 1), (1, 0))),
            HuntedTest::new("tests/test_io.py::test_windows".into(), None),
        ],
        cost: HuntCost {
            executions: 1_234,
            time: Duration::from_millis(92_500),
            stages: vec![StageCost {
                stage: "each test alone".into(),
                trials: 2,
                executions: 34,
                time: Duration::from_millis(1_500),
            }],
        },
        end: HuntEnd::Finished,
        hidden: Some(Hidden { expected: 0.420_000_4, at_most: 2, failing: 0.05 }),
        notices: vec![Notice {
            what: "the history could not be written".into(),
            next: "name a place with `--store`".into(),
        }],
        exit: ExitCode::Failures,
    }
}

fn victim() -> HuntedTest {
    let id = "tests/test_pay.py::test_total";
    let mut test = failing(tested(id, (10, 0), (20, 3), (3, 0)));
    test.location = Some(Location { file: "tests/test_pay.py".into(), line: Some(12) });
    test.kind = Some(FlakyKind::Victim);
    test.polluters = vec![
        ids(&["tests/test_cart.py::test_currency"]),
        ids(&["tests/test_a.py::test_1", "tests/test_a.py::test_2"]),
    ];
    test.left_behind = vec![LeftBehind {
        kind: LeftKind::Variable,
        name: "CURRENCY".into(),
        before: None,
        after: Some("'EUR'".into()),
    }];
    test.cleaners = ids(&["tests/test_pay.py::test_reset"]);
    reproduced(test, &["tests/test_cart.py::test_currency", id])
}

fn brittle() -> HuntedTest {
    let id = "tests/test_pay.py::test_receipt[a|b]";
    let mut test = failing(tested(id, (10, 0), (20, 9), (4, 4)));
    test.kind = Some(FlakyKind::Brittle);
    test.setters = vec![ids(&["tests/test_pay.py::test_login"])];
    reproduced(test, &[id])
}

fn nod() -> HuntedTest {
    let id = "tests/test_net.py::test_get";
    let mut test = failing(tested(id, (10, 1), (20, 4), (20, 2)));
    test.kind = Some(FlakyKind::Nod);
    reproduced(test, &[id])
}

fn tested(id: &str, baseline: (u32, u32), shuffled: (u32, u32), alone: (u32, u32)) -> HuntedTest {
    let tally = |(runs, failures)| Tally { runs, failures };
    let mut test = HuntedTest::new(id.into(), None);
    test.baseline = tally(baseline);
    test.shuffled = tally(shuffled);
    test.alone = tally(alone);
    test
}

fn failing(mut test: HuntedTest) -> HuntedTest {
    let message = "AssertionError: assert 'EUR' == 'USD'";
    test.failure = Some(Failure {
        phase: Phase::Call,
        message: message.into(),
        text: format!("Traceback (most recent call last):\n  ...\n{message}"),
        location: None,
        signature: Signature::of(message, None),
    });
    test
}

fn reproduced(mut test: HuntedTest, order: &[&str]) -> HuntedTest {
    test.reproduction = Some(Reproduction {
        order: ids(order),
        isolation: Isolation::Spawn,
        command: format!("pytest {}", order.join(" ")),
    });
    test
}

fn ids(ids: &[&str]) -> Vec<TestId> {
    ids.iter().map(|id| TestId::from(*id)).collect()
}
