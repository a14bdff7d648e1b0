//! The classes, variables and functions of a Python file in the flow form, what the file is called, and
//! what it takes from elsewhere.

use tree_sitter::Node;

use crate::flow::{Expression, Field, Function, Parameter, Role, Span, Unit};
use crate::languages::lowering::{Head, Lowering};
use crate::languages::shapes::{first_part, parts, parts_within, span};
use crate::tree::{Extent, child_of_kind};

/// The unit of a Python file.
pub(in crate::languages) fn lower(form: Lowering<'_, '_>) -> Unit {
    let root = form.reading.root;
    let mut python = Python { form };
    python.form.unit.package = module_of(python.form.reading.path);
    python.members(root);
    python.unread_functions();
    python.form.finish()
}

pub(super) struct Python<'t, 'a> {
    pub(super) form: Lowering<'t, 'a>,
}

impl Python<'_, '_> {
    /// Read what stands directly in a file or in a class.
    fn members(&mut self, body: Node<'_>) {
        if !self.form.enter() {
            return;
        }
        for member in parts(body) {
            match member.kind() {
                "import_statement" => self.import(member),
                "import_from_statement" => self.import_from(member),
                "expression_statement" => self.fields(member),
                "function_definition" | "class_definition" | "decorated_definition" => {
                    self.definition(member);
                }
                // What stands under a condition at the outermost level is still declared.
                "if_statement" | "elif_clause" | "else_clause" | "try_statement"
                | "except_clause" | "finally_clause" | "with_statement" | "for_statement"
                | "block" | "ERROR" => self.members(member),
                _ => {}
            }
        }
        self.form.leave();
    }

    /// `limit = 3` of a class or of a file, one field for each name.
    fn fields(&mut self, statement: Node<'_>) {
        let Some(assignment) = first_part(statement).filter(|part| part.kind() == "assignment")
        else {
            return;
        };
        let Some(left) = assignment.child_by_field_name("left") else { return };
        let outer = self.form.open();
        let value = assignment.child_by_field_name("right").map(|value| self.expression(value));
        let targets = self.targets(left);
        self.form.close(outer);
        let declared = assignment.child_by_field_name("type").map(span);
        for target in targets {
            if let Expression::Name(name) = target {
                self.form.add_field(Field { name, declared, value: value.clone() });
            }
        }
    }

    fn definition(&mut self, decorated: Node<'_>) {
        let node = decorated.child_by_field_name("definition").unwrap_or(decorated);
        if node.kind() == "class_definition" {
            self.class(node);
            return;
        }
        let extent = Extent::new(decorated);
        let outlined = self.form.outlined(extent);
        let owner = self.form.owner;
        if let (None, Some(outlined)) = (owner, &outlined) {
            self.form.owner = self.form.owner_of(outlined.scope, extent);
        }
        let role = outlined.map_or(Role::Plain, |outlined| outlined.role);
        let function = self.function(decorated, role);
        self.form.unit.functions.extend(function);
        self.form.owner = owner;
    }

    pub(super) fn class(&mut self, node: Node<'_>) {
        let (Some(name), Some(body)) =
            (node.child_by_field_name("name"), node.child_by_field_name("body"))
        else {
            return;
        };
        let bases = node.child_by_field_name("superclasses").into_iter().flat_map(parts);
        let bases = bases.filter(|base| base.kind() != "keyword_argument").map(|base| {
            let base = self.form.text(base);
            base.split(['[', '(']).next().unwrap_or(base).split_whitespace().collect()
        });
        let bases = bases.collect();
        let class = self.form.declare_type(self.form.text(name), bases, node);
        let outer = self.form.owner.replace(class);
        self.members(body);
        self.form.owner = outer;
    }

    /// A function with its decorators and its body.
    pub(super) fn function(&mut self, decorated: Node<'_>, role: Role) -> Option<Function> {
        let node = decorated.child_by_field_name("definition").unwrap_or(decorated);
        let name = node.child_by_field_name("name")?;
        let marks: Vec<Span> = parts(decorated)
            .into_iter()
            .filter(|part| part.kind() == "decorator")
            .map(span)
            .collect();
        let outer = self.form.open();
        let mut parameters = self.parameters(node.child_by_field_name("parameters"));
        let is_static = marks.iter().any(|mark| {
            self.form.unit.text_of(*mark).trim_start_matches('@').trim() == "staticmethod"
        });
        if self.form.owner.is_some() && !is_static && !parameters.is_empty() {
            parameters.remove(0);
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body);
        }
        let body = self.form.close(outer);
        let head = Head {
            name: self.form.text(name).to_owned(),
            role,
            parameters,
            returns: node.child_by_field_name("return_type").map(span),
            marks,
            extent: Extent::new(decorated),
        };
        Some(self.form.function(head, body))
    }

    /// The parameters of a function or a lambda.
    pub(super) fn parameters(&self, list: Option<Node<'_>>) -> Vec<Parameter> {
        let parameters = list.into_iter().flat_map(parts);
        parameters.filter_map(parameter).collect()
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

/// `a`, `a=1`, `a: int`, `*a`; nothing for a lone `*` or `/`.
fn parameter(node: Node<'_>) -> Option<Parameter> {
    let declared = node.child_by_field_name("type").map(span);
    let name = match node.kind() {
        "identifier" => node,
        "default_parameter" | "typed_default_parameter" => node.child_by_field_name("name")?,
        "typed_parameter" => {
            let inner = first_part(node)?;
            child_of_kind(inner, &["identifier"]).unwrap_or(inner)
        }
        "list_splat_pattern" | "dictionary_splat_pattern" => first_part(node)?,
        _ => return None,
    };
    Some(Parameter { name: span(name), declared })
}

/// The dotted name of a file: `tests/test_a.py` is `tests.test_a`. What stands above a folder `src`
/// is no package.
fn module_of(path: &str) -> String {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let mut folders: Vec<&str> = path.split('/').collect();
    if let Some(at) = folders.iter().rposition(|folder| *folder == "src") {
        folders.drain(..=at);
    }
    folders.join(".")
}

fn joined(package: &str, name: &str) -> String {
    let dot = if package.is_empty() || name.is_empty() { "" } else { "." };
    format!("{package}{dot}{name}")
}
