//! A small run with one of everything, and a small hunt with one test of each kind.

use std::time::Duration;

use flakeproof_core::{
    Attempt, Evidence, Execution, ExitCode, Failure, Findings, FlakyKind, Group, GroupCause,
    Hidden, HuntCost, HuntEnd, HuntFindings, HuntedTest, Isolation, Kind, LeftBehind, LeftKind,
    Location, Notice, Outcome, Phase, Reproduction, RunFacts, Seed, Signature, Stage, StageCost,
    SuiteCounts, Tally, TestFinding, TestId, Verdict,
};

/// Builds one finding; reruns that fail repeat the first failure's message and output.
pub(crate) struct Test {
    finding: TestFinding,
    message: Option<String>,
}

impl Test {
    pub(crate) fn new(id: &str, outcome: Outcome) -> Self {
        let finding = TestFinding {
            id: id.into(),
            location: None,
            outcome,
            verdict: None,
            kind: None,
            evidence: Vec::new(),
            attempts: Vec::new(),
            reproduce: None,
            group: None,
            quarantine: None,
        };
        let mut test = Self { finding, message: None };
        test.attempt(Stage::First, Isolation::Same, outcome);
        test
    }

    pub(crate) fn at(mut self, file: &str, line: u32) -> Self {
        self.finding.location = Some(Location { file: file.into(), line: Some(line) });
        self
    }

    pub(crate) fn message(mut self, message: &str) -> Self {
        self.message = Some(message.into());
        self.finding.attempts[0].execution.failure = Some(failure(message));
        self
    }

    pub(crate) fn output(mut self, output: &str) -> Self {
        self.finding.attempts[0].execution.output = output.into();
        self
    }

    pub(crate) fn note(mut self, note: &str) -> Self {
        self.finding.attempts[0].execution.note = Some(note.into());
        self
    }

    pub(crate) fn rerun(mut self, stage: Stage, isolation: Isolation, outcome: Outcome) -> Self {
        self.attempt(stage, isolation, outcome);
        self
    }

    pub(crate) fn evidence(mut self, evidence: Evidence) -> Self {
        self.finding.evidence.push(evidence);
        self
    }

    fn passed_in(self, stage: Stage, isolation: Isolation) -> Self {
        self.evidence(Evidence::Passed { stage, isolation })
    }

    pub(crate) fn verdict(mut self, verdict: Verdict) -> Self {
        self.finding.verdict = Some(verdict);
        self
    }

    pub(crate) fn kind(mut self, kind: Kind) -> Self {
        self.finding.kind = Some(kind);
        self
    }

    pub(crate) fn reproduce(mut self, command: &str) -> Self {
        self.finding.reproduce = Some(command.into());
        self
    }

    pub(crate) fn end(self) -> TestFinding {
        self.finding
    }

    /// Flaky, bursty, a member of group 0.
    fn outage(mut self) -> TestFinding {
        self.finding.group = Some(0);
        self.rerun(Stage::Immediate, Isolation::Same, Outcome::Failed)
            .rerun(Stage::Postponed, Isolation::Same, Outcome::Passed)
            .passed_in(Stage::Postponed, Isolation::Same)
            .verdict(Verdict::Flaky)
            .kind(Kind::Bursty)
            .end()
    }

    fn attempt(&mut self, stage: Stage, isolation: Isolation, outcome: Outcome) {
        let attempts = &mut self.finding.attempts;
        let repeated = outcome.is_failure() && !attempts.is_empty();
        attempts.push(Attempt {
            stage,
            isolation,
            number: u32::try_from(attempts.len() + 1).expect("a sample has few attempts"),
            position: None,
            execution: Execution {
                failure: self.message.as_deref().filter(|_| repeated).map(failure),
                output: if repeated { "again\n".into() } else { String::new() },
                ..Execution::new(self.finding.id.clone(), outcome, Duration::from_millis(250))
            },
        });
    }
}

/// A run with a passed, a flaky, a real, an unknown, a skipped, a crashed and a timed-out test,
/// and one outage that hit two tests.
pub(crate) fn findings() -> Findings {
    let refused = "ConnectionRefusedError: [Errno 111] Connection refused";
    let tests = vec![
        passed("tests/test_pay.py::test_total"),
        race(),
        rounding(),
        config(),
        Test::new("tests/test_io.py::test_windows", Outcome::Skipped).note("needs Windows").end(),
        native(),
        slow(),
        Test::new("tests/test_net.py::test_get", Outcome::Failed).message(refused).outage(),
        Test::new("tests/test_net.py::test_post", Outcome::Failed).message(refused).outage(),
    ];
    let mut findings = findings_of(tests);
    findings.groups = vec![Group {
        signature: Signature::compute(refused, None),
        tests: vec!["tests/test_net.py::test_get".into(), "tests/test_net.py::test_post".into()],
        cause: GroupCause::Outage,
    }];
    findings.notices = vec![Notice {
        what: "the history could not be read".into(),
        next: "pass `--history PATH` to name another file".into(),
    }];
    findings
}

/// A run of these tests and nothing else.
pub(crate) fn findings_of(tests: Vec<TestFinding>) -> Findings {
    let mut suite = SuiteCounts { tests: tests.len(), ..SuiteCounts::default() };
    for test in &tests {
        suite.add(test.outcome);
    }
    Findings {
        run: RunFacts {
            id: "0198c0de-5eed".into(),
            command: vec!["pytest".into(), "-q".into(), "tests dir".into()],
            runner: "pytest 8.3.5, Python 3.11.7".into(),
            started: "2026-11-20T10:00:00Z".into(),
            duration: Duration::from_millis(12_345),
            seed: Seed(7),
            revision: Some("1a2b3c4d5e".into()),
            version: "0.1.0".into(),
        },
        suite,
        tests,
        groups: Vec::new(),
        notices: Vec::new(),
        exit: ExitCode::Failures,
    }
}

/// A test that passed.
pub(crate) fn passed(id: &str) -> TestFinding {
    Test::new(id, Outcome::Passed).end()
}

fn race() -> TestFinding {
    Test::new("tests/test_pay.py::TestCart::test_race[1|2]", Outcome::Failed)
        .at("tests/test_pay.py", 40)
        .message("AssertionError: assert 1 == 2")
        .output("\u{1b}[31mstarted\u{1b}[0m <worker> & waits\u{0}\n")
        .rerun(Stage::Immediate, Isolation::Same, Outcome::Passed)
        .rerun(Stage::Fresh, Isolation::Spawn, Outcome::Passed)
        .passed_in(Stage::Immediate, Isolation::Same)
        .passed_in(Stage::Fresh, Isolation::Spawn)
        .verdict(Verdict::Flaky)
        .kind(Kind::NotBursty)
        .reproduce("flakeproof run --stress-count 50 -- pytest 'tests/test_pay.py::TestCart'")
        .end()
}

fn rounding() -> TestFinding {
    Test::new("tests/test_pay.py::test_rounding", Outcome::Failed)
        .at("tests/test_pay.py", 12)
        .message("assert round_up(0.125) == 0.13")
        .output("rounding 0.125\n")
        .rerun(Stage::Immediate, Isolation::Same, Outcome::Failed)
        .rerun(Stage::Fresh, Isolation::Spawn, Outcome::Failed)
        .evidence(Evidence::FailedFresh { attempts: 1, pass_rate_not_ruled_out: 0.95 })
        .evidence(Evidence::Intersects {
            files: vec!["src/__init__.py".into()],
            base: "0f1e2d3c4b".into(),
        })
        .verdict(Verdict::Real)
        .reproduce("pytest tests/test_pay.py::test_rounding")
        .end()
}

fn config() -> TestFinding {
    Test::new("tests/test_io.py::test_config", Outcome::Errored)
        .message("FileNotFoundError: no such file, 100% sure: config.toml\nin setup")
        .evidence(Evidence::Silent { reason: "uv.lock changed, and no probe sees it".into() })
        .verdict(Verdict::Unknown)
        .end()
}

fn native() -> TestFinding {
    Test::new("tests/test_native.py::test_parse", Outcome::Crashed)
        .rerun(Stage::Fresh, Isolation::Spawn, Outcome::Crashed)
        .evidence(Evidence::FailedFresh { attempts: 1, pass_rate_not_ruled_out: 0.95 })
        .evidence(Evidence::Disjoint {
            changed: vec!["docs/x.md".into(), "src/y.py".into()],
            dependencies: 14,
            base: "0f1e2d3c4b".into(),
            passed_at_base: false,
        })
        .verdict(Verdict::Unknown)
        .end()
}

fn slow() -> TestFinding {
    Test::new("tests/test_native.py::test_slow", Outcome::TimedOut)
        .output("waiting for the lock\n")
        .rerun(Stage::Fresh, Isolation::Spawn, Outcome::Passed)
        .passed_in(Stage::Fresh, Isolation::Spawn)
        .verdict(Verdict::Flaky)
        .kind(Kind::StateDependent)
        .end()
}

fn failure(message: &str) -> Failure {
    Failure {
        phase: Phase::Call,
        message: message.into(),
        text: format!("Traceback (most recent call last):\n  ...\n{message}"),
        location: None,
        signature: Signature::compute(message, None),
    }
}

/// A hunt that found a victim, a brittle test and a `NOD` test, beside a test that always fails, one
/// that was not run, one that failed once and was not looked at again, and one that is sound.
pub(crate) fn hunt_findings() -> HuntFindings {
    HuntFindings {
        run: findings_of(Vec::new()).run,
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
        latent: Vec::new(),
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
        signature: Signature::compute(message, None),
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
