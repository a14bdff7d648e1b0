//! The classes, variables and functions of a Python file in the flow form, with their statements,
//! what the file is called, and what it takes from elsewhere.

use tree_sitter::Node;

use crate::flow::{Block, Expression, Field, Function, Parameter, Role, Span, Statement, Unit};
use crate::languages::lowering::{Head, Lowering};
use crate::languages::shapes::{behind, first_part, gathered, name, parts, parts_within, span};
use crate::tree::{Extent, Fields, child_of_kind};

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
        let Some(left) = assignment.field("left") else { return };
        let outer = self.form.open();
        let value = assignment.field("right").map(|value| self.expression(value));
        let targets = self.targets(left);
        self.form.close(outer);
        let declared = assignment.field("type").map(span);
        for target in targets {
            if let Expression::Name(name) = target {
                self.form.add_field(Field { name, declared, value: value.clone() });
            }
        }
    }

    fn definition(&mut self, decorated: Node<'_>) {
        let node = decorated.field("definition").unwrap_or(decorated);
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
        let (Some(name), Some(body)) = (node.field("name"), node.field("body")) else {
            return;
        };
        let bases = node.field("superclasses").into_iter().flat_map(parts);
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
        let node = decorated.field("definition").unwrap_or(decorated);
        let name = node.field("name")?;
        let marks: Vec<Span> = parts(decorated)
            .into_iter()
            .filter(|part| part.kind() == "decorator")
            .map(span)
            .collect();
        let outer = self.form.open();
        let mut parameters = self.parameters(node.field("parameters"));
        let is_static = marks.iter().any(|mark| {
            self.form.unit.text_of(*mark).trim_start_matches('@').trim() == "staticmethod"
        });
        if self.form.owner.is_some() && !is_static && !parameters.is_empty() {
            parameters.remove(0);
        }
        if let Some(body) = node.field("body") {
            self.block(body);
        }
        let body = self.form.close(outer);
        let head = Head {
            name: self.form.text(name).to_owned(),
            role,
            parameters,
            returns: node.field("return_type").map(span),
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
            match (import.field("name"), import.field("alias")) {
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
    fn import_from(&mut self, node: Node<'_>) {
        let Some(module) = node.field("module_name") else { return };
        let base = self.absolute(module);
        for import in parts(node).into_iter().filter(|part| *part != module) {
            if import.kind() == "wildcard_import" {
                self.form.add_import("*", base.clone(), true);
                continue;
            }
            let name = import.field("name").unwrap_or(import);
            let alias = import.field("alias").unwrap_or(name);
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
    let declared = node.field("type").map(span);
    let name = match node.kind() {
        "identifier" => node,
        "default_parameter" | "typed_default_parameter" => node.field("name")?,
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

impl Python<'_, '_> {
    /// Write the statements of a block.
    pub(super) fn block(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for statement in node.named_children(&mut cursor) {
            self.statement(statement);
        }
    }

    /// Write a statement; nothing for what is none.
    pub(super) fn statement(&mut self, node: Node<'_>) {
        if !self.form.enter() {
            self.form.emit(Statement::Evaluate(gathered(node)));
            return;
        }
        match node.kind() {
            "expression_statement" => self.expression_statement(node),
            "assert_statement" => self.assert_statement(node),
            "return_statement" => {
                let value = first_part(node).map(|value| self.expression(value));
                self.form.emit(Statement::Return(value));
            }
            "if_statement" => self.branches(node),
            "for_statement" => self.loop_over(node),
            "while_statement" => {
                let heads = self.heads(node, "condition");
                self.nested(Block::Loop, heads, node.field("body"));
                self.otherwise(node);
            }
            "try_statement" => self.attempt(node),
            "with_statement" => self.with(node),
            "match_statement" => self.choice_of_cases(node),
            "raise_statement" | "delete_statement" | "print_statement" | "exec_statement" => {
                for part in parts(node) {
                    let value = self.expression(part);
                    self.form.emit(Statement::Evaluate(value));
                }
            }
            "decorated_definition" | "function_definition" => self.inner_definition(node),
            "class_definition" => self.class(node),
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "block" | "ERROR" => parts(node).into_iter().for_each(|part| self.statement(part)),
            "call" => self.expression_part(node),
            _ => {}
        }
        self.form.leave();
    }

    fn expression_statement(&mut self, node: Node<'_>) {
        for part in parts(node) {
            self.expression_part(part);
        }
    }

    fn expression_part(&mut self, node: Node<'_>) {
        if self.assertion(node) {
            return;
        }
        match node.kind() {
            "assignment" | "augmented_assignment" => drop(self.expression(node)),
            "yield" => {
                let value = first_part(node).map(|value| self.expression(value));
                self.form.emit(Statement::Return(value));
            }
            // A text that stands alone is a comment.
            "string" => {}
            _ => {
                let value = self.expression(node);
                self.form.emit(Statement::Evaluate(value));
            }
        }
    }

    fn heads(&mut self, node: Node<'_>, field: &'static str) -> Vec<Expression> {
        let head = node.field(field);
        head.map(|head| self.expression(head)).into_iter().collect()
    }

    pub(super) fn nested(&mut self, block: Block, heads: Vec<Expression>, body: Option<Node<'_>>) {
        let outer = self.form.open();
        if let Some(body) = body {
            self.block(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block, heads, body });
    }

    /// `if … elif … else …`: one branch for each, side by side.
    fn branches(&mut self, node: Node<'_>) {
        let heads = self.heads(node, "condition");
        self.nested(Block::Branch, heads, node.field("consequence"));
        for clause in parts(node) {
            match clause.kind() {
                "elif_clause" => {
                    let heads = self.heads(clause, "condition");
                    self.nested(Block::Branch, heads, clause.field("consequence"));
                }
                "else_clause" => {
                    self.nested(Block::Branch, Vec::new(), clause.field("body"));
                }
                _ => {}
            }
        }
    }

    /// The `else` of a loop.
    fn otherwise(&mut self, node: Node<'_>) {
        if let Some(clause) = node.field("alternative") {
            self.nested(Block::Branch, Vec::new(), clause.field("body"));
        }
    }

    fn loop_over(&mut self, node: Node<'_>) {
        let value = node.field("right").map(|value| self.expression(value));
        let outer = self.form.open();
        let word = child_of_kind(node, &["for"]).unwrap_or(node);
        if let Some(left) = node.field("left") {
            let targets = self.targets(left);
            let operator = span(word);
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
        if let Some(body) = node.field("body") {
            self.block(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads: Vec::new(), body });
        self.otherwise(node);
    }

    fn attempt(&mut self, node: Node<'_>) {
        self.nested(Block::Try, Vec::new(), node.field("body"));
        for clause in parts(node) {
            match clause.kind() {
                "except_clause" | "except_group_clause" => self.handler(clause),
                "else_clause" => {
                    self.nested(Block::Plain, Vec::new(), clause.field("body"));
                }
                "finally_clause" => {
                    self.nested(Block::Handler, Vec::new(), child_of_kind(clause, &["block"]));
                }
                _ => {}
            }
        }
    }

    /// `except E as e: …`.
    fn handler(&mut self, node: Node<'_>) {
        let mut kind = node.field("value");
        let mut alias = node.field("alias");
        if let Some(pattern) = kind.filter(|kind| kind.kind() == "as_pattern") {
            kind = first_part(pattern);
            alias = pattern.field("alias");
        }
        let outer = self.form.open();
        if let (Some(alias), Some(word)) = (alias, node.child(0)) {
            self.form.bind_typed(name(alias), kind.map(span), span(word), None);
        }
        if let Some(body) = child_of_kind(node, &["block"]) {
            self.block(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Handler, heads: Vec::new(), body });
    }

    /// `with open(p) as f: …`; what must raise is told apart.
    fn with(&mut self, node: Node<'_>) {
        let word = child_of_kind(node, &["with"]).unwrap_or(node);
        let items: Vec<_> = parts(node)
            .into_iter()
            .filter(|part| part.kind() == "with_clause")
            .flat_map(parts)
            .filter_map(|item| item.field("value"))
            .collect();
        let outer = self.form.open();
        let mut said = Vec::new();
        for item in items {
            let alias = item.field("alias").filter(|_| item.kind() == "as_pattern");
            let value = if alias.is_some() { first_part(item).unwrap_or(item) } else { item };
            said.extend(self.expected(value));
            let value = self.expression(value);
            match alias.and_then(first_part).or(alias) {
                Some(alias) => {
                    let targets = self.targets(alias);
                    let (operator, value) = (span(word), Some(value));
                    self.form.emit(Statement::Bind { targets, declared: None, operator, value });
                }
                None if said.is_empty() => self.form.emit(Statement::Evaluate(value)),
                None => {}
            }
        }
        if let Some(body) = node.field("body") {
            self.block(body);
        }
        let body = self.form.close(outer);
        let block = if said.is_empty() { Block::Plain } else { Block::Raises };
        self.form.emit(Statement::Nested { block, heads: Vec::new(), body });
        said.into_iter().for_each(|said| self.form.emit(said));
    }

    fn choice_of_cases(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let subjects: Vec<_> = node.children_by_field_name("subject", &mut cursor).collect();
        let heads: Vec<_> = subjects.into_iter().map(|node| self.expression(node)).collect();
        let subject = heads.first().cloned();
        let outer = self.form.open();
        for clause in node.field("body").into_iter().flat_map(parts) {
            if clause.kind() == "case_clause" {
                self.case(clause, subject.clone());
            }
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }

    fn case(&mut self, clause: Node<'_>, subject: Option<Expression>) {
        let outer = self.form.open();
        let patterns = parts(clause).into_iter().filter(|part| part.kind() == "case_pattern");
        let targets: Vec<_> = patterns.flat_map(|pattern| self.captured(pattern)).collect();
        if let Some(word) = child_of_kind(clause, &["case"]).filter(|_| !targets.is_empty()) {
            let (operator, value) = (span(word), subject);
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
        let guard = clause.field("guard").and_then(first_part);
        let heads = guard.map(|guard| self.expression(guard)).into_iter().collect();
        if let Some(body) = clause.field("consequence") {
            self.block(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }

    /// The names that a pattern gives: those without a dot that are no class.
    fn captured(&self, pattern: Node<'_>) -> Vec<Expression> {
        let mut names = Vec::new();
        let mut waiting = vec![pattern];
        while let Some(node) = waiting.pop() {
            let inner = parts(node);
            match node.kind() {
                "dotted_name" if inner.len() == 1 => names.push(name(node)),
                "as_pattern_target" => names.push(name(node)),
                "splat_pattern" => names.extend(inner.into_iter().map(name)),
                // Its first part is the name of the class.
                "class_pattern" => waiting.extend(inner.into_iter().skip(1).rev()),
                _ => waiting.extend(inner.into_iter().rev()),
            }
        }
        names.retain(|name| self.form.unit.text_of(name.span()) != "_");
        names
    }

    /// A function inside another: a value that has a name.
    fn inner_definition(&mut self, node: Node<'_>) {
        let definition = node.field("definition").unwrap_or(node);
        if definition.kind() == "class_definition" {
            self.class(definition);
            return;
        }
        let Some(defined) = definition.field("name") else { return };
        // Its first parameter is no `self`, whatever class stands around.
        let owner = self.form.owner.take();
        let function = self.function(node, Role::Plain);
        self.form.owner = owner;
        let value = function.map(|function| Expression::Lambda(Box::new(function)));
        let operator = child_of_kind(definition, &["def"]).map_or_else(|| behind(defined), span);
        self.form.bind(name(defined), operator, value);
    }
}
