//! Which values are drawn: all of a small graph, of a large one those on the first paths.

use std::collections::BTreeSet;

use crate::graph::TestGraph;

/// More values than this are a thicket.
const MOST: usize = 80;

/// The values to draw, in the order they come to be.
pub(super) fn drawn(graph: &TestGraph) -> Vec<u32> {
    let all = 0..u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX);
    let mut chosen: BTreeSet<u32> = BTreeSet::new();
    for path in &graph.paths {
        let new = path.nodes.iter().filter(|node| !chosen.contains(node)).count();
        if chosen.len() + new <= MOST {
            chosen.extend(path.nodes.iter().filter(|node| all.contains(node)));
        }
    }
    for node in all {
        if chosen.len() >= MOST {
            break;
        }
        chosen.insert(node);
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphPath;
    use crate::sample;

    #[test]
    fn a_small_graph_is_drawn_whole() {
        assert_eq!(drawn(&sample::graph()), [0, 1, 2, 3]);
    }

    #[test]
    fn of_a_large_graph_paths_come_first() {
        let mut graph = sample::long_graph(1_000);
        graph.paths = vec![GraphPath { nodes: vec![500, 999], edges: vec![], cut: false }];
        let drawn = drawn(&graph);
        assert_eq!(drawn.len(), MOST);
        assert_eq!(drawn[MOST - 2..], [500, 999]);
    }
}
