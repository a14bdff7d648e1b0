//! What every format has in common.

use flakeproof_core::Findings;

/// A format that findings, or another subject, can be written in.
///
/// A renderer is a value: what it needs to know besides the subject, its fields say.
pub trait Renderer<Subject = Findings> {
    /// The subject in this format, complete, ready to be written to a file or to stdout.
    ///
    /// # Errors
    ///
    /// When the format's writer refuses a value.
    fn render(&self, subject: &Subject) -> Result<Vec<u8>, Error>;
}

/// Why a report could not be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The JSON writer refused a value.
    #[error("cannot write the report as JSON")]
    Json(#[from] serde_json::Error),
    /// The XML writer refused a value.
    #[error("cannot write the findings as JUnit XML")]
    Junit(#[from] quick_junit::SerializeError),
    /// The template engine refused a value.
    #[error("cannot write the report as HTML")]
    Html(#[from] minijinja::Error),
}
