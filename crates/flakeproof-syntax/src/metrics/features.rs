//! What is measured of a test, and for which languages.

use crate::outline::{Function, Reading};
use crate::{Found, Language};

use super::{go, java, javascript, python, rust, tabled};

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
pub struct Measured<'a> {
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
        Language::Java => &java::VOCABULARY,
        Language::JavaScript | Language::TypeScript => &javascript::VOCABULARY,
        Language::Go => &go::VOCABULARY,
        Language::Rust => &rust::VOCABULARY,
        Language::Kotlin | Language::CSharp | Language::Ruby => return vec![None; tests.len()],
    };
    let file = tabled::File::new(vocabulary, reading);
    tests.iter().map(|test| file.measure(test)).collect()
}
