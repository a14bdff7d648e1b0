//! What surrounds the tests of a Python project and may change without it.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::Surroundings;

use crate::agent::protocol::Hello;

/// The surroundings of an interpreter that introduced itself.
///
/// The options belong to them: with `-W error` or a time limit a test may fail that passed before.
pub(super) fn of(hello: &Hello, options: &[String], timeout: Option<Duration>) -> Surroundings {
    let mut runtime = vec![format!("Python {}", hello.python), format!("pytest {}", hello.pytest)];
    if !options.is_empty() {
        runtime.push(format!("`{}`", options.join(" ")));
    }
    runtime.extend(timeout.map(|limit| format!("a time limit of {limit:?}")));
    Surroundings { runtime, packages: packages_in(&hello.path), variables: variables() }
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

/// A digest of each variable's value: enough to see that it changed, and no secret is kept.
fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let is_ours = name.starts_with("FLAKEPROOF");
            (!is_ours).then(|| (name, digest(value.as_encoded_bytes())))
        })
        .collect()
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}
