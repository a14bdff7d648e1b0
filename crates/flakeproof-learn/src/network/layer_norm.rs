//! Layer normalisation (Ba et al., 2016): each row gets mean 0 and deviation 1, then a learned gain
//! and shift. Here followed by the hyperbolic tangent, as the paper's steps are (section III-B).

use super::activation::tanh;
use super::buffer::Buffer;
use super::wide::{Loop, run_wide};

/// Added to the variance, so that a row of equal numbers can be divided by its deviation.
const LEAST_VARIANCE: f32 = 1e-5;

/// The layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct NormTanh<'a> {
    pub(super) gain: &'a [f32],
    pub(super) shift: &'a [f32],
}

/// What the layer made, and what it needs to know on the way back.
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

#[cfg(test)]
mod tests {
    use super::super::gradient_check::{Numbers, check};
    use super::*;

    #[test]
    fn its_gradients_are_its_slopes() {
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
}
