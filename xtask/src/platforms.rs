//! The book's table of where each command was tried, written from what `evaluation/install/smoke` kept.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::root;

/// Where the table is.
const PAGE: &str = "docs/guides/install.md";
/// What the trials kept.
const KEPT: &str = "evaluation/install/platforms.json";

/// Between these two lines its page is written by this program.
const BEGIN: &str = "<!-- platforms: written by `cargo xtask platforms` -->\n";
const END: &str = "<!-- end of platforms -->\n";

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
    let path = root().join(PAGE);
    let (_, wanted) = page()?;
    std::fs::write(&path, wanted).map_err(|error| format!("{}: {error}", path.display()))
}

/// Fail where the page says something else than the trials.
pub(crate) fn check() -> Result<(), String> {
    let (there, wanted) = page()?;
    match there == wanted {
        true => Ok(()),
        false => Err("the book's table of platforms is old: run `cargo xtask platforms`".into()),
    }
}

/// The page as it is, and as it should be.
fn page() -> Result<(String, String), String> {
    let read = |name: &str| {
        std::fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let (there, kept) = (read(PAGE)?, read(KEPT)?);
    let kept: Value = serde_json::from_str(&kept).map_err(|error| format!("{KEPT}: {error}"))?;
    let wanted = there
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)))
        .map(|(before, after)| format!("{before}{BEGIN}\n{}\n{END}{after}", table(&kept)))
        .ok_or_else(|| format!("{PAGE} has no place for the table of platforms"))?;
    Ok((there, wanted))
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
