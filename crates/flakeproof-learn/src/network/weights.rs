//! The numbers that a network learns, besides the vectors of words: where each layer's lie, and how
//! they move.
//!
//! All lie in one vector, so that what is done to each of them (adding gradients, the steps of Adam,
//! writing them into a file) is one loop. Gradients have the same layout. Steps downhill are those of
//! Adam (Kingma and Ba, 2015) with decoupled weight decay (Loshchilov and Hutter, 2019), on gradients
//! whose length is limited.

use std::ops::Range;

use flakeproof_core::Seed;

use super::batch::SLOTS;
use crate::Chance;

/// How many layers the LSTM has.
pub(super) const LAYERS: usize = 2;

/// How many classes there are: not flaky and flaky.
pub(super) const CLASSES: usize = 2;

/// The sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// The dimension of the vectors of words.
    pub(super) dimension: usize,
    /// The width of all layers.
    pub(super) hidden: usize,
}

/// Where the numbers of one layer of the LSTM lie.
#[derive(Debug, Clone)]
pub(super) struct LstmPlaces {
    /// From its input to its gates.
    pub(super) input: Range<usize>,
    /// From its state before to its gates.
    pub(super) recurrent: Range<usize>,
    /// What is added to its gates.
    pub(super) bias: Range<usize>,
}

/// Where the numbers of each layer lie. Matrices have a row for each input.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// From the bags of a step to its vector.
    pub(super) step: Range<usize>,
    /// What normalised vectors are multiplied by.
    pub(super) gain: Range<usize>,
    /// What is then added.
    pub(super) shift: Range<usize>,
    /// The layers of the LSTM.
    pub(super) lstm: [LstmPlaces; LAYERS],
    /// The vector that paths are compared with.
    pub(super) attention: Range<usize>,
    /// The two layers of the classifier, each with its bias.
    pub(super) first: Range<usize>,
    pub(super) first_bias: Range<usize>,
    pub(super) second: Range<usize>,
    pub(super) second_bias: Range<usize>,
    /// How many numbers there are.
    pub(super) count: usize,
}

impl Shape {
    /// How many numbers describe a step.
    pub(super) fn step_width(self) -> usize {
        SLOTS * self.dimension
    }

    /// How many gates a layer of the LSTM has.
    pub(super) fn gates(self) -> usize {
        4 * self.hidden
    }

    /// Where the numbers of each layer lie.
    pub(super) fn places(self) -> Places {
        let mut count = 0;
        let mut next = |size: usize| {
            count += size;
            count - size..count
        };
        let hidden = self.hidden;
        let step = next(self.step_width() * hidden);
        let (gain, shift) = (next(hidden), next(hidden));
        let lstm = std::array::from_fn(|_| LstmPlaces {
            input: next(hidden * self.gates()),
            recurrent: next(hidden * self.gates()),
            bias: next(self.gates()),
        });
        let attention = next(hidden);
        let (first, first_bias) = (next(hidden * hidden), next(hidden));
        let (second, second_bias) = (next(hidden * CLASSES), next(CLASSES));
        Places { step, gain, shift, lstm, attention, first, first_bias, second, second_bias, count }
    }

    /// The numbers to begin with: matrices drawn as Glorot and Bengio (2010) do, so that a signal
    /// keeps its size; gates begin by remembering (Jozefowicz et al., 2015).
    pub(super) fn first_weights(self, seed: Seed) -> Vec<f32> {
        let places = self.places();
        let mut weights = vec![0.0; places.count];
        let mut chance = Chance::new(seed);
        let mut draw = |place: &Range<usize>, inputs: usize, outputs: usize| {
            let most = (6.0 / crate::real(inputs + outputs)).sqrt();
            for weight in &mut weights[place.clone()] {
                *weight = small(most * (2.0 * chance.unit() - 1.0));
            }
        };
        let hidden = self.hidden;
        draw(&places.step, self.step_width(), hidden);
        for layer in &places.lstm {
            draw(&layer.input, hidden, hidden);
            draw(&layer.recurrent, hidden, hidden);
        }
        draw(&places.attention, hidden, 1);
        draw(&places.first, hidden, hidden);
        draw(&places.second, hidden, CLASSES);
        weights[places.gain.clone()].fill(1.0);
        for layer in &places.lstm {
            // The second quarter of the gates decides what is kept.
            weights[layer.bias.clone()][hidden..2 * hidden].fill(1.0);
        }
        weights
    }
}

impl Places {
    /// The matrices, which weight decay makes smaller; biases and gains are left alone.
    pub(super) fn matrices(&self) -> Vec<Range<usize>> {
        let mut all = vec![self.step.clone()];
        for layer in &self.lstm {
            all.extend([layer.input.clone(), layer.recurrent.clone()]);
        }
        all.extend([self.first.clone(), self.second.clone()]);
        all
    }
}

/// A number of 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "it is to become a number of 32 bits")]
pub(super) fn small(value: f64) -> f32 {
    value as f32
}

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
    fn places_lie_side_by_side_and_fill_the_vector() {
        let places = Shape { dimension: 5, hidden: 3 }.places();
        let [one, two] = &places.lstm;
        let all = [
            &places.step,
            &places.gain,
            &places.shift,
            &one.input,
            &one.recurrent,
            &one.bias,
            &two.input,
            &two.recurrent,
            &two.bias,
            &places.attention,
            &places.first,
            &places.first_bias,
            &places.second,
            &places.second_bias,
        ];
        let mut at = 0;
        for place in all {
            assert_eq!(place.start, at);
            at = place.end;
        }
        assert_eq!(at, places.count);
        assert_eq!(places.count, 45 + 6 + 2 * (36 + 36 + 12) + 3 + 9 + 3 + 6 + 2);
    }

    #[test]
    fn the_same_seed_gives_the_same_weights() {
        let shape = Shape { dimension: 4, hidden: 4 };
        assert_eq!(shape.first_weights(Seed(1)), shape.first_weights(Seed(1)));
        assert_ne!(shape.first_weights(Seed(1)), shape.first_weights(Seed(2)));
    }

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
