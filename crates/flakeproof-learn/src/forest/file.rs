//! Forests in model files: the arrays of their trees one after the other.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::node::{MOST_FEATURES, Node, Tree};
use super::trees::Forest;
use crate::model_file::{Arrays, ModelFile, ModelFileError};

/// The kind of these model files.
pub const KIND: &str = "forest";

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
    pub(super) fn of_checked_trees(trees: Vec<Tree>, features: usize) -> Result<Self, String> {
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
