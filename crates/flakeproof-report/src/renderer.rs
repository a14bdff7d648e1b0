//! What every format has in common.

use flakeproof_core::Findings;

/// A format that findings can be written in.
///
/// A renderer is a value: what it needs to know besides the findings, its fields say.
pub trait Renderer {
    /// The findings in this format, complete, ready to be written to a file or to stdout.
    ///
    /// # Errors
    ///
    /// When the format's writer refuses a value.
    fn render(&self, findings: &Findings) -> Result<Vec<u8>, Error>;
}

/// Why findings could not be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The JSON writer refused a value.
    #[error("cannot write the findings as JSON")]
    Json(#[from] serde_json::Error),
    /// The XML writer refused a value.
    #[error("cannot write the findings as JUnit XML")]
    Junit(#[from] quick_junit::SerializeError),
}
