//! The graph: nodes, edges, the assertions values end in, and the words of each, for models.

use crate::flow::{Declared, Span, Unit};
use crate::project::Project;
use crate::words::{self, Comments};

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
    pub fn node_text<'p>(&self, project: &'p Project, id: NodeId) -> &'p str {
        let node = self.node(id);
        let unit = node.and_then(|node| project.units().get(node.unit as usize));
        node.zip(unit).map_or("", |(node, unit)| unit.text_of(node.span))
    }

    /// The words of a node's text, names cut into their parts, as they stand; those of a node that
    /// is asserted are followed by those of the assertion.
    pub fn node_words<'p>(&self, project: &'p Project, id: NodeId) -> Vec<&'p str> {
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
    pub fn edge_words<'p>(&self, project: &'p Project, id: EdgeId) -> Vec<&'p str> {
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
    pub fn texts<'p>(&self, project: &'p Project) -> impl Iterator<Item = &'p str> {
        let unit: Option<&'p Unit> = project.units().get(self.unit as usize);
        let spans = self.spans().to_vec();
        spans.into_iter().filter_map(move |span| unit.map(|unit| unit.text_of(span)))
    }
}
