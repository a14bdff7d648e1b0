//! What compares values in Rust: `assert!` and its like, and `#[should_panic]`.

use tree_sitter::Node;

use super::flow::Rust;
use super::macros::macro_name;
use crate::flow::{Block, Expression, Statement};
use crate::languages::lowering::{first_part, gathered, span};
use crate::tree::child_of_kind;

impl Rust<'_, '_> {
    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        let word = match node.kind() {
            "macro_invocation" => {
                macro_name(node).filter(|name| is_assertion(self.form.text(*name)))
            }
            // Own helpers follow the same habit.
            "call_expression" => node.child_by_field_name("function").filter(|called| {
                called.kind() == "identifier" && is_helper(self.form.text(*called))
            }),
            _ => None,
        };
        let Some(word) = word else { return false };
        let operands = match self.expression_of_assertion(node) {
            Expression::Call { arguments, .. } => arguments,
            other => vec![other],
        };
        let words = vec![span(word)];
        self.form.emit(Statement::Assert { words, operands, line: span(node).line });
        true
    }

    fn expression_of_assertion(&mut self, node: Node<'_>) -> Expression {
        if node.kind() != "macro_invocation" {
            return self.expression(node);
        }
        let arguments = self.macro_arguments(node);
        let name = span(node);
        Expression::Call { name, receiver: None, arguments, creates: false }
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

fn is_assertion(name: &str) -> bool {
    let name = name.strip_prefix("debug_").unwrap_or(name);
    let name = name.strip_prefix("prop_").unwrap_or(name);
    is_helper(name) || matches!(name, "assert" | "panic" | "unreachable")
}

/// `assert_paid`.
fn is_helper(name: &str) -> bool {
    name.starts_with("assert_")
}
