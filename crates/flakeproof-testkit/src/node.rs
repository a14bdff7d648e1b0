//! Packages of Node, fetched once and kept under `target/`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::python::{Lock, target};

/// The version of jest that tests run on.
pub const JEST: &str = "jest@29.7.0";
/// The version of mocha that tests run on.
pub const MOCHA: &str = "mocha@11.8.0";
/// The version of Playwright that tests run on, without a browser.
pub const PLAYWRIGHT: &str = "@playwright/test@1.56.1";
/// The version of vitest that tests run on.
pub const VITEST: &str = "vitest@3.2.4";

/// A `node_modules` folder with some packages, or why there is none.
///
/// # Errors
/// When npm is not on this machine or the packages cannot be fetched.
pub fn modules(packages: &[&str]) -> Result<PathBuf, String> {
    let name = &blake3::hash(packages.join("\0").as_bytes()).to_hex()[..12];
    let folder = target().join("node").join(name);
    // Several test processes may want the same one: whoever holds the lock makes it.
    let _lock = Lock::take(&target().join("node").join(format!("{name}.lock")))?;
    if !folder.join("complete").exists() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        std::fs::write(folder.join("package.json"), "{}").map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund"]).args(packages);
        let output = npm.current_dir(&folder).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("npm: {error}"))?;
        if !output.status.success() {
            return Err(format!("npm: {}", String::from_utf8_lossy(&output.stderr)));
        }
        std::fs::write(folder.join("complete"), "").map_err(|error| error.to_string())?;
    }
    Ok(folder.join("node_modules"))
}
