//! A small run with one of everything.

use std::time::Duration;

use flakeproof_core::{
    Attempt, Evidence, Execution, ExitCode, Failure, Findings, Group, GroupCause, Isolation, Kind,
    Location, Notice, Outcome, Phase, RunFacts, Seed, Signature, Stage, SuiteCounts, TestFinding,
    Verdict,
};

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
    let mut findings = of(tests);
    findings.groups = vec![Group {
        signature: Signature::of(refused, None),
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
pub(crate) fn of(tests: Vec<TestFinding>) -> Findings {
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

    pub(crate) fn passed_in(self, stage: Stage, isolation: Isolation) -> Self {
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
                test: self.finding.id.clone(),
                outcome,
                duration: Duration::from_millis(250),
                failure: self.message.as_deref().filter(|_| repeated).map(failure),
                note: None,
                output: if repeated { "again\n".into() } else { String::new() },
                dependencies: None,
                measured: None,
            },
        });
    }
}

fn failure(message: &str) -> Failure {
    Failure {
        phase: Phase::Call,
        message: message.into(),
        text: format!("Traceback (most recent call last):\n  ...\n{message}"),
        location: None,
        signature: Signature::of(message, None),
    }
}
