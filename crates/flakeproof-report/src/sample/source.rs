//! What is read from source alone: what a model says about a few tests with ids that are hard to
//! write down, and the dependency graph of a test.

use flakeproof_core::{
    DataPath, DataStep, ModelFacts, Notice, Prediction, Predictions, Reason, SimilarTest,
};

use crate::graph::{
    CalledCode, CodeLine, GraphAssertion, GraphEdge, GraphNode, GraphPath, TestGraph, ValueKind,
};

const FILE: &str = "tests/test_basket.py";

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
        rules: Vec::new(),
        known: None,
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
    Predictions { notices, ..predictions_of(vec![poll, total, size]) }
}

/// That many suspects, each a little more probable than the one before, and nothing else.
pub(crate) fn suspects(count: u32) -> Predictions {
    let probability = |n| 0.5 + f64::from(n) / 100_000.0;
    predictions_of(
        (0..count).map(|n| suspect(&format!("t.py::test_{n}"), probability(n))).collect(),
    )
}

fn predictions_of(tests: Vec<Prediction>) -> Predictions {
    Predictions {
        rules: Vec::new(),
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
        rules: Vec::new(),
        known: None,
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

/// `basket = Basket("<apple>")`, then `assert basket.size() == 1`.
pub(crate) fn graph() -> TestGraph {
    let asserted = |node: GraphNode| GraphNode { assertion: Some(0), ..node };
    let code =
        CalledCode { name: "Basket.size".to_owned(), file: "src/basket.py".to_owned(), line: 31 };
    let line = |line: u32, text: &str| CodeLine { file: FILE.into(), line, text: text.into() };
    TestGraph {
        version: "0.1.0".to_owned(),
        id: "tests/test_basket.py::test_size".into(),
        file: FILE.to_owned(),
        line: 4,
        language: "python".to_owned(),
        nodes: vec![
            node("\"<apple>\"", ValueKind::Literal, 5),
            node("basket", ValueKind::Variable, 5),
            asserted(node("basket.size()", ValueKind::Call, 6)),
            asserted(node("1", ValueKind::Literal, 6)),
        ],
        edges: vec![
            edge(0, 1, "Basket"),
            GraphEdge { code: Some(code), ..edge(1, 2, "size") },
            edge(3, 2, "=="),
        ],
        assertions: vec![GraphAssertion { words: vec!["assert".into()], nodes: vec![2, 3] }],
        paths: vec![
            GraphPath { nodes: vec![0, 1, 2], edges: vec![0, 1], cut: false },
            GraphPath { nodes: vec![3, 2], edges: vec![2], cut: false },
        ],
        lines: vec![
            line(5, "    basket = Basket(\"<apple>\")"),
            line(6, "    assert basket.size() == 1"),
        ],
        is_cut: false,
        notices: vec![Notice { what: "a file was left out".into(), next: "nothing".into() }],
    }
}

/// A chain of this many values, each on a line of its own.
pub(crate) fn long_graph(length: u32) -> TestGraph {
    TestGraph {
        nodes: (0..length).map(|at| node(&format!("v{at}"), ValueKind::Variable, at + 1)).collect(),
        edges: (1..length).map(|to| edge(to - 1, to, "=")).collect(),
        lines: Vec::new(),
        paths: Vec::new(),
        ..graph()
    }
}

fn node(text: &str, kind: ValueKind, line: u32) -> GraphNode {
    GraphNode {
        text: text.to_owned(),
        kind,
        file: FILE.to_owned(),
        line,
        start: kind == ValueKind::Literal,
        assertion: None,
    }
}

fn edge(from: u32, to: u32, operation: &str) -> GraphEdge {
    GraphEdge { from, to, operation: vec![operation.to_owned()], code: None }
}
