//! The features of a test that its source tells, without a run (CANNIER, Table 1, 12 to 18).

use std::collections::HashMap;
use std::path::Path;

use flakeproof_core::{Feature, Features, Suite, TestId};
use flakeproof_syntax::metrics::StaticFeatures;

use crate::source::source_tests;

/// What the source of each test tells. A test without an entry was not found in its file.
///
/// `root` is the folder that the places of the tests are relative to.
pub(super) fn of_suite(suite: &Suite, root: &Path) -> HashMap<TestId, StaticFeatures> {
    let files = source_tests::files_of(suite, root);
    // Source that cannot be read leaves features missing; the run itself is measured.
    let found = source_tests::measure(&files, root).unwrap_or_default();
    let places = source_tests::places_of(suite, &found.tests);
    let measured = suite.tests.iter().zip(places).filter_map(|(test, place)| {
        let source = &found.tests[place?];
        Some((test.id.clone(), source.features?))
    });
    measured.collect()
}

/// Put what the source tells into a vector.
pub(super) fn set(features: &mut Features, source: &StaticFeatures) {
    let values = [
        f64::from(source.depth),
        f64::from(source.assertions),
        f64::from(source.external_modules),
        source.halstead_volume,
        f64::from(source.cyclomatic_complexity),
        f64::from(source.lines),
        source.maintainability,
    ];
    for (feature, value) in Feature::ALL[Feature::DYNAMIC..].iter().zip(values) {
        features.set(*feature, Some(value));
    }
}
