//! JSON documents, for programs: what a run, a hunt or a proof found out, what a model predicts,
//! how data flows through a test, and all that is known about a project's tests.

mod document;
mod findings;
mod fix;
mod graph;
mod hunt;
mod overview;
mod predictions;
mod test;

pub use document::Json;
pub(crate) use document::seconds;
pub use findings::json_schema;
pub use fix::verify_schema;
pub use graph::graph_schema;
pub use hunt::hunt_schema;
pub use overview::{OverviewDocument, overview_document, overview_schema};
pub use predictions::prediction_schema;
pub use test::{TestDocument, test_document, test_schema};
