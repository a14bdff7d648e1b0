//! The imports of a file: how it names a module, and where a further import goes.

use tree_sitter::Node;

use super::file::PythonFile;
use crate::edit::{Edits, next_line};

/// Modules of the standard library that patches need, and the usual ones beside which they stand.
const STANDARD: [&str; 40] = [
    "abc",
    "argparse",
    "asyncio",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "functools",
    "gc",
    "glob",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "locale",
    "logging",
    "math",
    "os",
    "pathlib",
    "pickle",
    "random",
    "re",
    "shutil",
    "signal",
    "socket",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "typing",
    "unittest",
    "warnings",
];

/// The names that a file uses for modules, and the imports that it still needs.
#[derive(Debug)]
pub(crate) struct Names<'f> {
    file: &'f PythonFile,
    /// Import lines to add.
    needed: Vec<String>,
}

impl<'f> Names<'f> {
    pub(crate) fn new(file: &'f PythonFile) -> Self {
        Self { file, needed: Vec::new() }
    }

    /// The import lines that the names given so far need.
    pub(crate) fn needed(self) -> Vec<String> {
        self.needed
    }

    /// How this file names a module; an import is added where it has no name for it.
    pub(crate) fn module(&mut self, module: &str) -> String {
        if let Some(known) = self.file.name_of_module(module) {
            return known;
        }
        let root = module.split('.').next().unwrap_or(module);
        let (line, name) = if self.file.binds(root) && !self.file.imports_package(root) {
            let alias = module.replace('.', "_");
            let alias = if alias == root { format!("{root}_module") } else { alias };
            (format!("import {module} as {alias}"), alias)
        } else {
            (format!("import {module}"), module.to_owned())
        };
        if !self.needed.contains(&line) {
            self.needed.push(line);
        }
        name
    }

    /// How this file names `unittest.mock`.
    pub(crate) fn mock(&mut self) -> String {
        if let Some(known) = self.file.name_of_module("unittest.mock") {
            return known;
        }
        if self.file.binds("mock") {
            return self.module("unittest.mock");
        }
        let line = "from unittest import mock".to_owned();
        if !self.needed.contains(&line) {
            self.needed.push(line);
        }
        "mock".to_owned()
    }
}

impl PythonFile {
    /// The import statements at the top level, in order.
    pub(crate) fn import_statements(&self) -> Vec<Node<'_>> {
        let root = self.root();
        let mut cursor = root.walk();
        let is_import = |it: &Node<'_>| {
            matches!(
                it.kind(),
                "import_statement" | "import_from_statement" | "future_import_statement"
            )
        };
        root.named_children(&mut cursor).filter(is_import).collect()
    }

    /// How the file names a module, by its imports at the top level.
    fn name_of_module(&self, module: &str) -> Option<String> {
        let (parent, last) = module.rsplit_once('.').unwrap_or(("", module));
        for statement in self.import_statements() {
            let mut cursor = statement.walk();
            for name in statement.children_by_field_name("name", &mut cursor) {
                let alias = name.child_by_field_name("alias").map(|it| self.text_of(it));
                let name = name.child_by_field_name("name").unwrap_or(name);
                let name = self.text_of(name);
                match statement.kind() {
                    "import_statement" if name == module => {
                        return Some(alias.unwrap_or(module).to_owned());
                    }
                    "import_from_statement" if !parent.is_empty() && name == last => {
                        let from = statement.child_by_field_name("module_name");
                        if from.is_some_and(|it| self.is_package(self.text_of(it), parent)) {
                            return Some(alias.unwrap_or(last).to_owned());
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// Whether an import of this file, with leading dots or without, is of this package.
    fn is_package(&self, import: &str, package: &str) -> bool {
        if !import.starts_with('.') {
            return import == package;
        }
        let absolute = self.package_of(import).join(".");
        absolute == package || absolute.ends_with(&format!(".{package}"))
    }

    /// The folders that a relative import names, from the project's root on.
    fn package_of<'i>(&'i self, import: &'i str) -> Vec<&'i str> {
        let mut folders: Vec<&str> = self.path.split('/').collect();
        let name = import.trim_start_matches('.');
        let dots = import.len() - name.len();
        folders.truncate(folders.len().saturating_sub(dots));
        folders.extend(name.split('.').filter(|it| !it.is_empty()));
        folders
    }

    /// A relative import line of another file, as this file must write it.
    pub(crate) fn adapted(&self, line: &str, from: &Self) -> String {
        let Some((import, names)) =
            line.strip_prefix("from ").and_then(|it| it.split_once(" import "))
        else {
            return line.to_owned();
        };
        if !import.starts_with('.') {
            return line.to_owned();
        }
        let target = from.package_of(import);
        let here = self.package_of(".");
        let common = here.iter().zip(&target).take_while(|(one, other)| one == other).count();
        let dots = ".".repeat(1 + here.len() - common);
        format!("from {dots}{} import {names}", target[common..].join("."))
    }

    /// Whether `import ROOT…` without an alias stands at the top level.
    fn imports_package(&self, root: &str) -> bool {
        self.import_statements().into_iter().any(|statement| {
            let mut cursor = statement.walk();
            statement.kind() == "import_statement"
                && statement
                    .children_by_field_name("name", &mut cursor)
                    .any(|it| self.text_of(it).split('.').next() == Some(root))
        })
    }

    /// The import statement that binds a name at the top level, as a line of its own.
    pub(crate) fn import_of(&self, wanted: &str) -> Option<String> {
        for statement in self.import_statements() {
            let from = statement.child_by_field_name("module_name").map(|it| self.text_of(it));
            let mut cursor = statement.walk();
            for name in statement.children_by_field_name("name", &mut cursor) {
                let text = self.text_of(name);
                let bound = match name.child_by_field_name("alias") {
                    Some(alias) => self.text_of(alias),
                    None if from.is_some() => text,
                    None => text.split('.').next().unwrap_or(text),
                };
                if bound == wanted {
                    return Some(match from {
                        Some(from) => format!("from {from} import {text}"),
                        None => format!("import {text}"),
                    });
                }
            }
        }
        None
    }

    /// Whether a name is bound at the top level, by whatever.
    pub(crate) fn binds(&self, name: &str) -> bool {
        if self.import_of(name).is_some() {
            return true;
        }
        let root = self.root();
        let mut cursor = root.walk();
        root.named_children(&mut cursor).any(|node| {
            let node = match node.kind() {
                "decorated_definition" => node.child_by_field_name("definition").unwrap_or(node),
                "expression_statement" => node.named_child(0).unwrap_or(node),
                _ => node,
            };
            let bound = match node.kind() {
                "function_definition" | "class_definition" => node.child_by_field_name("name"),
                "assignment" => node.child_by_field_name("left"),
                _ => None,
            };
            bound.is_some_and(|it| self.text_of(it) == name)
        })
    }

    /// Add import lines where such imports stand.
    pub(crate) fn add_imports(&self, lines: &[String], edits: &mut Edits) {
        let statements = self.import_statements();
        let known: Vec<&str> = statements.iter().map(|it| self.text_of(*it)).collect();
        let mut lines: Vec<&String> =
            lines.iter().filter(|it| !known.contains(&it.as_str())).collect();
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            let (at, lead, trail) = self.place_of_import(line, &statements);
            edits.insert(at, format!("{lead}{line}\n{trail}"));
        }
    }

    /// Where an import line goes, and what separates it from what is before and behind it.
    fn place_of_import(
        &self,
        line: &str,
        statements: &[Node<'_>],
    ) -> (usize, &'static str, &'static str) {
        let own: Vec<&Node<'_>> =
            statements.iter().filter(|it| it.kind() != "future_import_statement").collect();
        let is_standard = |text: &str| STANDARD.contains(&root_of(text));
        let of_group: Vec<&&Node<'_>> =
            own.iter().filter(|it| is_standard(self.text_of(***it)) == is_standard(line)).collect();
        // Beside its likes: before the first that would be sorted behind it, in the same form.
        let key = |text: &str| (text.starts_with("from "), root_of(text).to_owned());
        let later = of_group.iter().find(|it| key(self.text_of(****it)) > key(line));
        if let Some(later) = later {
            return (crate::edit::line_start(&self.text, later.start_byte()), "", "");
        }
        if let Some(last) = of_group.last() {
            return (next_line(&self.text, last.end_byte()), "", "");
        }
        if let Some(first) = own.first().filter(|_| is_standard(line)) {
            return (crate::edit::line_start(&self.text, first.start_byte()), "", "\n");
        }
        if let Some(last) = statements.last() {
            return (next_line(&self.text, last.end_byte()), "\n", "");
        }
        let root = self.root();
        let mut cursor = root.walk();
        let mut first = root.named_children(&mut cursor).filter(|it| it.kind() != "comment");
        match first.next() {
            Some(node)
                if node.kind() == "expression_statement"
                    && node.named_child(0).is_some_and(|it| it.kind() == "string") =>
            {
                (next_line(&self.text, node.end_byte()), "", "")
            }
            Some(node) => (crate::edit::line_start(&self.text, node.start_byte()), "", "\n\n"),
            None => (0, "", ""),
        }
    }
}

/// The package that an import line names first.
fn root_of(line: &str) -> &str {
    let words = line.trim_start_matches("from ").trim_start_matches("import ");
    words.split(['.', ' ', ',']).next().unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, lines: &[&str]) -> String {
        let file = PythonFile::parse("t.py", text).unwrap();
        let lines: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
        let mut edits = Edits::default();
        file.add_imports(&lines, &mut edits);
        edits.apply(text).unwrap()
    }

    #[test]
    fn imports_go_where_their_likes_are() {
        let text = "import json\nimport sys\n\nimport pytest\n\nfrom shop import cart\n";
        assert_eq!(
            with(text, &["import os", "from unittest import mock", "import shop"]),
            "import json\nimport os\nimport sys\nfrom unittest import mock\n\nimport pytest\n\n\
             import shop\nfrom shop import cart\n"
        );
        assert_eq!(with("import pytest\n", &["import os"]), "import os\n\nimport pytest\n");
        assert_eq!(with("'''Doc.'''\nX = 1\n", &["import os"]), "'''Doc.'''\nimport os\nX = 1\n");
        assert_eq!(with("X = 1\n", &["import os"]), "import os\n\n\nX = 1\n");
    }

    #[test]
    fn a_relative_import_names_the_same_module_elsewhere() {
        let parse = |path: &str, text: &str| PythonFile::parse(path, text).unwrap();
        let here = parse("app/tests/ssh/test_a.py", "");
        let there = parse("app/tests/test_b.py", "from .data import ps as known\n");
        assert_eq!(here.adapted("from . import command", &there), "from .. import command");
        assert_eq!(here.adapted("from ..x import y", &there), "from ...x import y");
        assert_eq!(here.adapted("import os", &there), "import os");
        assert_eq!(Names::new(&there).module("tests.data.ps"), "known");
    }

    #[test]
    fn a_module_has_the_name_that_the_file_gives_it() {
        let text = "from shop import cart as c\nimport os.path\nimport numpy as np\n\n\n\
                    def stock():\n    pass\n";
        let file = PythonFile::parse("t.py", text).unwrap();
        let mut names = Names::new(&file);
        assert_eq!(names.module("shop.cart"), "c");
        assert_eq!(names.module("numpy"), "np");
        assert_eq!(names.module("os"), "os");
        assert_eq!(names.module("stock.store"), "stock_store");
        assert_eq!(names.needed(), ["import os", "import stock.store as stock_store"]);
    }
}
