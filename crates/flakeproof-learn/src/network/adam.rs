//! Steps downhill: Adam (Kingma and Ba, 2015) with decoupled weight decay (Loshchilov and Hutter,
//! 2019), on gradients whose length is limited.

use std::ops::Range;

use super::weights::small;

/// How fast the means of gradients and of their squares forget.
const FORGET_MEAN: f32 = 0.9;
const FORGET_SQUARE: f32 = 0.999;

/// Added to the root of the mean square, so that a number without a gradient stays where it is.
const LEAST: f32 = 1e-8;

/// What is remembered about the gradients of some numbers.
#[derive(Debug, Clone)]
pub(super) struct Adam {
    means: Vec<f32>,
    squares: Vec<f32>,
}

/// One step: how far, and how much smaller weights become.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// How many steps were made, this one included.
    pub(super) number: u32,
    /// How far the numbers move.
    pub(super) rate: f64,
    /// What gradients are multiplied by, so that all together are not too long.
    pub(super) scale: f64,
    /// The share by which decaying numbers become smaller, for a rate of 1.
    pub(super) decay: f64,
}

impl Adam {
    pub(super) fn new(count: usize) -> Self {
        Self { means: vec![0.0; count], squares: vec![0.0; count] }
    }

    /// Move the numbers of a range against their gradients, of which there are as many.
    pub(super) fn step(
        &mut self,
        values: &mut [f32],
        range: Range<usize>,
        gradients: &[f32],
        step: Step,
    ) {
        let exponent = i32::try_from(step.number).unwrap_or(i32::MAX);
        let unbiased = |forget: f32| 1.0 - f64::from(forget).powi(exponent);
        let rate = small(step.rate / unbiased(FORGET_MEAN));
        let to_square = small(1.0 / unbiased(FORGET_SQUARE));
        let (scale, keep) = (small(step.scale), small(1.0 - step.rate * step.decay));
        let known = self.means[range.clone()].iter_mut().zip(&mut self.squares[range.clone()]);
        let values = values[range].iter_mut().zip(gradients);
        for ((mean, square), (value, gradient)) in known.zip(values) {
            let gradient = gradient * scale;
            *mean = FORGET_MEAN * *mean + (1.0 - FORGET_MEAN) * gradient;
            *square = FORGET_SQUARE * *square + (1.0 - FORGET_SQUARE) * gradient * gradient;
            *value = *value * keep - rate * *mean / ((*square * to_square).sqrt() + LEAST);
        }
    }
}

/// What gradients with these squares' sum are multiplied by to be at most `longest` long.
pub(super) fn clip(square_sum: f64, longest: f64) -> f64 {
    let length = square_sum.sqrt();
    if length > longest { longest / length } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_as_long_as_the_rate_whatever_the_gradient() {
        let mut values = [1.0, 1.0, 1.0];
        let step = Step { number: 1, rate: 0.1, scale: 1.0, decay: 0.0 };
        Adam::new(3).step(&mut values, 0..3, &[1e-3, -50.0, 0.0], step);
        let expected = [0.9, 1.1, 1.0];
        assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{values:?}");
    }

    #[test]
    fn it_finds_the_bottom_of_a_bowl() {
        let (mut values, mut adam) = ([3.0, -2.0], Adam::new(2));
        for number in 1..=500 {
            let gradients = [2.0 * (values[0] - 1.0), 20.0 * values[1]];
            let step = Step { number, rate: 0.05, scale: 1.0, decay: 0.0 };
            adam.step(&mut values, 0..2, &gradients, step);
        }
        assert!((values[0] - 1.0).abs() < 1e-2 && values[1].abs() < 1e-2, "{values:?}");
    }

    #[test]
    fn decay_makes_numbers_smaller_and_leaves_others_alone() {
        let mut values = [1.0, 1.0];
        let step = Step { number: 1, rate: 0.1, scale: 1.0, decay: 0.5 };
        Adam::new(2).step(&mut values, 1..2, &[0.0], step);
        assert_eq!(values, [1.0, 0.95]);
    }

    #[test]
    fn only_long_gradients_are_cut() {
        assert!((clip(4.0, 5.0) - 1.0).abs() < 1e-12);
        assert!((clip(100.0, 5.0) - 0.5).abs() < 1e-12);
    }
}
