//! The statements of Java in the flow form.

use tree_sitter::Node;

use super::flow::{Java, is_class, is_type};
use crate::flow::{Block, Expression, Statement};
use crate::languages::shapes::{behind, first_part, gathered, name, parts, span};
use crate::tree::{Fields, child_of_kind};

impl Java<'_, '_> {
    /// Write the statements inside a pair of braces.
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
            "expression_statement" | "ERROR" => {
                for part in parts(node) {
                    self.part(part);
                }
            }
            "local_variable_declaration" => self.local_variables(node),
            "block" | "constructor_body" => self.nested(Block::Plain, Vec::new(), node),
            "if_statement" => self.branches(node),
            "while_statement" | "do_statement" => {
                let heads = self.heads(node, "condition");
                self.nested_field(Block::Loop, heads, node);
            }
            "for_statement" => self.counting_loop(node),
            "enhanced_for_statement" => self.loop_over(node),
            "return_statement" => self.leave_with(first_part(node)),
            "throw_statement" => self.evaluate_parts(node),
            "yield_statement" => {
                let value = first_part(node).map(|value| self.expression(value));
                self.yields.extend(value);
            }
            "try_statement" | "try_with_resources_statement" => self.attempt(node),
            "synchronized_statement" => {
                let lock = child_of_kind(node, &["parenthesized_expression"]);
                let heads = lock.map(|lock| self.expression(lock)).into_iter().collect();
                self.nested_field(Block::Plain, heads, node);
            }
            "labeled_statement" => parts(node).into_iter().skip(1).for_each(|n| self.statement(n)),
            "switch_expression" => self.switch(node),
            "assert_statement" => self.assert_statement(node),
            "explicit_constructor_invocation" => self.constructor_call(node),
            kind if is_class(kind) => self.class(node),
            _ => {}
        }
        self.form.leave();
    }

    /// Write a statement or, in text that the parser could not join, the part of one.
    pub(super) fn part(&mut self, node: Node<'_>) {
        let kind = node.kind();
        if self.assertion(node) {
            return;
        }
        match kind {
            "assignment_expression" | "update_expression" => drop(self.expression(node)),
            "identifier" | "modifiers" => {}
            _ if kind.ends_with("_statement")
                || kind.ends_with("_declaration")
                || matches!(kind, "block" | "switch_expression" | "ERROR") =>
            {
                self.statement(node);
            }
            _ if is_type(kind) || kind.ends_with("_literal") => {}
            _ => {
                let value = self.expression(node);
                self.form.emit(Statement::Evaluate(value));
            }
        }
    }

    fn evaluate_parts(&mut self, node: Node<'_>) {
        for part in parts(node) {
            let value = self.expression(part);
            self.form.emit(Statement::Evaluate(value));
        }
    }

    /// Write that a value leaves the function.
    pub(super) fn leave_with(&mut self, value: Option<Node<'_>>) {
        let value = value.map(|value| self.expression(value));
        self.form.emit(Statement::Return(value));
    }

    fn heads(&mut self, node: Node<'_>, field: &'static str) -> Vec<Expression> {
        let head = node.field(field);
        head.map(|head| self.expression(head)).into_iter().collect()
    }

    fn nested_field(&mut self, block: Block, heads: Vec<Expression>, node: Node<'_>) {
        if let Some(body) = node.field("body") {
            self.nested(block, heads, body);
        }
    }

    /// Write what stands in another statement, with or without braces.
    fn nested(&mut self, block: Block, heads: Vec<Expression>, node: Node<'_>) {
        let outer = self.form.open();
        self.body(node);
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block, heads, body });
    }

    fn body(&mut self, node: Node<'_>) {
        match node.kind() {
            "block" | "constructor_body" => self.block(node),
            _ => self.statement(node),
        }
    }

    /// `if … else if … else …`, however many: one branch for each, side by side.
    fn branches(&mut self, node: Node<'_>) {
        let mut next = Some(node);
        while let Some(node) = next.take() {
            let heads = self.heads(node, "condition");
            if let Some(body) = node.field("consequence") {
                self.nested(Block::Branch, heads, body);
            }
            match node.field("alternative") {
                Some(other) if other.kind() == "if_statement" => next = Some(other),
                Some(other) => self.nested(Block::Branch, Vec::new(), other),
                None => {}
            }
        }
    }

    fn counting_loop(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let of_field = |field| node.children_by_field_name(field, &mut cursor).collect::<Vec<_>>();
        let [first, steps] = ["init", "update"].map(of_field);
        for part in first {
            match part.kind() {
                "local_variable_declaration" => self.local_variables(part),
                _ => self.part(part),
            }
        }
        let heads = self.heads(node, "condition");
        let outer = self.form.open();
        if let Some(body) = node.field("body") {
            self.body(body);
        }
        for step in steps {
            self.part(step);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads, body });
    }

    fn loop_over(&mut self, node: Node<'_>) {
        let value = node.field("value").map(|value| self.expression(value));
        let outer = self.form.open();
        if let (Some(variable), Some(word)) = (node.field("name"), child_of_kind(node, &["for"])) {
            self.form.bind_typed(name(variable), self.declared(node), span(word), value);
        }
        if let Some(body) = node.field("body") {
            self.body(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads: Vec::new(), body });
    }

    fn attempt(&mut self, node: Node<'_>) {
        let outer = self.form.open();
        for resource in node.field("resources").into_iter().flat_map(parts) {
            self.resource(resource);
        }
        if let Some(body) = node.field("body") {
            self.block(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Try, heads: Vec::new(), body });
        for clause in parts(node) {
            if matches!(clause.kind(), "catch_clause" | "finally_clause") {
                self.handler(clause);
            }
        }
    }

    fn resource(&mut self, node: Node<'_>) {
        if let (Some(variable), Some(value)) = (node.field("name"), node.field("value")) {
            let operator = child_of_kind(node, &["="]).map_or_else(|| behind(variable), span);
            let value = self.expression(value);
            self.form.bind_typed(name(variable), self.declared(node), operator, Some(value));
        } else {
            self.evaluate_parts(node);
        }
    }

    fn handler(&mut self, node: Node<'_>) {
        let outer = self.form.open();
        if let (Some(caught), Some(word)) =
            (child_of_kind(node, &["catch_formal_parameter"]), child_of_kind(node, &["catch"]))
            && let Some(variable) = caught.field("name")
        {
            let declared = child_of_kind(caught, &["catch_type"]).map(span);
            self.form.bind_typed(name(variable), declared, span(word), None);
        }
        if let Some(body) = child_of_kind(node, &["block"]) {
            self.block(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Handler, heads: Vec::new(), body });
    }

    fn switch(&mut self, node: Node<'_>) {
        let heads = self.heads(node, "condition");
        let outer = self.form.open();
        for group in node.field("body").into_iter().flat_map(parts) {
            self.switch_group(group);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }

    /// One `case` with what it does.
    pub(super) fn switch_group(&mut self, group: Node<'_>) {
        let mut heads = Vec::new();
        let outer = self.form.open();
        for part in parts(group) {
            match part.kind() {
                "switch_label" => {
                    for label in parts(part) {
                        heads.push(self.expression(label));
                    }
                }
                "block" => self.block(part),
                _ => self.statement(part),
            }
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }

    fn assert_statement(&mut self, node: Node<'_>) {
        let Some(word) = node.child(0).map(span) else { return };
        let operands = parts(node).into_iter().map(|part| self.expression(part)).collect();
        self.form.emit(Statement::Assert { words: vec![word], operands, line: word.line });
    }

    /// `super(…)` and `this(…)` in a constructor.
    fn constructor_call(&mut self, node: Node<'_>) {
        let Some(constructor) = node.field("constructor") else { return };
        let arguments = self.arguments(node);
        let name = span(constructor);
        let call = Expression::Call { name, receiver: None, arguments, creates: true };
        self.form.emit(Statement::Evaluate(call));
    }
}
