//! The graph: nodes, edges, the assertions values end in, the words of each, for models, and its
//! contextual paths.
//!
//! Paths (Definition 2) are found as Algorithm 1 does: backwards from what is asserted. The paper
//! sorts all edges by line, latest first, and extends paths breadth first until none can grow. Here
//! each assertion is searched depth first, latest edge first, and the assertions take turns in the
//! order of the run, so that the first hundred paths come from all over the test. The set of all
//! paths is the same.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::flow::{Declared, Span, Unit};
use crate::project::ProjectIndex;
use crate::words;
use crate::words::Comments;

/// A node of a graph, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// An edge of a graph, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId(pub u32);

/// Which values of a test flow into which others.
///
/// Edges lead from earlier to later nodes only, so that no path can run in circles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// The values, in the order they come to be.
    pub nodes: Vec<Node>,
    /// What flows, in the order it does.
    pub edges: Vec<Edge>,
    /// What values end in, in the order of the run.
    pub assertions: Vec<Assertion>,
    /// Whether the test was too long to be read to its end.
    pub is_cut: bool,
}

/// A value: a variable, a literal, or what a call gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The file, by its place in the project.
    pub unit: u32,
    /// Where it stands there.
    pub span: Span,
    /// Whether values begin here: a literal, the first declaration of a variable, a parameter, a
    /// field of unknown value, a call that takes nothing in.
    pub is_start: bool,
    /// The assertion it is looked at in, by its place in [`Graph::assertions`].
    pub assertion: Option<u32>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A variable, a field or a parameter, at one of its definitions or where it is asserted.
    Variable,
    /// A literal.
    Literal,
    /// What a call gives back.
    Call,
    /// An assertion, or what stands for one: an expected exception, the last call of a test that
    /// asserts nothing.
    Assertion,
}

/// A flow of a value into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// From where.
    pub from: NodeId,
    /// Into what.
    pub to: NodeId,
    /// Through which operation.
    pub operation: Words,
    /// The function of the project that the operation calls, unless its body is in the graph.
    pub code: Option<Declared>,
}

/// A few words of one file: the name of a function and what stands inside of its arguments, an
/// operator, the words of an assertion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Words {
    /// The file, by its place in the project.
    pub unit: u32,
    spans: [Span; 3],
    count: u8,
}

/// What values end in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    /// What stands for it in the text.
    pub words: Words,
    /// Its nodes, in the order of the text.
    pub nodes: Vec<NodeId>,
}

impl Graph {
    /// A node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// An edge.
    #[must_use]
    pub fn edge(&self, id: EdgeId) -> Option<&Edge> {
        self.edges.get(id.0 as usize)
    }

    /// The text of a node.
    #[must_use]
    pub fn node_text<'p>(&self, project: &'p ProjectIndex, id: NodeId) -> &'p str {
        let node = self.node(id);
        let unit = node.and_then(|node| project.units().get(node.unit as usize));
        node.zip(unit).map_or("", |(node, unit)| unit.text_of(node.span))
    }

    /// The words of a node's text, names cut into their parts, as they stand; those of a node that
    /// is asserted are followed by those of the assertion.
    pub fn node_words<'p>(&self, project: &'p ProjectIndex, id: NodeId) -> Vec<&'p str> {
        let Some(node) = self.node(id) else { return Vec::new() };
        let Some(unit) = project.units().get(node.unit as usize) else { return Vec::new() };
        let mut words: Vec<&'p str> =
            words::of_code(unit.text_of(node.span), Comments::from(unit.language)).collect();
        let assertion = node.assertion.and_then(|it| self.assertions.get(it as usize));
        for text in assertion.into_iter().flat_map(|it| it.words.texts(project)) {
            words.extend(words::of_code(text, Comments::from(unit.language)));
        }
        words
    }

    /// The words of an edge's operation; an operator is a word as it stands.
    pub fn edge_words<'p>(&self, project: &'p ProjectIndex, id: EdgeId) -> Vec<&'p str> {
        let Some(edge) = self.edge(id) else { return Vec::new() };
        let mut words = Vec::new();
        for text in edge.operation.texts(project) {
            let before = words.len();
            words.extend(words::of_code(text, Comments::default()));
            if words.len() == before && !text.is_empty() {
                words.push(text);
            }
        }
        words
    }
}

impl Words {
    /// The words at these places; the first three of them.
    #[must_use]
    pub fn new(unit: u32, words: &[Span]) -> Self {
        words.iter().fold(Self { unit, ..Self::default() }, |found, word| found.and(*word))
    }

    /// These words and one more, if there is room.
    #[must_use]
    pub fn and(mut self, word: Span) -> Self {
        if let Some(free) = self.spans.get_mut(self.count as usize) {
            *free = word;
            self.count += 1;
        }
        self
    }

    /// Where they stand.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        self.spans.get(..self.count as usize).unwrap_or_default()
    }

    /// The words themselves.
    pub fn texts<'p>(&self, project: &'p ProjectIndex) -> impl Iterator<Item = &'p str> {
        let unit: Option<&'p Unit> = project.units().get(self.unit as usize);
        let spans = self.spans().to_vec();
        spans.into_iter().filter_map(move |span| unit.map(|unit| unit.text_of(span)))
    }
}

/// Looking for the paths of one test takes no more steps than these.
const MOST_STEPS: usize = 40_000;

/// How many paths, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathLimits {
    /// The most paths of a test.
    pub most: usize,
    /// The most nodes of a path; of a longer one, those nearest to the assertion are kept.
    pub longest: usize,
}

impl Default for PathLimits {
    fn default() -> Self {
        Self { most: 100, longest: 20 }
    }
}

/// How a value comes to be asserted: from where it begins to the assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextualPath {
    /// The nodes, each with the edge to the next; the last has none.
    pub steps: Vec<(NodeId, Option<EdgeId>)>,
    /// Whether it goes on before its first node.
    pub is_cut: bool,
}

impl Graph {
    /// The paths of a test, no two with the same text.
    ///
    /// Assertions take turns in the order of the run, each giving its next path: backwards from
    /// its last value, the latest edge first. The search ends after 40,000 steps.
    #[must_use]
    pub fn paths(&self, project: &ProjectIndex, limits: &PathLimits) -> Vec<ContextualPath> {
        if limits.most == 0 || limits.longest < 2 {
            return Vec::new();
        }
        let incoming = self.incoming();
        let mut searches: Vec<Search<'_>> =
            (0..self.assertions.len()).map(|at| Search::new(self, &incoming, at, limits)).collect();
        let mut found = Vec::new();
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        let mut steps = MOST_STEPS;
        while !searches.is_empty() {
            searches.retain_mut(|search| {
                while found.len() < limits.most {
                    let Some(path) = search.next(&mut steps) else { return false };
                    if seen.insert(self.digest(project, &path)) {
                        found.push(path);
                        return true;
                    }
                }
                false
            });
        }
        found
    }

    /// The edges into each node, earliest first.
    fn incoming(&self) -> Vec<Vec<EdgeId>> {
        let mut incoming = vec![Vec::new(); self.nodes.len()];
        for (id, edge) in (0..).zip(&self.edges) {
            if let Some(edges) = incoming.get_mut(edge.to.0 as usize) {
                edges.push(EdgeId(id));
            }
        }
        incoming
    }

    fn digest(&self, project: &ProjectIndex, path: &ContextualPath) -> u64 {
        let mut hasher = FxHasher::default();
        for (node, edge) in &path.steps {
            self.node_text(project, *node).hash(&mut hasher);
            if let Some(edge) = edge.and_then(|edge| self.edge(edge)) {
                edge.code.hash(&mut hasher);
                edge.operation.texts(project).for_each(|text| text.hash(&mut hasher));
            }
        }
        hasher.finish()
    }
}

/// The paths into one assertion, one after another.
struct Search<'g> {
    graph: &'g Graph,
    incoming: &'g [Vec<EdgeId>],
    longest: usize,
    /// Nodes of the assertion that are still to be searched.
    ends: Vec<NodeId>,
    /// The path from the assertion backwards: each node, the edge to the one before it in this
    /// list, and how many of its incoming edges are still to be tried.
    stack: Vec<(NodeId, Option<EdgeId>, usize)>,
}

impl<'g> Search<'g> {
    fn new(
        graph: &'g Graph,
        incoming: &'g [Vec<EdgeId>],
        assertion: usize,
        limits: &PathLimits,
    ) -> Self {
        let ends = graph.assertions.get(assertion).map(|assertion| assertion.nodes.clone());
        let ends = ends.unwrap_or_default();
        Self { graph, incoming, longest: limits.longest, ends, stack: Vec::new() }
    }

    fn edges_into(&self, node: NodeId) -> &'g [EdgeId] {
        self.incoming.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    fn next(&mut self, steps: &mut usize) -> Option<ContextualPath> {
        loop {
            *steps = steps.checked_sub(1)?;
            let Some((node, _, left)) = self.stack.last_mut() else {
                let end = self.ends.pop()?;
                let edges = self.edges_into(end).len();
                if edges > 0 {
                    self.stack.push((end, None, edges));
                }
                continue;
            };
            let node = *node;
            let Some(rest) = left.checked_sub(1) else {
                self.stack.pop();
                continue;
            };
            *left = rest;
            let edge_id = self.edges_into(node).get(rest).copied()?;
            let from = self.graph.edge(edge_id)?.from;
            if self.stack.iter().any(|(known, _, _)| *known == from) {
                continue;
            }
            let before = self.edges_into(from).len();
            self.stack.push((from, Some(edge_id), before));
            let is_full = self.stack.len() >= self.longest;
            if before == 0 || is_full {
                let path = self.path(before > 0);
                self.stack.pop();
                return Some(path);
            }
        }
    }

    fn path(&self, is_cut: bool) -> ContextualPath {
        let steps = self.stack.iter().rev().map(|(node, edge, _)| (*node, *edge)).collect();
        ContextualPath { steps, is_cut }
    }
}
