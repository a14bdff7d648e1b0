//! Text for people on its way to the terminal: nothing that a test wrote moves the cursor, changes
//! the direction of a line, or is a command for a CI service that reads the log.

use std::io::{Result, Write};

use flakeproof_core::foreign_text::in_lines;

/// Print to stdout.
pub(super) fn out(text: &str) -> Result<()> {
    anstream::stdout().lock().write_all(in_lines(text).as_bytes())
}

/// Print to stderr.
pub(super) fn err(text: &str) -> Result<()> {
    anstream::stderr().lock().write_all(in_lines(text).as_bytes())
}
