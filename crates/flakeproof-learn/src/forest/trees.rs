//! A grown forest: what it answers, how it lies in a model file, and how one that scikit-learn grew
//! is read.
//!
//! Files hold the arrays of its trees one after the other. A forest of scikit-learn comes as JSON,
//! which `evaluation/forests/export.py` writes. scikit-learn compares 32-bit numbers with 64-bit
//! thresholds. A threshold becomes the greatest 32-bit number that is not above it, with which all
//! comparisons come out the same.

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[cfg(target_arch = "x86_64")]
use super::lanes;
use super::table::Table;
use super::tree::{MOST_FEATURES, MOST_NODES, Node, Tree};
use crate::model_file::{Arrays, ModelFile, ModelFileError};

/// A grown forest.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    pub(super) trees: Vec<Tree>,
    pub(super) features: usize,
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

/// The kind of these model files.
pub const KIND: &str = "forest";

/// So many rows go through one tree before the next, while it lies near the processor.
const BLOCK: usize = 16_384;
/// So many of them go together.
pub(super) const GROUP: usize = 256;

impl Forest {
    pub(super) fn of_trees(trees: Vec<Tree>, features: usize) -> Self {
        Self { trees, features }
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
        let mut shares = vec![0.0; table.rows()];
        // Equal shares of the work for all threads; what comes out does not depend on them.
        let parts = table.rows().div_ceil(BLOCK).next_multiple_of(rayon::current_num_threads());
        let block = table.rows().div_ceil(parts.max(1)).max(GROUP);
        shares.par_chunks_mut(block).enumerate().for_each(|(number, shares)| {
            let start = number * block;
            self.predict_rows(&table.rows_of(start..start + shares.len()), shares);
        });
        Ok(shares)
    }

    /// The same for rows that lie one after the other.
    fn predict_rows(&self, cells: &[f32], shares: &mut [f64]) {
        let may_miss = cells.iter().any(|cell| cell.is_nan());
        for tree in &self.trees {
            let groups = shares.chunks_mut(GROUP).zip(cells.chunks(GROUP * self.features));
            for (shares, cells) in groups {
                if may_miss {
                    self.add_shares_carefully(tree, cells, shares);
                } else if !self.add_shares_at_once(tree, cells, shares) {
                    self.add_shares(tree, cells, shares);
                }
            }
        }
        let trees = crate::real(self.trees.len());
        shares.iter_mut().for_each(|share| *share /= trees);
    }

    pub(super) fn check(&self, table: &Table) -> Result<(), AskError> {
        let (found, expected) = (table.width(), self.features);
        if found == expected { Ok(()) } else { Err(AskError::Columns { found, expected }) }
    }

    /// Add the share that each row reaches in a tree. All rows take some steps, then the next ones:
    /// their steps do not wait for each other. Who has arrived leaves the list, without a branch,
    /// because nobody can foresee it.
    fn add_shares(&self, tree: &Tree, cells: &[f32], shares: &mut [f64]) {
        let nodes = &tree.nodes[..];
        let mut walkers = [Walker::default(); GROUP];
        let mut leaves = [Node::default(); GROUP];
        let mut left = 0;
        for (row, row_cells) in (0..).zip(cells.chunks_exact(self.features)) {
            // Most leaves are deeper than that.
            let (node, next) = steps::<8>(nodes, row_cells, 0);
            left = note(&mut walkers, &mut leaves, left, row, node, next);
        }
        while left > 0 {
            let mut still = 0;
            for at in 0..left {
                let Walker { row, place } = walkers[at % GROUP];
                let row_cells = &cells[row as usize * self.features..];
                let (node, next) = steps::<3>(nodes, row_cells, place);
                still = note(&mut walkers, &mut leaves, still, row, node, next);
            }
            left = still;
        }
        for (share, leaf) in shares.iter_mut().zip(leaves) {
            *share += tree.leaf_values[leaf.leaf_number()];
        }
    }

    /// The same for a whole group, many rows at once; `false` if this processor cannot.
    #[cfg(target_arch = "x86_64")]
    fn add_shares_at_once(&self, tree: &Tree, cells: &[f32], shares: &mut [f64]) -> bool {
        let can = shares.len() == GROUP && lanes::available();
        if can {
            #[expect(unsafe_code, reason = "it was asked whether the processor can")]
            // SAFETY: the processor can.
            let leaves = unsafe { lanes::leaves_of_group(tree, cells, self.features) };
            for (share, leaf) in shares.iter_mut().zip(leaves) {
                *share += tree.leaf_values[leaf as usize];
            }
        }
        can
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn add_shares_at_once(&self, _: &Tree, _: &[f32], _: &mut [f64]) -> bool {
        false
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
            if node.is_leaf() {
                return node.leaf_number();
            }
            let side = node.side(row[node.feature()]);
            node = nodes[(node.child() + side) as usize];
        }
    }
}

impl Forest {
    /// The bytes of a model file with this forest, and with what is to be known about it.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn to_file(&self, about: &impl Serialize) -> Result<Vec<u8>, ModelFileError> {
        let header = serde_json::to_value(about)
            .map_err(|error| ModelFileError::Inconsistent(error.to_string()))?;
        let length = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let nodes = || self.trees.iter().flat_map(|tree| &tree.nodes);
        let leaves = |of: fn(&Tree) -> &Vec<f64>| -> Vec<f64> {
            self.trees.iter().flat_map(of).copied().collect()
        };
        let mut arrays = Arrays::default();
        arrays.numbers("features", &[length(self.features)]);
        arrays.reals("leaf_values", &leaves(|tree| &tree.leaf_values));
        arrays.reals("leaf_covers", &leaves(|tree| &tree.leaf_covers));
        let sizes: Vec<u32> = self.trees.iter().map(|tree| length(tree.nodes.len())).collect();
        arrays.numbers("tree_nodes", &sizes);
        let sizes: Vec<u32> =
            self.trees.iter().map(|tree| length(tree.leaf_values.len())).collect();
        arrays.numbers("tree_leaves", &sizes);
        arrays.numbers("node_cuts", &nodes().map(|node| node.cut).collect::<Vec<_>>());
        arrays.numbers("node_links", &nodes().map(|node| node.link).collect::<Vec<_>>());
        arrays.into_file(KIND, header)
    }

    /// The forest in the bytes of a model file, and what it says about itself.
    ///
    /// # Errors
    /// When the file is not a whole, unchanged forest, or its trees make no sense.
    pub fn of_file<A: DeserializeOwned>(bytes: &[u8]) -> Result<(Self, A), ModelFileError> {
        let file = ModelFile::open(bytes, KIND)?;
        let about = serde_json::from_value(file.header.model.clone())
            .map_err(|error| ModelFileError::Inconsistent(error.to_string()))?;
        Ok((Self::of_arrays(&file)?, about))
    }

    fn of_arrays(file: &ModelFile<'_>) -> Result<Self, ModelFileError> {
        let inconsistent = |what: &str| ModelFileError::Inconsistent(what.to_owned());
        let [features] = file.numbers("features")? else {
            return Err(inconsistent("it has not one number of features"));
        };
        let (sizes, leaf_counts) = (file.numbers("tree_nodes")?, file.numbers("tree_leaves")?);
        let (cuts, links) = (file.numbers("node_cuts")?, file.numbers("node_links")?);
        let (values, covers) = (file.reals("leaf_values")?, file.reals("leaf_covers")?);
        let sum = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>();
        let agree = sum(sizes) == cuts.len() as u64
            && cuts.len() == links.len()
            && sum(leaf_counts) == values.len() as u64
            && values.len() == covers.len()
            && sizes.len() == leaf_counts.len();
        if !agree {
            return Err(inconsistent("its arrays do not fit together"));
        }
        let mut nodes = cuts.iter().zip(links).map(|(cut, link)| Node { cut: *cut, link: *link });
        let (mut values, mut covers) = (values.iter().copied(), covers.iter().copied());
        let trees = sizes.iter().zip(leaf_counts).map(|(nodes_here, leaves_here)| Tree {
            nodes: nodes.by_ref().take(*nodes_here as usize).collect(),
            leaf_values: values.by_ref().take(*leaves_here as usize).collect(),
            leaf_covers: covers.by_ref().take(*leaves_here as usize).collect(),
        });
        Self::of_checked_trees(trees.collect(), *features as usize)
            .map_err(ModelFileError::Inconsistent)
    }

    /// The forest of these trees, if they make sense.
    fn of_checked_trees(trees: Vec<Tree>, features: usize) -> Result<Self, String> {
        if trees.is_empty() {
            return Err("there is no tree".to_owned());
        }
        if features == 0 || features > MOST_FEATURES {
            return Err(format!("there are {features} features"));
        }
        for (number, tree) in trees.iter().enumerate() {
            if let Some(fault) = tree.fault(features) {
                return Err(format!("tree {number}: {fault}"));
            }
        }
        Ok(Self::of_trees(trees, features))
    }
}

/// A row on its way through a tree.
#[derive(Clone, Copy, Default)]
struct Walker {
    row: u32,
    place: u32,
}

/// The last node of a walk of some steps, and the place after it.
#[inline]
fn steps<const STEPS: usize>(nodes: &[Node], row: &[f32], mut next: u32) -> (Node, u32) {
    let mut node = Node::default();
    for _ in 0..STEPS {
        node = nodes[next as usize];
        next = node.child() + u32::from(row[node.feature()] > node.threshold());
    }
    (node, next)
}

/// Keep a row on the list unless its last step led nowhere, as it does in a leaf. How long the list is.
#[inline]
fn note(
    walkers: &mut [Walker; GROUP],
    leaves: &mut [Node; GROUP],
    length: usize,
    row: u32,
    node: Node,
    next: u32,
) -> usize {
    leaves[row as usize % GROUP] = node;
    walkers[length % GROUP] = Walker { row, place: next };
    length + usize::from(!node.is_leaf())
}

/// Why text is no forest of scikit-learn's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScikitLearnError {
    /// It is no JSON, or not with these fields.
    #[error("it is not an exported forest ({0})")]
    NotExported(String),
    /// Its trees make no sense.
    #[error("its trees are inconsistent ({0})")]
    Inconsistent(String),
}

#[derive(Deserialize)]
struct Exported {
    features: usize,
    trees: Vec<ExportedTree>,
}

/// One tree, with scikit-learn's names for its arrays.
#[derive(Deserialize)]
struct ExportedTree {
    children_left: Vec<i64>,
    children_right: Vec<i64>,
    feature: Vec<i64>,
    threshold: Vec<f64>,
    /// The positive share of each node.
    value: Vec<f64>,
    weighted_n_node_samples: Vec<f64>,
    /// Where missing numbers go: 1 for the left.
    #[serde(default)]
    missing_go_to_left: Vec<u8>,
}

impl Forest {
    /// The forest that scikit-learn grew and a script wrote as JSON.
    ///
    /// # Errors
    /// When the text is something else, or its trees make no sense.
    pub fn from_scikit_learn(json: &str) -> Result<Self, ScikitLearnError> {
        let exported: Exported = serde_json::from_str(json)
            .map_err(|error| ScikitLearnError::NotExported(error.to_string()))?;
        let features = exported.features;
        let trees: Option<Vec<Tree>> =
            exported.trees.iter().map(|tree| tree.arranged(features)).collect();
        let nonsense = || "a child, a feature or an array is missing".to_owned();
        let trees = trees.ok_or_else(nonsense).map_err(ScikitLearnError::Inconsistent)?;
        Self::of_checked_trees(trees, features).map_err(ScikitLearnError::Inconsistent)
    }
}

impl ExportedTree {
    /// The tree with siblings side by side; `None` if it makes no sense.
    fn arranged(&self, features: usize) -> Option<Tree> {
        let mut tree = Tree { nodes: vec![Node::default()], ..Tree::default() };
        let mut open = vec![(0usize, 0usize)];
        while let Some((number, place)) = open.pop() {
            // More nodes than there are: somebody is his own descendant.
            if tree.nodes.len() > self.children_left.len() {
                return None;
            }
            let left = *self.children_left.get(number)?;
            if left < 0 {
                tree.nodes[place] = Node::leaf(tree.leaf_values.len(), place);
                tree.leaf_values.push(*self.value.get(number)?);
                tree.leaf_covers.push(*self.weighted_n_node_samples.get(number)?);
                continue;
            }
            let feature = usize::try_from(*self.feature.get(number)?).ok()?;
            let child = tree.nodes.len();
            if feature >= features.min(MOST_FEATURES) || child + 2 > MOST_NODES {
                return None;
            }
            let missing_left = self.missing_go_to_left.get(number).is_some_and(|left| *left != 0);
            let threshold = not_above(*self.threshold.get(number)?);
            tree.nodes[place] = Node::cut(threshold, feature, child, missing_left);
            tree.nodes.extend([Node::default(); 2]);
            let right = *self.children_right.get(number)?;
            open.push((usize::try_from(right).ok()?, child + 1));
            open.push((usize::try_from(left).ok()?, child));
        }
        Some(tree)
    }
}

/// The greatest 32-bit number that is not above a 64-bit one.
fn not_above(threshold: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounded down below")]
    let near = threshold as f32;
    if f64::from(near) > threshold { near.next_down() } else { near }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;
    use proptest::prelude::*;

    use super::super::table::Table;
    use super::*;
    use crate::forest::{ForestKind, ForestParams};

    /// Rows that hardly repeat, positive where two of their numbers are alike.
    fn rows(count: u16) -> (Table, Vec<bool>) {
        let cell = |row: u16, column: u16| f32::from(row.wrapping_mul(7919 + 2 * column) % 997);
        let rows: Vec<[f32; 3]> = (0..count).map(|row| [0, 1, 2].map(|at| cell(row, at))).collect();
        let positive = rows.iter().map(|row| (row[0] - row[1]).abs() < 300.0).collect();
        (Table::from_rows(&rows).expect("a table"), positive)
    }

    #[test]
    fn rows_together_reach_the_leaves_that_each_reaches_alone() {
        // Some whole groups, and a rest.
        let (table, positive) = rows(3 * 256 + 40);
        for kind in [ForestKind::RandomForest, ForestKind::ExtraTrees] {
            let params = ForestParams { trees: 7, ..ForestParams::new(kind, Seed(3)) };
            let forest = params.fit(&table, &positive).expect("a forest");
            let alone = |row: usize| {
                let cells = table.row(row);
                let share = |tree: &Tree| tree.leaf_values[forest.leaf_of(&tree.nodes, &cells)];
                forest.trees.iter().map(share).sum::<f64>() / 7.0
            };
            let together = forest.predict(&table).expect("the same columns");
            assert_eq!(together, (0..table.rows()).map(alone).collect::<Vec<_>>());
        }
    }

    proptest! {
        #[test]
        fn comparisons_come_out_the_same(threshold: f64, value: f32) {
            prop_assume!(!threshold.is_nan());
            for value in [value, not_above(threshold), not_above(threshold).next_up()] {
                prop_assert_eq!(value <= not_above(threshold), f64::from(value) <= threshold);
            }
        }
    }

    #[test]
    fn a_number_that_equals_a_threshold_goes_to_the_left() {
        // Read without care for the last digit, this threshold comes out below the number.
        let text = r#"{"features": 1, "trees": [{"children_left": [1, -1, -1],
            "children_right": [2, -1, -1], "feature": [0, -2, -2],
            "threshold": [1.1309937238693237, -2.0, -2.0], "value": [0.5, 1.0, 0.0],
            "weighted_n_node_samples": [2.0, 1.0, 1.0]}]}"#;
        let forest = Forest::from_scikit_learn(text).expect("a tree with one cut");
        let number = 1.130_993_7_f32;
        assert!(f64::from(number) == 1.130_993_723_869_323_7);
        let table = Table::from_columns(vec![vec![number, number.next_up()]]).expect("one column");
        assert_eq!(forest.predict(&table), Ok(vec![1.0, 0.0]));
    }

    #[test]
    fn a_circle_is_refused() {
        let text = r#"{"features": 1, "trees": [{"children_left": [0, -1], "children_right": [1, -1],
            "feature": [0, -2], "threshold": [0.5, -2.0], "value": [0.5, 0.5],
            "weighted_n_node_samples": [2.0, 1.0]}]}"#;
        assert!(matches!(Forest::from_scikit_learn(text), Err(ScikitLearnError::Inconsistent(_))));
        let other = Forest::from_scikit_learn("[]");
        assert!(matches!(other, Err(ScikitLearnError::NotExported(_))));
    }
}
