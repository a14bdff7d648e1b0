//! What documents say of the workspace: the map in CONTRIBUTING, paths, and links.
//!
//! The map is written from what cargo, the crates, the agents and the fuzz targets say of themselves. Paths
//! that a document names in code, and files that it links to, must be there.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{cargo, root};

/// Between these two lines CONTRIBUTING is written by this program.
const BEGIN: &str = "<!-- map: written by `cargo xtask map` -->\n";
const END: &str = "<!-- end of map -->\n";

/// Where the map is.
const WITH_MAP: &str = "CONTRIBUTING.md";

/// Where a path in code begins that must be there.
const FOLDERS: [&str; 6] = ["agents/", "crates/", "evaluation/", "examples/", "fuzz/", "xtask/"];

/// Write the map.
pub(crate) fn write_map() -> Result<(), String> {
    let (_, wanted) = map_there_and_wanted()?;
    let path = root().join(WITH_MAP);
    std::fs::write(&path, wanted).map_err(|error| format!("{}: {error}", path.display()))
}

/// Fail where the map is old, or a document names what is not there.
pub(crate) fn check() -> Result<(), String> {
    let (there, wanted) = map_there_and_wanted()?;
    let mut wrong = Vec::new();
    if there != wanted {
        wrong.push(format!("the map in {WITH_MAP} is old: run `cargo xtask map`"));
    }
    for document in documents()? {
        let text = read(&document)?;
        let name = document.strip_prefix(root()).unwrap_or(&document).display().to_string();
        let paths = paths_in_code(&text).into_iter().map(|path| (path, root()));
        let beside = document.parent().unwrap_or(&document).to_path_buf();
        let links = linked_files(&text).into_iter().map(|path| (path, beside.clone()));
        for (path, from) in paths.chain(links) {
            if !from.join(path).exists() {
                wrong.push(format!("{name} names `{path}`, which is not there"));
            }
        }
    }
    wrong.extend(pages_outside_the_book()?);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Pages that the book's contents do not name.
fn pages_outside_the_book() -> Result<Vec<String>, String> {
    let book = root().join("docs");
    let contents = read(&book.join("SUMMARY.md"))?;
    let named = linked_files(&contents);
    let pages = documents()?.into_iter().filter_map(|page| {
        let page = page.strip_prefix(&book).ok()?.to_str()?.to_owned();
        let is_outside = page != "SUMMARY.md" && !named.contains(&page.as_str());
        is_outside.then(|| format!("docs/SUMMARY.md does not name `{page}`"))
    });
    Ok(pages.collect())
}

fn map_there_and_wanted() -> Result<(String, String), String> {
    let there = read(&root().join(WITH_MAP))?;
    let (before, rest) = there.split_once(BEGIN).ok_or("CONTRIBUTING has no place for the map")?;
    let (_, after) = rest.split_once(END).ok_or("the map in CONTRIBUTING has no end")?;
    let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", map()?);
    Ok((there, wanted))
}

/// One row for each crate, agent and fuzz target.
fn map() -> Result<String, String> {
    let mut rows = vec!["| | |".to_owned(), "| --- | --- |".to_owned()];
    let mut add = |path: &Path, says: &Path| -> Result<(), String> {
        let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
        rows.push(format!("| `{name}` | {} |", first_sentence(&read(says)?)));
        Ok(())
    };
    for folder in packages()? {
        let library = folder.join("src/lib.rs");
        let says = if library.exists() { library } else { folder.join("src/main.rs") };
        add(&folder, &says)?;
    }
    for agent in entries(&root().join("agents"))? {
        let says = ["README.md", "flakeproof_agent/__init__.py", "reporter.mjs"];
        let says = says.map(|name| agent.join(name)).into_iter().find(|path| path.exists());
        add(&agent, &says.ok_or_else(|| format!("{} says nothing", agent.display()))?)?;
    }
    for target in entries(&root().join("fuzz/fuzz_targets"))? {
        add(&target, &target)?;
    }
    Ok(rows.join("\n") + "\n")
}

/// The folders of the workspace's packages, as cargo tells them.
fn packages() -> Result<Vec<PathBuf>, String> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| error.to_string())?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let manifests = metadata["packages"].as_array().into_iter().flatten();
    let paths = manifests.filter_map(|it| it["manifest_path"].as_str());
    let mut folders: Vec<PathBuf> =
        paths.filter_map(|path| Path::new(path).parent()).map(Path::to_path_buf).collect();
    folders.sort();
    Ok(folders)
}

/// All documents of the workspace, those of tests and of other projects left out.
fn documents() -> Result<Vec<PathBuf>, String> {
    let mut documents =
        vec![root().join("README.md"), root().join(WITH_MAP), root().join("CHANGELOG.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(ending) if ending == "md" => documents.push(path),
                _ => {}
            }
        }
    }
    Ok(documents)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The first sentence of a file's own comment, docstring or heading.
fn first_sentence(text: &str) -> String {
    let marks: [&str; 5] = ["//!", "//", "\"\"\"", "# ", "/**"];
    let mut words = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let bare = marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim();
        words.push(bare);
        if bare.is_empty() || bare.ends_with('.') || line.starts_with('#') {
            break;
        }
    }
    let sentence = words.join(" ");
    // What pytest is told there is not for people.
    sentence.replace(" (PYTEST_DONT_REWRITE)", "").trim().trim_end_matches('.').to_owned()
}

/// The paths of the workspace that a text names between backticks.
fn paths_in_code(text: &str) -> Vec<&str> {
    let pieces = text.split('`').skip(1).step_by(2);
    let is_path = |piece: &&str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
        FOLDERS.iter().any(|folder| piece.starts_with(folder)) && piece.chars().all(is_plain)
    };
    pieces.filter(is_path).collect()
}

/// The files that a text links to, without the places in them.
fn linked_files(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.contains(' '));
    let files = files.map(|target| target.split('#').next().unwrap_or(target));
    files.filter(|file| !file.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_is_in_one_sentence() {
        assert_eq!(
            first_sentence("//! Runs tests: all\n//! of them.\n//!\n//! More."),
            "Runs tests: all of them"
        );
        assert_eq!(first_sentence("\"\"\"The agent.\n\nMore.\"\"\""), "The agent");
        assert_eq!(first_sentence("# The worker\n\nMore."), "The worker");
    }

    #[test]
    fn only_paths_of_the_workspace_count() {
        let text = "`crates/a/src/b.rs` and `cargo test`, `crates/*/src` and `docs`";
        assert_eq!(paths_in_code(text), ["crates/a/src/b.rs"]);
    }

    #[test]
    fn links_are_files_without_places() {
        let text = "[a](guides/run.md#first) [b](https://example.org) [c](#here) ![d](x.png)";
        assert_eq!(linked_files(text), ["guides/run.md", "x.png"]);
    }
}
