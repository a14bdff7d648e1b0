//! Folds and scores: every number names the folds it was measured on.

mod calibration;
mod features;
pub mod folds;
mod held_out;
mod scores;
mod sigmoid;

pub use calibration::Isotonic;
pub use features::{Dropped, Ranked, drop_features, information_gain, ranked, ranked_by_shap};
pub use folds::Fold;
pub use held_out::HeldOut;
pub use scores::{Confusion, average_precision, brier, roc_auc};
pub use sigmoid::Sigmoid;
