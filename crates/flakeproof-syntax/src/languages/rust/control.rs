//! Branches, matches and loops of Rust, as statements and as values.

use tree_sitter::Node;

use super::flow::Rust;
use super::statements::split_block;
use crate::flow::{Block, Expression, Operation, Statement};
use crate::languages::lowering::{combine, first_part, parts, span};
use crate::tree::child_of_kind;

impl Rust<'_, '_> {
    fn heads(&mut self, node: Node<'_>, field: &str) -> Vec<Expression> {
        let head = node.child_by_field_name(field);
        head.map(|head| self.expression(head)).into_iter().collect()
    }

    /// `if … else if … else …`, however many: one branch for each, side by side.
    pub(super) fn branches(&mut self, node: Node<'_>) {
        let mut next = Some(node);
        while let Some(node) = next.take() {
            let heads = self.heads(node, "condition");
            if let Some(body) = node.child_by_field_name("consequence") {
                self.nested(Block::Branch, heads, body);
            }
            match node.child_by_field_name("alternative").and_then(first_part) {
                Some(other) if other.kind() == "if_expression" => next = Some(other),
                Some(other) => self.nested(Block::Branch, Vec::new(), other),
                None => {}
            }
        }
    }

    /// An `if` that gives a value: what decides, then what each branch gives.
    pub(super) fn if_value(&mut self, node: Node<'_>) -> Expression {
        let word = span(node.child(0).unwrap_or(node));
        let mut operands = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next.take() {
            operands.append(&mut self.heads(node, "condition"));
            let body = node.child_by_field_name("consequence");
            operands.extend(body.and_then(|body| self.branch_value(body)));
            match node.child_by_field_name("alternative").and_then(first_part) {
                Some(other) if other.kind() == "if_expression" => next = Some(other),
                Some(other) => operands.extend(self.branch_value(other)),
                None => {}
            }
        }
        combine(Operation::Choose, word, operands)
    }

    /// What a branch gives; its statements are written.
    fn branch_value(&mut self, body: Node<'_>) -> Option<Expression> {
        let outer = self.form.open();
        let value = self.value_of_block(body);
        let body = self.form.close(outer);
        if !body.is_empty() {
            let (block, heads) = (Block::Branch, Vec::new());
            self.form.emit(Statement::Nested { block, heads, body });
        }
        value
    }

    /// The last expression of a block; its statements are written.
    pub(super) fn value_of_block(&mut self, body: Node<'_>) -> Option<Expression> {
        if body.kind() != "block" {
            return Some(self.expression(body));
        }
        let (statements, last) = split_block(body);
        for statement in statements {
            self.statement(statement);
        }
        let last = last?;
        if matches!(last.kind(), "return_expression" | "break_expression") || self.assertion(last) {
            if last.kind().ends_with("_expression") {
                self.evaluate(last);
            }
            return None;
        }
        Some(self.expression(last))
    }

    /// A `match` whose value is dropped.
    pub(super) fn arms(&mut self, node: Node<'_>) {
        let heads = self.heads(node, "value");
        let subject = heads.first().cloned();
        let outer = self.form.open();
        for arm in arms(node) {
            let outer = self.form.open();
            let heads = self.arm_head(arm, subject.clone());
            match arm.child_by_field_name("value") {
                Some(body) if body.kind() == "block" => self.block(body),
                Some(body) => self.evaluate(body),
                None => {}
            }
            let body = self.form.close(outer);
            self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }

    /// A `match` that gives a value.
    pub(super) fn match_value(&mut self, node: Node<'_>) -> Expression {
        let word = span(node.child(0).unwrap_or(node));
        let mut operands = self.heads(node, "value");
        let subject = operands.first().cloned();
        for arm in arms(node) {
            let guards = self.arm_head(arm, subject.clone());
            operands.extend(guards);
            let body = arm.child_by_field_name("value");
            operands.extend(body.and_then(|body| self.branch_value(body)));
        }
        combine(Operation::Choose, word, operands)
    }

    /// Bind the names of an arm's pattern; what else decides is given back.
    fn arm_head(&mut self, arm: Node<'_>, subject: Option<Expression>) -> Vec<Expression> {
        let Some(pattern) = arm.child_by_field_name("pattern") else { return Vec::new() };
        let operator = child_of_kind(arm, &["=>"]).unwrap_or(arm);
        self.bind_pattern(pattern, span(operator), subject);
        self.heads(pattern, "condition")
    }

    pub(super) fn loop_over(&mut self, node: Node<'_>) {
        let value = node.child_by_field_name("value").map(|value| self.expression(value));
        let word = child_of_kind(node, &["for"]).unwrap_or(node);
        let outer = self.form.open();
        match node.child_by_field_name("pattern") {
            Some(pattern) if !self.captured(pattern).is_empty() => {
                self.bind_pattern(pattern, span(word), value);
            }
            _ => value.into_iter().for_each(|v| self.form.emit(Statement::Evaluate(v))),
        }
        node.child_by_field_name("body").into_iter().for_each(|body| self.block(body));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads: Vec::new(), body });
    }

    /// `while` and `loop`.
    pub(super) fn repeat(&mut self, node: Node<'_>) {
        let heads = self.heads(node, "condition");
        if let Some(body) = node.child_by_field_name("body") {
            self.nested(Block::Loop, heads, body);
        }
    }

    /// `let Some(x) = y` as a condition.
    pub(super) fn let_condition(&mut self, node: Node<'_>) -> Option<Expression> {
        let value = node.child_by_field_name("value").map(|value| self.expression(value))?;
        let pattern = node.child_by_field_name("pattern")?;
        let word = child_of_kind(node, &["let"]).unwrap_or(node);
        self.bind_pattern(pattern, span(word), Some(value.clone()));
        Some(combine(Operation::Compare, span(word), vec![value]))
    }
}

fn arms<'n>(node: Node<'n>) -> impl Iterator<Item = Node<'n>> {
    let arms = node.child_by_field_name("body").into_iter().flat_map(parts);
    arms.filter(|arm| arm.kind() == "match_arm")
}
