//! JSON documents, for programs: what a run, a hunt or a proof found out, what a model predicts,
//! how data flows through a test, and all that is known about a project's tests.

mod cause;
mod cluster;
mod document;
mod findings;
mod fix;
mod hunt;
mod overview;
mod patch;
mod source;

pub use cause::cause_schema;
pub use cluster::ClusterDocument;
pub use document::Json;
pub(crate) use document::seconds;
pub use findings::json_schema;
pub use fix::verify_schema;
pub use hunt::hunt_schema;
pub use overview::{
    OverviewDocument, TestDocument, overview_document, overview_schema, test_document, test_schema,
};
pub use patch::fix_schema;
pub use source::{graph_schema, prediction_schema};
