//! JSON documents, for programs: what a run found out, and what a model predicts.

mod document;
mod findings;
mod predictions;

pub use document::Json;
pub use findings::json_schema;
pub use predictions::prediction_schema;
