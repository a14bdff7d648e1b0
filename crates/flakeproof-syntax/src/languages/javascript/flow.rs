//! The suites, tests, classes and functions of a JavaScript or TypeScript file in the flow form, what
//! the file is called, and what it takes from elsewhere.

use tree_sitter::Node;

use super::outline::{is_function, title};
use crate::flow::{Expression, Field, Function, Parameter, Role, Span, Statement, Unit};
use crate::languages::lowering::{Head, Lowering};
use crate::languages::shapes::{bare_type, behind, first_part, name, parts, parts_within, span};
use crate::tree::{Extent, Fields, child_of_kind};

/// The unit of a JavaScript or TypeScript file.
pub(in crate::languages) fn lower(form: Lowering<'_, '_>) -> Unit {
    let root = form.reading.root;
    let mut script = Script { form };
    script.form.unit.package = module_of(script.form.reading.path);
    script.declare(root);
    script.unread_functions();
    script.form.finish()
}

pub(super) struct Script<'t, 'a> {
    pub(super) form: Lowering<'t, 'a>,
}

impl Script<'_, '_> {
    /// Read what runs when the file is loaded: it defines functions, suites and tests.
    pub(super) fn declare(&mut self, node: Node<'_>) {
        if !self.form.enter() {
            return;
        }
        match node.kind() {
            "import_statement" => self.import(node),
            "export_statement" => match node.field("source") {
                Some(source) => self.export_from(node, source),
                None => self.declare_parts(node),
            },
            "function_declaration" | "generator_function_declaration" => self.defined(node, node),
            "variable_declarator" => self.variable(node),
            "assignment_expression" => self.assigned(node),
            "call_expression" => self.call_of_runner(node),
            "interface_declaration" | "enum_declaration" => self.class(node),
            kind if is_class(kind) => self.class(node),
            kind if leads_on(kind) => self.declare_parts(node),
            _ => {}
        }
        self.form.leave();
    }

    fn declare_parts(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for part in node.named_children(&mut cursor) {
            self.declare(part);
        }
    }

    /// `const helper = () => …`, or a variable of the file or suite.
    fn variable(&mut self, node: Node<'_>) {
        let (target, value) = (node.field("name"), node.field("value"));
        let Some(target) = target else { return };
        match value {
            Some(value) if is_function(value) && target.kind() == "identifier" => {
                self.defined(node, value);
            }
            Some(value) if is_class(value.kind()) => self.class_named(value, target),
            _ if self.require(node) => {}
            _ => self.fields(node, target, value),
        }
    }

    fn fields(&mut self, node: Node<'_>, target: Node<'_>, value: Option<Node<'_>>) {
        let outer = self.form.open();
        let targets = self.targets(target);
        let lowered = value.map(|value| self.expression(value));
        self.form.close(outer);
        let declared = declared(node);
        for target in targets {
            if let Expression::Name(name) = target {
                self.form.add_field(Field { name, declared, value: lowered.clone() });
            }
        }
        // A call may define tests in what is handed to it.
        if let Some(value) = value.filter(|value| leads_on(value.kind()) || is_call(*value)) {
            self.declare(value);
        }
    }

    /// `exports.pay = function …` and `Order.prototype.pay = …` define functions, too.
    fn assigned(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (node.field("left"), node.field("right")) else {
            return;
        };
        let named = left.field("property").unwrap_or(left);
        if is_function(right) {
            let function = self.function(right, self.form.text(named).to_owned(), Role::Plain);
            self.form.unit.functions.push(function);
        } else if is_class(right.kind()) {
            self.class_named(right, named);
        } else if right.kind() == "object" {
            self.object_functions(right);
        }
    }

    /// `module.exports = { pay() { … }, refund: function … }`.
    fn object_functions(&mut self, object: Node<'_>) {
        for part in parts(object) {
            let key = part.field("key").or_else(|| part.field("name"));
            let value = part.field("value").unwrap_or(part);
            if let Some(key) = key.filter(|_| is_function(value) || is_method(value)) {
                let function = self.function(value, self.form.text(key).to_owned(), Role::Plain);
                self.form.unit.functions.push(function);
            }
        }
    }

    /// A function that has a name; `node` is what the outline knows it by.
    fn defined(&mut self, node: Node<'_>, value: Node<'_>) {
        let Some(named) = node.field("name") else { return };
        let role = self.form.outlined(Extent::new(node)).map_or(Role::Plain, |known| known.role);
        let head = self.form.text(named).to_owned();
        let function = self.function(value, head, role);
        self.form.unit.functions.push(function);
    }

    pub(super) fn class(&mut self, node: Node<'_>) {
        if let Some(name) = node.field("name") {
            self.class_named(node, name);
        }
    }

    fn class_named(&mut self, node: Node<'_>, named: Node<'_>) {
        let bases = self.bases(node);
        let class = self.form.declare_type(self.form.text(named), bases, node);
        let outer = self.form.owner.replace(class);
        for member in node.field("body").into_iter().flat_map(parts) {
            self.member_of_class(member);
        }
        self.form.owner = outer;
    }

    fn bases(&self, class: Node<'_>) -> Vec<String> {
        let heritage = child_of_kind(class, &["class_heritage", "extends_type_clause"]);
        let clauses = heritage.into_iter().flat_map(|heritage| {
            let clauses = parts(heritage);
            let is_split = clauses.iter().any(|clause| clause.kind().ends_with("_clause"));
            if is_split { clauses.into_iter().flat_map(parts).collect() } else { clauses }
        });
        let bases = clauses.filter(|base| base.kind() != "type_arguments");
        bases.map(|base| bare_type(self.form.text(base))).filter(|base| !base.is_empty()).collect()
    }

    fn member_of_class(&mut self, member: Node<'_>) {
        let named = member.field("name").or_else(|| member.field("property")).unwrap_or(member);
        match member.kind() {
            "method_definition" => {
                self.constructor_fields(member);
                let name = self.form.text(named).to_owned();
                let function = self.function(member, name, Role::Plain);
                self.form.unit.functions.push(function);
            }
            "field_definition"
            | "public_field_definition"
            | "property_signature"
            | "enum_assignment"
            | "property_identifier" => {
                let outer = self.form.open();
                let value = member.field("value");
                let value = value.map(|value| self.expression(value));
                self.form.close(outer);
                let field = Field { name: span(named), declared: declared(member), value };
                self.form.add_field(field);
            }
            "class_static_block" => {
                let outer = self.form.open();
                self.function_body(member);
                let body = self.form.close(outer);
                let head = Head { role: Role::Before, ..Head::lambda(Vec::new(), member) };
                let function = self.form.function(head, body);
                self.form.unit.functions.push(function);
            }
            _ => {}
        }
    }

    /// `constructor(private readonly store: Store)` declares a field.
    fn constructor_fields(&mut self, method: Node<'_>) {
        for parameter in method.field("parameters").into_iter().flat_map(parts) {
            if child_of_kind(parameter, &["accessibility_modifier", "readonly"]).is_some()
                && let Some(name) = parameter.field("pattern")
            {
                let declared = declared(parameter);
                self.form.add_field(Field { name: span(name), declared, value: None });
            }
        }
    }

    /// A function of any kind, with its body.
    pub(super) fn function(&mut self, node: Node<'_>, name: String, role: Role) -> Function {
        let outer = self.form.open();
        let parameters = self.parameters(node);
        self.function_body(node);
        let body = self.form.close(outer);
        let returns = node.field("return_type").and_then(first_part).map(span);
        let mut cursor = node.walk();
        let marks = node.children_by_field_name("decorator", &mut cursor).map(span).collect();
        let lambda = Head::lambda(parameters, node);
        self.form.function(Head { name, role, returns, marks, ..lambda }, body)
    }

    /// The parameters of a function. One that is taken apart, `({ a, b })`, is bound anew.
    pub(super) fn parameters(&mut self, function: Node<'_>) -> Vec<Parameter> {
        if let Some(only) = function.field("parameter") {
            return vec![Parameter { name: span(only), declared: None }];
        }
        let list = function.field("parameters").into_iter().flat_map(parts);
        list.filter_map(|parameter| self.parameter(parameter)).collect()
    }

    fn parameter(&mut self, node: Node<'_>) -> Option<Parameter> {
        let mut pattern = node.field("pattern").or_else(|| node.field("left")).unwrap_or(node);
        if pattern.kind() == "rest_pattern" {
            pattern = first_part(pattern)?;
        }
        match pattern.kind() {
            "this" => return None,
            "object_pattern" | "array_pattern" => {
                let targets = self.targets(pattern);
                let (operator, value) = (behind(pattern), Some(name(pattern)));
                self.form.emit(Statement::Bind { targets, declared: None, operator, value });
            }
            _ => {}
        }
        Some(Parameter { name: span(pattern), declared: declared(node) })
    }

    /// Functions that the outline made out elsewhere or in a text the parser could not join.
    fn unread_functions(&mut self) {
        for (extent, node) in self.form.unread() {
            let Some(outlined) = self.form.outlined(extent) else { continue };
            if is_call(node) && Extent::new(node) == extent {
                self.test_call(node, outlined);
                continue;
            }
            self.form.owner = self.form.owner_of(outlined.scope, extent);
            let outer = self.form.open();
            parts_within(node, extent).for_each(|piece| self.statement(piece));
            let body = self.form.close(outer);
            self.form.add_unread(outlined, extent, node, body);
            self.form.owner = None;
        }
    }
}

/// The type that a declaration writes.
pub(super) fn declared(node: Node<'_>) -> Option<Span> {
    node.field("type").and_then(first_part).map(span)
}

pub(super) fn is_class(kind: &str) -> bool {
    matches!(kind, "class_declaration" | "abstract_class_declaration" | "class")
}

pub(super) fn is_method(node: Node<'_>) -> bool {
    node.kind() == "method_definition"
}

pub(super) fn is_call(node: Node<'_>) -> bool {
    node.kind() == "call_expression"
}

/// Whether what stands in a node runs when the node does.
fn leads_on(kind: &str) -> bool {
    matches!(
        kind,
        "program"
            | "statement_block"
            | "expression_statement"
            | "if_statement"
            | "else_clause"
            | "for_statement"
            | "for_in_statement"
            | "while_statement"
            | "try_statement"
            | "catch_clause"
            | "finally_clause"
            | "switch_statement"
            | "switch_body"
            | "switch_case"
            | "await_expression"
            | "return_statement"
            | "lexical_declaration"
            | "variable_declaration"
            | "parenthesized_expression"
            | "unary_expression"
            | "ambient_declaration"
            | "internal_module"
            | "module"
            | "ERROR"
    )
}

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
            && let (Some(name), Some(source)) = (first_part(clause), clause.field("source"))
        {
            let (name, module) = (self.form.text(name).to_owned(), self.module(source));
            self.form.add_import(&name, module, false);
            return;
        }
        let Some(source) = node.field("source") else { return };
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
    fn export_from(&mut self, node: Node<'_>, source: Node<'_>) {
        let module = self.module(source);
        match child_of_kind(node, &["export_clause"]) {
            Some(clause) => self.named_members(&module, clause),
            None => self.form.add_import("*", module, true),
        }
    }

    fn named_members(&mut self, module: &str, list: Node<'_>) {
        for part in parts(list) {
            if let Some(name) = part.field("name") {
                let alias = part.field("alias").unwrap_or(name);
                self.member(module, self.form.text(name), alias);
            }
        }
    }

    /// `const { a, b: c } = require("./d")`; `false` for any other variable.
    pub(super) fn require(&mut self, declarator: Node<'_>) -> bool {
        let (Some(name), Some(value)) = (declarator.field("name"), declarator.field("value"))
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
            match (part.field("key"), part.field("value")) {
                (Some(key), Some(alias)) => self.member(&module, self.form.text(key), alias),
                _ => self.member(&module, self.form.text(part), part),
            }
        }
        true
    }

    /// The module of `require("./d")`.
    fn required<'n>(&self, value: Node<'n>) -> Option<Node<'n>> {
        let function = value.field("function")?;
        let source = first_part(value.field("arguments")?)?;
        (self.form.text(function) == "require" && source.kind() == "string").then_some(source)
    }
}
