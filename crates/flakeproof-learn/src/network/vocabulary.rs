//! The words that a network knows: their numbers, and the vectors they have at first, some of which
//! were learned elsewhere.
//!
//! The first layer of the network is here too: a bag of words is the mean of its words' vectors.

use std::hash::Hasher;
use std::io::BufRead;

use flakeproof_core::Seed;
use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::batch::Batch;
use super::corpus::{Bag, PathCorpus};
use super::matrix::{Buffer, add_scaled};
use super::weights::small;
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

/// Words with a vector each.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    words: Vec<String>,
    dimension: usize,
    vectors: Vec<f32>,
}

/// Why some text is no set of vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddingsError {
    /// A line is not as it should be.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1 on.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// There are fewer words than the first line says.
    #[error("the first line promises {promised} words, and there are {found}")]
    CutOff {
        /// How many words the first line says there are.
        promised: usize,
        /// How many there are.
        found: usize,
    },
    /// There are not as many numbers as words of this dimension have.
    #[error("{words} words of dimension {dimension} do not have {numbers} numbers")]
    Lengths {
        /// How many words.
        words: usize,
        /// Their dimension.
        dimension: usize,
        /// How many numbers.
        numbers: usize,
    },
    /// The text cannot be read.
    #[error("the text cannot be read")]
    Io(#[from] std::io::Error),
}

/// The largest dimension that is read. A larger one is taken for a mistake.
const LARGEST_DIMENSION: usize = 4096;

impl Embeddings {
    /// Words with their vectors, which lie one after another.
    ///
    /// # Errors
    /// When there are not as many numbers as the words' vectors have.
    pub fn new(
        words: Vec<String>,
        dimension: usize,
        vectors: Vec<f32>,
    ) -> Result<Self, EmbeddingsError> {
        if dimension == 0 || words.len().checked_mul(dimension) != Some(vectors.len()) {
            let (words, numbers) = (words.len(), vectors.len());
            return Err(EmbeddingsError::Lengths { words, dimension, numbers });
        }
        Ok(Self { words, dimension, vectors })
    }

    /// Words with as many numbers as their vectors have.
    pub(super) fn of_vectors(words: Vec<String>, dimension: usize, vectors: Vec<f32>) -> Self {
        debug_assert_eq!(words.len() * dimension, vectors.len());
        Self { words, dimension, vectors }
    }

    /// Read the text format of word2vec, in which code2vec's vectors are published: a line with the
    /// number of words and their dimension, then a line for each word with its numbers.
    ///
    /// Only words that are wanted are kept: the published file has more than a million.
    ///
    /// # Errors
    /// When a line is not as it should be, or some are missing.
    pub fn read_text(
        mut text: impl BufRead,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, EmbeddingsError> {
        let mut line = String::new();
        text.read_line(&mut line)?;
        let (promised, dimension) = sizes(&line)?;
        let mut read = Self { words: Vec::new(), dimension, vectors: Vec::new() };
        for found in 0.. {
            line.clear();
            if text.read_line(&mut line)? == 0 {
                return if found == promised {
                    Ok(read)
                } else {
                    Err(EmbeddingsError::CutOff { promised, found })
                };
            }
            let at = found + 2;
            let wrong = |what: String| EmbeddingsError::Line { line: at, what };
            if found == promised {
                return Err(wrong(format!("there are more words than the {promised} promised")));
            }
            read.add(line.trim_end_matches(['\n', '\r', ' ']), &wanted).map_err(wrong)?;
        }
        Ok(read)
    }

    /// Take in the word and the numbers of a line. A word may have blanks: the numbers are last.
    fn add(&mut self, line: &str, wanted: &impl Fn(&str) -> bool) -> Result<(), String> {
        let mut rest = line;
        let start = self.vectors.len();
        for at in (1..=self.dimension).rev() {
            let (before, number) = rest
                .rsplit_once([' ', '\t'])
                .ok_or_else(|| format!("a word and {} numbers are needed", self.dimension))?;
            let value: f32 = number.parse().map_err(|_| format!("number {at} is `{number}`"))?;
            if !value.is_finite() {
                return Err(format!("number {at} is `{number}`"));
            }
            self.vectors.push(value);
            rest = before;
        }
        if wanted(rest) {
            self.vectors[start..].reverse();
            self.words.push(rest.to_owned());
        } else {
            self.vectors.truncate(start);
        }
        Ok(())
    }

    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many numbers a vector has.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The words with their vectors.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[f32])> {
        self.words.iter().map(String::as_str).zip(self.vectors.chunks_exact(self.dimension))
    }
}

/// The number of words and the dimension in the first line.
fn sizes(line: &str) -> Result<(usize, usize), EmbeddingsError> {
    let wrong = |what: &str| EmbeddingsError::Line { line: 1, what: what.to_owned() };
    let mut numbers = line.split_whitespace().map(str::parse::<usize>);
    let (Some(Ok(words)), Some(Ok(dimension)), None) =
        (numbers.next(), numbers.next(), numbers.next())
    else {
        return Err(wrong("it should have two numbers: how many words, and their dimension"));
    };
    if (1..=LARGEST_DIMENSION).contains(&dimension) {
        Ok((words, dimension))
    } else {
        Err(wrong(&format!("the dimension {dimension} is not from 1 to {LARGEST_DIMENSION}")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    fn read(text: &str) -> Result<Embeddings, EmbeddingsError> {
        Embeddings::read_text(text.as_bytes(), |_| true)
    }

    fn fault(text: &str) -> String {
        read(text).expect_err("it is not right").to_string()
    }

    #[test]
    fn the_published_format_is_read() {
        let vectors = read("3 2\nget 1 -0.5\r\nnew york 2 3e-1 \n  4 5\n").expect("three words");
        let all: Vec<(&str, &[f32])> = vectors.iter().collect();
        assert_eq!(
            all,
            [("get", &[1.0, -0.5][..]), ("new york", &[2.0, 0.3][..]), (" ", &[4.0, 5.0][..])]
        );
        let some = Embeddings::read_text("2 1\na 1\nb 2".as_bytes(), |word| word == "b");
        let some = some.expect("two words");
        assert_eq!(some.iter().collect::<Vec<_>>(), [("b", &[2.0][..])]);
        assert_eq!((some.len(), some.dimension(), some.is_empty()), (1, 1, false));
    }

    #[test]
    fn faults_name_their_line() {
        assert!(fault("").starts_with("line 1: it should have two numbers"));
        assert!(fault("1 2 3\n").starts_with("line 1: it should have two numbers"));
        assert!(fault("1 0\n").starts_with("line 1: the dimension 0"));
        assert_eq!(fault("2 2\na 1 2\nb 1\n"), "line 3: a word and 2 numbers are needed");
        assert_eq!(fault("2 2\na 1 2\nb 1 x\n"), "line 3: number 2 is `x`");
        assert_eq!(fault("1 2\na nan 2\n"), "line 2: number 1 is `nan`");
        assert_eq!(fault("1 1\na 1\nb 2\n"), "line 3: there are more words than the 1 promised");
        assert_eq!(fault("2 1\na 1\n"), "the first line promises 2 words, and there are 1");
    }

    #[test]
    fn vectors_have_as_many_numbers_as_they_should() {
        let fault = Embeddings::new(vec!["a".into()], 2, vec![1.0]).expect_err("one is missing");
        assert_eq!(fault.to_string(), "1 words of dimension 2 do not have 1 numbers");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[0-9a-c. \n]{0,40}") {
            let _ = read(&text);
        }
    }
}
