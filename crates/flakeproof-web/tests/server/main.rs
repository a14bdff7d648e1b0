//! The real server on a real port, asked by real clients, polite and other.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what a test needs besides its claim fails it by panicking"
)]

mod asked;
mod hostile;
mod limits;
mod overview;
mod scene;
