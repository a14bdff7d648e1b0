//! Code that is shaped alike in several languages, as expressions: chains, which grammars nest as deep
//! as they are long (`a + b + c` and `a.b(c).d(e)`), members, casts, choices, texts with holes.

use tree_sitter::Node;

use crate::flow::Operation;

/// The operation of a chain of operators, its first operator, and what stands between them.
pub(super) struct Operators<'n> {
    pub(super) operation: Operation,
    pub(super) word: Node<'n>,
    pub(super) operands: Vec<Node<'n>>,
}

/// One step of `a.b(c).d`: a name, what it is taken from, and what it is called with.
#[derive(Clone, Copy)]
pub(super) struct Link<'n> {
    pub(super) name: Node<'n>,
    pub(super) object: Option<Node<'n>>,
    pub(super) arguments: Option<Node<'n>>,
}

/// What an operator does, told apart finely enough that a chain is one of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Arithmetic,
    Comparison,
    Logic,
    Choice,
}

/// A chain of operators of one kind, read from its last one.
pub(super) fn operators<'n>(node: Node<'n>) -> Option<Operators<'n>> {
    let (kind, mut word) = sign(node)?;
    let mut operands = Vec::new();
    let mut left = Some(node);
    while let Some(node) = left.take() {
        match sign(node).filter(|(known, _)| *known == kind) {
            Some((_, here)) => {
                word = here;
                operands.extend(node.child_by_field_name("right"));
                left = node.child_by_field_name("left");
            }
            None => operands.push(node),
        }
    }
    operands.reverse();
    let operation = match kind {
        Sign::Arithmetic => Operation::Arithmetic,
        Sign::Comparison | Sign::Logic => Operation::Compare,
        Sign::Choice => Operation::Choose,
    };
    Some(Operators { operation, word, operands })
}

fn sign<'n>(node: Node<'n>) -> Option<(Sign, Node<'n>)> {
    if !matches!(node.kind(), "binary_expression" | "binary_operator" | "boolean_operator") {
        return None;
    }
    let word = node.child_by_field_name("operator")?;
    let sign = match word.kind() {
        "&&" | "||" | "and" | "or" => Sign::Logic,
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "===" | "!==" | "in" | "instanceof" => {
            Sign::Comparison
        }
        "??" => Sign::Choice,
        _ => Sign::Arithmetic,
    };
    Some((sign, word))
}

/// The links of a chain, the last one first.
pub(super) fn links<'n>(node: Node<'n>, read: fn(Node<'n>) -> Option<Link<'n>>) -> Vec<Link<'n>> {
    std::iter::successors(read(node), |link| read(link.object?)).collect()
}
