//! What a Python file is called, and what it takes from elsewhere.

use tree_sitter::Node;

use super::flow::Python;
use crate::languages::lowering::parts;

/// The dotted name of a file: `tests/test_a.py` is `tests.test_a`. What stands above a folder `src`
/// is no package.
pub(super) fn module_of(path: &str) -> String {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let mut folders: Vec<&str> = path.split('/').collect();
    if let Some(at) = folders.iter().rposition(|folder| *folder == "src") {
        folders.drain(..=at);
    }
    folders.join(".")
}

impl Python<'_, '_> {
    /// `import a.b`, which names `a`, and `import a.b as c`.
    pub(super) fn import(&mut self, node: Node<'_>) {
        for import in parts(node) {
            match (import.child_by_field_name("name"), import.child_by_field_name("alias")) {
                (Some(module), Some(alias)) => {
                    let name = self.form.text(alias).to_owned();
                    self.form.add_import(&name, self.dotted(module), false);
                }
                _ => {
                    let path = self.dotted(import);
                    let first = path.split('.').next().unwrap_or(&path).to_owned();
                    self.form.add_import(&first, first.clone(), false);
                }
            }
        }
    }

    /// `from .a import b as c`.
    pub(super) fn import_from(&mut self, node: Node<'_>) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let base = self.absolute(module);
        for import in parts(node).into_iter().filter(|part| *part != module) {
            if import.kind() == "wildcard_import" {
                self.form.add_import("*", base.clone(), true);
                continue;
            }
            let name = import.child_by_field_name("name").unwrap_or(import);
            let alias = import.child_by_field_name("alias").unwrap_or(name);
            let path = joined(&base, &self.dotted(name));
            let alias = self.form.text(alias).to_owned();
            self.form.add_import(&alias, path, true);
        }
    }

    /// A module's full name; `.` is the package that the file belongs to.
    fn absolute(&self, module: Node<'_>) -> String {
        let written = self.dotted(module);
        let rest = written.trim_start_matches('.');
        let ups = written.len() - rest.len();
        if ups == 0 {
            return written;
        }
        let mut package: Vec<&str> = self.form.unit.package.split('.').collect();
        let is_package = self.form.reading.path.ends_with("__init__.py");
        let up = ups - usize::from(is_package);
        package.truncate(package.len().saturating_sub(up));
        joined(&package.join("."), rest)
    }

    fn dotted(&self, node: Node<'_>) -> String {
        self.form.text(node).split_whitespace().collect()
    }
}

fn joined(package: &str, name: &str) -> String {
    let dot = if package.is_empty() || name.is_empty() { "" } else { "." };
    format!("{package}{dot}{name}")
}
