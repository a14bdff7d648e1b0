//! Small subjects with one of everything, for the tests of every format.

mod findings;
mod graph;
mod hunt;
mod large_overview;
mod overview;
mod predictions;

pub(crate) use findings::{Test, findings, of, passed};
pub(crate) use graph::{graph, long_graph};
pub(crate) use hunt::hunt_findings;
pub(crate) use large_overview::large_overview;
pub(crate) use overview::{ONLY_HUNTED, ONLY_PREDICTED, WORST, overview};
pub(crate) use predictions::{predictions, suspects};
