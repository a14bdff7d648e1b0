//! The features of tests in the languages that a [`Vocabulary`] describes.

use std::collections::BTreeSet;

use super::StaticFeatures;
use super::lines;
use super::maintainability::{self, Parts};
use super::vocabulary::{Import, Vocabulary};
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
        let line_counts = lines::count(text, &comments);
        let halstead_volume = counted.halstead.volume();
        let cyclomatic_complexity = counted.branches + 1;
        let maintainability = maintainability::index(Parts {
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
