//! Where a coding agent finds the server, if it does not start it itself.

use std::io::Write as _;

use super::terminal::{DIM, STRONG};

/// Say where the server is, and with which token, if that was made for this time and nobody knows it yet.
pub(crate) fn served_mcp(url: &str, made: Option<&str>, may_run: bool) {
    let mut out = anstream::stdout().lock();
    let _ = writeln!(out, "{STRONG}{url}{STRONG:#}");
    if let Some(token) = made {
        let _ = writeln!(out, "Authorization: Bearer {token}");
    }
    let _ = out.flush();
    let can = if may_run { "can read the history and run tests" } else { "can read the history" };
    let _ = writeln!(
        anstream::stderr().lock(),
        "{DIM}who reaches this address {can}; what is sent is not encrypted; Ctrl-C stops it{DIM:#}"
    );
}
