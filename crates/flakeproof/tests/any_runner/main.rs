//! Runners that are driven by their command line and understood by their report, for real.

mod described;
mod dynamic;
mod go;
mod native;
mod node;
mod scene;
