//! Trees laid out for many rows: all go through one tree before any goes through the next, and several
//! at a time, so that a tree is fetched once and no step waits for the one before it.
//!
//! Each row gets what it would get alone, to the bit: its sum has the trees in their order.

use super::model::{Split, Tree};

/// Rows that take their steps together.
const LANES: usize = 8;

/// The nodes of all trees.
pub(super) struct Layout {
    trees: Vec<Place>,
    nodes: Vec<Node>,
    values: Vec<f64>,
    /// How many numbers a row has.
    width: usize,
}

/// Where a tree begins, and the most steps to one of its leaves.
struct Place {
    begin: usize,
    depth: u32,
}

/// A row whose number in the column is above the edge goes to the right of two children, which is
/// behind the left one. A leaf is its own child, and nothing is above its edge.
#[derive(Clone, Copy)]
struct Node {
    column: u32,
    edge: f32,
    /// Counted from the first node of the tree.
    child: u32,
}

impl Layout {
    /// The layout of trees over this many columns.
    pub(super) fn new(trees: &[Tree], columns: usize) -> Self {
        let count = trees.iter().map(|tree| tree.nodes.len()).sum();
        let mut layout = Self {
            trees: Vec::with_capacity(trees.len()),
            nodes: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
            // A leaf looks at the first number, and there is one at least.
            width: columns.max(1),
        };
        for tree in trees {
            layout.trees.push(Place { begin: layout.nodes.len(), depth: depth(&tree.nodes) });
            layout.nodes.extend((0..).zip(&tree.nodes).map(|(at, node)| Node::new(at, node)));
            layout.values.extend(tree.nodes.iter().map(|node| node.value));
        }
        layout
    }

    /// What the trees add to a base, for each row.
    pub(super) fn margins<R: AsRef<[f32]>>(&self, base: f64, rows: &[R]) -> Vec<f64> {
        let padded = rows.len().next_multiple_of(LANES);
        let mut numbers = vec![f32::NAN; padded * self.width];
        for (place, row) in numbers.chunks_exact_mut(self.width).zip(rows) {
            let row = row.as_ref();
            let length = row.len().min(self.width);
            place[..length].copy_from_slice(&row[..length]);
        }
        let mut sums = vec![base; padded];
        for (at, tree) in self.trees.iter().enumerate() {
            let end = self.trees.get(at + 1).map_or(self.nodes.len(), |next| next.begin);
            let (nodes, values) = (&self.nodes[tree.begin..end], &self.values[tree.begin..end]);
            let lanes = numbers.chunks_exact(LANES * self.width);
            for (lanes, sums) in lanes.zip(sums.as_chunks_mut::<LANES>().0) {
                let leaves = self.leaves(nodes, tree.depth, lanes);
                sums.iter_mut().zip(leaves).for_each(|(sum, leaf)| *sum += values[leaf]);
            }
        }
        sums.truncate(rows.len());
        sums
    }

    /// The leaf that each of some rows ends in.
    fn leaves(&self, nodes: &[Node], depth: u32, rows: &[f32]) -> [usize; LANES] {
        let mut leaves = [0; LANES];
        for _ in 0..depth {
            for (lane, at) in leaves.iter_mut().enumerate() {
                let node = nodes[*at];
                let value = rows[lane * self.width + node.column as usize];
                // What is missing is above nothing.
                *at = node.child as usize + usize::from(value > node.edge);
            }
        }
        leaves
    }
}

impl Node {
    fn new(at: u32, node: &Split) -> Self {
        let (column, edge, child) = node.cut.unwrap_or((0, f32::INFINITY, at));
        Self { column, edge, child }
    }
}

/// The most steps from the first node to a leaf; children lie behind their node.
fn depth(nodes: &[Split]) -> u32 {
    let mut below = vec![0; nodes.len()];
    for (at, node) in nodes.iter().enumerate().rev() {
        if let Some((_, _, child)) = node.cut {
            let child = child as usize;
            below[at] = 1 + below[child].max(below[child + 1]);
        }
    }
    below.first().copied().unwrap_or(0)
}
