//! The statements of JavaScript and TypeScript in the flow form.

use tree_sitter::Node;

use super::flow::{Script, declared, is_class};
use super::outline::is_function;
use crate::flow::{Block, Expression, Role, Statement};
use crate::languages::shapes::{behind, first_part, gathered, name, parts, span};
use crate::tree::{Fields, child_of_kind};

impl Script<'_, '_> {
    /// Write what a function does: its statements, or the value it gives.
    pub(super) fn function_body(&mut self, function: Node<'_>) {
        match function.field("body") {
            Some(body) if body.kind() == "statement_block" => self.block(body),
            Some(body) if !self.assertion(body) => {
                let value = self.expression(body);
                self.form.emit(Statement::Return(Some(value)));
            }
            _ => {}
        }
    }

    fn block(&mut self, node: Node<'_>) {
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
            "expression_statement" | "throw_statement" | "ERROR" => {
                parts(node).into_iter().for_each(|part| self.part(part));
            }
            "lexical_declaration" | "variable_declaration" | "using_declaration" => {
                parts(node).into_iter().for_each(|part| self.variable_of_function(part));
            }
            "return_statement" => self.leave_with(first_part(node)),
            "statement_block" => self.nested(Block::Plain, Vec::new(), Some(node)),
            "if_statement" => self.branches(node),
            "while_statement" | "do_statement" => {
                let heads = self.heads(node, "condition");
                self.nested(Block::Loop, heads, node.field("body"));
            }
            "with_statement" => {
                let heads = self.heads(node, "object");
                self.nested(Block::Plain, heads, node.field("body"));
            }
            "for_statement" => self.counting_loop(node),
            "for_in_statement" => self.loop_over(node),
            "try_statement" => self.attempt(node),
            "switch_statement" => self.switch(node),
            "labeled_statement" => {
                node.field("body").into_iter().for_each(|body| self.statement(body));
            }
            "function_declaration" | "generator_function_declaration" => self.inner_function(node),
            kind if is_class(kind) => self.class(node),
            kind if kind.ends_with("_expression") => self.part(node),
            _ => {}
        }
        self.form.leave();
    }

    /// Write the expression of a statement.
    fn part(&mut self, node: Node<'_>) {
        if self.assertion(node) {
            return;
        }
        let kind = node.kind();
        match kind {
            "assignment_expression" | "augmented_assignment_expression" | "update_expression" => {
                drop(self.expression(node));
            }
            _ if kind.ends_with("_statement") || kind.ends_with("_declaration") => {
                self.statement(node);
            }
            "string" | "identifier" | "property_identifier" => {}
            "call_expression" if self.run_now(node) => {}
            _ => {
                let value = self.expression(node);
                self.form.emit(Statement::Evaluate(value));
            }
        }
    }

    /// Write `(() => { … })()` as what it does; `false` for other calls.
    fn run_now(&mut self, node: Node<'_>) -> bool {
        let called = node.field("function");
        let called = called.filter(|called| called.kind() == "parenthesized_expression");
        let Some(called) = called.and_then(first_part).filter(|inner| is_function(*inner)) else {
            return false;
        };
        let arguments = self.arguments(node.field("arguments"));
        let function = self.function(called, String::new(), Role::Plain);
        self.form.run_now(function, arguments);
        true
    }

    /// `return expect(…)…` is an assertion that is waited for.
    fn leave_with(&mut self, value: Option<Node<'_>>) {
        if value.is_some_and(|value| self.assertion(value)) {
            return;
        }
        let value = value.map(|value| self.expression(value));
        self.form.emit(Statement::Return(value));
    }

    fn variable_of_function(&mut self, node: Node<'_>) {
        let Some(target) = node.field("name") else { return };
        if self.require(node) {
            return;
        }
        let value = node.field("value").map(|value| self.expression(value));
        let operator = child_of_kind(node, &["="]).map_or_else(|| behind(target), span);
        let targets = self.targets(target);
        let declared = declared(node);
        self.form.emit(Statement::Bind { targets, declared, operator, value });
    }

    fn heads(&mut self, node: Node<'_>, field: &str) -> Vec<Expression> {
        let head = node.child_by_field_name(field).filter(|head| head.kind() != "empty_statement");
        head.map(|head| self.expression(head)).into_iter().collect()
    }

    fn nested(&mut self, block: Block, heads: Vec<Expression>, body: Option<Node<'_>>) {
        let outer = self.form.open();
        body.into_iter().for_each(|body| self.body(body));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block, heads, body });
    }

    fn body(&mut self, node: Node<'_>) {
        match node.kind() {
            "statement_block" => self.block(node),
            _ => self.statement(node),
        }
    }

    /// `if … else if … else …`, however many: one branch for each, side by side.
    fn branches(&mut self, node: Node<'_>) {
        let mut next = Some(node);
        while let Some(node) = next.take() {
            let heads = self.heads(node, "condition");
            self.nested(Block::Branch, heads, node.field("consequence"));
            match node.field("alternative").and_then(first_part) {
                Some(other) if other.kind() == "if_statement" => next = Some(other),
                Some(other) => self.nested(Block::Branch, Vec::new(), Some(other)),
                None => {}
            }
        }
    }

    fn counting_loop(&mut self, node: Node<'_>) {
        if let Some(first) = node.field("initializer") {
            match first.kind() {
                "lexical_declaration" | "variable_declaration" => self.statement(first),
                _ => self.part(first),
            }
        }
        let condition = node.field("condition");
        let condition =
            condition.filter(|node| node.is_named() && node.kind() != "empty_statement");
        let condition = condition.map(|condition| match condition.kind() {
            "expression_statement" => first_part(condition).unwrap_or(condition),
            _ => condition,
        });
        let heads = condition.map(|condition| self.expression(condition)).into_iter().collect();
        let outer = self.form.open();
        node.field("body").into_iter().for_each(|body| self.body(body));
        node.field("increment").into_iter().for_each(|step| self.part(step));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads, body });
    }

    fn loop_over(&mut self, node: Node<'_>) {
        let value = node.field("right").map(|value| self.expression(value));
        let outer = self.form.open();
        if let (Some(left), Some(word)) = (node.field("left"), child_of_kind(node, &["for"])) {
            let targets = self.targets(left);
            let operator = span(word);
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
        node.field("body").into_iter().for_each(|body| self.body(body));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads: Vec::new(), body });
    }

    fn attempt(&mut self, node: Node<'_>) {
        self.nested(Block::Try, Vec::new(), node.field("body"));
        if let Some(handler) = node.field("handler") {
            let outer = self.form.open();
            if let (Some(caught), Some(word)) =
                (handler.field("parameter"), child_of_kind(handler, &["catch"]))
            {
                let targets = self.targets(caught);
                let (declared, operator) = (declared(handler), span(word));
                self.form.emit(Statement::Bind { targets, declared, operator, value: None });
            }
            handler.field("body").into_iter().for_each(|body| self.block(body));
            let body = self.form.close(outer);
            self.form.emit(Statement::Nested { block: Block::Handler, heads: Vec::new(), body });
        }
        if let Some(finalizer) = node.field("finalizer") {
            self.nested(Block::Handler, Vec::new(), finalizer.field("body"));
        }
    }

    fn switch(&mut self, node: Node<'_>) {
        let heads = self.heads(node, "value");
        let outer = self.form.open();
        for case in node.field("body").into_iter().flat_map(parts) {
            let heads = self.heads(case, "value");
            let value = case.field("value");
            let outer = self.form.open();
            for statement in parts(case).into_iter().filter(|part| Some(*part) != value) {
                self.body(statement);
            }
            let body = self.form.close(outer);
            self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Branch, heads, body });
    }

    /// A function inside another: a value that has a name.
    fn inner_function(&mut self, node: Node<'_>) {
        let Some(named) = node.field("name") else { return };
        let function = self.function(node, self.form.text(named).to_owned(), Role::Plain);
        let operator = child_of_kind(node, &["function"]).map_or_else(|| behind(named), span);
        let value = Some(Expression::Lambda(Box::new(function)));
        self.form.bind(name(named), operator, value);
    }
}
