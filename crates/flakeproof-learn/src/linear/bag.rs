//! The words of a test, by where they stand.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

/// Where a word stands. The same word in two spaces is two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordSpace {
    /// In the test, alone and with the word behind it.
    Test,
    /// In what sets it up and tears it down.
    Around,
    /// In the name of its class.
    ClassName,
    /// In its file.
    File,
    /// In the files of its base classes.
    Bases,
    /// In the files of the classes that it names.
    Named,
}

impl WordSpace {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Test, Self::Around, Self::ClassName, Self::File, Self::Bases, Self::Named];
}

/// How often words stand in each space. A word is kept as a number made of it and its space: two
/// words share one about once in a hundred thousand, which costs less than the words would.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordBag {
    spaces: Vec<(WordSpace, Vec<(u32, f32)>)>,
}

impl WordBag {
    /// Add the words of a space. In [`WordSpace::Test`], neighbours count as words too.
    pub fn add<'w>(&mut self, space: WordSpace, words: impl IntoIterator<Item = &'w str>) {
        let mut counts: FxHashMap<u32, f32> = FxHashMap::default();
        let mut before: Option<String> = None;
        for word in words {
            let word = word.to_lowercase();
            *counts.entry(key(space, None, &word)).or_default() += 1.0;
            if space == WordSpace::Test {
                if let Some(before) = &before {
                    *counts.entry(key(space, Some(before), &word)).or_default() += 1.0;
                }
                before = Some(word);
            }
        }
        let mut counts: Vec<(u32, f32)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(key, _)| *key);
        self.spaces.push((space, counts));
    }

    /// The words of each space with how often they stand there.
    pub(super) fn spaces(&self) -> impl Iterator<Item = &[(u32, f32)]> {
        self.spaces.iter().map(|(_, words)| words.as_slice())
    }

    /// All words, each once.
    pub(super) fn keys(&self) -> impl Iterator<Item = u32> {
        self.spaces().flatten().map(|(key, _)| *key)
    }
}

/// The number of a word in a space.
pub(super) fn key(space: WordSpace, before: Option<&str>, word: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write_u8(space as u8);
    if let Some(before) = before {
        hasher.write(before.as_bytes());
        hasher.write_u8(b' ');
    }
    hasher.write(word.as_bytes());
    hasher.write_u8(0xff);
    let hash = hasher.finish();
    #[expect(clippy::cast_possible_truncation, reason = "the better half of the hash")]
    let key = (hash >> 32) as u32 ^ hash as u32;
    key
}
