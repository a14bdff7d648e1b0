//! JSON documents, for programs: what a run, a hunt or a proof found out, what a model predicts,
//! and how data flows through a test.

mod document;
mod findings;
mod fix;
mod graph;
mod hunt;
mod predictions;

pub use document::Json;
pub use findings::json_schema;
pub use fix::verify_schema;
pub use graph::graph_schema;
pub use hunt::hunt_schema;
pub use predictions::prediction_schema;
