//! Learns from labelled tests: nearest neighbours, folds, scores and the model file.
//!
//! Nothing here reads files or runs a test: values in, values out.

pub mod balance;
pub mod boost;
pub mod cannier;
mod chance;
pub mod ensemble;
pub mod evaluate;
pub mod flast;
pub mod forest;
pub mod knn;
pub mod labelled;
pub mod linear;
pub mod model_file;
pub mod network;

pub use chance::Chance;

/// A count as a real number. Counts of tests and terms are far below 2^52.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}
