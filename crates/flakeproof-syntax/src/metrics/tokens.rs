//! Operators among tokens that no grammar has joined, as in the macros of Rust.

use tree_sitter::Node;

use super::walk::Operator;
use crate::tree::children;

const BINARY: [&str; 28] = [
    "+", "-", "*", "/", "%", "^", "&", "|", "<<", ">>", "&&", "||", "==", "!=", "<", ">", "<=",
    ">=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>=",
];
const UNARY: [&str; 3] = ["-", "!", "*"];

/// The operators directly in a tree of tokens, each with its operands.
///
/// Between two operands and with space around it, a sign is an operator between them: without
/// space it may as well belong to a type (`Vec<u8>`). Before an operand and behind none it is an
/// operator of one.
pub(super) fn operations<'a>(tree: Node<'a>, text: &str) -> Vec<(Operator<'a>, Vec<Node<'a>>)> {
    let tokens = children(tree);
    let operation = |(index, token): (usize, &Node<'a>)| {
        let sign = token.kind();
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        let before = before.copied().filter(Node::is_named);
        let behind = tokens.get(index + 1).copied()?;
        match before {
            Some(before) if BINARY.contains(&sign) && has_space_around(*token, text) => {
                let sign = super::walk::operator_of(sign)?;
                Some((Operator { sign, is_unary: false }, vec![before, behind]))
            }
            None if UNARY.contains(&sign) && behind.is_named() => {
                Some((Operator { sign, is_unary: true }, vec![behind]))
            }
            _ => None,
        }
    };
    tokens.iter().enumerate().filter_map(operation).collect()
}

fn has_space_around(token: Node<'_>, text: &str) -> bool {
    let is_space = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_whitespace);
    token.start_byte().checked_sub(1).is_some_and(is_space) && is_space(token.end_byte())
}
