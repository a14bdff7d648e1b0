//! What goes into the search for tests, and what comes out of it.
//!
//! Beside the text of a file that is a [`Layout`], for what the ids of tests need and the text does
//! not say: Go names a test by its import path and Rust by its crate, and both stand in a manifest
//! further up, `go.mod` or `Cargo.toml`.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Range, RangeInclusive};

use flakeproof_core::TestId;

use crate::Language;

/// A file of source, as text.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    /// Where it is, relative to the project's root, with `/` between the parts.
    pub path: &'a str,
    /// All of it.
    pub text: &'a str,
}

/// What was understood of one file.
#[derive(Debug, Clone, Default)]
pub struct Found<'a> {
    /// The tests, in the order in which they stand in the file.
    pub tests: Vec<TestSource<'a>>,
    /// What could not be read.
    pub issues: Vec<SourceIssue>,
}

/// A test, as it stands in its file.
#[derive(Debug, Clone)]
pub struct TestSource<'a> {
    /// Its id, as its runner writes it.
    pub id: TestId,
    /// The language of its file.
    pub language: Language,
    /// The lines it covers, counted from 1, its annotations included.
    pub lines: RangeInclusive<u32>,
    /// The bytes of the file it covers.
    pub span: Range<usize>,
    /// Its text: the whole method, function or call, its annotations included.
    pub text: &'a str,
    /// The classes, modules or `describe` blocks around it, outermost first.
    pub enclosing: Vec<String>,
    /// Its own name: that of the method or function, or the title.
    pub name: String,
    /// The functions of the same file that run with it: what sets it up, what it calls, what those
    /// call, and what tears it down; each once, in the order in which they first run.
    pub helpers: Vec<Helper<'a>>,
}

/// A function of the same file that a test runs.
#[derive(Debug, Clone)]
pub struct Helper<'a> {
    /// Its own name.
    pub name: String,
    /// The lines it covers, counted from 1.
    pub lines: RangeInclusive<u32>,
    /// Its text.
    pub text: &'a str,
}

/// Something about a file that kept tests from being found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceIssue {
    /// What it is.
    pub kind: IssueKind,
    /// The line where it begins, counted from 1.
    pub line: u32,
}

/// The kinds of trouble a file can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueKind {
    /// The text breaks the language's rules here. Tests around it are still found; some may be
    /// missing.
    SyntaxError,
    /// Classes, blocks or brackets lie in one another deeper than anyone writes. What lies deeper
    /// was not read; with brackets, the whole file was not.
    TooDeep,
    /// Reading took more steps than the [`Effort`](crate::Effort) allows. The file was not read.
    GaveUp,
    /// No language is known for the file's name. The file was not read.
    UnknownLanguage,
}

impl fmt::Display for IssueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SyntaxError => "syntax error; tests near it may be missing",
            Self::TooDeep => "nested too deeply; tests from here on may be missing",
            Self::GaveUp => "takes too long to parse; the file was not read",
            Self::UnknownLanguage => "unknown language; the file was not read",
        })
    }
}

impl fmt::Display for SourceIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

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

    /// The names of the modules and crates above a file, with the file's path inside them: all that the
    /// layout tells of it.
    pub fn names_above<'p>(&'p self, path: &'p str) -> impl Iterator<Item = &'p str> {
        let above = [self.go_module(path), self.crate_of(path)];
        above.into_iter().flat_map(|it| it.map_or(["", ""], |(name, inside)| [name, inside]))
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
