//! Who may know whom (design, section 2): checked against what cargo says.

use serde_json::Value;

use crate::cargo;

/// The arrows of the picture, by short name. Everyone may know `core`.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("flakeproof", &["detect", "lab", "learn", "report", "runner", "store", "syntax", "web"]),
    ("core", &[]),
    ("detect", &["runner"]),
    ("lab", &["detect", "learn"]),
    ("learn", &["syntax"]),
    ("report", &[]),
    ("runner", &[]),
    ("store", &[]),
    ("syntax", &[]),
    ("testkit", &["runner"]),
    ("web", &["report", "store"]),
];

/// Fail on an arrow that is not in the picture. Dependencies of tests do not count.
pub(crate) fn check() -> Result<(), String> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| error.to_string())?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = short(package["name"].as_str().unwrap_or_default());
        if name == "xtask" {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(of, _)| *of == name) else {
            wrong.push(format!("{name} is not in the picture"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let is_for_tests = dependency["kind"] == "dev";
            let target = dependency["name"].as_str().unwrap_or_default();
            let is_ours = target.starts_with("flakeproof-");
            let target = short(target);
            if is_ours && !is_for_tests && target != "core" && !allowed.contains(&target) {
                wrong.push(format!("{name} must not know {target}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn short(name: &str) -> &str {
    name.strip_prefix("flakeproof-").unwrap_or(name)
}
