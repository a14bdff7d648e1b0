//! The words that a network knows: their numbers, and the vectors they have at first.
//!
//! The first layer of the network is here too: a bag of words is the mean of its words' vectors.

use std::hash::Hasher;

use flakeproof_core::Seed;
use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::batch::Batch;
use super::buffer::Buffer;
use super::corpus::{Bag, PathCorpus};
use super::matrix::add_scaled;
use super::weights::small;
use super::word_vectors::Embeddings;
use crate::Chance;

/// Distinct words; each has its place as its number.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    words: Vec<String>,
    /// The numbers, where the words' hashes say. A map would hold every word a second time.
    numbers: HashTable<u32>,
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Vocabulary {
    /// The vocabulary of these words, or `None` if one comes twice.
    pub(super) fn of_words(words: Vec<String>) -> Option<Self> {
        let mut numbers: HashTable<u32> = HashTable::with_capacity(words.len());
        let rehash = |number: &u32| hash(&words[*number as usize]);
        for (number, word) in (0u32..).zip(&words) {
            let hash = hash(word);
            if numbers.find(hash, |other| words[*other as usize] == *word).is_some() {
                return None;
            }
            numbers.insert_unique(hash, number, rehash);
        }
        Some(Self { words, numbers })
    }

    /// The words on the paths of at least `fewest` of these tests, in the order of the corpus.
    pub(super) fn of_tests(corpus: &PathCorpus, tests: &[u32], fewest: u32) -> Self {
        let counts = test_counts(corpus, tests);
        let words = (0u32..).zip(counts).filter(|(_, count)| *count >= fewest.max(1));
        let words = words.map(|(word, _)| corpus.word_text(word).to_owned()).collect();
        Self::of_words(words).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// The number of a word.
    pub(super) fn number(&self, word: &str) -> Option<u32> {
        self.numbers.find(hash(word), |number| self.words[*number as usize] == word).copied()
    }

    /// The number of each word of a corpus.
    pub(super) fn translation(&self, corpus: &PathCorpus) -> Vec<Option<u32>> {
        let words = 0..u32::try_from(corpus.word_count()).unwrap_or(u32::MAX);
        words.map(|word| self.number(corpus.word_text(word))).collect()
    }
}

fn hash(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(word.as_bytes());
    hasher.finish()
}

/// On the paths of how many of these tests each word of a corpus is.
pub(super) fn test_counts(corpus: &PathCorpus, tests: &[u32]) -> Vec<u32> {
    let mut counts = vec![0; corpus.word_count()];
    // The last test in which a bag and a word were met, so that each counts once a test.
    let (mut bag_met, mut word_met) = (vec![0; corpus.bag_count()], vec![0; counts.len()]);
    for (turn, test) in (1u32..).zip(tests) {
        let steps = corpus.path_numbers(*test).flat_map(|path| corpus.path_steps(path));
        let bags = steps.flat_map(|step| corpus.step_of(*step).bags()).flatten();
        for bag in bags {
            count_bag(corpus, bag, turn, &mut bag_met, &mut word_met, &mut counts);
        }
    }
    counts
}

fn count_bag(
    corpus: &PathCorpus,
    bag: Bag,
    turn: u32,
    bag_met: &mut [u32],
    word_met: &mut [u32],
    counts: &mut [u32],
) {
    if std::mem::replace(&mut bag_met[bag.number() as usize], turn) == turn {
        return;
    }
    for word in corpus.bag_words(bag) {
        if std::mem::replace(&mut word_met[*word as usize], turn) != turn {
            counts[*word as usize] += 1;
        }
    }
}

/// The vectors of the words of a vocabulary, as one network knows them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WordTable {
    pub(super) dimension: usize,
    /// The vectors, one after another.
    pub(super) vectors: Vec<f32>,
    /// Which words are known. Others are skipped, as if they were not in the bag.
    pub(super) known: Vec<bool>,
}

impl WordTable {
    /// The mean vector of each bag; zeros where no word is known.
    pub(super) fn means(&self, batch: &Batch) -> Buffer {
        let mut means = Buffer::zeros(batch.bag_ends.len() * self.dimension);
        for (mean, bag) in means.chunks_exact_mut(self.dimension).zip(batch.bags()) {
            let share = self.share(batch, bag);
            for word in self.known_words(batch, bag) {
                add_scaled(mean, share, self.vector(batch.words[word]));
            }
        }
        means
    }

    /// The gradient of each of the batch's words, from the gradients of its bags.
    pub(super) fn spread(&self, batch: &Batch, of_bags: &[f32]) -> Buffer {
        let mut of_words = Buffer::zeros(batch.words.len() * self.dimension);
        for (of_bag, bag) in of_bags.chunks_exact(self.dimension).zip(batch.bags()) {
            let share = self.share(batch, bag);
            for word in self.known_words(batch, bag) {
                let start = word * self.dimension;
                add_scaled(&mut of_words[start..start + self.dimension], share, of_bag);
            }
        }
        of_words
    }

    fn vector(&self, word: u32) -> &[f32] {
        &self.vectors[word as usize * self.dimension..][..self.dimension]
    }

    fn known_words<'a>(
        &'a self,
        batch: &'a Batch,
        bag: &'a [u32],
    ) -> impl Iterator<Item = usize> + 'a {
        let is_known = |word: &usize| self.known[batch.words[*word] as usize];
        bag.iter().map(|word| *word as usize).filter(is_known)
    }

    /// What each known word of a bag contributes to its mean.
    fn share(&self, batch: &Batch, bag: &[u32]) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a bag has far fewer than 2^24 words")]
        let count = self.known_words(batch, bag).count() as f32;
        1.0 / count.max(1.0)
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
    use super::super::corpus::PathStep;
    use super::*;

    #[test]
    fn only_words_of_enough_tests_are_known() {
        let mut corpus = PathCorpus::default();
        for words in [["a", "b"], ["a", "c"], ["a", "a"]] {
            let bag = corpus.bag(words);
            corpus.push_test([[PathStep::last(bag)]; 2]);
        }
        assert_eq!(test_counts(&corpus, &[0, 1, 2]), [3, 1, 1]);
        assert_eq!(Vocabulary::of_tests(&corpus, &[0, 1], 2).words(), ["a"]);
        let all = Vocabulary::of_tests(&corpus, &[0, 2], 1);
        assert_eq!(all.translation(&corpus), [Some(0), Some(1), None]);
    }

    #[test]
    fn a_word_has_one_number() {
        assert_eq!(Vocabulary::of_words(vec!["a".into(), "a".into()]), None);
    }

    #[test]
    fn a_bag_is_the_mean_of_its_known_words() {
        let table = WordTable {
            dimension: 2,
            vectors: vec![1.0, 2.0, 3.0, 4.0, 50.0, 60.0],
            known: vec![true, true, false],
        };
        let batch = Batch {
            words: vec![1, 0, 2],
            bag_words: vec![0, 1, 1, 2, 2],
            bag_ends: vec![4, 5],
            ..Batch::default()
        };
        let third = |sum: f32| sum / 3.0;
        let means = table.means(&batch);
        assert!((means[0] - third(5.0)).abs() < 1e-6 && (means[1] - third(8.0)).abs() < 1e-6);
        assert_eq!(means[2..], [0.0, 0.0]);
        let gradients = table.spread(&batch, &[3.0, 0.0, 9.0, 9.0]);
        let expected = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0];
        assert!(gradients.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6));
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
