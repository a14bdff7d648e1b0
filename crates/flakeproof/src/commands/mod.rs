//! One file or folder per command, each thin: ask the rooms, hand the answer to `view`.

mod changed_tests;
mod code;
mod drawn_graph;
mod ensemble_scores;
pub(crate) mod evaluate;
pub(crate) mod explain;
mod explain_features;
pub(crate) mod features;
mod files;
mod finder_with_deadline;
mod forest_data;
mod glossary;
pub(crate) mod graph;
pub(crate) mod hunt;
pub(crate) mod ingest;
mod kept_models;
mod known;
mod labelled_sources;
pub(crate) mod list;
mod model;
mod naming;
mod network_teacher;
pub(crate) mod overview;
pub(crate) mod predict;
mod predictor;
mod project_source;
pub(crate) mod quarantine;
pub(crate) mod report;
pub(crate) mod repro;
pub(crate) mod run;
#[cfg(feature = "serve")]
pub(crate) mod serve;
mod skipped;
mod source_files;
mod sources;
pub(crate) mod store;
mod suite_sources;
mod swarm;
pub(crate) mod train;
mod training_data;
pub(crate) mod validate;
pub(crate) mod verify;
mod word_vectors;

use std::path::PathBuf;

use crate::problem::Problem;

/// The folder the program was started in.
fn current_folder() -> Result<PathBuf, Problem> {
    std::env::current_dir().map_err(|error| {
        Problem::broken(
            format!("the current folder cannot be read: {error}"),
            "change to a folder that exists",
        )
    })
}
