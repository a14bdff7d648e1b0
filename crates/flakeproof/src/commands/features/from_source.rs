//! The features of a test that its source tells, without a run (CANNIER, Table 1, 12 to 18).

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use flakeproof_core::{Feature, Features, Suite, SuiteTest, TestId};
use flakeproof_syntax::metrics::StaticFeatures;

use super::super::sources::{self, SourceTest};

/// What the source of each test tells. A test without an entry was not found in its file.
///
/// `root` is the folder that the places of the tests are relative to.
pub(super) fn of_suite(suite: &Suite, root: &Path) -> HashMap<TestId, StaticFeatures> {
    let files: BTreeSet<PathBuf> = suite
        .tests
        .iter()
        .flat_map(places)
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect();
    // Source that cannot be read leaves features missing; the run itself is measured.
    let found = sources::measure(&files.into_iter().collect::<Vec<_>>(), root).unwrap_or_default();
    let by_id: HashMap<&str, &SourceTest> =
        found.tests.iter().map(|test| (test.id.as_str(), test)).collect();
    let mut by_file: HashMap<&str, Vec<&SourceTest>> = HashMap::new();
    for test in &found.tests {
        by_file.entry(test.file.as_str()).or_default().push(test);
    }
    let measured = suite.tests.iter().filter_map(|test| {
        let id = test.id.as_str();
        // Parameters are no part of the source.
        let without_parameters = id.split('[').next().unwrap_or(id);
        // A test that its class inherits stands elsewhere than its id says.
        let source = by_id.get(without_parameters).copied().or_else(|| at_place(test, &by_file))?;
        Some((test.id.clone(), source.features?))
    });
    measured.collect()
}

/// The file of a test's id, and the file in which it is written.
fn places(test: &SuiteTest) -> impl Iterator<Item = &str> {
    let written = test.location.as_ref().map(|place| place.file.as_str());
    test.id.as_str().split("::").take(1).chain(written)
}

fn at_place<'s>(
    test: &SuiteTest,
    by_file: &HashMap<&str, Vec<&'s SourceTest>>,
) -> Option<&'s SourceTest> {
    let place = test.location.as_ref()?;
    let line = place.line?;
    let mut there = by_file.get(place.file.as_str())?.iter();
    there.find(|source| (source.first_line..=source.last_line).contains(&line)).copied()
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
