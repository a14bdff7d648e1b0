//! What compares values in Rust: `assert!` and its like, and `#[should_panic]`; and calls of macros,
//! which are tokens to the grammar, and mostly expressions to people.

use tree_sitter::Node;

use super::flow::Rust;
use crate::flow::{Expression, Operation, Statement};
use crate::languages::shapes::{
    Link, combine, first_part, gathered, links_from, parts, raising, span,
};
use crate::tree::{child_of_kind, children};

impl Rust<'_, '_> {
    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        if node.kind() != "macro_invocation" {
            return self.chain(node);
        }
        let Some(word) = macro_name(node).filter(|name| is_macro(self.form.text(*name))) else {
            return false;
        };
        let operands = self.macro_arguments(node);
        let words = vec![span(word)];
        self.form.emit(Statement::Assert { words, operands, line: span(node).line });
        true
    }

    /// `assert_paid(&order)` and `command.assert().success()`: own helpers follow the same habit.
    fn chain(&mut self, node: Node<'_>) -> bool {
        let is_assertion = |link: &Link<'_>, _| is_helper(self.form.text(link.name));
        let Some(links) = links_from(node, link, is_assertion) else { return false };
        let subject = links.first().and_then(|link| link.object);
        let mut operands: Vec<Expression> =
            subject.map(|subject| self.expression(subject)).into_iter().collect();
        for link in &links {
            operands.extend(self.arguments(link.arguments));
        }
        self.form.assert_by(&links, operands, node);
        true
    }

    /// A body that must panic, as `#[should_panic(expected = "…")]` says.
    pub(super) fn expecting(
        &self,
        attributes: &[Node<'_>],
        body: Vec<Statement>,
    ) -> Vec<Statement> {
        let attributes = attributes.iter().filter_map(|attribute| first_part(*attribute));
        let found = attributes.filter_map(|attribute| Some((first_part(attribute)?, attribute)));
        let mut found = found.filter(|(name, _)| self.form.text(*name) == "should_panic");
        let Some((name, attribute)) = found.next() else { return body };
        let said = attribute
            .child_by_field_name("arguments")
            .and_then(|tokens| child_of_kind(tokens, &["string_literal"]))
            .or_else(|| attribute.child_by_field_name("value"));
        let operands = said.map(gathered).into_iter().collect();
        raising(body, span(name), operands)
    }

    /// What a macro makes.
    pub(super) fn macro_value(&mut self, node: Node<'_>) -> Expression {
        let Some(called) = macro_name(node) else { return gathered(node) };
        let arguments = self.macro_arguments(node);
        match self.form.text(called) {
            "vec" => combine(Operation::Gather, span(called), arguments),
            "matches" => combine(Operation::Compare, span(called), arguments),
            _ => {
                let (name, receiver) = (span(called), None);
                Expression::Call { name, receiver, arguments, creates: false }
            }
        }
    }

    /// The values given to a macro. What follows the first comma of `matches!` is a pattern.
    fn macro_arguments(&mut self, node: Node<'_>) -> Vec<Expression> {
        let Some(tokens) = child_of_kind(node, &["token_tree"]) else { return Vec::new() };
        let name = macro_name(node).map_or("", |name| self.form.text(name));
        if matches!(name, "matches" | "assert_matches" | "debug_assert_matches") {
            return self.pieces(tokens).into_iter().take(1).collect();
        }
        let text = self.form.reading.text;
        let Some(tree) = self.form.pieces.parse(tokens, tokens, text) else {
            return vec![gathered(tokens)];
        };
        let whole = first_part(tree.root_node());
        let whole = whole.filter(|part| part.kind() == "expression_statement").and_then(first_part);
        let is_list = |list: &Node<'_>| {
            !list.has_error() && list.byte_range() == tokens.byte_range() && list.kind() != "block"
        };
        let Some(list) = whole.filter(is_list) else { return self.pieces(tokens) };
        self.form.pieces.enter();
        let arguments = parts(list).into_iter().map(|value| self.expression(value)).collect();
        self.form.pieces.leave();
        arguments
    }

    /// The values between the outermost commas, each read on its own.
    fn pieces(&mut self, tokens: Node<'_>) -> Vec<Expression> {
        let inner = children(tokens);
        let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or_default();
        let pieces = inner.split(|token| matches!(token.kind(), "," | ";" | "=>"));
        pieces.filter_map(|piece| self.piece(piece)).collect()
    }

    fn piece(&mut self, tokens: &[Node<'_>]) -> Option<Expression> {
        let (first, last) = (*tokens.first()?, *tokens.last()?);
        let text = self.form.reading.text;
        let tree = self.form.pieces.parse(first, last, text);
        let root = tree.as_ref().and_then(|tree| first_part(tree.root_node()));
        let value = root.map(|root| match root.kind() {
            "expression_statement" => first_part(root).unwrap_or(root),
            _ => root,
        });
        let is_whole = |value: &Node<'_>| {
            !value.has_error() && !value.is_error() && value.end_byte() == last.end_byte()
        };
        match value.filter(is_whole) {
            Some(value) => {
                self.form.pieces.enter();
                let value = self.expression(value);
                self.form.pieces.leave();
                Some(value)
            }
            None => {
                let loose = tokens.iter().filter(|t| t.is_named()).map(|t| gathered(*t));
                let loose: Vec<_> = loose.collect();
                (!loose.is_empty()).then(|| combine(Operation::Gather, span(first), loose))
            }
        }
    }

    /// Write the statements of a block that is nothing but tokens.
    pub(super) fn token_block(&mut self, tokens: Node<'_>) {
        let text = self.form.reading.text;
        let Some(tree) = self.form.pieces.parse(tokens, tokens, text) else { return };
        self.form.pieces.enter();
        for part in parts(tree.root_node()) {
            let block = if part.kind() == "expression_statement" { first_part(part) } else { None };
            match block.filter(|block| block.kind() == "block") {
                Some(block) => self.block(block),
                None => self.statement(part),
            }
        }
        self.form.pieces.leave();
    }
}

fn is_macro(name: &str) -> bool {
    let name = name.strip_prefix("debug_").unwrap_or(name);
    let name = name.strip_prefix("prop_").unwrap_or(name);
    is_helper(name) || matches!(name, "panic" | "unreachable")
}

/// `assert` and `assert_paid`.
fn is_helper(name: &str) -> bool {
    name == "assert" || name.starts_with("assert_")
}

/// The function or method that a node calls.
fn link<'n>(node: Node<'n>) -> Option<Link<'n>> {
    let called =
        node.child_by_field_name("function").filter(|_| node.kind() == "call_expression")?;
    let inner = called.child_by_field_name("function");
    let called = inner.filter(|_| called.kind() == "generic_function").unwrap_or(called);
    let arguments = node.child_by_field_name("arguments");
    match called.kind() {
        "identifier" => Some(Link { name: called, object: None, arguments }),
        "field_expression" => {
            let name = called.child_by_field_name("field")?;
            Some(Link { name, object: called.child_by_field_name("value"), arguments })
        }
        _ => None,
    }
}

/// The last part of a macro's path.
fn macro_name<'n>(node: Node<'n>) -> Option<Node<'n>> {
    let called = node.child_by_field_name("macro")?;
    Some(called.child_by_field_name("name").unwrap_or(called))
}
