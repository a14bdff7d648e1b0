//! What a Rust file takes from elsewhere.

use tree_sitter::Node;

use super::flow::Rust;
use crate::languages::lowering::parts;

impl Rust<'_, '_> {
    /// `use a::{b, c as d, e::*}`.
    pub(super) fn import(&mut self, node: Node<'_>) {
        let Some(argument) = node.child_by_field_name("argument") else { return };
        let mut waiting = vec![(argument, String::new())];
        while let Some((node, before)) = waiting.pop() {
            let path = node.child_by_field_name("path");
            match node.kind() {
                "scoped_use_list" => {
                    let before = joined(&before, path.map_or("", |path| self.form.text(path)));
                    let list = node.child_by_field_name("list");
                    waiting.extend(list.map(|list| (list, before)));
                }
                "use_list" => {
                    let items = parts(node).into_iter().rev();
                    waiting.extend(items.map(|item| (item, before.clone())));
                }
                "use_as_clause" => {
                    let alias = node.child_by_field_name("alias").map(|n| self.form.text(n));
                    let path = joined(&before, path.map_or("", |path| self.form.text(path)));
                    self.add_use(&path, alias);
                }
                "use_wildcard" => {
                    let path = parts(node).first().map_or("", |path| self.form.text(*path));
                    let path = self.absolute(&joined(&before, path));
                    self.form.add_import("*", path, false);
                }
                _ => self.add_use(&joined(&before, self.form.text(node)), None),
            }
        }
    }

    fn add_use(&mut self, path: &str, alias: Option<&str>) {
        // `use a::{self}` is `use a`.
        let path = path.strip_suffix("::self").unwrap_or(path);
        let path = self.absolute(path);
        let last = path.rsplit("::").next().unwrap_or(&path);
        let name = alias.unwrap_or(last).to_owned();
        let is_member = last.starts_with(char::is_lowercase);
        self.form.add_import(&name, path, is_member);
    }

    /// A path from the crate's root on.
    fn absolute(&self, path: &str) -> String {
        let package = &self.form.unit.package;
        let mut here: Vec<&str> = package.split("::").collect();
        here.extend(self.modules.iter().map(String::as_str));
        let mut rest: Vec<&str> = path.split("::").map(str::trim).collect();
        match rest.first().copied() {
            Some("crate") => {
                here.truncate(1);
                rest.remove(0);
            }
            Some("self" | "super") => {
                while let Some("self" | "super") = rest.first().copied() {
                    if rest.remove(0) == "super" {
                        here.pop();
                    }
                }
            }
            _ => here.clear(),
        }
        here.extend(rest);
        here.join("::")
    }
}

fn joined(before: &str, path: &str) -> String {
    let sign = if before.is_empty() || path.is_empty() { "" } else { "::" };
    format!("{before}{sign}{path}")
}
