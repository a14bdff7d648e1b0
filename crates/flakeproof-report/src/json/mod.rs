//! JSON documents, for programs: what a run, a hunt or a proof found out, and what a
//! model predicts.

mod document;
mod findings;
mod fix;
mod hunt;
mod predictions;

pub use document::Json;
pub use findings::json_schema;
pub use fix::verify_schema;
pub use hunt::hunt_schema;
pub use predictions::prediction_schema;
