//! Many short texts in two flat arrays, and numbers for those that are met again.

use std::borrow::Cow;
use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

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
pub(crate) struct Numbered<'a> {
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
    use super::*;

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
