//! A layer that multiplies by a matrix and adds a bias.

use super::buffer::Buffer;
use super::matrix::{add_column_sums, add_product, add_transposed_product, transposed};

/// The layer. The matrix has a row for each input and a column for each output.
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

#[cfg(test)]
mod tests {
    use super::super::gradient_check::{Numbers, check};
    use super::*;

    #[test]
    fn its_gradients_are_its_slopes() {
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
}
