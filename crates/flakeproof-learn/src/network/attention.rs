//! Which paths of a test count how much (section III-B, path attention).
//!
//! The paper's normalised inner product is the cosine of a path's state and a learned vector, so
//! that no path can count more than e² times as much as another. Here only the state is normalised:
//! the length of the learned vector decides how sharply paths are told apart, and 1 is the paper.

use super::activation::exponential;
use super::matrix::{add_scaled, dot};

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

#[cfg(test)]
mod tests {
    use super::super::gradient_check::{Numbers, check};
    use super::*;

    #[test]
    fn its_gradients_are_its_slopes() {
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
}
