//! What is drawn for training: balanced batches, and vectors of words to begin with.

use flakeproof_core::Seed;

use super::vocabulary::Vocabulary;
use super::weights::small;
use super::word_vectors::Embeddings;
use crate::Chance;

/// The rows of one class, one after another in random order, again and again.
pub(super) struct Rounds {
    rows: Vec<u32>,
    next: usize,
    chance: Chance,
}

impl Rounds {
    pub(super) fn new(rows: Vec<u32>, seed: Seed) -> Self {
        let next = rows.len();
        Self { rows, next, chance: Chance::new(seed) }
    }

    fn next(&mut self) -> Option<u32> {
        if self.next == self.rows.len() {
            self.chance.shuffle(&mut self.rows);
            self.next = 0;
        }
        self.next += 1;
        self.rows.get(self.next - 1).copied()
    }

    /// The batches of one epoch: each row once, with as many rows of the other class (IV-C).
    pub(super) fn epoch(&mut self, others: &mut Self, batch: usize) -> Vec<Vec<u32>> {
        let mut left = self.rows.len();
        let mut batches = Vec::new();
        while left > 0 {
            let here = left.min((batch / 2).max(1));
            left -= here;
            let pairs = (0..here).flat_map(|_| [self.next(), others.next()]);
            batches.push(pairs.flatten().collect());
        }
        batches
    }
}

/// How large the numbers of words' vectors are at first, in the root of the mean square.
const FIRST_SIZE: f64 = 0.1;

/// The vectors of a vocabulary to begin with: those that are given, made as large as the others,
/// and random ones. Also returns which words were given.
pub(super) fn first_vectors(
    vocabulary: &Vocabulary,
    dimension: usize,
    given: Option<&Embeddings>,
    seed: Seed,
) -> (Vec<f32>, Vec<bool>) {
    let mut chance = Chance::new(seed);
    // The mean square of uniform numbers up to `most` is a third of its square.
    let most = FIRST_SIZE * 3f64.sqrt();
    let count = vocabulary.len() * dimension;
    let mut vectors: Vec<f32> =
        (0..count).map(|_| small(most * (2.0 * chance.unit() - 1.0))).collect();
    let mut known = vec![false; vocabulary.len()];
    let Some(given) = given else { return (vectors, known) };
    let found: Vec<(usize, &[f32])> = given
        .iter()
        .filter_map(|(word, vector)| Some((vocabulary.number(word)? as usize, vector)))
        .collect();
    let squares = found.iter().flat_map(|(_, vector)| *vector).map(|x| f64::from(*x).powi(2));
    let size = (squares.sum::<f64>() / crate::real((found.len() * dimension).max(1))).sqrt();
    let scale = if size > 0.0 { small(FIRST_SIZE / size) } else { 1.0 };
    for (word, vector) in found {
        known[word] = true;
        let places = &mut vectors[word * dimension..(word + 1) * dimension];
        places.iter_mut().zip(vector).for_each(|(place, value)| *place = scale * value);
    }
    (vectors, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_has_each_row_once_and_as_many_others() {
        let mut flaky = Rounds::new((0..7).collect(), Seed(1));
        let mut others = Rounds::new((10..13).collect(), Seed(2));
        for _ in 0..3 {
            let batches = flaky.epoch(&mut others, 4);
            assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4, 2]);
            let mut rows: Vec<u32> = batches.concat();
            rows.retain(|row| *row < 10);
            rows.sort_unstable();
            assert_eq!(rows, [0, 1, 2, 3, 4, 5, 6]);
        }
    }

    #[test]
    fn every_other_row_has_its_turn() {
        let mut flaky = Rounds::new(vec![0], Seed(1));
        let mut others = Rounds::new((10..15).collect(), Seed(2));
        let mut met: Vec<u32> =
            (0..5).flat_map(|_| flaky.epoch(&mut others, 64).concat()).filter(|r| *r > 0).collect();
        met.sort_unstable();
        assert_eq!(met, [10, 11, 12, 13, 14]);
    }

    #[test]
    fn given_vectors_keep_their_direction_and_get_the_size_of_the_others() {
        let words = ["a", "b"].map(str::to_owned).to_vec();
        let vocabulary = Vocabulary::of_words(words).expect("two words");
        let given = Embeddings::new(vec!["b".into(), "c".into()], 2, vec![30.0, 40.0, 1.0, 1.0]);
        let given = given.expect("two vectors of two numbers");
        let (vectors, known) = first_vectors(&vocabulary, 2, Some(&given), Seed(1));
        assert_eq!(known, [false, true]);
        assert!((vectors[2] / vectors[3] - 0.75).abs() < 1e-6);
        assert!((vectors[2].hypot(vectors[3]) - 0.1 * 2f32.sqrt()).abs() < 1e-6);
    }
}
