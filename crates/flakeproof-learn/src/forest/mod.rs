//! Random forests and extra trees for two classes, with probabilities and exact explanations.
//!
//! Own code, because no maintained crate grows both kinds with probabilities, at scikit-learn's
//! speed, and explains them: the best one found grows random forests alone, at half the speed.

mod best_cut;
mod cut;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod params;
mod shap;
mod shap_walk;
mod table;
mod tree;
mod trees;

pub use params::{ClassWeight, FeaturesPerSplit, ForestFitError, ForestKind, ForestParams};
pub use shap::{MOST_EXPLAINED, Shap};
pub use table::{Table, TableError};
pub(crate) use tree::MOST_FEATURES;
pub use trees::{AskError, Forest, KIND, ScikitLearnError};
