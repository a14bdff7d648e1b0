//! Digests of what surrounds tests: enough to see that it changed, and no secret is kept.

use std::collections::BTreeMap;

/// A digest of each environment variable's value, by name.
pub(crate) fn digests_of_variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let is_ours = name.starts_with("FLAKEPROOF");
            (!is_ours).then(|| (name, digest(value.as_encoded_bytes())))
        })
        .collect()
}

/// A short digest.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}
