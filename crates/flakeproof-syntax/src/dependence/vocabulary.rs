//! The words of nodes and edges, for models.

use super::graph::{EdgeId, Graph, NodeId};
use crate::project::Project;
use crate::words::{self, Comments};

impl Graph {
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
