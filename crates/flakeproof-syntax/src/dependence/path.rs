//! Contextual paths (Definition 2), found as Algorithm 1 does: backwards from what is asserted.
//!
//! The paper sorts all edges by line, latest first, and extends paths breadth first until none can
//! grow. Here each assertion is searched depth first, latest edge first, and the assertions take
//! turns in the order of the run, so that the first hundred paths come from all over the test. The
//! set of all paths is the same.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use super::graph::{EdgeId, Graph, NodeId};
use crate::project::Project;

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
    pub fn paths(&self, project: &Project, limits: &PathLimits) -> Vec<ContextualPath> {
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

    fn digest(&self, project: &Project, path: &ContextualPath) -> u64 {
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
