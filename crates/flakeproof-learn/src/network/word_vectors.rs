//! Vectors of words that were learned elsewhere.

use std::io::BufRead;

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

    use super::*;

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
