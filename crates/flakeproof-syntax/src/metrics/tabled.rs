//! The features of tests in the languages that a [`Vocabulary`] describes: what a language calls its
//! statements, branches, operators and assertions, one table each, and one walk over a test that
//! counts them.
//!
//! In the macros of Rust no grammar has joined the tokens. Operators among them are told by what
//! stands around them.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use super::StaticFeatures;
use super::features::{Halstead, MaintainabilityParts, maintainability_index};
use crate::outline::{Function, Reading};
use crate::tree::{Agenda, children, text_of};

/// What the tests of a file share.
pub(super) struct File<'a> {
    vocabulary: &'static Vocabulary,
    reading: Reading<'a, 'a>,
    imports: Vec<Import<'a>>,
}

impl<'a> File<'a> {
    pub(super) fn new(vocabulary: &'static Vocabulary, reading: &Reading<'a, 'a>) -> Self {
        let mut imports = Vec::new();
        let mut agenda = Agenda::new();
        agenda.push([(reading.root, ())]);
        while let Some((node, ())) = agenda.next() {
            if vocabulary.imports.contains(&node.kind()) {
                imports.extend((vocabulary.external)(node, reading));
            }
            if vocabulary.import_scopes.contains(&node.kind()) {
                agenda.descend(node, ());
            }
        }
        Self { vocabulary, reading: *reading, imports }
    }

    /// The features of a test; nothing when it breaks the grammar.
    pub(super) fn measure(&self, test: &Function<'_>) -> Option<StaticFeatures> {
        if test.node.has_error() {
            return None;
        }
        let extent = test.extent;
        let text = self.reading.text.get(extent.start..extent.end)?;
        let counted = count(test.node, extent.start..extent.end, self.vocabulary, &self.reading);
        let inside = counted.comments.iter().filter(|comment| comment.end <= extent.end);
        let comments: Vec<_> = inside
            .filter_map(|comment| {
                Some(comment.start.checked_sub(extent.start)?..comment.end - extent.start)
            })
            .collect();
        let line_counts = count_lines(text, &comments);
        let halstead_volume = counted.halstead.volume();
        let cyclomatic_complexity = counted.branches + 1;
        let maintainability = maintainability_index(MaintainabilityParts {
            halstead_volume,
            cyclomatic_complexity,
            logical_lines: counted.statements,
            source_lines: line_counts.source,
            comment_lines: line_counts.comments,
        });
        Some(StaticFeatures {
            depth: counted.depth,
            assertions: counted.assertions,
            external_modules: self.external_modules(&counted),
            halstead_volume,
            cyclomatic_complexity,
            lines: line_counts.all,
            maintainability,
        })
    }

    fn external_modules(&self, counted: &Counted<'_>) -> u32 {
        let used = self.imports.iter().filter(|import| counted.names.contains(import.name));
        let mut packages: BTreeSet<&str> = used.map(|import| import.package).collect();
        packages.extend(&counted.packages);
        u32::try_from(packages.len()).unwrap_or(u32::MAX)
    }
}

/// The kinds of nodes that matter in one language, and the few questions that kinds cannot answer.
pub(super) struct Vocabulary {
    /// Statements: what depth counts.
    pub(super) statements: &'static [&'static str],
    /// What directly holds statements of any kind, where a language has no nodes for them.
    pub(super) blocks: &'static [&'static str],
    /// Functions and classes with a complexity and with names of their own.
    pub(super) definitions: &'static [&'static str],
    /// Branches. `&&` and `||` are branches in every language.
    pub(super) branches: &'static [&'static str],
    /// Whether a node of such a kind is what happens otherwise, and so no branch.
    pub(super) is_otherwise: fn(Node<'_>, &str) -> bool,
    /// Operators with what they stand between; plain assignments among them are passed over.
    pub(super) operations: &'static [&'static str],
    /// Tokens that no grammar has joined, with operators among them.
    pub(super) token_trees: &'static [&'static str],
    /// What may stand around an operand without changing it.
    pub(super) parentheses: &'static [&'static str],
    /// Nodes that name a member, and the field that holds its name.
    pub(super) members: &'static [(&'static str, &'static str)],
    /// Names that an import can bind.
    pub(super) names: &'static [&'static str],
    /// Operands that are equal when their text is.
    pub(super) literals: &'static [&'static str],
    /// Comments.
    pub(super) comments: &'static [&'static str],
    /// Whether a node asserts something.
    pub(super) assertion: fn(Node<'_>, &str) -> Option<Assertion>,
    /// Nodes that import.
    pub(super) imports: &'static [&'static str],
    /// Where such nodes are looked for outside of tests.
    pub(super) import_scopes: &'static [&'static str],
    /// What one of them imports from outside of the standard library and of the project.
    pub(super) external: for<'a> fn(Node<'_>, &Reading<'_, 'a>) -> Vec<Import<'a>>,
}

/// How a test asserts something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    /// By a statement of the language, which is a branch too.
    Statement,
    /// By a call into a library.
    Call,
}

/// A name that an import binds, and the package it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Import<'a> {
    /// Empty where no name can be seen.
    pub(super) name: &'a str,
    /// In Python the first part of the module's name: `a` of `a.b.c`.
    pub(super) package: &'a str,
}

/// The lines of a test, by what is on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LineCounts {
    /// All lines.
    all: u32,
    /// Lines with something other than comments on them.
    source: u32,
    /// Lines that comments cover.
    comments: u32,
}

/// Count the lines of a text, given the bytes of its comments in order.
fn count_lines(text: &str, comments: &[Range<usize>]) -> LineCounts {
    let mut counts = LineCounts::default();
    let mut code = String::new();
    let mut from = 0;
    for comment in comments {
        code.push_str(text.get(from..comment.start).unwrap_or_default());
        let comment_text = text.get(comment.clone()).unwrap_or_default();
        counts.comments += to_u32(comment_text.trim_end().lines().count());
        code.extend(comment_text.chars().filter(|&letter| letter == '\n'));
        from = comment.end.max(from);
    }
    code.push_str(text.get(from..).unwrap_or_default());
    counts.all = to_u32(text.lines().count());
    counts.source = to_u32(code.lines().filter(|line| !line.trim().is_empty()).count());
    counts
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

const BINARY: [&str; 28] = [
    "+", "-", "*", "/", "%", "^", "&", "|", "<<", ">>", "&&", "||", "==", "!=", "<", ">", "<=",
    ">=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>=",
];
const UNARY: [&str; 3] = ["-", "!", "*"];

/// What was counted in a test.
#[derive(Debug, Default)]
pub(super) struct Counted<'a> {
    pub(super) depth: u32,
    pub(super) statements: u32,
    pub(super) assertions: u32,
    pub(super) branches: u32,
    pub(super) halstead: Halstead<Operator<'a>, (usize, Operand<'a>)>,
    /// The names that stand in the test.
    pub(super) names: BTreeSet<&'a str>,
    /// The packages that the test itself imports.
    pub(super) packages: BTreeSet<&'a str>,
    /// Where comments stand, in bytes of the file.
    pub(super) comments: Vec<Range<usize>>,
}

/// An operator and how many operands it has; `+=` is `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Operator<'a> {
    pub(super) sign: &'a str,
    pub(super) is_unary: bool,
}

/// An operand: equal by its text, or only to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operand<'a> {
    Text(&'a str),
    Node(usize),
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'a> {
    /// The definition around it.
    definition: usize,
    depth: u32,
    /// Whether its parent makes a statement of it, whatever it is.
    is_statement: bool,
    /// Whether branches do not count: in definitions inside the test and in assertions.
    is_aside: bool,
    /// The operator of the chain of `&&` or `||` that goes on here.
    chain: Option<&'a str>,
    /// Whether it is the name of a member, which no import binds.
    is_member: bool,
}

/// Count what is in a test: what lies below a node and within some bytes.
pub(super) fn count<'a>(
    test: Node<'a>,
    bytes: Range<usize>,
    vocabulary: &'a Vocabulary,
    reading: &'a Reading<'a, 'a>,
) -> Counted<'a> {
    let counted = Counted { depth: 1, statements: 1, ..Counted::default() };
    let mut walk = Walk { vocabulary, reading, bytes, counted, agenda: Agenda::new() };
    walk.enter(test, Place { depth: 1, ..Place::default() });
    while let Some((node, place)) = walk.agenda.next() {
        walk.visit(node, place);
    }
    walk.counted
}

struct Walk<'a> {
    vocabulary: &'a Vocabulary,
    reading: &'a Reading<'a, 'a>,
    /// Where a macro holds many tests, those of this one.
    bytes: Range<usize>,
    counted: Counted<'a>,
    agenda: Agenda<'a, Place<'a>>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, node: Node<'a>, place: Place<'a>) {
        let kind = node.kind();
        let words = self.vocabulary;
        if node.end_byte() <= self.bytes.start || node.start_byte() >= self.bytes.end {
            return;
        }
        if words.comments.contains(&kind) {
            self.counted.comments.push(node.byte_range());
            return;
        }
        let mut inside = Place { is_statement: false, chain: None, is_member: false, ..place };
        if place.is_statement || words.statements.contains(&kind) {
            inside.depth += 1;
            self.counted.depth = self.counted.depth.max(inside.depth);
            self.counted.statements += 1;
        }
        if words.definitions.contains(&kind) {
            inside.definition = node.id();
            inside.is_aside = true;
        }
        self.count_names(node, place);
        let is_branch = words.branches.contains(&kind);
        if is_branch && !(words.is_otherwise)(node, self.reading.text) {
            self.branch(place);
        }
        if let Some(assertion) = (words.assertion)(node, self.reading.text) {
            self.counted.assertions += 1;
            if assertion == Assertion::Statement {
                self.branch(place);
                inside.is_aside = true;
            }
        }
        if words.operations.contains(&kind) {
            inside.chain = self.count_operation(node, place);
        }
        if words.token_trees.contains(&kind) {
            self.count_tokens(node, place);
        }
        self.enter(node, inside);
    }

    fn count_names(&mut self, node: Node<'a>, place: Place<'a>) {
        let (kind, words) = (node.kind(), self.vocabulary);
        if words.names.contains(&kind) && !place.is_member {
            self.counted.names.insert(self.text(node));
        }
        if words.imports.contains(&kind) {
            let imports = (words.external)(node, self.reading);
            self.counted.packages.extend(imports.iter().map(|import| import.package));
        }
    }

    fn branch(&mut self, place: Place<'a>) {
        self.counted.branches += u32::from(!place.is_aside);
    }

    /// Visit the children next.
    fn enter(&mut self, node: Node<'a>, inside: Place<'a>) {
        let words = self.vocabulary;
        let kind = node.kind();
        let is_block = words.blocks.contains(&kind);
        let member = words.members.iter().find(|(parent, _)| *parent == kind);
        let member = member.and_then(|(_, field)| node.child_by_field_name(field));
        let left = inside.chain.and_then(|_| node.child_by_field_name("left"));
        let place = |child: Node<'a>| Place {
            is_statement: is_block && child.is_named() && !words.blocks.contains(&child.kind()),
            // Without an object in front, the name stands for itself.
            is_member: member == Some(child) && node.named_child(0) != Some(child),
            chain: inside.chain.filter(|_| left == Some(child)),
            ..inside
        };
        self.agenda.push(children(node).into_iter().map(|child| (child, place(child))));
    }

    /// Count an operator and its operands; the operator of the chain when it is `&&` or `||`.
    fn count_operation(&mut self, node: Node<'a>, place: Place<'a>) -> Option<&'a str> {
        let (signs, operands): (Vec<Node<'a>>, Vec<Node<'a>>) = children(node)
            .into_iter()
            .filter(|child| !child.is_extra())
            .partition(|child| !child.is_named());
        let sign = operator_of(signs.first()?.kind())?;
        let chain = Some(sign).filter(|sign| matches!(*sign, "&&" | "||"));
        if chain.is_some() {
            self.branch(place);
        }
        if chain.is_none() || chain != place.chain {
            let is_unary = operands.len() == 1 && !matches!(sign, "++" | "--");
            self.counted.halstead.see_operator(Operator { sign, is_unary });
        }
        for operand in operands {
            // The left side of a chain goes on with it, and has operands of its own.
            if chain.is_none()
                || Some(operand) != node.child_by_field_name("left")
                || self.chain_of(operand) != chain
            {
                let operand = self.operand(operand);
                self.counted.halstead.see_operand((place.definition, operand));
            }
        }
        chain
    }

    fn count_tokens(&mut self, tree: Node<'a>, place: Place<'a>) {
        for (operator, operands) in operations_of_tokens(tree, self.reading.text) {
            self.counted.halstead.see_operator(operator);
            for operand in operands {
                let operand = self.operand(operand);
                self.counted.halstead.see_operand((place.definition, operand));
            }
        }
    }

    fn chain_of(&self, node: Node<'a>) -> Option<&'a str> {
        let is_operation = self.vocabulary.operations.contains(&node.kind());
        let operator = node.child_by_field_name("operator").filter(|_| is_operation)?;
        Some(operator.kind()).filter(|sign| matches!(*sign, "&&" | "||"))
    }

    fn operand(&self, node: Node<'a>) -> Operand<'a> {
        let words = self.vocabulary;
        let mut node = node;
        while words.parentheses.contains(&node.kind())
            && let Some(inner) = node.named_child(0)
        {
            node = inner;
        }
        let kind = node.kind();
        if words.names.contains(&kind) || words.literals.contains(&kind) {
            return Operand::Text(self.text(node));
        }
        let member = words.members.iter().find(|(parent, _)| *parent == kind);
        match member.and_then(|(_, field)| node.child_by_field_name(field)) {
            Some(name) => Operand::Text(self.text(name)),
            None => Operand::Node(node.id()),
        }
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

/// The operator of an operation; nothing for a plain assignment.
fn operator_of(sign: &str) -> Option<&str> {
    match sign {
        "=" => None,
        "==" | "!=" | "<=" | ">=" | "===" | "!==" => Some(sign),
        _ => Some(sign.strip_suffix('=').unwrap_or(sign)),
    }
}

/// The operators directly in a tree of tokens, each with its operands.
///
/// Between two operands and with space around it, a sign is an operator between them: without
/// space it may as well belong to a type (`Vec<u8>`). Before an operand and behind none it is an
/// operator of one.
fn operations_of_tokens<'a>(tree: Node<'a>, text: &str) -> Vec<(Operator<'a>, Vec<Node<'a>>)> {
    let tokens = children(tree);
    let operation = |(index, token): (usize, &Node<'a>)| {
        let sign = token.kind();
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        let before = before.copied().filter(Node::is_named);
        let behind = tokens.get(index + 1).copied()?;
        match before {
            Some(before) if BINARY.contains(&sign) && has_space_around(*token, text) => {
                let sign = operator_of(sign)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_code_and_comment_is_both() {
        let text = "a; // one\n\n/* two\n three */ b;\n// four\n";
        let comments = [3..9, 11..27, 31..38];
        let expected = LineCounts { all: 5, source: 2, comments: 4 };
        assert_eq!(count_lines(text, &comments), expected);
    }
}
