//! Smells, counted.

use super::Smell;
use crate::words::{Comments, Token, parts, tokens};

/// The most bytes of a word in a family.
const LONGEST_WORD: usize = 16;

/// How often each smell occurs, and how many words there are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counts {
    smells: Vec<f32>,
    words: f32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { smells: vec![0.0; Smell::ALL.len()], words: 0.0 }
    }
}

impl Counts {
    /// The smells in a piece of code.
    pub(super) fn of(text: &str, comments: Comments) -> Self {
        let mut counts = Self::default();
        for token in tokens(text, comments) {
            if let Token::Name(text) | Token::Text(text) = token {
                parts(text).for_each(|word| counts.see(word));
            }
        }
        counts
    }

    fn see(&mut self, word: &str) {
        self.words += 1.0;
        let mut small = [0; LONGEST_WORD];
        let Some(small) = small.get_mut(..word.len()) else { return };
        small.copy_from_slice(word.as_bytes());
        small.make_ascii_lowercase();
        let Ok(word) = std::str::from_utf8(small) else { return };
        for smell in Smell::of_word(word) {
            self.smells[*smell as usize] += 1.0;
        }
    }

    /// Add another piece of code.
    pub(super) fn add(&mut self, other: &Self) {
        self.smells.iter_mut().zip(&other.smells).for_each(|(sum, count)| *sum += count);
        self.words += other.words;
    }

    /// Add which smells another piece of code has, each once.
    pub(super) fn add_presence(&mut self, other: &Self) {
        let pairs = self.smells.iter_mut().zip(&other.smells);
        pairs.for_each(|(sum, count)| *sum += count.min(1.0));
        self.words += other.words;
    }

    /// The logarithms of all counts, the words last: how much more matters less and less.
    pub(super) fn logarithms(&self) -> impl Iterator<Item = f32> {
        self.smells.iter().chain([&self.words]).map(|count| count.ln_1p())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words_and_comments_are_not_code() {
        let counts =
            Counts::of("Thread.sleep(10); // sleep\nnew ServerSocket(0);", Comments::Slashes);
        let of = |smell: Smell| counts.smells[smell as usize];
        assert_eq!((of(Smell::Sleep), of(Smell::Threads)), (1.0, 1.0));
        assert_eq!((of(Smell::Servers), of(Smell::Sockets), of(Smell::Creations)), (1.0, 1.0, 1.0));
        assert_eq!(counts.words, 5.0);
    }
}
