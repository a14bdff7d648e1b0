//! What is measured of a test, for which languages, and the two formulas that more than one of them
//! needs: Halstead's count of operators and operands, and the maintainability index as radon
//! computes it, the formula of Oman and Hagemeister with a term for comments, scaled to 0..=100.

use std::collections::HashSet;
use std::hash::Hash;

use super::{python, tabled, vocabularies};
use crate::outline::{Function, Reading};
use crate::{Found, Language};

/// The static features of one test.
///
/// Each is taken of the whole test as it stands in its file, decorators or annotations included,
/// and without the helpers it calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaticFeatures {
    /// AST Depth: how deep statements lie in one another. The test itself is a statement of depth
    /// 1, what stands directly in it has depth 2; an `elif` lies in the `if` before it.
    pub depth: u32,
    /// Assertions: `assert` statements, and calls of the assertion methods of the common
    /// libraries. In Python: calls of `self.assert…` and `self.fail`.
    pub assertions: u32,
    /// External Modules: the packages outside of the language's standard library that the test
    /// imports, or that its file imports under a name which the test uses. Relative imports are
    /// the project's own and do not count.
    pub external_modules: u32,
    /// Halstead Volume: the number of operators and operands times the logarithm, to base 2, of
    /// the number of different ones. As in radon, operators are those of arithmetic, logic,
    /// comparison and augmented assignment; operands are what they stand between.
    pub halstead_volume: f64,
    /// Cyclomatic Complexity: one more than the number of branches. As in radon, functions and
    /// classes defined in the test have a complexity of their own, and an assertion statement of
    /// the language is a branch.
    pub cyclomatic_complexity: u32,
    /// Test Lines of Code: all lines from the first decorator to the end of the body, blank lines
    /// and comments included; in Python also comments behind it that are as deep as the body.
    pub lines: u32,
    /// Maintainability: radon's index between 0 and 100, with comments counted in its favour.
    pub maintainability: f64,
}

/// The tests of a file, each with its features.
#[derive(Debug, Clone, Default)]
pub struct MeasuredTests<'a> {
    /// The tests, and what kept others from being found.
    pub found: Found<'a>,
    /// The features of each test, in the order of `found.tests`. Nothing where the test's own text
    /// breaks the grammar, and for Kotlin, C# and Ruby.
    pub features: Vec<Option<StaticFeatures>>,
}

/// The features of some functions of a file.
pub(crate) fn of_tests(
    language: Language,
    reading: &Reading<'_, '_>,
    tests: &[&Function<'_>],
) -> Vec<Option<StaticFeatures>> {
    let vocabulary = match language {
        Language::Python => {
            let file = python::File::new(reading);
            return tests.iter().map(|test| file.measure(test)).collect();
        }
        Language::Java => &vocabularies::JAVA,
        Language::JavaScript | Language::TypeScript => &vocabularies::JAVASCRIPT,
        Language::Go => &vocabularies::GO,
        Language::Rust => &vocabularies::RUST,
        Language::Kotlin | Language::CSharp | Language::Ruby => return vec![None; tests.len()],
    };
    let file = tabled::File::new(vocabulary, reading);
    tests.iter().map(|test| file.measure(test)).collect()
}

/// Operators and operands, counted all and counted different.
#[derive(Debug)]
pub(super) struct Halstead<Operator, Operand> {
    operators: HashSet<Operator>,
    operands: HashSet<Operand>,
    occurrences: u32,
}

impl<Operator, Operand> Default for Halstead<Operator, Operand> {
    fn default() -> Self {
        Self { operators: HashSet::new(), operands: HashSet::new(), occurrences: 0 }
    }
}

impl<Operator: Hash + Eq, Operand: Hash + Eq> Halstead<Operator, Operand> {
    pub(super) fn see_operator(&mut self, operator: Operator) {
        self.occurrences = self.occurrences.saturating_add(1);
        self.operators.insert(operator);
    }

    pub(super) fn see_operand(&mut self, operand: Operand) {
        self.occurrences = self.occurrences.saturating_add(1);
        self.operands.insert(operand);
    }

    /// The volume N · log₂ η; 0 where there is no operator.
    pub(super) fn volume(&self) -> f64 {
        match self.operators.len() + self.operands.len() {
            0 => 0.0,
            different => f64::from(self.occurrences) * (different as f64).log2(),
        }
    }
}

/// What the index is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaintainabilityParts {
    pub(super) halstead_volume: f64,
    pub(super) cyclomatic_complexity: u32,
    /// Statements; in Python what radon takes for them.
    pub(super) logical_lines: u32,
    /// Lines that are neither blank nor only comment.
    pub(super) source_lines: u32,
    pub(super) comment_lines: u32,
}

/// The index, from 0 (hard to maintain) to 100.
pub(super) fn maintainability_index(parts: MaintainabilityParts) -> f64 {
    if parts.halstead_volume <= 0.0 || parts.logical_lines == 0 {
        return 100.0;
    }
    let percent = match parts.source_lines {
        0 => 0.0,
        lines => f64::from(parts.comment_lines) / f64::from(lines) * 100.0,
    };
    let comments = (2.46 * percent.to_radians()).sqrt().sin();
    let raw = 171.0
        - 5.2 * parts.halstead_volume.ln()
        - 0.23 * f64::from(parts.cyclomatic_complexity)
        - 16.2 * f64::from(parts.logical_lines).ln()
        + 50.0 * comments;
    (raw * 100.0 / 171.0).clamp(0.0, 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_counts_all_and_takes_the_logarithm_of_the_different() {
        let mut halstead = Halstead::default();
        for operand in ["a", "b", "a"] {
            halstead.see_operand(operand);
        }
        halstead.see_operator("+");
        halstead.see_operator("*");
        assert!((halstead.volume() - 5.0 * 2.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_has_no_volume() {
        assert_eq!(Halstead::<&str, &str>::default().volume(), 0.0);
    }

    const PARTS: MaintainabilityParts = MaintainabilityParts {
        halstead_volume: 100.0,
        cyclomatic_complexity: 5,
        logical_lines: 10,
        source_lines: 10,
        comment_lines: 0,
    };

    #[test]
    fn comments_make_code_easier_to_maintain() {
        // 171 - 5.2 ln 100 - 0.23 · 5 - 16.2 ln 10, of 171.
        assert!(
            (maintainability_index(PARTS) - 63.509_495_044).abs() < 1e-6,
            "{}",
            maintainability_index(PARTS)
        );
        assert!(
            maintainability_index(MaintainabilityParts { comment_lines: 3, ..PARTS })
                > maintainability_index(PARTS)
        );
    }

    #[test]
    fn code_without_operators_is_as_easy_as_can_be() {
        assert_eq!(
            maintainability_index(MaintainabilityParts { halstead_volume: 0.0, ..PARTS }),
            100.0
        );
        assert_eq!(
            maintainability_index(MaintainabilityParts { logical_lines: 0, ..PARTS }),
            100.0
        );
    }
}
