//! Why a forest says what it says: exact path-dependent SHAP values (Lundberg et al., 2020).
//!
//! The value of a feature is its Shapley value in the game where a tree is asked with some features
//! known; at a cut on an unknown feature both ways are taken, weighted by the training rows that went
//! there. The textbook's algorithm 2 takes O(leaves · depth²) for a row. This one does less:
//!
//! * The Shapley value is an integral (Owen, 1972): with each feature known with probability t, a
//!   leaf counts `v · Π (t·o + (1 − t)·z)` over the features on its path, where o is 1 if the row
//!   agrees with all cuts on the feature and 0 otherwise, and z is the product of the shares of
//!   training rows that went along. The value of feature i is the integral over t of that product
//!   with the factor of i replaced by `o − z`. It is a polynomial of a degree below the number m of
//!   features on the path, so m/2 points t give it exactly (Gauss and Legendre). A cut then costs a
//!   few products for each point, and nothing depends on the depth.
//! * Once the row disagrees with the path on a feature, further cuts on that feature only share out
//!   training rows. Where this holds for all cuts of a subtree, its mean stands for all its leaves.
//! * Rows go through a tree together, so that what depends on the tree alone is computed once.

use rayon::prelude::*;

use super::shap_walk::{Points, Walk};
use super::table::Table;
use super::tree::Tree;
use super::trees::{AskError, Forest};

/// The widest table that can be explained.
pub const MOST_EXPLAINED: usize = 64;

/// How features moved the answers of a forest.
#[derive(Debug, Clone, PartialEq)]
pub struct Shap {
    /// The mean answer over the training rows. For each row, it and the row's values add up to what
    /// the forest predicts.
    pub base: f64,
    /// How many values each row has: one for each feature.
    pub features: usize,
    /// The values, row by row.
    pub values: Vec<f64>,
}

impl Shap {
    /// The values of a row, one for each feature.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.features..(row + 1) * self.features]
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.features).unwrap_or(0)
    }
}

/// The most rows that go through a tree together.
const BLOCK: usize = 128;
/// So many rows are explained before the next ones, which bounds the memory.
const ROWS: usize = 4096;
/// So many trees are summed up by one thread. The same on every machine, because the order of a sum
/// changes its last digits.
const TREES: usize = 4;

impl Forest {
    /// How each feature moved the answer for each row.
    ///
    /// # Errors
    /// When the table has other columns than the one the forest learned from, or too many.
    pub fn shap(&self, table: &Table) -> Result<Shap, AskError> {
        self.check(table)?;
        if self.features > MOST_EXPLAINED {
            let (found, most) = (self.features, MOST_EXPLAINED);
            return Err(AskError::TooWide { found, most });
        }
        let cells = table.row_major();
        let mut values = vec![0.0; table.rows() * self.features];
        let trees = crate::real(self.trees.len());
        let parts = values.chunks_mut(ROWS * self.features);
        for (values, cells) in parts.zip(cells.chunks(ROWS * self.features)) {
            let sums = self.trees.par_chunks(TREES).map(|trees| self.summed(trees, cells));
            for sum in sums.collect::<Vec<_>>() {
                values.iter_mut().zip(sum).for_each(|(value, sum)| *value += sum / trees);
            }
        }
        let roots = self.trees.par_iter().map(|tree| Weighed::new(tree).mean[0]);
        let base = roots.collect::<Vec<_>>().iter().sum::<f64>() / trees;
        Ok(Shap { base, features: self.features, values })
    }

    /// What some trees say about some rows, summed up.
    fn summed(&self, trees: &[Tree], cells: &[f32]) -> Vec<f64> {
        let mut values = vec![0.0; cells.len()];
        for tree in trees {
            let weighed = Weighed::new(tree);
            let blocks = values.chunks_mut(BLOCK * self.features);
            for (values, cells) in blocks.zip(cells.chunks(BLOCK * self.features)) {
                self.explain(&weighed, cells, values);
            }
        }
        values
    }

    /// Add what one tree says about some rows.
    fn explain(&self, tree: &Weighed<'_>, cells: &[f32], values: &mut [f64]) {
        let points = quadrature_points(tree.most_features.div_ceil(2));
        match points.len() {
            0 => {}
            1..=4 => self.explain_at::<4>(tree, &points, cells, values),
            5 | 6 => self.explain_at::<6>(tree, &points, cells, values),
            7 | 8 => self.explain_at::<8>(tree, &points, cells, values),
            _ => self.explain_at::<10>(tree, &points, cells, values),
        }
    }

    fn explain_at<const N: usize>(
        &self,
        tree: &Weighed<'_>,
        points: &[(f64, f64)],
        cells: &[f32],
        values: &mut [f64],
    ) {
        for some in points.chunks(N) {
            let points = Points::<N>::new(some);
            Walk::new(tree, self.features, points).explain(cells, values);
        }
    }
}

/// A tree with what its training rows say about each node.
pub(super) struct Weighed<'a> {
    pub(super) tree: &'a Tree,
    /// The weight of the training rows of each node.
    pub(super) cover: Vec<f64>,
    /// Their positive share.
    pub(super) mean: Vec<f64>,
    /// The features that are cut in the node or below.
    pub(super) below: Vec<u64>,
    /// The most different features on a way to a leaf.
    most_features: usize,
}

impl<'a> Weighed<'a> {
    fn new(tree: &'a Tree) -> Self {
        let count = tree.nodes.len();
        let (mut cover, mut mean) = (vec![0.0; count], vec![0.0; count]);
        let (mut below, mut above) = (vec![0u64; count], vec![0u64; count]);
        // Children lie after their parents.
        for (place, node) in tree.nodes.iter().enumerate().rev() {
            let child = node.child() as usize;
            if node.is_leaf() {
                cover[place] = tree.leaf_covers[node.leaf_number()];
                mean[place] = tree.leaf_values[node.leaf_number()];
            } else {
                let [left, right] = [child, child + 1].map(|child| cover[child]);
                cover[place] = left + right;
                mean[place] = (left * mean[child] + right * mean[child + 1]) / (left + right);
                below[place] = below[child] | below[child + 1] | 1 << node.feature();
            }
        }
        for (place, node) in tree.nodes.iter().enumerate() {
            let child = node.child() as usize;
            if !node.is_leaf() {
                let known = above[place] | 1 << node.feature();
                above[child] = known;
                above[child + 1] = known;
            }
        }
        let most_features = above.iter().map(|set| set.count_ones()).max().unwrap_or(0) as usize;
        Self { tree, cover, mean, below, most_features }
    }

    /// Whether both children of a node are leaves.
    pub(super) fn is_last_cut(&self, place: usize) -> bool {
        let node = self.tree.nodes[place];
        let left = node.child() as usize;
        !node.is_leaf() && self.below[left] | self.below[left + 1] == 0
    }
}

/// Gauss and Legendre's points between 0 and 1 and their weights; the weighted sum of the values of a polynomial of degree
/// at most `2 · points − 1` is its integral from 0 to 1.
fn quadrature_points(count: usize) -> Vec<(f64, f64)> {
    let size = crate::real(count);
    let root = |number: usize| {
        let angle = std::f64::consts::PI * (crate::real(number) + 0.75) / (size + 0.5);
        let mut at = angle.cos();
        // Newton's steps double the digits; a hundred are far more than are needed.
        for _ in 0..100 {
            let (value, slope) = legendre(count, at);
            let step = value / slope;
            at -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        let (_, slope) = legendre(count, at);
        let weight = 2.0 / ((1.0 - at * at) * slope * slope);
        (f64::midpoint(at, 1.0), weight / 2.0)
    };
    (0..count).map(root).collect()
}

/// The value and the slope of a Legendre polynomial.
fn legendre(degree: usize, at: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, 1.0);
    for number in 0..degree {
        let number = crate::real(number);
        let next = ((2.0 * number + 1.0) * at * value - number * before) / (number + 1.0);
        (before, value) = (value, next);
    }
    (value, crate::real(degree) * (at * value - before) / (at * at - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for count in 1..=20 {
            for power in 0..2 * count {
                let power = i32::try_from(power).expect("a small power");
                let sum: f64 = quadrature_points(count)
                    .iter()
                    .map(|(at, weight)| weight * at.powi(power))
                    .sum();
                assert!((sum - 1.0 / f64::from(power + 1)).abs() < 1e-13, "{count} {power} {sum}");
            }
        }
    }
}
