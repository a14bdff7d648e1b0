//! Small subjects with one of everything, for the tests of every format.

mod cause;
mod findings;
mod overview;
mod source;

pub(crate) use cause::cause;
pub(crate) use findings::{Test, findings, findings_of, hunt_findings, passed};
pub(crate) use overview::{BROKEN, ONLY_HUNTED, ONLY_PREDICTED, WORST, large_overview, overview};
pub(crate) use source::{graph, long_graph, predictions, suspects};
