//! A backup job takes the till for itself until it is done; the lock lies outside the project.

use std::fs::OpenOptions;
use std::path::Path;

const LOCK: &str = "../../outside/till.lock";

/// Take the till.
pub fn start() {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(LOCK)
        .unwrap();
}

/// Give the till back.
pub fn finish() {
    let _ = std::fs::remove_file(LOCK);
}

/// Use the till; it fails while the backup job has it.
pub fn open_till() -> u16 {
    if Path::new(LOCK).exists() {
        panic!("the till is in use");
    }
    8080
}
