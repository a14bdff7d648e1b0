//! What surrounds the tests of a Rust project and may change without its sources.

use std::collections::{BTreeMap, BTreeSet};

use flakeproof_core::Surroundings;

use super::found::Found;
use super::session::Session;

/// The toolchain, the locked dependencies, the features and the variables.
pub(super) fn of(session: &Session, found: &Found) -> Surroundings {
    let mut runtime = vec![found.toolchain.clone()];
    let options = session.command.only_building();
    if !options.is_empty() {
        runtime.push(format!("`{}`", options.join(" ")));
    }
    let features: BTreeSet<&str> = found
        .artifacts
        .iter()
        .filter(|artifact| artifact.is_test())
        .flat_map(|artifact| artifact.features.iter().map(String::as_str))
        .collect();
    if !features.is_empty() {
        let features: Vec<&str> = features.into_iter().collect();
        runtime.push(format!("the features {}", features.join(", ")));
    }
    runtime.extend(session.settings.timeout.map(|limit| format!("a time limit of {limit:?}")));
    let lock = std::fs::read(found.metadata.workspace_root.join("Cargo.lock")).unwrap_or_default();
    Surroundings { runtime, packages: digest(&lock), variables: variables() }
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
