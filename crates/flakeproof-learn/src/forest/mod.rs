//! Random forests and extra trees for two classes, with probabilities and exact explanations.
//!
//! Own code, because no maintained crate grows both kinds with probabilities, at scikit-learn's
//! speed, and explains them: the best one found grows random forests alone, at half the speed.

mod best_cut;
mod file;
mod gain;
mod grow;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod node;
mod params;
mod quadrature;
mod random_cut;
mod scikit_learn;
mod shap;
mod shap_edge;
mod shap_walk;
mod stream;
mod table;
mod trees;

pub use file::KIND;
pub(crate) use node::MOST_FEATURES;
pub use params::{ClassWeight, FeaturesPerSplit, FitError, ForestParams, Kind};
pub use scikit_learn::ScikitLearnError;
pub use shap::{MOST_EXPLAINED, Shap};
pub use table::{Table, TableError};
pub use trees::{AskError, Forest};
