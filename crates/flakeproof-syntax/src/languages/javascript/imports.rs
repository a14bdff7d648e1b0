//! What a JavaScript or TypeScript file is called, and what it takes from elsewhere.

use tree_sitter::Node;

use super::flow::Script;
use super::outline::title;
use crate::languages::shapes::{first_part, parts};
use crate::tree::child_of_kind;

/// The name of a file as others import it: `src/orders/index.ts` is `src/orders`.
pub(super) fn module_of(path: &str) -> String {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = without_extension(name);
    match (folders, name) {
        (folders, "index") => folders.to_owned(),
        ("", name) => name.to_owned(),
        (folders, name) => format!("{folders}/{name}"),
    }
}

fn without_extension(name: &str) -> &str {
    const EXTENSIONS: [&str; 8] = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts"];
    EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension)).unwrap_or(name)
}

/// What `./a/../b.js`, written in a file, leads to; the name of a package stays as it is.
fn resolved(file: &str, written: &str) -> String {
    if !written.starts_with('.') {
        return written.to_owned();
    }
    let mut folders: Vec<&str> = file.split('/').collect();
    folders.pop();
    for part in written.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(folders.pop()),
            part => folders.push(part),
        }
    }
    module_of(&folders.join("/"))
}

impl Script<'_, '_> {
    fn module(&self, source: Node<'_>) -> String {
        resolved(self.form.reading.path, title(source, self.form.reading.text))
    }

    fn member(&mut self, module: &str, name: &str, alias: Node<'_>) {
        let alias = self.form.text(alias).to_owned();
        self.form.add_import(&alias, format!("{module}.{name}"), true);
    }

    /// `import a, { b as c } from "./d"` and `import * as e from "f"`.
    pub(super) fn import(&mut self, node: Node<'_>) {
        if let Some(clause) = child_of_kind(node, &["import_require_clause"])
            && let (Some(name), Some(source)) =
                (first_part(clause), clause.child_by_field_name("source"))
        {
            let (name, module) = (self.form.text(name).to_owned(), self.module(source));
            self.form.add_import(&name, module, false);
            return;
        }
        let Some(source) = node.child_by_field_name("source") else { return };
        let module = self.module(source);
        for part in child_of_kind(node, &["import_clause"]).into_iter().flat_map(parts) {
            match part.kind() {
                "identifier" => self.member(&module, "default", part),
                "namespace_import" => {
                    if let Some(name) = first_part(part) {
                        let name = self.form.text(name).to_owned();
                        self.form.add_import(&name, module.clone(), false);
                    }
                }
                _ => self.named_members(&module, part),
            }
        }
    }

    /// `export { a } from "./b"` and `export * from "./b"`.
    pub(super) fn export_from(&mut self, node: Node<'_>, source: Node<'_>) {
        let module = self.module(source);
        match child_of_kind(node, &["export_clause"]) {
            Some(clause) => self.named_members(&module, clause),
            None => self.form.add_import("*", module, true),
        }
    }

    fn named_members(&mut self, module: &str, list: Node<'_>) {
        for part in parts(list) {
            if let Some(name) = part.child_by_field_name("name") {
                let alias = part.child_by_field_name("alias").unwrap_or(name);
                self.member(module, self.form.text(name), alias);
            }
        }
    }

    /// `const { a, b: c } = require("./d")`; `false` for any other variable.
    pub(super) fn require(&mut self, declarator: Node<'_>) -> bool {
        let (Some(name), Some(value)) =
            (declarator.child_by_field_name("name"), declarator.child_by_field_name("value"))
        else {
            return false;
        };
        let Some(source) = self.required(value) else { return false };
        let module = self.module(source);
        if name.kind() == "identifier" {
            let name = self.form.text(name).to_owned();
            self.form.add_import(&name, module, false);
            return true;
        }
        for part in parts(name) {
            match (part.child_by_field_name("key"), part.child_by_field_name("value")) {
                (Some(key), Some(alias)) => self.member(&module, self.form.text(key), alias),
                _ => self.member(&module, self.form.text(part), part),
            }
        }
        true
    }

    /// The module of `require("./d")`.
    fn required<'n>(&self, value: Node<'n>) -> Option<Node<'n>> {
        let function = value.child_by_field_name("function")?;
        let source = first_part(value.child_by_field_name("arguments")?)?;
        (self.form.text(function) == "require" && source.kind() == "string").then_some(source)
    }
}
