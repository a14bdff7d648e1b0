//! The book's table of where each command was tried, written from what `evaluation/install/smoke` kept.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::root;
use crate::written_table::WrittenTable;

const WRITTEN: WrittenTable = WrittenTable { page: "docs/guides/install.md", command: "platforms" };
/// The trials.
const KEPT: &str = "evaluation/install/platforms.json";

/// The platforms of the table, in its order: our target, and what people call it.
const PLATFORMS: [(&str, &str); 7] = [
    ("x86_64-unknown-linux-gnu", "Linux x86-64"),
    ("x86_64-unknown-linux-musl", "Linux x86-64, musl"),
    ("aarch64-unknown-linux-gnu", "Linux ARM"),
    ("aarch64-unknown-linux-musl", "Linux ARM, musl"),
    ("x86_64-pc-windows-gnu", "Windows"),
    ("aarch64-apple-darwin", "macOS ARM"),
    ("x86_64-apple-darwin", "macOS x86-64"),
];

/// Write the table into its page.
pub(crate) fn write() -> Result<(), String> {
    WRITTEN.write(&table(&kept()?))
}

/// Fail where the page says something else than the trials.
pub(crate) fn check() -> Result<(), String> {
    WRITTEN.check(&table(&kept()?))
}

/// What the trials kept, as a document.
fn kept() -> Result<Value, String> {
    let text =
        std::fs::read_to_string(root().join(KEPT)).map_err(|error| format!("{KEPT}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{KEPT}: {error}"))
}

/// One row for each command.
fn table(kept: &Value) -> String {
    let names = |value: &Value| -> BTreeSet<String> {
        let names = value.as_array().into_iter().flatten();
        names.filter_map(|it| it.as_str().map(str::to_owned)).collect()
    };
    let platforms = PLATFORMS.map(|(target, _)| &kept["platforms"][target]);
    let mut lines = vec![
        row("command", &PLATFORMS.map(|(_, name)| name.to_owned())),
        row("---", &PLATFORMS.map(|_| "---".to_owned())),
    ];
    for command in kept["commands"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let cells = platforms.map(|platform| {
            let has = |field: &str| names(&platform[field]).contains(command);
            match platform.is_null() || has("fails") {
                true => "no",
                false if has("works") => "run here",
                false => "built only",
            }
            .to_owned()
        });
        lines.push(row(&format!("`{command}`"), &cells));
    }
    lines.push(row(
        "run by",
        &platforms.map(|platform| platform["by"].as_str().unwrap_or("nothing").to_owned()),
    ));
    lines.concat()
}

fn row(first: &str, cells: &[String; PLATFORMS.len()]) -> String {
    format!("| {first} | {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_not_tried_is_built_only_and_what_is_not_built_is_not_there() {
        let kept = json!({ "commands": ["run", "serve", "cause"], "platforms": {
            "x86_64-unknown-linux-gnu": { "by": "itself", "works": ["run"], "fails": ["cause"] },
        } });
        let table = table(&kept);
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows[2].starts_with("| `run` | run here | no | no |"), "{table}");
        assert!(rows[3].starts_with("| `serve` | built only | no |"), "{table}");
        assert!(rows[4].starts_with("| `cause` | no | no |"), "{table}");
        assert!(rows[5].starts_with("| run by | itself | nothing |"), "{table}");
    }
}
