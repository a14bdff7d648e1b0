//! What `init` would write, and what it wrote.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use super::terminal::{DIM, GOOD, STRONG, count};

/// Show a file before it is written.
pub(crate) fn draft(path: &Path, text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{STRONG}{}{STRONG:#}\n", path.display());
    for line in text.lines() {
        let _ = writeln!(err, "{DIM}  {line}{DIM:#}");
    }
    let _ = writeln!(err);
}

/// Say that a file is there already.
pub(crate) fn left_alone(path: &Path) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{DIM}{} is there already and is left alone{DIM:#}", path.display());
}

/// Ask whether to write a file. `None` where nobody can be asked.
pub(crate) fn may_write(path: &Path) -> Option<bool> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return None;
    }
    let mut err = anstream::stderr().lock();
    let _ = write!(err, "write {}? [y/N] ", path.display());
    let _ = err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    Some(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Say that this was only a look.
pub(crate) fn nothing_written() {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{DIM}nothing was written; `flakeproof init --yes` does it{DIM:#}");
}

/// Say what was written and what to do next.
pub(crate) fn initialised(written: usize, command: &[String], note: Option<&str>) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{GOOD}{} written{GOOD:#}", count(written, "file"));
    if let Some(note) = note.filter(|_| written > 0) {
        let _ = writeln!(err, "{STRONG}then{STRONG:#}:  {note}");
    }
    let command = command.join(" ");
    let _ = writeln!(err, "{STRONG}next{STRONG:#}:  flakeproof run -- {command}");
}
