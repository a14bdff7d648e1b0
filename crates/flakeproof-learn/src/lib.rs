//! Learns from tests whose flakiness is known, and says of other tests how likely they are flaky.
//!
//! - What is learned from: [`labelled`] tests with their source, or the features of
//!   [`cannier::MeasuredTest`]s.
//! - What papers propose: [`flast`] (nearest neighbours by words), [`cannier`] (forests over
//!   features, and where to stop believing them), [`network`] (PEELER: contextual paths).
//! - What the program asks by default: the [`ensemble`] of several of them.
//! - What they are made of: [`knn`], [`linear`], [`forest`], [`boost`], and [`balance`] for rare
//!   classes.
//! - What is known of a model's worth when it has learned: [`evaluate`]; and where it is kept:
//!   [`model_file`].
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
