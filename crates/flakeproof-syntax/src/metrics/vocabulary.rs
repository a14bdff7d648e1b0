//! What a language calls its statements, branches, operators and assertions: one table each.

use tree_sitter::Node;

use crate::outline::Reading;

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
