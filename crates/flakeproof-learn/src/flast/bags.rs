//! Tests as bags of terms: how often each term occurs, and nothing about the order.
//!
//! Terms are many short texts, kept in two flat arrays, with numbers for those that are met again.

use std::borrow::Cow;
use std::hash::Hasher;

use hashbrown::HashTable;
use rayon::prelude::*;
use rustc_hash::FxHasher;

use super::recipe::{Cut, TestText};

/// Rows treated together. Fixed, so that results are the same on any number of threads.
pub(crate) const ROWS_TOGETHER: usize = 512;

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

    /// The bags of several, one after another.
    fn joined(parts: &[Self]) -> Bags<'static> {
        let entries = parts.iter().map(|part| part.terms.len()).sum();
        let mut ends = Vec::with_capacity(parts.iter().map(Self::len).sum());
        let (mut terms, mut counts) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for part in parts {
            let before = u32::try_from(terms.len()).unwrap_or(u32::MAX);
            ends.extend(part.ends.iter().map(|end| end.saturating_add(before)));
            terms.extend_from_slice(&part.terms);
            counts.extend_from_slice(&part.counts);
        }
        Bags { ends: ends.into(), terms: terms.into(), counts: counts.into() }
    }
}

/// The terms that training met, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary<'a>(Numbered<'a>);

/// Tests cut into bags. Terms that the vocabulary does not know are numbered after its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct CutTests {
    pub(crate) bags: Bags<'static>,
    pub(crate) new_terms: NewTerms,
}

/// Terms that a vocabulary does not know.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewTerms(Numbered<'static>);

impl NewTerms {
    pub(crate) fn term(&self, number: usize) -> &str {
        self.0.texts().get(number)
    }
}

impl<'a> Vocabulary<'a> {
    pub(crate) fn of_texts(texts: Texts<'a>) -> Self {
        Self(Numbered::of_texts(texts))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn term(&self, number: u32) -> &str {
        self.texts().get(number as usize)
    }

    pub(crate) fn texts(&self) -> &Texts<'a> {
        self.0.texts()
    }

    /// Cut tests into bags.
    pub(crate) fn cut(&self, tests: &[TestText<'_>], cut: Cut) -> CutTests {
        let together: Vec<(Cuttings, Vec<Option<u32>>)> = tests
            .par_chunks(ROWS_TOGETHER)
            .map(|tests| {
                let cuttings = Cuttings::from_tests(tests, cut);
                let known = cuttings.terms.iter().map(|(term, hash)| self.0.find(term, hash));
                let known = known.collect();
                (cuttings, known)
            })
            .collect();
        let mut new_terms = Numbered::default();
        let after_known = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let numbers: Vec<Vec<u32>> = together
            .iter()
            .map(|(cuttings, known)| {
                let terms = cuttings.terms.iter().zip(known);
                terms
                    .map(|((term, hash), known)| {
                        known.unwrap_or_else(|| after_known + new_terms.number(term, hash))
                    })
                    .collect()
            })
            .collect();
        let renumbered: Vec<Bags<'static>> = together
            .par_iter()
            .zip(&numbers)
            .map(|((cuttings, _), numbers)| cuttings.renumbered(numbers))
            .collect();
        CutTests { bags: Bags::joined(&renumbered), new_terms: NewTerms(new_terms) }
    }

    /// Take in the terms that were new.
    pub(crate) fn extend(&mut self, new_terms: NewTerms) {
        if self.0.len() == 0 {
            self.0 = new_terms.0;
            return;
        }
        for (term, hash) in new_terms.0.iter() {
            self.0.number(term, hash);
        }
    }
}

/// Some tests cut into terms that are numbered among themselves, in the order of their first use.
struct Cuttings {
    terms: Numbered<'static>,
    bags: Bags<'static>,
}

impl Cuttings {
    fn from_tests(tests: &[TestText<'_>], cut: Cut) -> Self {
        let mut terms = Numbered::default();
        let mut bags = Bags::default();
        let mut row = OneRow::default();
        // Tests of a class stand together, and where they stand is cut once for all of them.
        let mut place = ("", Vec::new());
        let mut pieces = Pieces::default();
        for test in tests {
            cut.pieces(test, |piece| {
                pieces.terms_of(piece, cut, &mut terms).iter().for_each(|term| row.count(*term));
            });
            if place.0 != test.class {
                place = (test.class, Vec::new());
                cut.place_terms(test, |term| place.1.push(terms.number(term, hash(term))));
            }
            place.1.iter().for_each(|term| row.count(*term));
            bags.push(&row.counted);
            row.clear();
        }
        Self { terms, bags }
    }

    /// The bags under the final numbers of their terms.
    fn renumbered(&self, numbers: &[u32]) -> Bags<'static> {
        let mut bags = Bags::default();
        let mut row = Vec::new();
        for at in 0..self.bags.len() {
            row.extend(self.bags.row(at).map(|(term, count)| (numbers[term as usize], count)));
            row.sort_unstable();
            bags.push(&row);
            row.clear();
        }
        bags
    }
}

/// Pieces of source that were cut into terms before: names come again and again.
#[derive(Default)]
struct Pieces {
    known: Numbered<'static>,
    /// Where the terms of each piece end in `terms`.
    ends: Vec<usize>,
    terms: Vec<u32>,
}

impl Pieces {
    /// The numbers of the terms of a piece.
    fn terms_of(&mut self, piece: &str, cut: Cut, terms: &mut Numbered<'static>) -> &[u32] {
        let number = self.known.number(piece, hash(piece)) as usize;
        if number == self.ends.len() {
            cut.terms_of(piece, |term| self.terms.push(terms.number(term, hash(term))));
            self.ends.push(self.terms.len());
        }
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.terms[start..self.ends[number]]
    }
}

/// The terms of the row that is being cut, each once, with their counts.
#[derive(Default)]
struct OneRow {
    counted: Vec<(u32, u8)>,
    /// For each term its place among the counted, plus one; zero for those that are not there.
    places: Vec<u32>,
}

impl OneRow {
    fn count(&mut self, term: u32) {
        let term_at = term as usize;
        if term_at >= self.places.len() {
            self.places.resize(term_at + 1, 0);
        }
        match self.places[term_at] as usize {
            0 => {
                self.counted.push((term, 1));
                self.places[term_at] = u32::try_from(self.counted.len()).unwrap_or(u32::MAX);
            }
            place => self.counted[place - 1].1 = self.counted[place - 1].1.saturating_add(1),
        }
    }

    fn clear(&mut self) {
        self.counted.iter().for_each(|(term, _)| self.places[*term as usize] = 0);
        self.counted.clear();
    }
}

/// Texts one after another; text `i` lies between `ends[i - 1]` and `ends[i]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts<'a> {
    bytes: Cow<'a, [u8]>,
    ends: Cow<'a, [u32]>,
}

impl<'a> Texts<'a> {
    /// Texts that lie in a file, or what is wrong with them.
    pub(crate) fn of_arrays(bytes: &'a [u8], ends: &'a [u32]) -> Result<Self, String> {
        if !ends.is_sorted() || ends.last().map_or(0, |end| *end as usize) != bytes.len() {
            return Err("texts do not end where they should".to_owned());
        }
        let texts = Self { bytes: bytes.into(), ends: ends.into() };
        let whole = (0..texts.len()).all(|at| std::str::from_utf8(texts.get_bytes(at)).is_ok());
        if whole { Ok(texts) } else { Err("a text is not UTF-8".to_owned()) }
    }

    /// Append a text. Texts of more than four gigabytes in all are cut off.
    pub(crate) fn push(&mut self, text: &str) {
        self.bytes.to_mut().extend_from_slice(text.as_bytes());
        let end = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.ends.to_mut().push(end);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text with this number.
    pub(crate) fn get(&self, at: usize) -> &str {
        std::str::from_utf8(self.get_bytes(at)).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The two arrays.
    pub(crate) fn arrays(&self) -> (&[u8], &[u32]) {
        (&self.bytes, &self.ends)
    }

    /// The bytes of the text with this number.
    fn get_bytes(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }
}

/// Different texts, numbered in the order in which they came.
///
/// A map from texts would own a copy of each, in a place of its own. Here the texts lie one after
/// another, and the table holds numbers only.
#[derive(Debug, Clone, Default)]
struct Numbered<'a> {
    texts: Texts<'a>,
    hashes: Vec<u64>,
    table: HashTable<u32>,
}

impl<'a> Numbered<'a> {
    /// Texts that already have their numbers. Of equal ones the first is found.
    pub(crate) fn of_texts(texts: Texts<'a>) -> Self {
        let hashes: Vec<u64> = texts.iter().map(hash).collect();
        let mut table = HashTable::with_capacity(texts.len());
        for (number, hash) in (0u32..).zip(&hashes) {
            table.insert_unique(*hash, number, |at| hashes[*at as usize]);
        }
        Self { texts, hashes, table }
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn texts(&self) -> &Texts<'a> {
        &self.texts
    }

    /// The texts with their hashes, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.texts.iter().zip(self.hashes.iter().copied())
    }

    /// The number of a text that is there.
    pub(crate) fn find(&self, text: &str, hash: u64) -> Option<u32> {
        self.table.find(hash, |at| self.is(*at, text, hash)).copied()
    }

    /// The number of a text, which is taken in if it is new.
    pub(crate) fn number(&mut self, text: &str, hash: u64) -> u32 {
        self.find(text, hash).unwrap_or_else(|| {
            let next = u32::try_from(self.len()).unwrap_or(u32::MAX);
            self.texts.push(text);
            self.hashes.push(hash);
            self.table.insert_unique(hash, next, |at| self.hashes[*at as usize]);
            next
        })
    }

    fn is(&self, at: u32, text: &str, hash: u64) -> bool {
        self.hashes[at as usize] == hash && self.texts.get_bytes(at as usize) == text.as_bytes()
    }
}

/// The hash by which a text is found.
pub(crate) fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
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
        assert_eq!(second.new_terms.term(0), "c");
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

    #[test]
    fn a_text_keeps_its_number() {
        let mut numbered = Numbered::default();
        let numbers: Vec<u32> =
            ["b", "a", "b", ""].iter().map(|text| numbered.number(text, hash(text))).collect();
        assert_eq!(numbers, [0, 1, 0, 2]);
        assert_eq!(numbered.find("a", hash("a")), Some(1));
        assert_eq!(numbered.find("c", hash("c")), None);
        let again = Numbered::of_texts(numbered.texts().clone());
        assert_eq!(again.find("", hash("")), Some(2));
    }
}
