//! What surrounds the tests of any runner and may change without them.

use std::collections::BTreeMap;

use flakeproof_core::Surroundings;

use super::session::Session;

/// The command, the limit, and the variables. Installed packages are not known: what a project
/// locks is part of it, and a change of that is a change of the project.
pub(super) fn of(session: &Session) -> Surroundings {
    let mut runtime = vec![format!("`{}`", session.runner.typed.options.join(" "))];
    runtime.extend(session.settings.timeout.map(|limit| format!("a time limit of {limit:?}")));
    Surroundings { runtime, packages: String::new(), variables: variables() }
}

/// A digest of each variable's value: enough to see that it changed, and no secret is kept.
fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let digest = || blake3::hash(value.as_encoded_bytes()).to_hex()[..16].to_owned();
            (!name.starts_with("FLAKEPROOF")).then(|| (name, digest()))
        })
        .collect()
}
