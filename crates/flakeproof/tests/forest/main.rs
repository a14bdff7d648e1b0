//! `flakeproof train forest`, `evaluate forest`, `evaluate cannier` and `explain` with a forest, as
//! a user runs them.
//!
//! How features are measured is asked in `features.rs` and `features_command.rs`.

mod bad_labels;
mod bad_tables;
mod cannier;
mod evaluate;
mod explain;
mod model_file;
mod new_user;
mod program;
mod rare_tests;
mod tables;
mod train;
