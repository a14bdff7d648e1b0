//! The types, variables, functions and methods of a Go file in the flow form, with their statements.

use tree_sitter::Node;

use super::outline::import_path;
use crate::flow::{Block, Expression, Field, Parameter, Role, Span, Statement, Unit};
use crate::languages::lowering::{Head, Lowering};
use crate::languages::shapes::{behind, first_part, gathered, name, parts, parts_within, span};
use crate::tree::{Extent, Fields, child_of_kind, children};

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
    fn type_spec(&mut self, spec: Node<'_>) {
        let (Some(name), Some(kind)) = (spec.field("name"), spec.field("type")) else {
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
            let declared = member.field("type").map(span);
            match member.kind() {
                "field_declaration" if names.is_empty() => {
                    let base = member.field("type").unwrap_or(member);
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
            let Some(path) = spec.field("path") else { continue };
            let path = self.form.text(path).trim_matches(['"', '`']);
            let name = match spec.field("name").map(|name| self.form.text(name)) {
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
            let value = spec.field("value").map(|value| self.expression(value));
            self.form.close(outer);
            let declared = spec.field("type").map(span);
            for name in names(spec) {
                let (name, value) = (span(name), value.clone());
                self.form.add_field(Field { name, declared, value });
            }
        }
    }

    fn function(&mut self, node: Node<'_>) {
        let Some(named) = node.field("name") else { return };
        let extent = Extent::new(node);
        let role = self.form.outlined(extent).map_or(Role::Plain, |outlined| outlined.role);
        let receiver =
            node.field("receiver").and_then(|list| child_of_kind(list, &["parameter_declaration"]));
        let kind = receiver.and_then(|receiver| receiver.field("type"));
        self.form.owner = kind.map(|kind| self.owner(bare(self.form.text(kind)), node));
        let parameters = parameters(node);
        let outer = self.form.open();
        if let (Some(receiver), Some(kind)) =
            (receiver.and_then(|receiver| receiver.field("name")), kind)
        {
            self.form.bind_typed(name(receiver), Some(span(kind)), behind(receiver), None);
        }
        node.field("body").into_iter().for_each(|body| self.block(body));
        let body = self.form.close(outer);
        let head = Head {
            name: self.form.text(named).to_owned(),
            role,
            parameters,
            returns: node.field("result").map(span),
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
        node.field("body").into_iter().for_each(|body| self.block(body));
        self.is_reported = was_reported;
        let body = self.form.close(outer);
        let returns = node.field("result").map(span);
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
    for declaration in function.field("parameters").into_iter().flat_map(children) {
        if !declaration.kind().ends_with("parameter_declaration") {
            continue;
        }
        let declared: Option<Span> = declaration.field("type").map(span);
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

impl Go<'_, '_> {
    /// Write the statements inside a pair of braces.
    pub(super) fn block(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for part in node.named_children(&mut cursor) {
            match part.kind() {
                "statement_list" => self.block(part),
                _ => self.statement(part),
            }
        }
    }

    /// Write a statement; nothing for what is none.
    pub(super) fn statement(&mut self, node: Node<'_>) {
        if !self.form.enter() {
            self.form.emit(Statement::Evaluate(gathered(node)));
            return;
        }
        match node.kind() {
            "expression_statement" | "go_statement" | "defer_statement" => {
                parts(node).into_iter().for_each(|part| self.part(part));
            }
            "short_var_declaration" | "assignment_statement" => self.assignment(node),
            "var_declaration" | "const_declaration" => self.variables(node),
            "inc_statement" | "dec_statement" => self.step(node),
            "send_statement" => self.send(node),
            "return_statement" => {
                let value = first_part(node).map(|value| self.expression(value));
                self.form.emit(Statement::Return(value));
            }
            "if_statement" => self.branches(node),
            "for_statement" => self.repeat(node),
            "expression_switch_statement" | "type_switch_statement" | "select_statement" => {
                self.switch(node);
            }
            "labeled_statement" => parts(node).into_iter().skip(1).for_each(|n| self.statement(n)),
            "block" => self.nested(Block::Plain, Vec::new(), Some(node)),
            "statement_list" | "ERROR" => self.block(node),
            "type_declaration" => parts(node).into_iter().for_each(|spec| self.type_spec(spec)),
            "receive_statement" => self.assignment(node),
            "call_expression" => self.part(node),
            _ => {}
        }
        self.form.leave();
    }

    fn part(&mut self, node: Node<'_>) {
        if !self.assertion(node) && !self.subtest(node) && !self.run_now(node) {
            let value = self.expression(node);
            self.form.emit(Statement::Evaluate(value));
        }
    }

    /// Write `func() { … }()` as what it does; `false` for other calls.
    fn run_now(&mut self, node: Node<'_>) -> bool {
        let called = node.field("function");
        let Some(called) = called.filter(|called| called.kind() == "func_literal") else {
            return false;
        };
        let arguments = self.arguments(node.field("arguments"));
        if let Expression::Lambda(function) = self.lambda(called) {
            self.form.run_now(*function, arguments);
        }
        true
    }

    /// `a, b := f()`, `x.y += 1`, and `v := <-c` of a `select`.
    fn assignment(&mut self, node: Node<'_>) {
        let value = node.field("right").map(|value| self.expression(value));
        let left = node.field("left");
        let sign = node.field("operator").or_else(|| child_of_kind(node, &[":=", "="])).map(span);
        self.bind(left, sign.unwrap_or_else(|| behind(node)), value);
    }

    /// Bind the names of a list; where all are `_`, the value is dropped.
    fn bind(&mut self, left: Option<Node<'_>>, operator: Span, value: Option<Expression>) {
        let left = left.into_iter().flat_map(parts);
        let left: Vec<_> = left.filter(|target| self.form.text(*target) != "_").collect();
        let targets: Vec<_> = left.into_iter().map(|target| self.expression(target)).collect();
        match value {
            Some(value) if targets.is_empty() => self.form.emit(Statement::Evaluate(value)),
            value => self.form.emit(Statement::Bind { targets, declared: None, operator, value }),
        }
    }

    fn variables(&mut self, node: Node<'_>) {
        for spec in specs(node) {
            let value = spec.field("value").map(|value| self.expression(value));
            let operator = child_of_kind(spec, &["="]).map_or_else(|| behind(spec), span);
            let declared = spec.field("type").map(span);
            let targets = names(spec).into_iter().map(name).collect();
            self.form.emit(Statement::Bind { targets, declared, operator, value });
        }
    }

    /// `n++`.
    fn step(&mut self, node: Node<'_>) {
        if let (Some(target), Some(sign)) = (first_part(node), child_of_kind(node, &["++", "--"])) {
            let target = self.expression(target);
            self.form.bind(target.clone(), span(sign), Some(target));
        }
    }

    /// `c <- v`: the channel holds the value.
    fn send(&mut self, node: Node<'_>) {
        if let (Some(channel), Some(value), Some(sign)) =
            (node.field("channel"), node.field("value"), child_of_kind(node, &["<-"]))
        {
            let value = self.expression(value);
            let channel = self.expression(channel);
            self.form.bind(channel, span(sign), Some(value));
        }
    }

    fn nested(&mut self, block: Block, heads: Vec<Expression>, body: Option<Node<'_>>) {
        let outer = self.form.open();
        body.into_iter().for_each(|body| self.block(body));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block, heads, body });
    }

    /// `if … else if … else …`, however many. Where a branch reports a failure of the test, its
    /// condition is the assertion.
    fn branches(&mut self, node: Node<'_>) {
        let mut next = Some(node);
        let was_reported = self.is_reported;
        while let Some(node) = next.take() {
            node.field("initializer").into_iter().for_each(|n| self.statement(n));
            let condition = node.field("condition");
            let mut heads: Vec<_> =
                condition.map(|condition| self.expression(condition)).into_iter().collect();
            if let Some(report) = self.report_in(node) {
                let operands = std::mem::take(&mut heads);
                let word = span(report);
                let line = span(node).line;
                self.form.emit(Statement::Assert { words: vec![word], operands, line });
                self.is_reported = true;
            }
            self.nested(Block::Branch, heads, node.field("consequence"));
            match node.field("alternative") {
                Some(other) if other.kind() == "if_statement" => next = Some(other),
                Some(other) => self.nested(Block::Branch, Vec::new(), Some(other)),
                None => {}
            }
            self.is_reported = was_reported;
        }
    }

    fn repeat(&mut self, node: Node<'_>) {
        let clause = parts(node).into_iter().find(|part| part.kind() != "block");
        let mut heads = Vec::new();
        let mut each = None;
        let mut step = None;
        match clause {
            Some(clause) if clause.kind() == "for_clause" => {
                clause.field("initializer").into_iter().for_each(|n| {
                    self.statement(n);
                });
                let condition = clause.field("condition");
                heads.extend(condition.map(|condition| self.expression(condition)));
                step = clause.field("update");
            }
            Some(clause) if clause.kind() == "range_clause" => {
                let value = clause.field("right");
                each = Some((clause, value.map(|value| self.expression(value))));
            }
            Some(condition) => heads.push(self.expression(condition)),
            None => {}
        }
        let outer = self.form.open();
        if let Some((clause, value)) = each {
            let word = child_of_kind(node, &["for"]).unwrap_or(node);
            self.bind(clause.field("left"), span(word), value);
        }
        node.field("body").into_iter().for_each(|body| self.block(body));
        step.into_iter().for_each(|step| self.statement(step));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads, body });
    }

    /// `switch`, the one over types, and `select`.
    fn switch(&mut self, node: Node<'_>) {
        node.field("initializer").into_iter().for_each(|n| self.statement(n));
        let value = node.field("value").map(|value| self.expression(value));
        let alias = node.field("alias");
        let word = node.child(0).unwrap_or(node);
        let mut heads = Vec::new();
        if alias.is_some() {
            self.bind(alias, span(word), value);
        } else {
            heads.extend(value);
        }
        let outer = self.form.open();
        for case in parts(node).into_iter().filter(|part| part.kind().ends_with("_case")) {
            self.case(case);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }

    fn case(&mut self, case: Node<'_>) {
        let mut heads = Vec::new();
        if case.kind() == "expression_case" {
            let values = case.field("value").into_iter().flat_map(parts);
            heads.extend(values.map(|value| self.expression(value)));
        }
        let outer = self.form.open();
        for part in parts(case) {
            match part.kind() {
                "statement_list" => self.block(part),
                "send_statement" | "receive_statement" => self.statement(part),
                _ => {}
            }
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }
}
