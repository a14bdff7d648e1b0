//! Compares gradients with slopes that are measured: the test of every layer.

use flakeproof_core::Seed;

use super::weights::small;
use crate::Chance;

/// Small random numbers.
pub(super) struct Numbers(Chance);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(Chance::new(Seed(seed)))
    }

    /// So many numbers from -1 to 1.
    pub(super) fn draw(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| small(2.0 * self.0.unit() - 1.0)).collect()
    }
}

/// How far a number is moved to measure a slope: far enough for numbers of 32 bits.
const FAR: f32 = 4e-3;

/// Check that `gradients` returns, for each of `values`, by how much the outputs' inner product
/// with `wanted` grows with it.
pub(super) fn check(
    values: &[Vec<f32>],
    wanted: &[f32],
    outputs: impl Fn(&[Vec<f32>]) -> Vec<f32>,
    gradients: impl Fn(&[Vec<f32>]) -> Vec<Vec<f32>>,
) {
    let aim = |values: &[Vec<f32>]| -> f64 {
        let outputs = outputs(values);
        assert_eq!(outputs.len(), wanted.len());
        outputs.iter().zip(wanted).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let found = gradients(values);
    assert_eq!(found.len(), values.len());
    for (which, gradient) in found.iter().enumerate() {
        assert_eq!(gradient.len(), values[which].len());
        for (at, gradient) in gradient.iter().enumerate() {
            let moved = |far: f32| {
                let mut values = values.to_vec();
                values[which][at] += far;
                aim(&values)
            };
            let slope = (moved(FAR) - moved(-FAR)) / f64::from(2.0 * FAR);
            let off = (slope - f64::from(*gradient)).abs();
            assert!(
                off < 1e-3 + 5e-3 * slope.abs(),
                "value {at} of group {which}: the gradient is {gradient}, the slope {slope}"
            );
        }
    }
}
