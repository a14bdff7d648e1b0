//! The words that a network knows, with a number each.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::corpus::{Bag, PathCorpus};

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
}
