//! The statements of Rust in the flow form.

use tree_sitter::Node;

use super::flow::Rust;
use crate::flow::{Block, Expression, Role, Statement};
use crate::languages::lowering::{behind, first_part, gathered, name, parts, span};
use crate::tree::child_of_kind;

impl Rust<'_, '_> {
    /// Write what a function does; where it gives something back, its last expression does.
    pub(super) fn function_body(&mut self, body: Node<'_>, gives: bool) {
        if body.kind() != "block" {
            self.give(body);
            return;
        }
        let (statements, last) = split_block(body);
        for statement in statements {
            self.statement(statement);
        }
        match last {
            Some(last) if gives => self.give(last),
            Some(last) => self.evaluate(last),
            None => {}
        }
    }

    /// Write that the value of an expression leaves the function.
    fn give(&mut self, node: Node<'_>) {
        if self.assertion(node) {
            return;
        }
        let value = self.expression(node);
        self.form.emit(Statement::Return(Some(value)));
    }

    /// Write a statement; nothing for what is none.
    pub(super) fn statement(&mut self, node: Node<'_>) {
        if !self.form.enter() {
            self.form.emit(Statement::Evaluate(gathered(node)));
            return;
        }
        match node.kind() {
            "expression_statement" => {
                first_part(node).into_iter().for_each(|part| self.evaluate(part));
            }
            "let_declaration" => self.variable(node),
            "use_declaration" => self.import(node),
            "function_item" => self.inner_function(node),
            "struct_item" | "enum_item" | "union_item" | "trait_item" => self.type_item(node),
            "impl_item" => self.implementation(node),
            "const_item" | "static_item" => self.constant(node),
            "ERROR" => parts(node).into_iter().for_each(|part| self.statement(part)),
            "block" => self.nested(Block::Plain, Vec::new(), node),
            kind if kind.ends_with("_expression")
                || matches!(kind, "macro_invocation" | "compound_assignment_expr") =>
            {
                self.evaluate(node);
            }
            _ => {}
        }
        self.form.leave();
    }

    /// Write an expression whose value is dropped.
    pub(super) fn evaluate(&mut self, node: Node<'_>) {
        if !self.form.enter() {
            self.form.emit(Statement::Evaluate(gathered(node)));
            return;
        }
        match node.kind() {
            _ if self.assertion(node) => {}
            "block" | "unsafe_block" | "async_block" | "const_block" | "try_block" => {
                self.nested(Block::Plain, Vec::new(), block_of(node));
            }
            "if_expression" => self.branches(node),
            "match_expression" => self.arms(node),
            "for_expression" => self.loop_over(node),
            "while_expression" | "loop_expression" => self.repeat(node),
            "return_expression" | "yield_expression" => {
                let value = first_part(node).map(|value| self.expression(value));
                self.form.emit(Statement::Return(value));
            }
            "assignment_expression" | "compound_assignment_expr" => drop(self.expression(node)),
            "break_expression" => {
                for part in parts(node).into_iter().filter(|part| part.kind() != "label") {
                    let value = self.expression(part);
                    self.form.emit(Statement::Evaluate(value));
                }
            }
            "continue_expression" | "unit_expression" | "identifier" => {}
            _ => {
                let value = self.expression(node);
                self.form.emit(Statement::Evaluate(value));
            }
        }
        self.form.leave();
    }

    /// Write the statements of a block; what it gives is dropped.
    pub(super) fn block(&mut self, node: Node<'_>) {
        let (statements, last) = split_block(node);
        for statement in statements {
            self.statement(statement);
        }
        last.into_iter().for_each(|last| self.evaluate(last));
    }

    pub(super) fn nested(&mut self, block: Block, heads: Vec<Expression>, node: Node<'_>) {
        let outer = self.form.open();
        if node.kind() == "block" {
            self.block(node);
        } else {
            self.evaluate(node);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block, heads, body });
    }

    fn variable(&mut self, node: Node<'_>) {
        let Some(pattern) = node.child_by_field_name("pattern") else { return };
        let value = node.child_by_field_name("value").map(|value| self.expression(value));
        let targets = self.captured(pattern);
        let operator = child_of_kind(node, &["="]).map_or_else(|| behind(pattern), span);
        let declared = node.child_by_field_name("type").map(span);
        match value {
            // `let _ = f();`
            Some(value) if targets.is_empty() => self.form.emit(Statement::Evaluate(value)),
            value => self.form.emit(Statement::Bind { targets, declared, operator, value }),
        }
        if let Some(otherwise) = node.child_by_field_name("alternative") {
            self.nested(Block::Branch, Vec::new(), otherwise);
        }
    }

    fn constant(&mut self, node: Node<'_>) {
        let Some(named) = node.child_by_field_name("name") else { return };
        let value = node.child_by_field_name("value").map(|value| self.expression(value));
        let operator = child_of_kind(node, &["="]).map_or_else(|| behind(named), span);
        let declared = node.child_by_field_name("type").map(span);
        self.form.bind_typed(name(named), declared, operator, value);
    }

    /// A function inside another: a value that has a name.
    fn inner_function(&mut self, node: Node<'_>) {
        let Some(named) = node.child_by_field_name("name") else { return };
        let function = self.function(node, &[], Role::Plain);
        let value = function.map(|function| Expression::Lambda(Box::new(function)));
        let operator = child_of_kind(node, &["fn"]).map_or_else(|| behind(named), span);
        self.form.bind(name(named), operator, value);
    }
}

/// The statements of a block and the expression that ends it, if one does.
pub(super) fn split_block<'n>(block: Node<'n>) -> (Vec<Node<'n>>, Option<Node<'n>>) {
    let mut inner = parts(block);
    let is_value = |node: &Node<'n>| {
        let kind = node.kind();
        !(kind.ends_with("_item")
            || kind.ends_with("_declaration")
            || kind.ends_with("_statement")
            || matches!(kind, "label" | "macro_definition"))
    };
    let last = inner.pop_if(|last| is_value(last));
    (inner, last)
}

/// The block of `unsafe { … }` and its like.
pub(super) fn block_of<'n>(node: Node<'n>) -> Node<'n> {
    child_of_kind(node, &["block"]).unwrap_or(node)
}
