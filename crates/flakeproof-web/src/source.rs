//! Where the server gets what it shows.

use flakeproof_core::Overview;

/// What the server asks for what it shows. It is asked on threads that may wait.
pub trait Source: Send + Sync + 'static {
    /// What tells one state of the history from another, cheap enough to ask at every request.
    ///
    /// # Errors
    /// When the history cannot be reached.
    fn stamp(&self) -> Result<Stamp, SourceError>;

    /// All that is known, as it is now.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn overview(&self) -> Result<Overview, SourceError>;
}

/// A state of the history. While it stays the same, nothing is read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp(pub String);

/// Why the history cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SourceError {
    /// What happened and where.
    pub what: String,
    /// What to do next.
    pub next: String,
}
