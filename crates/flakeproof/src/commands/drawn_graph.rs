//! The graph of a test as reports draw it.

use std::collections::HashSet;

use flakeproof_core::Notice;
use flakeproof_report::graph::{
    CalledCode, CodeLine, GraphAssertion, GraphEdge, GraphNode, GraphPath, TestGraph, ValueKind,
};
use flakeproof_syntax::dependence::{
    Assertion, ContextualPath, Edge, Graph, Node, NodeKind, Words,
};
use flakeproof_syntax::project::Project;

use crate::source::code_places::CodePlaces;
use crate::source::source_tests::SourceTest;
use crate::view::ShownGraph;

/// What a graph is drawn of.
pub(super) struct Drawing<'g> {
    pub(super) project: &'g Project,
    pub(super) test: &'g SourceTest,
    pub(super) graph: &'g Graph,
    pub(super) paths: &'g [ContextualPath],
}

impl Drawing<'_> {
    /// The graph for the terminal, with at most so many paths.
    pub(super) fn shown(&self, most: usize) -> ShownGraph<'_> {
        ShownGraph {
            test: &self.test.id,
            place: format!("{}:{}", self.test.file, self.test.first_line),
            graph: self.graph,
            project: self.project,
            paths: self.paths,
            most,
        }
    }

    /// The graph with all its texts.
    pub(super) fn draw(&self, notices: Vec<Notice>) -> TestGraph {
        let mut places = CodePlaces::of(self.project);
        let Self { test, graph, .. } = self;
        TestGraph {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id: test.id.clone(),
            file: test.file.clone(),
            line: test.first_line,
            language: test.language.name().to_owned(),
            nodes: graph.nodes.iter().map(|node| self.node(node, &mut places)).collect(),
            edges: graph.edges.iter().map(|edge| self.edge(edge, &mut places)).collect(),
            assertions: graph.assertions.iter().map(|it| self.assertion(it)).collect(),
            paths: self.paths.iter().map(path).collect(),
            lines: self.lines(&mut places),
            is_cut: graph.is_cut,
            notices,
        }
    }

    fn node(&self, node: &Node, places: &mut CodePlaces<'_>) -> GraphNode {
        let unit = self.project.units().get(node.unit as usize);
        GraphNode {
            text: one_line(unit.map_or("", |unit| unit.text_of(node.span))),
            kind: match node.kind {
                NodeKind::Variable => ValueKind::Variable,
                NodeKind::Literal => ValueKind::Literal,
                NodeKind::Call => ValueKind::Call,
                NodeKind::Assertion => ValueKind::Assertion,
            },
            file: unit.map(|unit| unit.path.clone()).unwrap_or_default(),
            line: places.place(node.unit, node.span).map_or(node.span.line, |place| place.line),
            start: node.is_start,
            assertion: node.assertion,
        }
    }

    fn edge(&self, edge: &Edge, places: &mut CodePlaces<'_>) -> GraphEdge {
        let code = edge.code.and_then(|code| places.declaration(code));
        let code = code.map(|code| CalledCode {
            name: code.name,
            file: code.file.to_owned(),
            line: code.line,
        });
        GraphEdge { from: edge.from.0, to: edge.to.0, operation: self.words(&edge.operation), code }
    }

    fn assertion(&self, assertion: &Assertion) -> GraphAssertion {
        let nodes = assertion.nodes.iter().map(|node| node.0).collect();
        GraphAssertion { words: self.words(&assertion.words), nodes }
    }

    fn words(&self, words: &Words) -> Vec<String> {
        words.texts(self.project).map(one_line).collect()
    }

    fn lines(&self, places: &mut CodePlaces<'_>) -> Vec<CodeLine> {
        let mut lines: Vec<CodeLine> = Vec::new();
        let mut seen = HashSet::new();
        for node in &self.graph.nodes {
            let place = places.place(node.unit, node.span);
            if let Some(place) = place.filter(|place| seen.insert((place.file, place.line))) {
                let (file, text) = (place.file.to_owned(), place.text.to_owned());
                lines.push(CodeLine { file, line: place.line, text });
            }
        }
        lines
    }
}

fn path(path: &ContextualPath) -> GraphPath {
    GraphPath {
        nodes: path.steps.iter().map(|(node, _)| node.0).collect(),
        edges: path.steps.iter().filter_map(|(_, edge)| Some(edge.as_ref()?.0)).collect(),
        cut: path.is_cut,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
