//! From the states of a test's paths to the probability that it is flaky.
//!
//! Attention says which paths count how much (section III-B). The paper's normalised inner product is
//! the cosine of a path's state and a learned vector, so that no path can count more than e² times as
//! much as another. Here only the state is normalised: the length of the learned vector decides how
//! sharply paths are told apart, and 1 is the paper. Two linear layers then tell flaky tests from others
//! (section III-C).

use super::layers::{Linear, exponential};
use super::matrix::{Buffer, add_scaled, dot};
use super::weights::{CLASSES, small};

/// Added to squared lengths, so that a state of zeros can be divided by its length.
const LEAST_LENGTH: f32 = 1e-6;

/// What each path of a test counts, and what is needed on the way back.
#[derive(Debug, Clone, Default)]
pub(super) struct AttentionTape {
    /// What each path counts; together 1.
    pub(super) shares: Vec<f32>,
    /// The inner product of each normalised state with the learned vector.
    products: Vec<f32>,
    /// The length of each state.
    lengths: Vec<f32>,
}

/// Add to `whole` the states of the paths, each as much as it counts.
pub(super) fn attend(states: &[f32], learned: &[f32], whole: &mut [f32]) -> AttentionTape {
    let mut tape = AttentionTape::default();
    for state in states.chunks_exact(learned.len()) {
        let length = (dot(state, state) + LEAST_LENGTH).sqrt();
        tape.lengths.push(length);
        tape.products.push(dot(state, learned) / length);
    }
    let most = tape.products.iter().copied().fold(f32::MIN, f32::max);
    tape.shares = tape.products.iter().map(|product| exponential(product - most)).collect();
    let sum: f32 = tape.shares.iter().sum();
    tape.shares.iter_mut().for_each(|share| *share /= sum);
    for (state, share) in states.chunks_exact(learned.len()).zip(&tape.shares) {
        add_scaled(whole, *share, state);
    }
    tape
}

/// The gradients of the states, from that of the whole. The gradient of the learned vector is added
/// to what it is.
pub(super) fn attend_back(
    tape: &AttentionTape,
    states: &[f32],
    learned: &[f32],
    of_whole: &[f32],
    of_states: &mut [f32],
    of_learned: &mut [f32],
) {
    let width = learned.len();
    let of_shares: Vec<f32> =
        states.chunks_exact(width).map(|state| dot(state, of_whole)).collect();
    let mean = dot(&of_shares, &tape.shares);
    let rows = states.chunks_exact(width).zip(of_states.chunks_exact_mut(width));
    for (at, (state, of_state)) in rows.enumerate() {
        let (share, length) = (tape.shares[at], tape.lengths[at]);
        let of_product = share * (of_shares[at] - mean);
        add_scaled(of_state, share, of_whole);
        add_scaled(of_state, of_product / length, learned);
        add_scaled(of_state, -of_product * tape.products[at] / (length * length), state);
        add_scaled(of_learned, of_product / length, state);
    }
}

/// The two linear layers. Between them negative numbers become zero; the paper has nothing there,
/// which makes one layer of two.
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
        let mut middle = self.first.forward(tests);
        middle.iter_mut().for_each(|value| *value = value.max(0.0));
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
        let mut of_middle = self.second.backward(&tape.middle, &of_outputs, second, second_bias);
        let cut = of_middle.iter_mut().zip(tape.middle.iter()).filter(|(_, value)| **value <= 0.0);
        cut.for_each(|(slope, _)| *slope = 0.0);
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
    use super::super::layers::gradient_check::{Numbers, check};
    use super::*;

    #[test]
    fn the_gradients_of_attention_are_its_slopes() {
        let mut numbers = Numbers::new(5);
        let values = [numbers.draw(12), numbers.draw(3)];
        let wanted = numbers.draw(3);
        let outputs = |values: &[Vec<f32>]| {
            let mut whole = vec![0.0; 3];
            attend(&values[0], &values[1], &mut whole);
            whole
        };
        check(&values, &wanted, outputs, |values| {
            let tape = attend(&values[0], &values[1], &mut [0.0; 3]);
            let (mut of_states, mut of_learned) = (vec![0.0; 12], vec![0.0; 3]);
            let [states, learned] = values else { panic!("two groups") };
            attend_back(&tape, states, learned, &wanted, &mut of_states, &mut of_learned);
            vec![of_states, of_learned]
        });
    }

    #[test]
    fn shares_are_one_together_and_none_without_paths() {
        let mut whole = [0.0; 2];
        let tape = attend(&[1.0, 0.0, 0.0, 1.0, 3.0, 0.0], &[2.0, 0.0], &mut whole);
        assert!((tape.shares.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(tape.shares[0] > tape.shares[1]);
        let mut whole = [0.0; 2];
        assert!(attend(&[], &[2.0, 0.0], &mut whole).shares.is_empty());
        assert_eq!(whole, [0.0, 0.0]);
    }

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
