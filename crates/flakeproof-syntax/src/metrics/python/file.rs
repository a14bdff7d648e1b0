//! A file of Python, and the features of its tests.

use std::collections::BTreeSet;

use super::standard_library::is_standard;
use super::strings::Margin;
use super::walk::{Counted, count};
use super::{extent, imports, lines};
use crate::metrics::StaticFeatures;
use crate::metrics::maintainability::{self, Parts};
use crate::metrics::vocabulary::Import;
use crate::outline::{Function, Reading};

/// What the tests of a file share.
pub(in crate::metrics) struct File<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    imports: Vec<Import<'a>>,
}

impl<'a> File<'a> {
    pub(in crate::metrics) fn new(reading: &Reading<'_, 'a>) -> Self {
        let text = reading.text;
        let imports = imports::of_file(reading.root, text);
        Self { text, lines: text.lines().collect(), imports }
    }

    /// The features of a test; nothing when it breaks the grammar.
    pub(in crate::metrics) fn measure(&self, test: &Function<'_>) -> Option<StaticFeatures> {
        if test.node.has_error() {
            return None;
        }
        let source = self.source(test)?;
        let margin = Margin(extent::dedent(source));
        let counted = count(test.node, self.text, margin);
        let line_counts = lines::count(&source.join("\n"));
        let halstead_volume = counted.halstead.volume();
        let cyclomatic_complexity = counted.branches + 1;
        let maintainability = maintainability::index(Parts {
            halstead_volume,
            cyclomatic_complexity,
            logical_lines: line_counts.logical,
            source_lines: line_counts.source,
            comment_lines: line_counts.comments + line_counts.long_strings,
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

    fn source(&self, test: &Function<'_>) -> Option<&[&'a str]> {
        let rest = self.lines.get(test.node.start_position().row..)?;
        rest.get(..extent::lines_of_function(rest))
    }

    fn external_modules(&self, counted: &Counted<'_>) -> u32 {
        let used = self.imports.iter().filter(|import| counted.names.contains(import.name));
        let mut packages: BTreeSet<&str> = used.map(|import| import.package).collect();
        packages.extend(&counted.packages);
        let external = packages.iter().filter(|package| !is_standard(package));
        u32::try_from(external.count()).unwrap_or(u32::MAX)
    }
}
