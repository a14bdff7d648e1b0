//! What reproduces papers and measures us. Nothing that a user runs day by day needs it: `evaluate`
//! does, and so do the tables in `evaluation/`.
//!
//! - [`validation`]: what models that read source are worth on tests that they have not learned
//!   from, by a [`Protocol`](validation::Protocol).
//! - [`ablation`]: what a model loses when a part of what it reads is taken away.
//! - [`given_tables`], [`trade`], [`pairwise`]: what it costs to find flaky tests when a model
//!   decides which of them are run (CANNIER).
//! - [`planner_benchmark`], [`baseline`], [`comparison`]: the planner of a hunt beside others, on tests
//!   whose failure rate is known.
//!
//! Like the models that it measures, it reads no file and runs no test: values in, values out.

pub mod ablation;
pub mod baseline;
pub mod comparison;
pub mod given_tables;
pub mod pairwise;
pub mod planner_benchmark;
pub mod trade;
pub mod validation;

/// A count as a real number. Counts of tests are far below 2^52.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn real(count: usize) -> f64 {
    count as f64
}
