//! `flakeproof predict`, `explain`, `train flast` and `evaluate flast`, as a user runs them.
//!
//! What the numbers are on real data is asked in `flast_real_data.rs`.

mod evaluate;
mod evaluate_plan;
mod explain;
mod labelled;
mod model_file;
mod predict;
mod predict_bad_input;
mod predict_diff;
mod predict_languages;
mod predict_reports;
mod program;
mod train;
mod train_bad_input;
