//! What radon's `HalsteadVisitor` takes for operators, and which operands it takes for the same.

use tree_sitter::Node;

use super::literals::{Margin, Number, Value, value};
use crate::tree::{child_of_kind, children, text_of};

/// An operator. Binary operators and augmented assignments share theirs: `+=` is `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operator<'a> {
    Unary(&'a str),
    Binary(&'a str),
}

/// An operand. A name, the last name of an attribute and a string constant are the same when their
/// text is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    Constant(Value),
    Number(Number),
    None,
    Ellipsis,
    /// A literal too long for its value to be computed.
    Literal(String),
    /// Anything else is equal only to itself.
    Node(usize),
}

/// The operators and operands of one node.
#[derive(Debug, Default)]
pub(super) struct Operation<'a> {
    pub(super) operators: Vec<Operator<'a>>,
    pub(super) operands: Vec<Node<'a>>,
}

/// What a node operates with; nothing when it is no operation.
///
/// `and` and `or` are left out: they form chains, which only a walk from above can see.
pub(super) fn operation<'a>(node: Node<'a>, text: &'a str) -> Option<Operation<'a>> {
    let field = |name| node.child_by_field_name(name);
    let operator = || field("operator").map_or("", |operator| text_of(operator, text));
    let (operators, operands) = match node.kind() {
        "binary_operator" => {
            (vec![Operator::Binary(operator())], vec![field("left"), field("right")])
        }
        "augmented_assignment" => {
            let operator = operator().trim_end_matches('=');
            (vec![Operator::Binary(operator)], vec![field("left"), field("right")])
        }
        "unary_operator" => (vec![Operator::Unary(operator())], vec![field("argument")]),
        "not_operator" => (vec![Operator::Unary("not")], vec![field("argument")]),
        "union_type" => (vec![Operator::Binary("|")], operands_of(node).map(Some).collect()),
        "comparison_operator" => (comparisons(node), operands_of(node).map(Some).collect()),
        // What was a statement in Python 2 is `print >> a` today.
        "print_statement" => {
            let file = child_of_kind(node, &["chevron"])?.named_child(0);
            (vec![Operator::Binary(">>")], vec![node.child(0), file])
        }
        "complex_pattern" | "case_pattern" | "union_pattern" | "keyword_pattern"
        | "dict_pattern" => return signed_pattern(node),
        _ => return None,
    };
    Some(Operation { operators, operands: operands.into_iter().flatten().collect() })
}

fn operands_of<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    children(node).into_iter().filter(|child| child.is_named() && !child.is_extra())
}

fn comparisons<'t>(node: Node<'t>) -> Vec<Operator<'t>> {
    children(node)
        .into_iter()
        .filter(|child| !child.is_named())
        .map(|child| Operator::Binary(child.kind()))
        .collect()
}

/// The operators in `case -1:` and `case -1 + 2j:`.
fn signed_pattern<'a>(node: Node<'a>) -> Option<Operation<'a>> {
    let mut operation = Operation::default();
    let parts = children(node);
    let is_number = |part: &&Node<'_>| matches!(part.kind(), "integer" | "float");
    for (index, part) in parts.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| parts.get(index)).filter(is_number);
        let Some(behind) = parts.get(index + 1).filter(is_number) else { continue };
        match (part.kind(), before) {
            ("-", None) => operation.operators.push(Operator::Unary("-")),
            // Behind a sign, the left operand is the signed number, and equal only to itself.
            ("+" | "-", Some(before)) => {
                let is_signed = !operation.operators.is_empty();
                operation.operators.push(Operator::Binary(part.kind()));
                operation.operands.push(if is_signed { node } else { *before });
            }
            _ => continue,
        }
        operation.operands.push(*behind);
    }
    (!operation.operators.is_empty()).then_some(operation)
}

/// The operand that a node stands for.
pub(super) fn operand(node: Node<'_>, text: &str, margin: Margin<'_>) -> Operand {
    let node = inside_parentheses(node);
    let constant = |text: &str| Operand::Constant(Value::Text(text.as_bytes().to_vec()));
    let known = match node.kind() {
        "identifier" | "print" => Some(constant(text_of(node, text))),
        "attribute" => {
            node.child_by_field_name("attribute").map(|name| constant(text_of(name, text)))
        }
        "integer" | "float" => {
            let literal = text_of(node, text);
            let number = Number::of_literal(literal).map(Operand::Number);
            Some(number.unwrap_or_else(|| Operand::Literal(literal.to_owned())))
        }
        "true" => Some(Operand::Number(Number::one())),
        "false" => Some(Operand::Number(Number::ZERO)),
        "none" => Some(Operand::None),
        "ellipsis" => Some(Operand::Ellipsis),
        "string" => value(text_of(node, text), margin).map(Operand::Constant),
        "concatenated_string" => concatenated(node, text, margin).map(Operand::Constant),
        _ => None,
    };
    known.unwrap_or(Operand::Node(node.id()))
}

/// What stands in parentheses, which the tree of Python does not keep; likewise types.
pub(super) fn inside_parentheses(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while matches!(node.kind(), "parenthesized_expression" | "type") {
        let Some(inner) = operands_of(node).next() else { break };
        node = inner;
    }
    node
}

fn concatenated(node: Node<'_>, text: &str, margin: Margin<'_>) -> Option<Value> {
    let mut all: Option<Value> = None;
    for part in operands_of(node) {
        let part = value(text_of(part, text), margin)?;
        all = Some(match (all, part) {
            (None, part) => part,
            (Some(Value::Text(mut all)), Value::Text(part)) => {
                all.extend(part);
                Value::Text(all)
            }
            (Some(Value::Bytes(mut all)), Value::Bytes(part)) => {
                all.extend(part);
                Value::Bytes(all)
            }
            _ => return None,
        });
    }
    all
}
