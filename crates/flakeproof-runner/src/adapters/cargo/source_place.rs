//! Where a test is written, as far as its name and the layout of modules tell.
//!
//! The harness knows no places. The modules in a test's name lead to a file as they lead the
//! compiler, and there the function of its name is looked for. A place is for people to read: where
//! a module lies elsewhere (`#[path]`) or a macro made the test, the file is the last that was
//! found, without a line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use flakeproof_core::Location;

/// Finds the places of tests below a root.
pub(super) struct Finder<'a> {
    root: &'a Path,
    /// The files that were read.
    read: HashMap<PathBuf, String>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, read: HashMap::new() }
    }

    /// The place of a test in a target whose first file is known.
    pub(super) fn find(&mut self, source: &str, name: &str) -> Location {
        let mut modules: Vec<&str> = name.split("::").collect();
        let function = modules.pop().unwrap_or_default();
        let file = file_of(Path::new(source), &modules);
        let text = self
            .read
            .entry(file.clone())
            .or_insert_with(|| std::fs::read_to_string(&file).unwrap_or_default());
        let line = line_of(text, function);
        let relative = file.strip_prefix(self.root).unwrap_or(&file);
        Location { file: relative.to_string_lossy().into_owned(), line }
    }
}

/// The file of the innermost module that has one.
fn file_of(source: &Path, modules: &[&str]) -> PathBuf {
    let mut file = source.to_path_buf();
    let mut folder = source.parent().map(Path::to_path_buf).unwrap_or_default();
    for module in modules {
        let beside = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
        folder = folder.join(module);
        if let Some(found) = beside.into_iter().find(|path| path.is_file()) {
            file = found;
        }
    }
    file
}

/// The line of a function, if there is just one of its name.
fn line_of(text: &str, function: &str) -> Option<u32> {
    let is_it = |line: &str| {
        let after = line.split_once("fn ").and_then(|(_, rest)| rest.strip_prefix(function));
        after.is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| is_it(line)).map(|(at, _)| at);
    let first = lines.next()?;
    lines.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_only_function_of_a_name_is_found() {
        let text =
            "fn add() {}\nmod tests {\n    #[test]\n    fn adds() {}\n    fn add_all() {}\n}";
        assert_eq!(line_of(text, "adds"), Some(4));
        assert_eq!(line_of(text, "add"), Some(1));
        assert_eq!(line_of("fn a() {}\nmod b { fn a() {} }", "a"), None);
    }
}
