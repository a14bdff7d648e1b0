//! What `touches` calls.

/// A price.
pub fn price() -> u32 {
    40
}
