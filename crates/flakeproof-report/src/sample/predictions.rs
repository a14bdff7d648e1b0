//! What a model says about a few tests with ids that are hard to write down.

use flakeproof_core::{
    DataPath, DataStep, ModelFacts, Notice, Prediction, Predictions, Reason, SimilarTest,
};

/// Two suspects, one of them below 50 %, and a test that is not called flaky.
pub(crate) fn predictions() -> Predictions {
    let steady = known("tests/test_wait.py::test_steady", 0.9, None);
    let poll = Prediction {
        file: "tests/a 100%.py".into(),
        line: 40,
        end_line: 58,
        category: Some("async_wait".into()),
        neighbours: vec![
            known("com.example.PollTest#polls<T>|once", 0.912, Some("async_wait")),
            SimilarTest { flaky: false, ..steady },
            known("tests/test_q.py::test_drain[a,b:c]\n", 0.75, None),
            known("tests/test_q.py::test_third", 0.7, None),
        ],
        reasons: vec![Reason { what: "sleeps in the test".into(), weight: 1.04 }],
        paths: vec![DataPath {
            attention: 0.64,
            steps: vec![step(41, Some("poll")), step(44, None)],
        }],
        ..suspect("tests/a 100%.py::TestPoll::test_wait[1|2,<b>:x\n::error::y]", 0.873)
    };
    let total = Prediction { flaky: false, ..suspect("t.py::test_total", 0.04) };
    let size = Prediction {
        file: "tests/größe,x.py".into(),
        line: 7,
        end_line: 7,
        category: Some("moonlight".into()),
        ..suspect("größe `x`::test_*bold*", 0.42)
    };
    let notices = vec![Notice {
        what: "`tests/b.py` cannot be read: 3 lines were skipped".into(),
        next: "check that it is Python <3.14>".into(),
    }];
    Predictions { notices, ..of(vec![poll, total, size]) }
}

/// That many suspects, each a little more probable than the one before, and nothing else.
pub(crate) fn suspects(count: u32) -> Predictions {
    let probability = |n| 0.5 + f64::from(n) / 100_000.0;
    of((0..count).map(|n| suspect(&format!("t.py::test_{n}"), probability(n))).collect())
}

fn of(tests: Vec<Prediction>) -> Predictions {
    Predictions {
        version: "0.1.0".into(),
        model: ModelFacts {
            name: "built-in".into(),
            kind: "flast".into(),
            recipe: "rarity".into(),
            tests: 1200,
            flaky: 480,
            projects: 31,
            data: "5eedf00d".into(),
            held_out: "project".into(),
            precision: Some(0.714),
            recall: Some(0.581),
            threshold: "balanced".into(),
        },
        tests,
        notices: Vec::new(),
    }
}

fn step(line: u32, operation: Option<&str>) -> DataStep {
    DataStep {
        file: "tests/a 100%.py".into(),
        line,
        code: "queue = Queue().poll()".into(),
        value: "queue".into(),
        operation: operation.map(Into::into),
        declared: operation.map(|_| "src/queue.py:7".into()),
    }
}

fn suspect(id: &str, probability: f64) -> Prediction {
    Prediction {
        id: id.into(),
        file: "t.py".into(),
        line: 1,
        end_line: 3,
        language: "python".into(),
        probability,
        flaky: true,
        category: None,
        neighbours: Vec::new(),
        reasons: Vec::new(),
        paths: Vec::new(),
    }
}

fn known(id: &str, similarity: f64, category: Option<&str>) -> SimilarTest {
    SimilarTest {
        id: id.into(),
        project: "example/queue".into(),
        similarity,
        flaky: true,
        category: category.map(Into::into),
        shared: vec!["sleep".into(), "poll".into()],
    }
}
