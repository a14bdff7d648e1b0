//! Folds and scores: every number names the folds it was measured on.

pub mod folds;
mod scores;

pub use folds::Fold;
pub use scores::{Confusion, HeldOut, Isotonic, average_precision, brier, lowest_of_top, roc_auc};
