//! The names that patterns give.

use tree_sitter::Node;

use super::flow::Rust;
use crate::flow::{Expression, Span, Statement};
use crate::languages::lowering::{behind, name, parts, span};

impl Rust<'_, '_> {
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
                    let kind = node.child_by_field_name("type");
                    let inner = parts(node).into_iter().rev();
                    waiting.extend(inner.filter(|part| Some(*part) != kind));
                }
                "field_pattern" => {
                    let inner = node.child_by_field_name("pattern");
                    waiting.extend(inner.or_else(|| node.child_by_field_name("name")));
                }
                "match_pattern" => {
                    let condition = node.child_by_field_name("condition");
                    let inner = parts(node).into_iter().rev();
                    waiting.extend(inner.filter(|part| Some(*part) != condition));
                }
                _ => waiting.extend(parts(node).into_iter().rev()),
            }
        }
        names
    }

    /// Write that the names of a pattern come from a value; nothing where it gives none.
    pub(super) fn bind_pattern(
        &mut self,
        pattern: Node<'_>,
        operator: Span,
        value: Option<Expression>,
    ) {
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
