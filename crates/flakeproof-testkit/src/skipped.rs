//! Tests that this machine cannot run, kept by name so that a list can be printed at the end.

use std::io::Write;

use crate::python::target;

/// Note that a test is skipped, and why.
pub fn note(test: &str, why: &str) {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path());
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{test}: {why}");
    }
}

/// Every note since [`forget`].
#[must_use]
pub fn all() -> Vec<String> {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Start a new list.
pub fn forget() {
    let _ = std::fs::remove_file(path());
}

fn path() -> std::path::PathBuf {
    target().join("skipped-tests")
}
