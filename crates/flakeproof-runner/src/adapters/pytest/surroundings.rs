//! What surrounds the tests of a Python project and may change without it.

use std::time::Duration;

use flakeproof_core::Surroundings;

use crate::agent::protocol::Hello;
use crate::variables::{digest, digests_of_variables};

/// The surroundings of an interpreter that introduced itself.
///
/// The options belong to them: with `-W error` or a time limit a test may fail that passed before.
pub(super) fn of(hello: &Hello, options: &[String], timeout: Option<Duration>) -> Surroundings {
    let mut runtime =
        vec![format!("Python {}", hello.runtime), format!("pytest {}", hello.framework)];
    if !options.is_empty() {
        runtime.push(format!("`{}`", options.join(" ")));
    }
    runtime.extend(timeout.map(|limit| format!("a time limit of {limit:?}")));
    Surroundings { runtime, packages: packages_in(&hello.path), variables: digests_of_variables() }
}

/// A digest of the names of all installed packages, which carry their versions.
fn packages_in(path: &[String]) -> String {
    let mut names: Vec<String> = path
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".dist-info") || name.ends_with(".egg-info"))
        .collect();
    names.sort_unstable();
    names.dedup();
    digest(names.join("\n").as_bytes())
}
