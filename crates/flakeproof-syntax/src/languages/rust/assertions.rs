//! What compares values in Rust: `assert!` and its like, and `#[should_panic]`.

use tree_sitter::Node;

use super::flow::Rust;
use super::macros::macro_name;
use crate::flow::{Block, Expression, Statement};
use crate::languages::chain::{Link, links};
use crate::languages::lowering::{first_part, gathered, span};
use crate::tree::child_of_kind;

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
        let mut links = links(node, link);
        let Some(at) = links.iter().rposition(|link| is_helper(self.form.text(link.name))) else {
            return false;
        };
        links.truncate(at + 1);
        links.reverse();
        let subject = links.first().and_then(|link| link.object);
        let mut operands: Vec<Expression> =
            subject.map(|subject| self.expression(subject)).into_iter().collect();
        for link in &links {
            operands.extend(self.arguments(link.arguments));
        }
        let words = links.iter().map(|link| span(link.name)).collect();
        self.form.emit(Statement::Assert { words, operands, line: span(node).line });
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
        let word = span(name);
        vec![
            Statement::Nested { block: Block::Raises, heads: Vec::new(), body },
            Statement::Assert { words: vec![word], operands, line: word.line },
        ]
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
