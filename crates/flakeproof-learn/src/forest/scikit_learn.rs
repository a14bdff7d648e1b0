//! Forests that scikit-learn grew, from JSON: `evaluation/forests/export.py` writes it.
//!
//! scikit-learn compares 32-bit numbers with 64-bit thresholds. A threshold becomes the greatest
//! 32-bit number that is not above it, with which all comparisons come out the same.

use serde::Deserialize;

use super::tree::{MOST_FEATURES, MOST_NODES, Node, Tree};
use super::trees::Forest;

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
    use proptest::prelude::*;

    use super::super::table::Table;
    use super::*;

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
