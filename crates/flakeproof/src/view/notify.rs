//! What a webhook was told.

use std::io::Write as _;

use super::terminal::{DIM, count};

/// Say what was sent.
pub(crate) fn notified(items: usize, server: &str) {
    let mut out = anstream::stdout().lock();
    let _ = writeln!(out, "{} sent to {server}", count(items, "item"));
}

/// Say that there was nothing to be sent.
pub(crate) fn nothing_new(server: &str) {
    let mut out = anstream::stdout().lock();
    let _ = writeln!(out, "nothing new {DIM}({server} was told nothing){DIM:#}");
}
