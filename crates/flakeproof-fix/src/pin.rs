//! What is pinned for a test, where a run showed that it passes then.

/// What is pinned for a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pin {
    /// The time zone, by its name: `UTC`.
    Zone(String),
    /// The locale: `C.UTF-8`, or the name of a constant of Java's `Locale`.
    Locale(String),
    /// The seed of random numbers.
    Seed(u32),
}
