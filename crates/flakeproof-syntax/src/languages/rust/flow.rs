//! The modules, types and functions of a Rust file in the flow form, and what it takes from elsewhere.

use tree_sitter::Node;

use super::outline::module_path;
use crate::flow::{Field, Function, Parameter, Role, Span, Unit};
use crate::languages::lowering::{Head, Lowering};
use crate::languages::shapes::{bare_type, parts, parts_within, span};
use crate::tree::{Extent, Fields, child_of_kind};

/// The unit of a Rust file.
pub(in crate::languages) fn lower(form: Lowering<'_, '_>) -> Unit {
    let root = form.reading.root;
    let mut rust = Rust { form, modules: Vec::new() };
    rust.form.unit.package = module_path(&rust.form.reading);
    rust.items(root);
    rust.unread_functions();
    rust.form.finish()
}

pub(super) struct Rust<'t, 'a> {
    pub(super) form: Lowering<'t, 'a>,
    /// The modules around what is being read, inside the file.
    pub(super) modules: Vec<String>,
}

impl Rust<'_, '_> {
    /// Read a list of items; attributes stand before their item.
    fn items(&mut self, list: Node<'_>) {
        if !self.form.enter() {
            return;
        }
        let mut attributes = Vec::new();
        for item in parts(list) {
            if item.kind() == "attribute_item" {
                attributes.push(item);
                continue;
            }
            self.item(item, &attributes);
            if !matches!(item.kind(), "visibility_modifier" | "function_modifiers") {
                attributes.clear();
            }
        }
        self.form.leave();
    }

    fn item(&mut self, item: Node<'_>, attributes: &[Node<'_>]) {
        match item.kind() {
            "use_declaration" => self.import(item),
            "const_item" | "static_item" => self.field(item),
            "function_item" => {
                let extent = Extent::between(*attributes.first().unwrap_or(&item), item);
                let outlined = self.form.outlined(extent);
                let role = outlined.map_or(Role::Plain, |outlined| outlined.role);
                let function = self.function(item, attributes, role);
                self.form.unit.functions.extend(function);
            }
            "mod_item" => self.module(item),
            "struct_item" | "enum_item" | "union_item" | "trait_item" => {
                self.type_item(item);
            }
            "impl_item" => self.implementation(item),
            "declaration_list" | "ERROR" => self.items(item),
            _ => {}
        }
    }

    fn field(&mut self, item: Node<'_>) {
        let Some(name) = item.field("name") else { return };
        let outer = self.form.open();
        let value = item.field("value").map(|value| self.expression(value));
        self.form.close(outer);
        let declared = item.field("type").map(span);
        self.form.add_field(Field { name: span(name), declared, value });
    }

    fn module(&mut self, item: Node<'_>) {
        if let (Some(name), Some(body)) = (item.field("name"), item.field("body")) {
            self.modules.push(self.form.text(name).to_owned());
            self.items(body);
            self.modules.pop();
        }
    }

    /// A struct, an enum or a trait.
    pub(super) fn type_item(&mut self, item: Node<'_>) {
        let Some(name) = item.field("name") else { return };
        let bounds = item.field("bounds").into_iter().flat_map(parts);
        let bounds = bounds.filter(|bound| bound.kind() != "lifetime");
        let bases: Vec<String> = bounds.map(|bound| bare_type(self.form.text(bound))).collect();
        let class = self.class(self.form.text(name), bases, item);
        let outer = self.form.owner.replace(class);
        let body = item.field("body");
        if item.kind() == "trait_item" {
            body.into_iter().for_each(|body| self.items(body));
        } else {
            for member in body.into_iter().flat_map(parts) {
                if let Some(name) = member.field("name") {
                    let declared = member.field("type").map(span);
                    self.form.add_field(Field { name: span(name), declared, value: None });
                }
            }
        }
        self.form.owner = outer;
    }

    /// `impl Trait for Type { … }`: its functions belong to the type.
    pub(super) fn implementation(&mut self, item: Node<'_>) {
        let (Some(kind), Some(body)) = (item.field("type"), item.field("body")) else {
            return;
        };
        let base = item.field("trait").map(|base| bare_type(self.form.text(base)));
        let name = bare_type(self.form.text(kind).trim_start_matches(['&', ' ']));
        let class = self.class(&name, base.into_iter().collect(), item);
        let outer = self.form.owner.replace(class);
        self.items(body);
        self.form.owner = outer;
    }

    /// The type of this name, declared now if it was not.
    fn class(&mut self, name: &str, bases: Vec<String>, node: Node<'_>) -> u32 {
        let known = self.form.unit.types.iter().position(|known| known.name == name);
        let Some(index) = known else {
            let outer = self.form.owner.take();
            let class = self.form.declare_type(name, bases, node);
            self.form.owner = outer;
            return class;
        };
        if let Some(class) = self.form.unit.types.get_mut(index) {
            for base in bases {
                if !class.bases.contains(&base) {
                    class.bases.push(base);
                }
            }
        }
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// A function with its attributes and its body.
    pub(super) fn function(
        &mut self,
        item: Node<'_>,
        attributes: &[Node<'_>],
        role: Role,
    ) -> Option<Function> {
        let name = item.field("name")?;
        let returns = item.field("return_type").map(span);
        let outer = self.form.open();
        let parameters = self.parameters(item);
        if let Some(body) = item.field("body") {
            self.function_body(body, returns.is_some());
        }
        let body = self.form.close(outer);
        let body = self.expecting(attributes, body);
        let head = Head {
            name: self.form.text(name).trim_start_matches("r#").to_owned(),
            role,
            parameters,
            returns,
            marks: attributes.iter().map(|attribute| span(*attribute)).collect(),
            extent: Extent::between(*attributes.first().unwrap_or(&item), item),
        };
        Some(self.form.function(head, body))
    }

    /// The parameters of a function or closure, `self` left out. One that is taken apart is bound
    /// anew.
    pub(super) fn parameters(&mut self, function: Node<'_>) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for parameter in function.field("parameters").into_iter().flat_map(parts) {
            if matches!(parameter.kind(), "self_parameter" | "attribute_item") {
                continue;
            }
            let pattern = parameter.field("pattern").unwrap_or(parameter);
            let declared: Option<Span> = parameter.field("type").map(span);
            parameters.push(Parameter { name: self.parameter_name(pattern), declared });
        }
        parameters
    }

    /// Functions that the outline made out in macros, or in a text the parser could not join.
    fn unread_functions(&mut self) {
        for (extent, node) in self.form.unread() {
            let Some(outlined) = self.form.outlined(extent) else { continue };
            let outer = self.form.open();
            if node.kind() == "macro_invocation" {
                self.macro_function(node, extent);
            } else {
                parts_within(node, extent).for_each(|piece| self.statement(piece));
            }
            let body = self.form.close(outer);
            self.form.add_unread(outlined, extent, node, body);
        }
    }

    /// The body of a function inside `proptest! { … }`: the last braces that belong to it.
    fn macro_function(&mut self, invocation: Node<'_>, extent: Extent) {
        let Some(tokens) = child_of_kind(invocation, &["token_tree"]) else { return };
        let trees = parts(tokens).into_iter().filter(|token| token.kind() == "token_tree");
        let mut inside =
            trees.filter(|t| t.start_byte() >= extent.start && t.end_byte() <= extent.end);
        if let Some(body) = inside.next_back() {
            self.token_block(body);
        }
    }

    /// `use a::{b, c as d, e::*}`.
    pub(super) fn import(&mut self, node: Node<'_>) {
        let Some(argument) = node.field("argument") else { return };
        let mut waiting = vec![(argument, String::new())];
        while let Some((node, before)) = waiting.pop() {
            let path = node.field("path");
            match node.kind() {
                "scoped_use_list" => {
                    let before = joined(&before, path.map_or("", |path| self.form.text(path)));
                    let list = node.field("list");
                    waiting.extend(list.map(|list| (list, before)));
                }
                "use_list" => {
                    let items = parts(node).into_iter().rev();
                    waiting.extend(items.map(|item| (item, before.clone())));
                }
                "use_as_clause" => {
                    let alias = node.field("alias").map(|n| self.form.text(n));
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
