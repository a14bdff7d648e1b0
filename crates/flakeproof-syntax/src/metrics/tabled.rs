//! The features of tests in the languages that a [`Vocabulary`] describes: what a language calls its
//! statements, branches, operators and assertions, one table each.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use super::StaticFeatures;
use super::features::{MaintainabilityParts, maintainability_index};
use super::walk::{Counted, count};
use crate::outline::{Function, Reading};
use crate::tree::Agenda;

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
