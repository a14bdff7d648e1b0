//! The statements of Rust in the flow form, with the names that patterns give. Branches, matches and
//! loops are statements, and values where somebody uses what they give.

use tree_sitter::Node;

use super::flow::Rust;
use crate::flow::{Block, Expression, Operation, Role, Span, Statement};
use crate::languages::shapes::{behind, combine, first_part, gathered, name, parts, span};
use crate::tree::{Fields, child_of_kind};

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
        let Some(pattern) = node.field("pattern") else { return };
        let value = node.field("value").map(|value| self.expression(value));
        let targets = self.captured(pattern);
        let operator = child_of_kind(node, &["="]).map_or_else(|| behind(pattern), span);
        let declared = node.field("type").map(span);
        match value {
            // `let _ = f();`
            Some(value) if targets.is_empty() => self.form.emit(Statement::Evaluate(value)),
            value => self.form.emit(Statement::Bind { targets, declared, operator, value }),
        }
        if let Some(otherwise) = node.field("alternative") {
            self.nested(Block::Branch, Vec::new(), otherwise);
        }
    }

    fn constant(&mut self, node: Node<'_>) {
        let Some(named) = node.field("name") else { return };
        let value = node.field("value").map(|value| self.expression(value));
        let operator = child_of_kind(node, &["="]).map_or_else(|| behind(named), span);
        let declared = node.field("type").map(span);
        self.form.bind_typed(name(named), declared, operator, value);
    }

    /// A function inside another: a value that has a name.
    fn inner_function(&mut self, node: Node<'_>) {
        let Some(named) = node.field("name") else { return };
        let function = self.function(node, &[], Role::Plain);
        let value = function.map(|function| Expression::Lambda(Box::new(function)));
        let operator = child_of_kind(node, &["fn"]).map_or_else(|| behind(named), span);
        self.form.bind(name(named), operator, value);
    }

    fn heads(&mut self, node: Node<'_>, field: &str) -> Vec<Expression> {
        let head = node.child_by_field_name(field);
        head.map(|head| self.expression(head)).into_iter().collect()
    }

    /// `if … else if … else …`, however many: one branch for each, side by side.
    pub(super) fn branches(&mut self, node: Node<'_>) {
        let mut next = Some(node);
        while let Some(node) = next.take() {
            let heads = self.heads(node, "condition");
            if let Some(body) = node.field("consequence") {
                self.nested(Block::Branch, heads, body);
            }
            match node.field("alternative").and_then(first_part) {
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
            let body = node.field("consequence");
            operands.extend(body.and_then(|body| self.branch_value(body)));
            match node.field("alternative").and_then(first_part) {
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
    fn arms(&mut self, node: Node<'_>) {
        let heads = self.heads(node, "value");
        let subject = heads.first().cloned();
        let outer = self.form.open();
        for arm in arms(node) {
            let outer = self.form.open();
            let heads = self.arm_head(arm, subject.clone());
            match arm.field("value") {
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
            let body = arm.field("value");
            operands.extend(body.and_then(|body| self.branch_value(body)));
        }
        combine(Operation::Choose, word, operands)
    }

    /// Bind the names of an arm's pattern; what else decides is given back.
    fn arm_head(&mut self, arm: Node<'_>, subject: Option<Expression>) -> Vec<Expression> {
        let Some(pattern) = arm.field("pattern") else { return Vec::new() };
        let operator = child_of_kind(arm, &["=>"]).unwrap_or(arm);
        self.bind_pattern(pattern, span(operator), subject);
        self.heads(pattern, "condition")
    }

    pub(super) fn loop_over(&mut self, node: Node<'_>) {
        let value = node.field("value").map(|value| self.expression(value));
        let word = child_of_kind(node, &["for"]).unwrap_or(node);
        let outer = self.form.open();
        match node.field("pattern") {
            Some(pattern) if !self.captured(pattern).is_empty() => {
                self.bind_pattern(pattern, span(word), value);
            }
            _ => value.into_iter().for_each(|v| self.form.emit(Statement::Evaluate(v))),
        }
        node.field("body").into_iter().for_each(|body| self.block(body));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads: Vec::new(), body });
    }

    /// `while` and `loop`.
    pub(super) fn repeat(&mut self, node: Node<'_>) {
        let heads = self.heads(node, "condition");
        if let Some(body) = node.field("body") {
            self.nested(Block::Loop, heads, body);
        }
    }

    /// `let Some(x) = y` as a condition.
    pub(super) fn let_condition(&mut self, node: Node<'_>) -> Option<Expression> {
        let value = node.field("value").map(|value| self.expression(value))?;
        let pattern = node.field("pattern")?;
        let word = child_of_kind(node, &["let"]).unwrap_or(node);
        self.bind_pattern(pattern, span(word), Some(value.clone()));
        Some(combine(Operation::Compare, span(word), vec![value]))
    }

    /// The names that a pattern gives; a name with a capital letter is a constant or a variant.
    pub(super) fn captured(&self, pattern: Node<'_>) -> Vec<Expression> {
        let mut names = Vec::new();
        let mut waiting = vec![pattern];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "identifier" | "shorthand_field_identifier" => {
                    if !self.form.text(node).starts_with(char::is_uppercase) {
                        names.push(name(node));
                    }
                }
                "scoped_identifier" | "macro_invocation" | "generic_pattern" => {}
                "tuple_struct_pattern" | "struct_pattern" => {
                    let kind = node.field("type");
                    let inner = parts(node).into_iter().rev();
                    waiting.extend(inner.filter(|part| Some(*part) != kind));
                }
                "field_pattern" => {
                    let inner = node.field("pattern");
                    waiting.extend(inner.or_else(|| node.field("name")));
                }
                "match_pattern" => {
                    let condition = node.field("condition");
                    let inner = parts(node).into_iter().rev();
                    waiting.extend(inner.filter(|part| Some(*part) != condition));
                }
                _ => waiting.extend(parts(node).into_iter().rev()),
            }
        }
        names
    }

    /// Write that the names of a pattern come from a value; nothing where it gives none.
    fn bind_pattern(&mut self, pattern: Node<'_>, operator: Span, value: Option<Expression>) {
        let targets = self.captured(pattern);
        if !targets.is_empty() {
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
    }

    /// What a parameter is called. `(a, b)` is called that, and taken apart at once.
    pub(super) fn parameter_name(&mut self, pattern: Node<'_>) -> Span {
        let mut names = self.captured(pattern);
        match (names.pop(), names.is_empty()) {
            (Some(only), true) => only.span(),
            (None, _) => span(pattern),
            (Some(_), false) => {
                self.bind_pattern(pattern, behind(pattern), Some(name(pattern)));
                span(pattern)
            }
        }
    }
}

/// The statements of a block and the expression that ends it, if one does.
fn split_block<'n>(block: Node<'n>) -> (Vec<Node<'n>>, Option<Node<'n>>) {
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

fn arms<'n>(node: Node<'n>) -> impl Iterator<Item = Node<'n>> {
    let arms = node.field("body").into_iter().flat_map(parts);
    arms.filter(|arm| arm.kind() == "match_arm")
}
