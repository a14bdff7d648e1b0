//! Calls of macros: what stands in them is tokens to the grammar, and mostly expressions to people.

use tree_sitter::Node;

use super::flow::Rust;
use crate::flow::{Expression, Operation};
use crate::languages::lowering::{combine, first_part, gathered, parts, span};
use crate::tree::{child_of_kind, children};

impl Rust<'_, '_> {
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
    pub(super) fn macro_arguments(&mut self, node: Node<'_>) -> Vec<Expression> {
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

/// The last part of a macro's path.
pub(super) fn macro_name<'n>(node: Node<'n>) -> Option<Node<'n>> {
    let called = node.child_by_field_name("macro")?;
    Some(called.child_by_field_name("name").unwrap_or(called))
}
