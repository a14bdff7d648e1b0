//! The types, variables, functions and methods of a Go file in the flow form.

use tree_sitter::Node;

use super::outline::import_path;
use crate::flow::{Expression, Field, Parameter, Role, Span, Unit};
use crate::languages::lowering::{Head, Lowering};
use crate::languages::shapes::{behind, name, parts, parts_within, span};
use crate::tree::{Extent, child_of_kind, children};

/// The unit of a Go file.
pub(in crate::languages) fn lower(form: Lowering<'_, '_>) -> Unit {
    let root = form.reading.root;
    let mut go = Go { form, is_reported: false };
    go.form.unit.package = import_path(&go.form.reading);
    // Methods may stand before the type they belong to.
    go.types(root);
    go.members(root);
    go.unread_functions();
    go.form.finish()
}

pub(super) struct Go<'t, 'a> {
    pub(super) form: Lowering<'t, 'a>,
    /// Whether the condition around the statements being read was written as an assertion, so that
    /// the report of its failure is none.
    pub(super) is_reported: bool,
}

impl Go<'_, '_> {
    fn types(&mut self, root: Node<'_>) {
        let declarations = parts(root).into_iter().filter(|n| n.kind() == "type_declaration");
        for spec in declarations.flat_map(parts) {
            self.type_spec(spec);
        }
    }

    /// `type Order struct { Base; total int }`.
    pub(super) fn type_spec(&mut self, spec: Node<'_>) {
        let (Some(name), Some(kind)) =
            (spec.child_by_field_name("name"), spec.child_by_field_name("type"))
        else {
            return;
        };
        let members: Vec<_> = match kind.kind() {
            "struct_type" => parts(kind).into_iter().flat_map(parts).collect(),
            "interface_type" => parts(kind),
            _ => Vec::new(),
        };
        let mut bases = Vec::new();
        let mut fields = Vec::new();
        for member in members {
            let mut cursor = member.walk();
            let names: Vec<_> = member.children_by_field_name("name", &mut cursor).collect();
            let declared = member.child_by_field_name("type").map(span);
            match member.kind() {
                "field_declaration" if names.is_empty() => {
                    let base = member.child_by_field_name("type").unwrap_or(member);
                    bases.push(bare(self.form.text(base)).to_owned());
                }
                "type_elem" => bases.push(bare(self.form.text(member)).to_owned()),
                "field_declaration" => fields.extend(names.into_iter().map(|n| Field {
                    name: span(n),
                    declared,
                    value: None,
                })),
                _ => {}
            }
        }
        let class = self.form.declare_type(self.form.text(name), bases, spec);
        if let Some(class) = self.form.unit.types.get_mut(class as usize) {
            class.fields = fields;
        }
    }

    fn members(&mut self, root: Node<'_>) {
        if !self.form.enter() {
            return;
        }
        for member in parts(root) {
            match member.kind() {
                "import_declaration" => self.imports(member),
                "var_declaration" | "const_declaration" => self.fields(member),
                "function_declaration" | "method_declaration" => self.function(member),
                "ERROR" => self.members(member),
                _ => {}
            }
        }
        self.form.leave();
    }

    fn imports(&mut self, node: Node<'_>) {
        for spec in parts(node) {
            if spec.kind() == "import_spec_list" {
                self.imports(spec);
                continue;
            }
            let Some(path) = spec.child_by_field_name("path") else { continue };
            let path = self.form.text(path).trim_matches(['"', '`']);
            let name = match spec.child_by_field_name("name").map(|name| self.form.text(name)) {
                Some(".") => "*",
                Some("_") => continue,
                Some(name) => name,
                None => package_name(path),
            };
            self.form.add_import(name, path.to_owned(), false);
        }
    }

    fn fields(&mut self, node: Node<'_>) {
        for spec in specs(node) {
            let outer = self.form.open();
            let value = spec.child_by_field_name("value").map(|value| self.expression(value));
            self.form.close(outer);
            let declared = spec.child_by_field_name("type").map(span);
            for name in names(spec) {
                let (name, value) = (span(name), value.clone());
                self.form.add_field(Field { name, declared, value });
            }
        }
    }

    fn function(&mut self, node: Node<'_>) {
        let Some(named) = node.child_by_field_name("name") else { return };
        let extent = Extent::new(node);
        let role = self.form.outlined(extent).map_or(Role::Plain, |outlined| outlined.role);
        let receiver = node
            .child_by_field_name("receiver")
            .and_then(|list| child_of_kind(list, &["parameter_declaration"]));
        let kind = receiver.and_then(|receiver| receiver.child_by_field_name("type"));
        self.form.owner = kind.map(|kind| self.owner(bare(self.form.text(kind)), node));
        let parameters = parameters(node);
        let outer = self.form.open();
        if let (Some(receiver), Some(kind)) =
            (receiver.and_then(|receiver| receiver.child_by_field_name("name")), kind)
        {
            self.form.bind_typed(name(receiver), Some(span(kind)), behind(receiver), None);
        }
        node.child_by_field_name("body").into_iter().for_each(|body| self.block(body));
        let body = self.form.close(outer);
        let head = Head {
            name: self.form.text(named).to_owned(),
            role,
            parameters,
            returns: node.child_by_field_name("result").map(span),
            marks: Vec::new(),
            extent,
        };
        let function = self.form.function(head, body);
        self.form.unit.functions.push(function);
        self.form.owner = None;
    }

    /// The type of a receiver, which another file of the package may declare.
    fn owner(&mut self, class: &str, node: Node<'_>) -> u32 {
        let known = self.form.unit.types.iter().position(|known| known.name == class);
        match known.and_then(|known| u32::try_from(known).ok()) {
            Some(known) => known,
            None => self.form.declare_type(class, Vec::new(), node),
        }
    }

    /// A function without a name.
    pub(super) fn lambda(&mut self, node: Node<'_>) -> Expression {
        let outer = self.form.open();
        let was_reported = std::mem::take(&mut self.is_reported);
        node.child_by_field_name("body").into_iter().for_each(|body| self.block(body));
        self.is_reported = was_reported;
        let body = self.form.close(outer);
        let returns = node.child_by_field_name("result").map(span);
        let head = Head { returns, ..Head::lambda(parameters(node), node) };
        Expression::Lambda(Box::new(self.form.function(head, body)))
    }

    /// Functions that the outline made out in a text the parser could not put together.
    fn unread_functions(&mut self) {
        for (extent, node) in self.form.unread() {
            let Some(outlined) = self.form.outlined(extent) else { continue };
            self.form.owner = self.form.owner_of(outlined.scope, extent);
            let outer = self.form.open();
            parts_within(node, extent).for_each(|piece| self.statement(piece));
            let body = self.form.close(outer);
            self.form.add_unread(outlined, extent, node, body);
            self.form.owner = None;
        }
    }
}

/// The variables of `var ( … )` and `const …`.
pub(super) fn specs<'n>(node: Node<'n>) -> Vec<Node<'n>> {
    let specs = parts(node).into_iter().flat_map(|part| match part.kind() {
        "var_spec_list" => parts(part),
        _ => vec![part],
    });
    specs.collect()
}

/// The names that a declaration gives.
pub(super) fn names<'n>(node: Node<'n>) -> Vec<Node<'n>> {
    let mut cursor = node.walk();
    let names = node.children_by_field_name("name", &mut cursor);
    names.filter(|name| name.kind() == "identifier").collect()
}

/// The parameters of a function; one without a name keeps its place.
fn parameters(function: Node<'_>) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for declaration in function.child_by_field_name("parameters").into_iter().flat_map(children) {
        if !declaration.kind().ends_with("parameter_declaration") {
            continue;
        }
        let declared: Option<Span> = declaration.child_by_field_name("type").map(span);
        let names = names(declaration);
        if names.is_empty() {
            parameters.push(Parameter { name: behind(declaration), declared });
        }
        parameters.extend(names.into_iter().map(|n| Parameter { name: span(n), declared }));
    }
    parameters
}

/// `Order` of `*shop.Order[T]`, with the package that it is in.
fn bare(kind: &str) -> &str {
    let kind = kind.trim_start_matches(['*', '~', ' ']);
    kind.split('[').next().unwrap_or(kind).trim()
}

/// What a package is called where no name is given: the last part of its path that is no version.
fn package_name(path: &str) -> &str {
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    let mut folders = path.rsplit('/').filter(|part| !is_version(part));
    let last = folders.next().unwrap_or(path);
    match last.rsplit_once('.') {
        Some((name, version)) if is_version(version) => name,
        _ => last.strip_prefix("go-").unwrap_or(last),
    }
}
