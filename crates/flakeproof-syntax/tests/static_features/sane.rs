//! What holds for the features of every file, however broken. The fuzz target asserts the same.

use flakeproof_syntax::metrics::MeasuredTests;

/// Panics unless every feature is a number that a test can have.
pub(crate) fn assert_sane(measured: &MeasuredTests<'_>) {
    assert_eq!(measured.found.tests.len(), measured.features.len());
    for features in measured.features.iter().flatten() {
        assert!(features.depth >= 1, "{features:?}");
        assert!(features.lines >= 1, "{features:?}");
        assert!(features.cyclomatic_complexity >= 1, "{features:?}");
        assert!(features.halstead_volume >= 0.0, "{features:?}");
        assert!(features.halstead_volume.is_finite(), "{features:?}");
        assert!((0.0..=100.0).contains(&features.maintainability), "{features:?}");
    }
}
