//! The plain layers: a matrix with a bias, and normalisation followed by the hyperbolic tangent.
//!
//! Layer normalisation (Ba et al., 2016) gives each row mean 0 and deviation 1, then a learned gain and
//! shift; the hyperbolic tangent follows it, as in the paper's steps (section III-B).
//!
//! The exponential functions of the standard library are exact, slow, and differ between platforms.
//! Those here are right to about two units of the last place of 1, use plain operations only, and so
//! vectorise and give the same bits everywhere.

use super::matrix::{
    Buffer, Loop, add_column_sums, add_product, add_transposed_product, run_wide, transposed,
};

/// A layer that multiplies by a matrix, which has a row for each input and a column for each output,
/// and adds a bias.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linear<'a> {
    pub(super) weights: &'a [f32],
    /// Empty where nothing is added.
    pub(super) bias: &'a [f32],
    pub(super) outputs: usize,
}

impl Linear<'_> {
    fn inputs(&self) -> usize {
        self.weights.len() / self.outputs
    }

    /// The outputs for some rows of inputs.
    pub(super) fn forward(&self, input: &[f32]) -> Buffer {
        let rows = input.len() / self.inputs();
        let mut output = if self.bias.is_empty() {
            Buffer::zeros(rows * self.outputs)
        } else {
            Buffer::repeated(self.bias, rows)
        };
        add_product(input, self.weights, self.inputs(), self.outputs, &mut output);
        output
    }

    /// The gradient of the inputs. Those of the matrix and of the bias are added to what they are.
    pub(super) fn backward(
        &self,
        input: &[f32],
        of_output: &[f32],
        of_weights: &mut [f32],
        of_bias: &mut [f32],
    ) -> Buffer {
        let rows = of_output.len() / self.outputs;
        add_transposed_product(input, of_output, rows, of_weights);
        if !of_bias.is_empty() {
            add_column_sums(of_output, of_bias);
        }
        let turned = transposed(self.weights, self.outputs);
        let mut of_input = Buffer::zeros(input.len());
        add_product(of_output, &turned, self.outputs, self.inputs(), &mut of_input);
        of_input
    }
}

/// Added to the variance, so that a row of equal numbers can be divided by its deviation.
const LEAST_VARIANCE: f32 = 1e-5;

/// A layer that normalises each row and squashes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NormTanh<'a> {
    pub(super) gain: &'a [f32],
    pub(super) shift: &'a [f32],
}

/// What normalisation made, and what it needs to know on the way back.
#[derive(Debug, Default)]
pub(super) struct NormTape {
    pub(super) outputs: Buffer,
    /// The rows with mean 0 and deviation 1.
    normal: Buffer,
    /// One divided by each row's deviation.
    scales: Vec<f32>,
}

impl NormTanh<'_> {
    pub(super) fn forward(&self, mut rows: Buffer) -> NormTape {
        let width = self.gain.len();
        let mut scales = Vec::with_capacity(rows.len() / width);
        for row in rows.chunks_exact_mut(width) {
            let mean = mean(row);
            row.iter_mut().for_each(|value| *value -= mean);
            let variance = row.iter().map(|value| value * value).sum::<f32>() / count(width);
            let scale = 1.0 / (variance + LEAST_VARIANCE).sqrt();
            row.iter_mut().for_each(|value| *value *= scale);
            scales.push(scale);
        }
        let mut outputs = Buffer::unset(rows.len());
        run_wide(Squash { normal: &rows, layer: *self, outputs: &mut outputs });
        NormTape { outputs, normal: rows, scales }
    }

    /// The gradient of the inputs. Those of gain and shift are added to what they are.
    pub(super) fn backward(
        &self,
        tape: &NormTape,
        mut of_output: Buffer,
        of_gain: &mut [f32],
        of_shift: &mut [f32],
    ) -> Buffer {
        let width = self.gain.len();
        let outputs = tape.outputs.chunks_exact(width);
        let normals = tape.normal.chunks_exact(width);
        let known = outputs.zip(normals).zip(&tape.scales);
        for (slopes, ((outputs, normal), scale)) in of_output.chunks_exact_mut(width).zip(known) {
            for (slope, output) in slopes.iter_mut().zip(outputs) {
                *slope *= 1.0 - output * output;
            }
            for (at, slope) in slopes.iter_mut().enumerate() {
                of_shift[at] += *slope;
                of_gain[at] += *slope * normal[at];
                *slope *= self.gain[at];
            }
            let both = slopes.iter().zip(normal).map(|(slope, normal)| slope * normal);
            let along = both.sum::<f32>() / count(width);
            let mean = mean(slopes);
            for (slope, normal) in slopes.iter_mut().zip(normal) {
                *slope = scale * (*slope - mean - normal * along);
            }
        }
        of_output
    }
}

fn mean(row: &[f32]) -> f32 {
    row.iter().sum::<f32>() / count(row.len())
}

#[expect(clippy::cast_precision_loss, reason = "a layer is far narrower than 2^24")]
fn count(width: usize) -> f32 {
    width as f32
}

struct Squash<'a> {
    normal: &'a [f32],
    layer: NormTanh<'a>,
    outputs: &'a mut [f32],
}

impl Loop for Squash<'_> {
    #[inline(always)]
    fn run<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let NormTanh { gain, shift } = self.layer;
        let width = gain.len();
        let rows = self.normal.chunks_exact(width).zip(self.outputs.chunks_exact_mut(width));
        for (normal, outputs) in rows {
            for ((output, normal), (gain, shift)) in
                outputs.iter_mut().zip(normal).zip(gain.iter().zip(shift))
            {
                *output = tanh(gain * normal + shift);
            }
        }
    }
}

/// 1.5 · 2^23: adding it to a number of moderate size rounds that to a whole number, in the last
/// bits.
const ROUNDING: f32 = 12_582_912.0;

/// The natural logarithm of two in two parts, the first with so few bits that products are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// e to the `x`; between e^-87 and e^88.
#[inline(always)]
pub(super) fn exponential(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let doublings = shifted - ROUNDING;
    let rest = x - doublings * LN_2_HIGH - doublings * LN_2_LOW;
    // The series of e^x, whose next term is below 2e-7 for a rest below ln 2 / 2.
    let mut series = 1.0 / 720.0;
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * rest + coefficient;
    }
    // The last bits of `shifted` are the number of doublings: moved into the exponent, a power of
    // 2.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3F80_0000));
    series * power
}

/// The logistic function: from 0 to 1.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exponential(-x))
}

/// The hyperbolic tangent: from -1 to 1.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (1.0 + exponential(2.0 * x))
}

/// Compares gradients with slopes that are measured: the test of every layer.
#[cfg(test)]
pub(super) mod gradient_check {
    use flakeproof_core::Seed;

    use super::super::weights::small;
    use crate::Chance;

    /// Small random numbers.
    pub(in super::super) struct Numbers(Chance);

    impl Numbers {
        pub(in super::super) fn new(seed: u64) -> Self {
            Self(Chance::new(Seed(seed)))
        }

        /// So many numbers from -1 to 1.
        pub(in super::super) fn draw(&mut self, count: usize) -> Vec<f32> {
            (0..count).map(|_| small(2.0 * self.0.unit() - 1.0)).collect()
        }
    }

    /// How far a number is moved to measure a slope: far enough for numbers of 32 bits.
    const FAR: f32 = 4e-3;

    /// Check that `gradients` returns, for each of `values`, by how much the outputs' inner product
    /// with `wanted` grows with it.
    pub(in super::super) fn check(
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::gradient_check::{Numbers, check};
    use super::*;

    #[test]
    fn the_gradients_of_a_matrix_are_its_slopes() {
        let mut numbers = Numbers::new(1);
        let values = [numbers.draw(12), numbers.draw(15), numbers.draw(5)];
        let wanted = numbers.draw(20);
        let outputs = |values: &[Vec<f32>]| {
            Linear { weights: &values[1], bias: &values[2], outputs: 5 }
                .forward(&values[0])
                .to_vec()
        };
        check(&values, &wanted, outputs, |values| {
            let (mut of_weights, mut of_bias) = (vec![0.0; 15], vec![0.0; 5]);
            let layer = Linear { weights: &values[1], bias: &values[2], outputs: 5 };
            let of_input = layer.backward(&values[0], &wanted, &mut of_weights, &mut of_bias);
            vec![of_input.to_vec(), of_weights, of_bias]
        });
    }

    #[test]
    fn the_gradients_of_a_norm_are_its_slopes() {
        let mut numbers = Numbers::new(2);
        let values = [numbers.draw(18), numbers.draw(6), numbers.draw(6)];
        let wanted = numbers.draw(18);
        let forward = |values: &[Vec<f32>]| {
            NormTanh { gain: &values[1], shift: &values[2] }.forward(values[0].clone().into())
        };
        check(
            &values,
            &wanted,
            |values| forward(values).outputs.to_vec(),
            |values| {
                let (mut of_gain, mut of_shift) = (vec![0.0; 6], vec![0.0; 6]);
                let layer = NormTanh { gain: &values[1], shift: &values[2] };
                let tape = forward(values);
                let of_input =
                    layer.backward(&tape, wanted.clone().into(), &mut of_gain, &mut of_shift);
                vec![of_input.to_vec(), of_gain, of_shift]
            },
        );
    }

    #[test]
    fn a_row_of_zeros_stays_zero() {
        let layer = NormTanh { gain: &[1.0; 4], shift: &[0.0; 4] };
        assert_eq!(*layer.forward(Buffer::zeros(4)).outputs, [0.0; 4]);
    }

    proptest! {
        #[test]
        fn they_are_close_to_the_exact_functions(x in -30.0f32..30.0) {
            let exact = f64::from(x).exp();
            prop_assert!((f64::from(exponential(x)) / exact - 1.0).abs() < 5e-7);
            prop_assert!((f64::from(sigmoid(x)) - 1.0 / (1.0 + 1.0 / exact)).abs() < 3e-7);
            prop_assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 3e-7);
        }
    }

    #[test]
    fn they_stay_finite_at_the_ends() {
        for x in [f32::MIN, -200.0, 200.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(exponential(x).is_finite() && (0.0..=1.0).contains(&sigmoid(x)));
            assert!((-1.0..=1.0).contains(&tanh(x)));
        }
    }
}
