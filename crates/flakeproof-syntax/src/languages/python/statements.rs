//! The statements of Python in the flow form.

use tree_sitter::Node;

use super::flow::Python;
use crate::flow::{Block, Expression, Role, Statement};
use crate::languages::shapes::{behind, first_part, gathered, name, parts, span};
use crate::tree::child_of_kind;

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
                self.nested(Block::Loop, heads, node.child_by_field_name("body"));
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

    fn heads(&mut self, node: Node<'_>, field: &str) -> Vec<Expression> {
        let head = node.child_by_field_name(field);
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
        self.nested(Block::Branch, heads, node.child_by_field_name("consequence"));
        for clause in parts(node) {
            match clause.kind() {
                "elif_clause" => {
                    let heads = self.heads(clause, "condition");
                    self.nested(Block::Branch, heads, clause.child_by_field_name("consequence"));
                }
                "else_clause" => {
                    self.nested(Block::Branch, Vec::new(), clause.child_by_field_name("body"));
                }
                _ => {}
            }
        }
    }

    /// The `else` of a loop.
    fn otherwise(&mut self, node: Node<'_>) {
        if let Some(clause) = node.child_by_field_name("alternative") {
            self.nested(Block::Branch, Vec::new(), clause.child_by_field_name("body"));
        }
    }

    fn loop_over(&mut self, node: Node<'_>) {
        let value = node.child_by_field_name("right").map(|value| self.expression(value));
        let outer = self.form.open();
        let word = child_of_kind(node, &["for"]).unwrap_or(node);
        if let Some(left) = node.child_by_field_name("left") {
            let targets = self.targets(left);
            let operator = span(word);
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body);
        }
        let body = self.form.close(outer);
        self.form.emit(Statement::Nested { block: Block::Loop, heads: Vec::new(), body });
        self.otherwise(node);
    }

    fn attempt(&mut self, node: Node<'_>) {
        self.nested(Block::Try, Vec::new(), node.child_by_field_name("body"));
        for clause in parts(node) {
            match clause.kind() {
                "except_clause" | "except_group_clause" => self.handler(clause),
                "else_clause" => {
                    self.nested(Block::Plain, Vec::new(), clause.child_by_field_name("body"));
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
        let mut kind = node.child_by_field_name("value");
        let mut alias = node.child_by_field_name("alias");
        if let Some(pattern) = kind.filter(|kind| kind.kind() == "as_pattern") {
            kind = first_part(pattern);
            alias = pattern.child_by_field_name("alias");
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
            .filter_map(|item| item.child_by_field_name("value"))
            .collect();
        let outer = self.form.open();
        let mut said = Vec::new();
        for item in items {
            let alias = item.child_by_field_name("alias").filter(|_| item.kind() == "as_pattern");
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
        if let Some(body) = node.child_by_field_name("body") {
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
        for clause in node.child_by_field_name("body").into_iter().flat_map(parts) {
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
        let guard = clause.child_by_field_name("guard").and_then(first_part);
        let heads = guard.map(|guard| self.expression(guard)).into_iter().collect();
        if let Some(body) = clause.child_by_field_name("consequence") {
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
        let definition = node.child_by_field_name("definition").unwrap_or(node);
        if definition.kind() == "class_definition" {
            self.class(definition);
            return;
        }
        let Some(defined) = definition.child_by_field_name("name") else { return };
        // Its first parameter is no `self`, whatever class stands around.
        let owner = self.form.owner.take();
        let function = self.function(node, Role::Plain);
        self.form.owner = owner;
        let value = function.map(|function| Expression::Lambda(Box::new(function)));
        let operator = child_of_kind(definition, &["def"]).map_or_else(|| behind(defined), span);
        self.form.bind(name(defined), operator, value);
    }
}
