//! Tests as bags of terms: how often each term occurs, and nothing about the order.

use std::borrow::Cow;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::cut::{Cut, TestText};
use super::texts::Texts;

/// Rows cut together. Fixed, so that terms have the same numbers on any number of threads.
const ROWS_TOGETHER: usize = 512;

/// Bags of terms, row after row: the terms of row `i`, ascending, and their counts lie between
/// `ends[i - 1]` and `ends[i]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bags<'a> {
    pub(crate) ends: Cow<'a, [u32]>,
    pub(crate) terms: Cow<'a, [u32]>,
    /// A count above 255 is kept as 255.
    pub(crate) counts: Cow<'a, [u8]>,
}

impl Bags<'_> {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The terms of a row, ascending, with their counts.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (u32, u8)> + Clone {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        let range = start..self.ends[row] as usize;
        self.terms[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }

    fn push(&mut self, row: &[(u32, u8)]) {
        self.terms.to_mut().extend(row.iter().map(|(term, _)| term));
        self.counts.to_mut().extend(row.iter().map(|(_, count)| count));
        let end = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
        self.ends.to_mut().push(end);
    }
}

/// The terms that training met, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary<'a> {
    texts: Texts<'a>,
    numbers: FxHashMap<Box<str>, u32>,
}

/// Tests cut into bags. Terms that the vocabulary does not know are numbered after its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct CutTests {
    pub(crate) bags: Bags<'static>,
    pub(crate) new_terms: Vec<Box<str>>,
}

impl<'a> Vocabulary<'a> {
    pub(crate) fn of_texts(texts: Texts<'a>) -> Self {
        let numbers = (0u32..).zip(texts.iter()).map(|(n, term)| (term.into(), n)).collect();
        Self { texts, numbers }
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn term(&self, number: u32) -> &str {
        self.texts.get(number as usize)
    }

    pub(crate) fn texts(&self) -> &Texts<'a> {
        &self.texts
    }

    /// Cut tests into bags.
    pub(crate) fn cut(&self, tests: &[TestText<'_>], cut: Cut) -> CutTests {
        let together: Vec<Cuttings> =
            tests.par_chunks(ROWS_TOGETHER).map(|tests| Cuttings::of(tests, cut)).collect();
        let mut new_terms: Vec<Box<str>> = Vec::new();
        let mut new_numbers: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut number = |term: &str| {
            self.numbers.get(term).or_else(|| new_numbers.get(term)).copied().unwrap_or_else(|| {
                let next = u32::try_from(self.len() + new_terms.len()).unwrap_or(u32::MAX);
                new_terms.push(term.into());
                new_numbers.insert(term.into(), next);
                next
            })
        };
        let numbers: Vec<Vec<u32>> = together
            .iter()
            .map(|cuttings| cuttings.terms.iter().map(|term| number(term)).collect())
            .collect();
        let rows: Vec<Vec<(u32, u8)>> = together
            .par_iter()
            .zip(&numbers)
            .flat_map_iter(|(cuttings, numbers)| {
                cuttings.rows.iter().map(|row| counted(row, numbers))
            })
            .collect();
        let mut bags = Bags::default();
        rows.iter().for_each(|row| bags.push(row));
        CutTests { bags, new_terms }
    }

    /// Take in the terms that were new.
    pub(crate) fn extend(&mut self, new_terms: Vec<Box<str>>) {
        for term in new_terms {
            let next = u32::try_from(self.len()).unwrap_or(u32::MAX);
            self.texts.push(&term);
            self.numbers.insert(term, next);
        }
    }
}

/// Some tests cut into terms that are numbered among themselves.
struct Cuttings {
    terms: Vec<Box<str>>,
    rows: Vec<Vec<u32>>,
}

impl Cuttings {
    fn of(tests: &[TestText<'_>], cut: Cut) -> Self {
        let mut terms: Vec<Box<str>> = Vec::new();
        let mut numbers: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let rows = tests
            .iter()
            .map(|test| {
                let mut row = Vec::new();
                cut.terms(test, |term| {
                    let number = numbers.get(term).copied().unwrap_or_else(|| {
                        let next = u32::try_from(terms.len()).unwrap_or(u32::MAX);
                        terms.push(term.into());
                        numbers.insert(term.into(), next);
                        next
                    });
                    row.push(number);
                });
                row
            })
            .collect();
        Self { terms, rows }
    }
}

/// The terms of a row under their final numbers, ascending, each with its count.
fn counted(row: &[u32], numbers: &[u32]) -> Vec<(u32, u8)> {
    let mut terms: Vec<u32> = row.iter().map(|local| numbers[*local as usize]).collect();
    terms.sort_unstable();
    let count = |equal: &[u32]| u8::try_from(equal.len()).unwrap_or(u8::MAX);
    terms.chunk_by(|a, b| a == b).map(|equal| (equal[0], count(equal))).collect()
}

#[cfg(test)]
mod tests {
    use flakeproof_syntax::words::Comments;

    use super::*;

    fn test(source: &str) -> TestText<'_> {
        TestText { source, class: "", comments: Comments::Slashes }
    }

    #[test]
    fn terms_keep_their_numbers_and_new_ones_come_after() {
        let mut vocabulary = Vocabulary::default();
        let first = vocabulary.cut(&[test("b a b"), test("")], Cut::WhiteSpace);
        assert_eq!(first.bags.row(0).collect::<Vec<_>>(), [(0, 2), (1, 1)]);
        assert_eq!(first.bags.row(1).count(), 0);
        vocabulary.extend(first.new_terms);
        let second = vocabulary.cut(&[test("c a")], Cut::WhiteSpace);
        assert_eq!(second.bags.row(0).collect::<Vec<_>>(), [(1, 1), (2, 1)]);
        assert_eq!(*second.new_terms, ["c".into()]);
        assert_eq!(vocabulary.term(1), "a");
    }

    #[test]
    fn many_rows_are_numbered_as_if_cut_one_by_one() {
        let sources: Vec<String> = (0..2000).map(|n| format!("t{} t{}", n % 700, n)).collect();
        let tests: Vec<TestText<'_>> = sources.iter().map(|source| test(source)).collect();
        let together = Vocabulary::default().cut(&tests, Cut::WhiteSpace);
        let mut single = Vocabulary::default();
        for (row, test) in tests.iter().enumerate() {
            let alone = single.cut(&[*test], Cut::WhiteSpace);
            assert!(together.bags.row(row).eq(alone.bags.row(0)), "row {row}");
            single.extend(alone.new_terms);
        }
    }

    #[test]
    fn a_term_that_occurs_often_is_counted_up_to_255() {
        let cut = Vocabulary::default().cut(&[test(&"a ".repeat(1000))], Cut::WhiteSpace);
        assert_eq!(cut.bags.row(0).collect::<Vec<_>>(), [(0, 255)]);
    }
}
