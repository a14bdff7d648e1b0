//! The test dependency graph of one test, as a value that can be drawn.

mod dot;
mod test_graph;

pub use dot::Dot;
pub use test_graph::{
    CalledCode, CodeLine, GraphAssertion, GraphEdge, GraphNode, GraphPath, TestGraph, ValueKind,
};
pub(crate) use test_graph::{beginning, file_name};
