//! The statements of Go in the flow form.

use tree_sitter::Node;

use super::flow::{Go, names, specs};
use crate::flow::{Block, Expression, Span, Statement};
use crate::languages::shapes::{behind, first_part, gathered, name, parts, span};
use crate::tree::child_of_kind;

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
        let called = node.child_by_field_name("function");
        let Some(called) = called.filter(|called| called.kind() == "func_literal") else {
            return false;
        };
        let arguments = self.arguments(node.child_by_field_name("arguments"));
        if let Expression::Lambda(function) = self.lambda(called) {
            self.form.run_now(*function, arguments);
        }
        true
    }

    /// `a, b := f()`, `x.y += 1`, and `v := <-c` of a `select`.
    fn assignment(&mut self, node: Node<'_>) {
        let value = node.child_by_field_name("right").map(|value| self.expression(value));
        let left = node.child_by_field_name("left");
        let sign = node
            .child_by_field_name("operator")
            .or_else(|| child_of_kind(node, &[":=", "="]))
            .map(span);
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
            let value = spec.child_by_field_name("value").map(|value| self.expression(value));
            let operator = child_of_kind(spec, &["="]).map_or_else(|| behind(spec), span);
            let declared = spec.child_by_field_name("type").map(span);
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
        if let (Some(channel), Some(value), Some(sign)) = (
            node.child_by_field_name("channel"),
            node.child_by_field_name("value"),
            child_of_kind(node, &["<-"]),
        ) {
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
            node.child_by_field_name("initializer").into_iter().for_each(|n| self.statement(n));
            let condition = node.child_by_field_name("condition");
            let mut heads: Vec<_> =
                condition.map(|condition| self.expression(condition)).into_iter().collect();
            if let Some(report) = self.report_in(node) {
                let operands = std::mem::take(&mut heads);
                let word = span(report);
                let line = span(node).line;
                self.form.emit(Statement::Assert { words: vec![word], operands, line });
                self.is_reported = true;
            }
            self.nested(Block::Branch, heads, node.child_by_field_name("consequence"));
            match node.child_by_field_name("alternative") {
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
                clause.child_by_field_name("initializer").into_iter().for_each(|n| {
                    self.statement(n);
                });
                let condition = clause.child_by_field_name("condition");
                heads.extend(condition.map(|condition| self.expression(condition)));
                step = clause.child_by_field_name("update");
            }
            Some(clause) if clause.kind() == "range_clause" => {
                let value = clause.child_by_field_name("right");
                each = Some((clause, value.map(|value| self.expression(value))));
            }
            Some(condition) => heads.push(self.expression(condition)),
            None => {}
        }
        let outer = self.form.open();
        if let Some((clause, value)) = each {
            let word = child_of_kind(node, &["for"]).unwrap_or(node);
            self.bind(clause.child_by_field_name("left"), span(word), value);
        }
        node.child_by_field_name("body").into_iter().for_each(|body| self.block(body));
        step.into_iter().for_each(|step| self.statement(step));
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads, body });
    }

    /// `switch`, the one over types, and `select`.
    fn switch(&mut self, node: Node<'_>) {
        node.child_by_field_name("initializer").into_iter().for_each(|n| self.statement(n));
        let value = node.child_by_field_name("value").map(|value| self.expression(value));
        let alias = node.child_by_field_name("alias");
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
            let values = case.child_by_field_name("value").into_iter().flat_map(parts);
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
