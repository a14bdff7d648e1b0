//! A graph with everything in it.

use flakeproof_core::Notice;

use crate::graph::{
    CalledCode, CodeLine, GraphAssertion, GraphEdge, GraphNode, GraphPath, TestGraph, ValueKind,
};

const FILE: &str = "tests/test_basket.py";

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
