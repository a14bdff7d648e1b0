//! `flakeproof ingest` and `flakeproof validate` on reports that real tools write.

mod builds;
mod history;
mod languages;
mod mutated;
mod scene;
mod scripts;
mod wrong;
