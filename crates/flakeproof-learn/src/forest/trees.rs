//! A grown forest, and what it answers.

use rayon::prelude::*;

use super::node::{LinkBits, Node, Tree};
use super::table::Table;

/// A grown forest.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    pub(super) trees: Vec<Tree>,
    pub(super) features: usize,
    pub(super) bits: LinkBits,
}

/// Why a forest has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The table has other columns than the one the forest learned from.
    #[error("the table has {found} columns, and the forest learned from {expected}")]
    Columns {
        /// How many columns the table has.
        found: usize,
        /// How many columns the forest learned from.
        expected: usize,
    },
    /// The forest learned from more features than can be explained.
    #[error("the forest learned from {found} columns, and at most {most} can be explained")]
    TooWide {
        /// How many columns the forest learned from.
        found: usize,
        /// The most that can be explained.
        most: usize,
    },
}

/// So many rows go through one tree before the next, while it lies near the processor.
const BLOCK: usize = 4096;
/// So many of them go together.
const GROUP: usize = 256;
/// So many steps are taken before it is asked who has arrived.
const STEPS: usize = 3;

impl Forest {
    pub(super) fn of_trees(trees: Vec<Tree>, features: usize) -> Self {
        Self { trees, features, bits: LinkBits::new(features) }
    }

    /// How many features it learned from.
    #[must_use]
    pub fn features(&self) -> usize {
        self.features
    }

    /// How many trees it has.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// How many nodes all its trees have, leaves included.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.trees.iter().map(|tree| tree.nodes.len()).sum()
    }

    /// The probability that each row is positive: the mean positive share of the leaves it reaches.
    ///
    /// # Errors
    /// When the table has other columns than the one the forest learned from.
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>, AskError> {
        self.check(table)?;
        let cells = table.row_major();
        let may_miss = table.missing_in().contains(&true);
        let mut shares = vec![0.0; table.rows()];
        let blocks = shares.par_chunks_mut(BLOCK).zip(cells.par_chunks(BLOCK * self.features));
        blocks.for_each_init(Walk::default, |walk, (shares, cells)| {
            for tree in &self.trees {
                let groups = shares.chunks_mut(GROUP).zip(cells.chunks(GROUP * self.features));
                for (shares, cells) in groups {
                    if may_miss || tree.nodes.len() == 1 {
                        self.add_shares_carefully(tree, cells, shares);
                    } else {
                        self.add_shares(tree, cells, shares, walk);
                    }
                }
            }
            let trees = crate::real(self.trees.len());
            shares.iter_mut().for_each(|share| *share /= trees);
        });
        Ok(shares)
    }

    pub(super) fn check(&self, table: &Table) -> Result<(), AskError> {
        let (found, expected) = (table.width(), self.features);
        if found == expected { Ok(()) } else { Err(AskError::Columns { found, expected }) }
    }

    /// Add the share that each row reaches in a tree. All rows take one step, then the next: their
    /// steps do not wait for each other. Who arrives changes lists, without a branch, because nobody
    /// can foresee it.
    fn add_shares(&self, tree: &Tree, cells: &[f32], shares: &mut [f64], walk: &mut Walk) {
        let Walk { walking, arrived } = walk;
        let starts = (0..).step_by(self.features).take(shares.len());
        let root = tree.nodes[0];
        for (walker, (row, start)) in walking.iter_mut().zip((0..).zip(starts)) {
            *walker = Walker { row, start, node: root };
        }
        let bits = self.bits;
        let (mut left, mut there) = (shares.len(), 0);
        while left > 0 {
            let mut still = 0;
            for at in 0..left {
                let Walker { row, start, mut node } = walking[at];
                for _ in 0..STEPS {
                    let child = bits.child(node.link);
                    let value = cells[start as usize + bits.feature(node.link)];
                    // In a leaf, this looks at a node that exists and is not used.
                    let place = child + u32::from(value > node.threshold());
                    let next = tree.nodes[place as usize];
                    node = if child == 0 { node } else { next };
                }
                let is_there = bits.child(node.link) == 0;
                walking[still] = Walker { row, start, node };
                arrived[there] = (row, node.cut);
                still += usize::from(!is_there);
                there += usize::from(is_there);
            }
            left = still;
        }
        for (row, leaf) in &arrived[..there] {
            shares[*row as usize] += tree.leaf_values[*leaf as usize];
        }
    }

    /// The same, row by row, for tables with missing numbers.
    fn add_shares_carefully(&self, tree: &Tree, cells: &[f32], shares: &mut [f64]) {
        for (row, share) in cells.chunks_exact(self.features).zip(shares) {
            *share += tree.leaf_values[self.leaf_of(&tree.nodes, row)];
        }
    }

    fn leaf_of(&self, nodes: &[Node], row: &[f32]) -> usize {
        let mut node = nodes[0];
        loop {
            let child = self.bits.child(node.link);
            if child == 0 {
                return node.cut as usize;
            }
            let side = node.side(row[self.bits.feature(node.link)]);
            node = nodes[(child + side) as usize];
        }
    }
}

/// Rows on their way through a tree, and rows that have arrived, each with its leaf.
struct Walk {
    walking: [Walker; GROUP],
    /// One place more than there are rows, for a step that has not arrived.
    arrived: [(u32, u32); GROUP + 1],
}

impl Default for Walk {
    fn default() -> Self {
        Self { walking: [Walker::default(); GROUP], arrived: [(0, 0); GROUP + 1] }
    }
}

/// A row on its way through a tree.
#[derive(Clone, Copy, Default)]
struct Walker {
    row: u32,
    /// Where its numbers begin.
    start: u32,
    node: Node,
}
