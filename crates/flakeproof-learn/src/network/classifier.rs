//! From the vectors of tests to the probability that they are flaky (section III-C).

use super::buffer::Buffer;
use super::linear::Linear;
use super::weights::{CLASSES, small};

/// The two linear layers; as in the paper there is nothing between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Classifier<'a> {
    pub(super) first: Linear<'a>,
    pub(super) second: Linear<'a>,
}

/// What the classifier found, and what it needs to know on the way back.
#[derive(Debug)]
pub(super) struct ClassifierTape {
    /// The probability of each test to be flaky.
    pub(super) flaky: Vec<f64>,
    middle: Buffer,
}

/// Where the gradients of the classifier's numbers go.
pub(super) struct ClassifierGradients<'a> {
    pub(super) first: &'a mut [f32],
    pub(super) first_bias: &'a mut [f32],
    pub(super) second: &'a mut [f32],
    pub(super) second_bias: &'a mut [f32],
}

impl Classifier<'_> {
    pub(super) fn forward(&self, tests: &[f32]) -> ClassifierTape {
        let middle = self.first.forward(tests);
        let outputs = self.second.forward(&middle);
        let flaky = outputs
            .chunks_exact(CLASSES)
            .map(|output| 1.0 / (1.0 + f64::from(output[0] - output[1]).exp()))
            .collect();
        ClassifierTape { flaky, middle }
    }

    /// The gradients of the tests' vectors, when each test's cross-entropy counts `weight`.
    pub(super) fn backward(
        &self,
        tape: &ClassifierTape,
        tests: &[f32],
        truth: &[bool],
        weight: f64,
        gradients: ClassifierGradients<'_>,
    ) -> Buffer {
        let of_outputs: Vec<f32> = tape
            .flaky
            .iter()
            .zip(truth)
            .flat_map(|(flaky, truth)| {
                let off = small(weight * (flaky - f64::from(u8::from(*truth))));
                [-off, off]
            })
            .collect();
        let ClassifierGradients { first, first_bias, second, second_bias } = gradients;
        let of_middle = self.second.backward(&tape.middle, &of_outputs, second, second_bias);
        self.first.backward(tests, &of_middle, first, first_bias)
    }
}

impl ClassifierTape {
    /// The sum of the tests' cross-entropies.
    pub(super) fn loss(&self, truth: &[bool]) -> f64 {
        let right = |(flaky, truth): (&f64, &bool)| if *truth { *flaky } else { 1.0 - flaky };
        self.flaky.iter().zip(truth).map(|both| -right(both).max(f64::MIN_POSITIVE).ln()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::gradient_check::{Numbers, check};
    use super::*;

    fn classifier(values: &[Vec<f32>]) -> Classifier<'_> {
        let layer =
            |at: usize, outputs| Linear { weights: &values[at], bias: &values[at + 1], outputs };
        Classifier { first: layer(1, 3), second: layer(3, CLASSES) }
    }

    #[test]
    fn its_gradients_are_the_slopes_of_its_loss() {
        let mut numbers = Numbers::new(6);
        let values = [12, 9, 3, 6, 2].map(|count| numbers.draw(count));
        let truth = [true, false, true, true];
        let loss = |values: &[Vec<f32>]| {
            vec![small(0.25 * classifier(values).forward(&values[0]).loss(&truth))]
        };
        check(&values, &[1.0], loss, |values| {
            let mut all: Vec<Vec<f32>> = [9, 3, 6, 2].map(|count| vec![0.0; count]).into();
            let [first, first_bias, second, second_bias] = &mut all[..] else {
                panic!("four groups")
            };
            let gradients = ClassifierGradients { first, first_bias, second, second_bias };
            let model = classifier(values);
            let tape = model.forward(&values[0]);
            let of_tests = model.backward(&tape, &values[0], &truth, 0.25, gradients);
            all.insert(0, of_tests.to_vec());
            all
        });
    }

    #[test]
    fn a_sure_and_wrong_answer_has_a_finite_loss() {
        let tape = ClassifierTape { flaky: vec![0.0, 1.0], middle: Buffer::default() };
        assert!(tape.loss(&[true, false]).is_finite());
        assert!(tape.loss(&[false, true]).abs() < 1e-12);
    }
}
