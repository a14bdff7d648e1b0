//! What the ids of tests need and a file's own text does not say.
//!
//! Go names a test by its import path and Rust by its crate, and both stand in a manifest further
//! up: `go.mod`, `Cargo.toml`.

use std::collections::HashMap;

/// The modules and crates of a project, by the folder they begin in.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    go_modules: HashMap<String, String>,
    crates: HashMap<String, String>,
}

impl Layout {
    /// The layout that a project's manifests describe, each given as its path and its text.
    ///
    /// Anything that is no manifest, or cannot be read as one, is passed over.
    #[must_use]
    pub fn of_manifests<'a>(manifests: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut layout = Self::default();
        for (path, text) in manifests {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            match name {
                "go.mod" => {
                    if let Some(module) = go_module(text) {
                        layout.go_modules.insert(folder.to_owned(), module.to_owned());
                    }
                }
                "Cargo.toml" => {
                    if let Some(package) = package_name(text) {
                        layout.crates.insert(folder.to_owned(), package.replace('-', "_"));
                    }
                }
                _ => {}
            }
        }
        layout
    }

    /// Whether a file tells something about the layout of a project.
    #[must_use]
    pub fn is_manifest(path: &str) -> bool {
        matches!(path.rsplit('/').next(), Some("go.mod" | "Cargo.toml"))
    }

    /// The Go module a file belongs to, and the file's path inside it.
    pub(crate) fn go_module<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        nearest(&self.go_modules, path)
    }

    /// The crate a file belongs to, and the file's path inside it.
    pub(crate) fn crate_of<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        nearest(&self.crates, path)
    }
}

/// What is known of the nearest folder above a file, and the file's path inside that folder.
fn nearest<'l, 'p>(
    known: &'l HashMap<String, String>,
    path: &'p str,
) -> Option<(&'l str, &'p str)> {
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        if let Some(name) = known.get(above) {
            return Some((name, &path[above.len() + 1..]));
        }
        folder = above;
    }
    known.get("").map(|name| (name.as_str(), path))
}

fn go_module(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let line = line.split("//").next()?.trim();
        let name = line.strip_prefix("module")?.strip_prefix([' ', '\t'])?;
        Some(name.trim().trim_matches(['"', '`'])).filter(|name| !name.is_empty())
    })
}

fn package_name(text: &str) -> Option<String> {
    let manifest: toml::Table = text.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_manifest_above_a_file_counts() {
        let layout = Layout::of_manifests([
            ("go.mod", "// a comment\nmodule example.com/root // here\n\ngo 1.22\n"),
            ("tools/go.mod", "module \"example.com/tools\"\n"),
        ]);
        assert_eq!(layout.go_module("a/b_test.go"), Some(("example.com/root", "a/b_test.go")));
        assert_eq!(layout.go_module("tools/x/c.go"), Some(("example.com/tools", "x/c.go")));
    }

    #[test]
    fn a_workspace_without_a_package_names_no_crate() {
        let layout = Layout::of_manifests([
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"),
            ("a/Cargo.toml", "[package]\nname = \"my-crate\"\n"),
            ("broken/Cargo.toml", "[package\nname = "),
        ]);
        assert_eq!(layout.crate_of("a/src/lib.rs"), Some(("my_crate", "src/lib.rs")));
        assert_eq!(layout.crate_of("broken/src/lib.rs"), None);
    }
}
