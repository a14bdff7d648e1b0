//! Folds and scores: every number names the folds it was measured on.

mod calibration;
pub mod folds;
mod held_out;
mod scores;

pub use calibration::Isotonic;
pub use folds::Fold;
pub use held_out::HeldOut;
pub use scores::{Confusion, average_precision, brier, roc_auc};
