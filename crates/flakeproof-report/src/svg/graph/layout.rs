//! Where everything stands: a row for each line that runs, values below what flows into them.

use crate::graph::{GraphNode, TestGraph, beginning};

/// Where rows begin.
pub(super) const TOP: f64 = 56.0;
/// The height of a value.
pub(super) const HIGH: f64 = 26.0;
/// The width of a letter.
pub(super) const LETTER: f64 = 7.3;
/// Code stands left of this, values right of it.
const LEFT: f64 = 430.0;
/// Values that would go beyond this start another row.
const RIGHT: f64 = 1_160.0;
/// From a row to the next.
const ROW: f64 = 66.0;
/// Between neighbours.
const GAP: f64 = 26.0;
/// A longer text of a value is cut.
const LONGEST: usize = 30;

/// A drawn value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Box {
    pub(super) node: u32,
    pub(super) label: String,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
}

impl Box {
    pub(super) fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

/// A line of code beside its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) y: f64,
}

/// Where everything stands.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) boxes: Vec<Box>,
    pub(super) rows: Vec<Row>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    /// Place these values of a graph.
    pub(super) fn of(graph: &TestGraph, drawn: &[u32]) -> Self {
        let mut layout = Self::default();
        let line_of = |at: &u32| node(graph, *at).map(|node| (node.file.as_str(), node.line));
        let mut y = TOP;
        // A line that calls a helper comes again with what the helper gives back, so that
        // everything flows downwards.
        for values in drawn.chunk_by(|a, b| line_of(a) == line_of(b)) {
            let Some((file, line)) = values.first().and_then(line_of) else { continue };
            layout.rows.push(Row { file: file.to_owned(), line, y });
            y = layout.place_row(graph, values, y) + ROW;
        }
        let right = layout.boxes.iter().map(|it| it.x + it.width).fold(LEFT, f64::max);
        (layout.width, layout.height) = (right + 70.0, y + 30.0);
        layout
    }

    /// The drawn value of a node.
    pub(super) fn find(&self, node: u32) -> Option<&Box> {
        self.boxes.iter().find(|it| it.node == node)
    }

    /// Place the values of one line, as far as possible below what flows into them; the height of
    /// the last of them.
    fn place_row(&mut self, graph: &TestGraph, values: &[u32], mut y: f64) -> f64 {
        let mut free = LEFT;
        for at in values {
            let Some(node) = node(graph, *at) else { continue };
            let label = beginning(&node.text, LONGEST);
            let letters = u32::try_from(label.chars().count()).unwrap_or(u32::MAX);
            let width = LETTER * f64::from(letters) + 18.0;
            let wished = self.above(graph, *at).map_or(free, |middle| middle - width / 2.0);
            let mut x = wished.min(RIGHT - width).max(free);
            if x + width > RIGHT && free > LEFT {
                (x, y) = (LEFT, y + ROW);
            }
            free = x + width + GAP;
            self.boxes.push(Box { node: *at, label, x, y, width });
        }
        y
    }

    /// The middle of what flows into a value.
    fn above(&self, graph: &TestGraph, to: u32) -> Option<f64> {
        let into = graph.edges.iter().filter(|edge| edge.to == to);
        let from: Vec<f64> = into.filter_map(|edge| Some(self.find(edge.from)?.middle())).collect();
        let count = u32::try_from(from.len()).ok().filter(|count| *count > 0)?;
        Some(from.iter().sum::<f64>() / f64::from(count))
    }
}

fn node(graph: &TestGraph, at: u32) -> Option<&GraphNode> {
    graph.nodes.get(at as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_line_is_a_row_and_no_value_hides_another() {
        let mut graph = sample::graph();
        for at in 0..40 {
            let text = format!("value number {at}");
            graph.nodes.push(GraphNode { text, ..graph.nodes[3].clone() });
        }
        let drawn: Vec<u32> = (0..44).collect();
        let layout = Layout::of(&graph, &drawn);
        assert_eq!(layout.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(layout.boxes.len(), 44);
        for (at, one) in layout.boxes.iter().enumerate() {
            for other in &layout.boxes[at + 1..] {
                let apart = one.y != other.y
                    || one.x + one.width < other.x
                    || other.x + other.width < one.x;
                assert!(apart, "{one:?} {other:?}");
            }
        }
    }
}
