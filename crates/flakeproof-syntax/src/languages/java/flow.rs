//! The classes, fields and methods of a Java file in the flow form.

use tree_sitter::Node;

use crate::flow::{Expression, Field, Function, Parameter, Role, Span, Statement, Unit};
use crate::languages::lowering::{Head, Lowering};
use crate::languages::shapes::{bare_type, behind, first_part, parts, parts_within, raising, span};
use crate::outline::ScopeId;
use crate::tree::{Extent, Fields, child_of_kind};

/// The unit of a Java file.
pub(in crate::languages) fn lower(form: Lowering<'_, '_>) -> Unit {
    let root = form.reading.root;
    let mut java = Java { form, yields: Vec::new() };
    java.members(root);
    java.unread_methods();
    java.form.finish()
}

pub(super) struct Java<'t, 'a> {
    pub(super) form: Lowering<'t, 'a>,
    /// What the blocks of the `switch` being read give back.
    pub(super) yields: Vec<Expression>,
}

impl Java<'_, '_> {
    /// Read what stands directly in a file or in a class.
    fn members(&mut self, body: Node<'_>) {
        if !self.form.enter() {
            return;
        }
        for member in parts(body) {
            self.member(member);
        }
        self.form.leave();
    }

    fn member(&mut self, node: Node<'_>) {
        match node.kind() {
            "package_declaration" => {
                if let Some(name) = child_of_kind(node, &["scoped_identifier", "identifier"]) {
                    self.form.unit.package = self.form.text(name).split_whitespace().collect();
                }
            }
            "import_declaration" => self.import(node),
            "field_declaration" | "constant_declaration" => self.fields(node),
            "method_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration" => self.method(node),
            "static_initializer" | "block" => self.initializer(node),
            "enum_constant" => self.enum_constant(node),
            "enum_body_declarations" | "ERROR" => self.members(node),
            kind if is_class(kind) => self.class(node),
            _ => {}
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let Some(path) = child_of_kind(node, &["scoped_identifier", "identifier"]) else { return };
        let path: String = self.form.text(path).split_whitespace().collect();
        let is_member = child_of_kind(node, &["static"]).is_some();
        let is_star = child_of_kind(node, &["asterisk"]).is_some();
        let last = path.rsplit('.').next().unwrap_or(&path);
        let name = if is_star { "*" } else { last }.to_owned();
        self.form.add_import(&name, path, is_member);
    }

    /// Read a class and everything in it.
    pub(super) fn class(&mut self, node: Node<'_>) {
        let (Some(name), Some(body)) = (node.field("name"), node.field("body")) else {
            return;
        };
        let bases = self.bases(node);
        let class = self.form.declare_type(self.form.text(name), bases, node);
        let outer = self.form.owner.replace(class);
        if node.kind() == "record_declaration" {
            for parameter in self.parameters(node) {
                let Parameter { name, declared } = parameter;
                self.form.add_field(Field { name, declared, value: None });
            }
        }
        self.members(body);
        self.form.owner = outer;
    }

    fn bases(&self, class: Node<'_>) -> Vec<String> {
        let lists = ["superclass", "super_interfaces", "extends_interfaces", "type_list"];
        let mut bases = Vec::new();
        let mut waiting = vec![class];
        while let Some(node) = waiting.pop() {
            for part in parts(node) {
                if lists.contains(&part.kind()) {
                    waiting.push(part);
                } else if node != class {
                    bases.push((part.start_byte(), bare_type(self.form.text(part))));
                }
            }
        }
        bases.sort_by_key(|(start, _)| *start);
        bases.into_iter().map(|(_, base)| base).filter(|base| !base.is_empty()).collect()
    }

    fn fields(&mut self, node: Node<'_>) {
        let declared = self.declared(node);
        for declarator in parts(node).into_iter().filter(|n| n.kind() == "variable_declarator") {
            let Some(name) = declarator.field("name") else { continue };
            let value = declarator.field("value");
            let value = value.map(|value| self.field_value(value));
            self.form.add_field(Field { name: span(name), declared, value });
        }
    }

    /// The first value of a field; what it does besides runs nowhere.
    fn field_value(&mut self, value: Node<'_>) -> Expression {
        let outer = self.form.open();
        let value = self.expression(value);
        self.form.close(outer);
        value
    }

    /// `RED(1, "r") { … }`: an object of the enum's own class.
    fn enum_constant(&mut self, node: Node<'_>) {
        let Some(name) = node.field("name") else { return };
        let outer = self.form.open();
        let mut arguments = self.arguments(node);
        if let Some(body) = node.field("body") {
            arguments.extend(self.callbacks(body));
        }
        self.form.close(outer);
        let name = span(name);
        let value = Expression::Call { name, receiver: None, arguments, creates: true };
        self.form.add_field(Field { name, declared: None, value: Some(value) });
    }

    fn method(&mut self, node: Node<'_>) {
        let extent = Extent::new(node);
        let outlined = self.form.outlined(extent);
        let owner = self.form.owner;
        if let (None, Some(outlined)) = (owner, &outlined) {
            // Only in a broken file is a method outside of every class.
            self.form.owner = self.form.owner_of(outlined.scope, extent);
        }
        let role = outlined.map_or(Role::Plain, |outlined| outlined.role);
        let function = self.method_with(node, role);
        self.form.unit.functions.extend(function);
        self.form.owner = owner;
    }

    /// A method and its body.
    pub(super) fn method_with(&mut self, node: Node<'_>, role: Role) -> Option<Function> {
        let name = node.field("name")?;
        let head = Head {
            name: self.form.text(name).to_owned(),
            role,
            parameters: self.parameters(node),
            returns: self.declared(node),
            marks: marks(node),
            extent: Extent::new(node),
        };
        let outer = self.form.open();
        if let Some(body) = node.field("body") {
            self.block(body);
        }
        let body = self.form.close(outer);
        let body = self.expecting(node, body);
        Some(self.form.function(head, body))
    }

    /// A body that must raise what `@Test(expected = …)` says.
    fn expecting(&mut self, method: Node<'_>, body: Vec<Statement>) -> Vec<Statement> {
        let Some((key, error)) = self.expected_error(method) else { return body };
        let word = span(key);
        let outer = self.form.open();
        let error = self.expression(error);
        self.form.close(outer);
        raising(body, word, vec![error])
    }

    fn expected_error<'n>(&self, method: Node<'n>) -> Option<(Node<'n>, Node<'n>)> {
        let marks = annotations(method);
        let arguments = marks.filter_map(|mark| mark.field("arguments"));
        arguments.flat_map(parts).find_map(|pair| {
            let key = pair.field("key")?;
            let is_about_errors = matches!(self.form.text(key), "expected" | "expectedExceptions");
            Some((key, pair.field("value")?)).filter(|_| is_about_errors)
        })
    }

    /// `static { … }` and `{ … }` run before everything else of their class.
    fn initializer(&mut self, node: Node<'_>) {
        let block = child_of_kind(node, &["block"]).unwrap_or(node);
        let head = Head { role: Role::Before, ..Head::lambda(Vec::new(), node) };
        let outer = self.form.open();
        self.block(block);
        let body = self.form.close(outer);
        let function = self.form.function(head, body);
        self.form.unit.functions.push(function);
    }

    /// The parameters of a method, a lambda or a record.
    pub(super) fn parameters(&self, node: Node<'_>) -> Vec<Parameter> {
        let Some(list) = node.field("parameters") else { return Vec::new() };
        if list.kind() == "identifier" {
            return vec![Parameter { name: span(list), declared: None }];
        }
        parts(list).into_iter().filter_map(|parameter| self.parameter(parameter)).collect()
    }

    fn parameter(&self, node: Node<'_>) -> Option<Parameter> {
        match node.kind() {
            "identifier" => Some(Parameter { name: span(node), declared: None }),
            "spread_parameter" => {
                let declarator = child_of_kind(node, &["variable_declarator"])?;
                let name = declarator.field("name")?;
                let kind = parts(node).into_iter().find(|part| is_type(part.kind()));
                Some(Parameter { name: span(name), declared: kind.map(span) })
            }
            _ => {
                let name = node.field("name")?;
                Some(Parameter { name: span(name), declared: self.declared(node) })
            }
        }
    }

    /// The type that a declaration writes; nothing for `var` and `void`.
    pub(super) fn declared(&self, node: Node<'_>) -> Option<Span> {
        let kind = node.field("type")?;
        let says_nothing = kind.kind() == "void_type" || self.form.text(kind) == "var";
        (!says_nothing).then(|| span(kind))
    }

    /// Methods that the outline made out in a text the parser could not put together.
    fn unread_methods(&mut self) {
        for (extent, node) in self.form.unread() {
            let Some(outlined) = self.form.outlined(extent) else { continue };
            if outlined.scope != ScopeId::FILE {
                self.form.owner = self.form.owner_of(outlined.scope, extent);
            }
            let outer = self.form.open();
            parts_within(node, extent).for_each(|piece| self.statement(piece));
            let body = self.form.close(outer);
            self.form.add_unread(outlined, extent, node, body);
            self.form.owner = None;
        }
    }

    /// The methods of a class without a name: code that is handed over, to be called later.
    pub(super) fn callbacks(&mut self, body: Node<'_>) -> Vec<Expression> {
        let mut callbacks = Vec::new();
        for member in parts(body) {
            let lambda = match member.kind() {
                "method_declaration" => self.method_with(member, Role::Plain),
                "block" => {
                    let outer = self.form.open();
                    self.block(member);
                    let body = self.form.close(outer);
                    Some(self.form.function(Head::lambda(Vec::new(), member), body))
                }
                "field_declaration" => {
                    // Its methods see the names around them, so its fields may stand there.
                    self.local_variables(member);
                    None
                }
                kind if is_class(kind) => {
                    self.class(member);
                    None
                }
                _ => None,
            };
            callbacks.extend(lambda.map(|lambda| Expression::Lambda(Box::new(lambda))));
        }
        callbacks
    }

    /// Bind each variable of a declaration.
    pub(super) fn local_variables(&mut self, node: Node<'_>) {
        let declared = self.declared(node);
        for declarator in parts(node).into_iter().filter(|n| n.kind() == "variable_declarator") {
            let Some(name) = declarator.field("name") else { continue };
            let value = declarator.field("value");
            let sign = child_of_kind(declarator, &["="]);
            let operator = sign.map_or_else(|| behind(name), span);
            let value = value.map(|value| self.expression(value));
            self.form.bind_typed(Expression::Name(span(name)), declared, operator, value);
        }
    }
}

/// The annotations of a method, each whole.
fn marks(method: Node<'_>) -> Vec<Span> {
    annotations(method).map(span).collect()
}

fn annotations<'n>(method: Node<'n>) -> impl Iterator<Item = Node<'n>> {
    let modifiers = first_part(method).filter(|part| part.kind() == "modifiers");
    let marks = modifiers.into_iter().flat_map(parts);
    marks.filter(|mark| matches!(mark.kind(), "annotation" | "marker_annotation"))
}

pub(super) fn is_class(kind: &str) -> bool {
    matches!(
        kind,
        "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
    )
}

pub(super) fn is_type(kind: &str) -> bool {
    kind.ends_with("_type") || kind.ends_with("type_identifier")
}
