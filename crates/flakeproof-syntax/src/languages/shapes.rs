//! Code that is shaped alike in several languages: where a node stands, what is below it, and the
//! expressions that grammars name alike.
//!
//! What one language reads of a node, these functions are given as `read`. Chains are nested as deep
//! as they are long by grammars, `a + b + c` and `a.b(c).d(e)`; here they are read in a loop.

use tree_sitter::Node;

use crate::flow::{Block, Expression, Operation, Span, Statement};
use crate::tree::{Extent, Fields, child_of_kind, line};

/// Names that are kept of what lies too deep.
const MOST_GATHERED: usize = 256;

/// One step of `a.b(c).d`: a name, what it is taken from, and what it is called with.
#[derive(Clone, Copy)]
pub(super) struct Link<'n> {
    pub(super) name: Node<'n>,
    pub(super) object: Option<Node<'n>>,
    pub(super) arguments: Option<Node<'n>>,
}

/// Where a node stands.
pub(super) fn span(node: Node<'_>) -> Span {
    Span {
        start: offset(node.start_byte()),
        end: offset(node.end_byte()),
        line: line(node.start_position().row),
    }
}

pub(super) fn span_of(extent: Extent) -> Span {
    Span { start: offset(extent.start), end: offset(extent.end), line: extent.first_line }
}

/// The empty place behind a node, for an operator that is not written.
pub(super) fn behind(node: Node<'_>) -> Span {
    let end = offset(node.end_byte());
    Span { start: end, end, line: line(node.end_position().row) }
}

fn offset(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}

/// The named children of a node without comments, in order.
pub(super) fn parts<'n>(node: Node<'n>) -> Vec<Node<'n>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect()
}

/// The first named child that is no comment.
pub(super) fn first_part<'n>(node: Node<'n>) -> Option<Node<'n>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| !child.is_extra())
}

/// The parts of a node that lie within an extent, what the extent begins with left out.
pub(super) fn parts_within<'n>(node: Node<'n>, extent: Extent) -> impl Iterator<Item = Node<'n>> {
    let is_within =
        move |part: &Node<'n>| part.start_byte() > extent.start && part.end_byte() <= extent.end;
    parts(node).into_iter().filter(is_within)
}

pub(super) fn name(node: Node<'_>) -> Expression {
    Expression::Name(span(node))
}

pub(super) fn literal(node: Node<'_>) -> Expression {
    Expression::Literal(span(node))
}

pub(super) fn combine(operation: Operation, word: Span, operands: Vec<Expression>) -> Expression {
    Expression::Combine { operation, word, operands }
}

/// The call of a value that is no name: `f(1)(2)`.
pub(super) fn call_of_value(
    called: Expression,
    node: Node<'_>,
    arguments: Vec<Expression>,
    creates: bool,
) -> Expression {
    let name = match &called {
        Expression::Lambda(_) => behind(node),
        named => named.span(),
    };
    Expression::Call { name, receiver: Some(Box::new(called)), arguments, creates }
}

/// The value inside brackets, or inside whatever else stands around it.
pub(super) fn inside<'n>(node: Node<'n>, read: impl FnOnce(Node<'n>) -> Expression) -> Expression {
    first_part(node).map_or_else(|| gathered(node), read)
}

/// `a.b`, by the fields that hold the object and the name.
pub(super) fn member<'n>(
    node: Node<'n>,
    [object, name]: [&'static str; 2],
    read: impl FnOnce(Node<'n>) -> Expression,
) -> Expression {
    match (node.field(object), node.field(name)) {
        (Some(object), Some(name)) => {
            Expression::Member { object: Box::new(read(object)), name: span(name) }
        }
        _ => gathered(node),
    }
}

/// A value taken for one of another type, by the fields that hold the value and the type.
pub(super) fn cast<'n>(
    node: Node<'n>,
    [value, kind]: [&'static str; 2],
    read: impl FnOnce(Node<'n>) -> Expression,
) -> Expression {
    match (node.field(value), node.field(kind)) {
        (Some(value), Some(kind)) => combine(Operation::Pass, span(kind), vec![read(value)]),
        _ => gathered(node),
    }
}

/// `a ? b : c ? d : e` as one choice.
pub(super) fn choice<'n>(
    node: Node<'n>,
    mut read: impl FnMut(Node<'n>) -> Expression,
) -> Expression {
    let Some(word) = child_of_kind(node, &["?"]) else { return gathered(node) };
    let mut operands = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next.take() {
        if node.kind() != "ternary_expression" {
            operands.push(read(node));
            break;
        }
        for field in ["condition", "consequence"] {
            operands.extend(node.field(field).map(&mut read));
        }
        next = node.field("alternative");
    }
    combine(Operation::Choose, span(word), operands)
}

/// A text, or what goes into its holes.
pub(super) fn text_with_holes<'n>(
    node: Node<'n>,
    holes: Vec<Node<'n>>,
    read: impl FnMut(Node<'n>) -> Expression,
) -> Expression {
    if holes.is_empty() {
        return literal(node);
    }
    let operands = holes.into_iter().filter_map(first_part).map(read).collect();
    combine(Operation::Gather, span(node), operands)
}

/// A chain of operators of one kind.
pub(super) fn binary<'n>(node: Node<'n>, read: impl FnMut(Node<'n>) -> Expression) -> Expression {
    let Some(chain) = operators(node) else { return gathered(node) };
    let operands = chain.operands.into_iter().map(read).collect();
    combine(chain.operation, span(chain.word), operands)
}

/// The operation of a chain of operators, its first operator, and what stands between them.
struct Operators<'n> {
    operation: Operation,
    word: Node<'n>,
    operands: Vec<Node<'n>>,
}

/// A chain of operators of one kind, read from its last one.
fn operators<'n>(node: Node<'n>) -> Option<Operators<'n>> {
    let (kind, mut word) = sign(node)?;
    let mut operands = Vec::new();
    let mut left = Some(node);
    while let Some(node) = left.take() {
        match sign(node).filter(|(known, _)| *known == kind) {
            Some((_, here)) => {
                word = here;
                operands.extend(node.field("right"));
                left = node.field("left");
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

/// What an operator does, told apart finely enough that a chain is one of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Arithmetic,
    Comparison,
    Logic,
    Choice,
}

fn sign<'n>(node: Node<'n>) -> Option<(Sign, Node<'n>)> {
    if !matches!(node.kind(), "binary_expression" | "binary_operator" | "boolean_operator") {
        return None;
    }
    let word = node.field("operator")?;
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

/// The links of a chain from the innermost one that is wanted on, in the order in which they run. What
/// is asked about a link is also whether the chain goes on behind it.
pub(super) fn links_from<'n>(
    node: Node<'n>,
    read: fn(Node<'n>) -> Option<Link<'n>>,
    is_wanted: impl Fn(&Link<'n>, bool) -> bool,
) -> Option<Vec<Link<'n>>> {
    let mut links: Vec<Link<'n>> =
        std::iter::successors(read(node), |link| read(link.object?)).collect();
    let wanted = links.iter().enumerate().rev().find(|(at, link)| is_wanted(link, *at > 0));
    let (at, _) = wanted?;
    links.truncate(at + 1);
    links.reverse();
    Some(links)
}

/// The names and literals below a node, for what is not read more closely.
pub(super) fn gathered(node: Node<'_>) -> Expression {
    let mut operands = Vec::new();
    let mut cursor = node.walk();
    'below: loop {
        let here = cursor.node();
        let leaf = leaf(here);
        if let Some(leaf) = leaf {
            operands.push(leaf);
        } else if cursor.goto_first_child() {
            continue;
        }
        if operands.len() >= MOST_GATHERED {
            break;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'below;
            }
        }
    }
    match (operands.pop(), operands.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            operands.extend(last);
            combine(Operation::Gather, span(node), operands)
        }
    }
}

/// A name or a literal, by what grammars call them.
fn leaf(node: Node<'_>) -> Option<Expression> {
    let kind = node.kind();
    if !node.is_named() {
        return None;
    }
    if kind.ends_with("identifier") && node.named_child_count() == 0 || kind == "this" {
        return Some(name(node));
    }
    let is_literal = kind.ends_with("_literal")
        || matches!(
            kind,
            "string" | "integer" | "float" | "number" | "true" | "false" | "none" | "null" | "nil"
        );
    is_literal.then(|| literal(node))
}

/// A body that must raise, and the assertion that says so.
pub(super) fn raising(
    body: Vec<Statement>,
    word: Span,
    operands: Vec<Expression>,
) -> Vec<Statement> {
    vec![
        Statement::Nested { block: Block::Raises, heads: Vec::new(), body },
        Statement::Assert { words: vec![word], operands, line: word.line },
    ]
}

/// The statements of code that is handed to an assertion to be run by it, or any other value as it
/// was.
///
/// # Errors
///
/// The value, where it is no such code: it takes parameters or is no code at all.
pub(super) fn in_place(value: Expression) -> Result<Vec<Statement>, Expression> {
    match value {
        Expression::Lambda(function)
            if function.parameters.is_empty() && function.name.is_empty() =>
        {
            Ok(function.body.into_iter().map(without_return).collect())
        }
        other => Err(other),
    }
}

/// A statement whose `return` leaves the code that was handed over, not the function around it.
pub(super) fn without_return(statement: Statement) -> Statement {
    match statement {
        Statement::Return(Some(value)) => Statement::Evaluate(value),
        Statement::Nested { block, heads, body } => {
            let body = body.into_iter().map(without_return).collect();
            Statement::Nested { block, heads, body }
        }
        other => other,
    }
}

/// A type as it is compared: without type arguments and blanks.
pub(super) fn bare_type(text: &str) -> String {
    let text = text.split(['<', '[']).next().unwrap_or(text);
    text.split_whitespace().collect()
}
