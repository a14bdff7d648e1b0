//! Some tests as the network computes them: everything that occurs several times, once.
//!
//! Each distinct word, bag and step of the tests has a place of its own. Paths that begin alike
//! have the same state as long as they are alike, so paths are kept as the tree of their
//! beginnings, and the LSTM runs once over each of its nodes, one level after another. That is
//! never more than packing the paths by length, and nothing is padded.

use rustc_hash::FxHashMap;

use super::corpus::{Bag, PathCorpus};
use crate::Chance;

/// A place that is empty.
pub(super) const NONE: u32 = u32::MAX;

/// How many bags a step has: a node, an operation, a body.
pub(super) const SLOTS: usize = 3;

/// Some tests, ready to be computed.
#[derive(Debug, Clone, Default)]
pub(super) struct Batch {
    /// The distinct words, as the vocabulary numbers them.
    pub(super) words: Vec<u32>,
    /// The words of all bags, as places in `words`.
    pub(super) bag_words: Vec<u32>,
    /// Up to which place the words of each bag go.
    pub(super) bag_ends: Vec<u32>,
    /// The bags of each distinct step, or [`NONE`].
    pub(super) steps: Vec<[u32; SLOTS]>,
    /// The tree of the beginnings of paths.
    pub(super) tree: PrefixTree,
    /// The node at which each path ends, test by test.
    pub(super) path_ends: Vec<u32>,
    /// Up to which path the paths of each test go.
    pub(super) test_ends: Vec<u32>,
}

/// The beginnings of paths. Nodes are ordered by their depth, children of one node side by side.
#[derive(Debug, Clone, Default)]
pub(super) struct PrefixTree {
    /// The last step of each beginning.
    pub(super) steps: Vec<u32>,
    /// The beginning that is one step shorter; [`NONE`] on the first level.
    pub(super) parents: Vec<u32>,
    /// Up to which node each level goes.
    pub(super) level_ends: Vec<u32>,
}

/// What to read of each test.
pub(super) struct Reading<'a, V: Fn(u32) -> Option<u32>> {
    /// Where the tests are.
    pub(super) corpus: &'a PathCorpus,
    /// The number in the vocabulary of a word of the corpus.
    pub(super) vocabulary: V,
    /// The most paths of a test that are read.
    pub(super) most_paths: usize,
    /// The share of words that are left out at random.
    pub(super) word_dropout: f64,
}

impl<V: Fn(u32) -> Option<u32>> Reading<'_, V> {
    /// Read these tests. Chance is asked only for paths and words that are left out.
    pub(super) fn read(&self, tests: &[u32], chance: &mut Chance) -> Batch {
        let mut batch = Batch::default();
        let mut paths: Vec<u32> = Vec::new();
        for test in tests {
            paths.extend(self.chosen_paths(*test, chance));
            batch.test_ends.push(number(paths.len()));
        }
        let steps: Vec<&[u32]> = paths.iter().map(|path| self.corpus.path_steps(*path)).collect();
        let tree = PrefixTree::of_paths(&steps);
        batch.path_ends = tree.1;
        batch.tree = tree.0;
        self.read_steps(&mut batch, chance);
        batch
    }

    fn chosen_paths(&self, test: u32, chance: &mut Chance) -> Vec<u32> {
        let mut paths: Vec<u32> = self.corpus.path_numbers(test).collect();
        if paths.len() > self.most_paths {
            for at in 0..self.most_paths {
                let other = at + chance.below(paths.len() - at);
                paths.swap(at, other);
            }
            paths.truncate(self.most_paths);
            paths.sort_unstable();
        }
        paths
    }

    /// Give each distinct step, bag and word of the tree its place.
    fn read_steps(&self, batch: &mut Batch, chance: &mut Chance) {
        let mut places = Places::default();
        let mut steps = std::mem::take(&mut batch.tree.steps);
        for step in &mut steps {
            let next = number(batch.steps.len());
            let place = *places.steps.entry(*step).or_insert(next);
            if place == next {
                let bags = self.corpus.step_of(*step).bags();
                let bags = bags
                    .map(|bag| bag.map_or(NONE, |bag| self.bag(batch, &mut places, bag, chance)));
                batch.steps.push(bags);
            }
            *step = place;
        }
        batch.tree.steps = steps;
    }

    /// The place of a bag, whose words are read when it is met first; [`NONE`] if none is known.
    fn bag(&self, batch: &mut Batch, places: &mut Places, bag: Bag, chance: &mut Chance) -> u32 {
        if let Some(place) = places.bags.get(&bag) {
            return *place;
        }
        let start = batch.bag_words.len();
        for word in self.corpus.bag_words(bag) {
            if self.word_dropout > 0.0 && chance.unit() < self.word_dropout {
                continue;
            }
            if let Some(word) = (self.vocabulary)(*word) {
                let next = number(batch.words.len());
                let place = *places.words.entry(word).or_insert(next);
                if place == next {
                    batch.words.push(word);
                }
                batch.bag_words.push(place);
            }
        }
        let place = if batch.bag_words.len() > start {
            batch.bag_ends.push(number(batch.bag_words.len()));
            number(batch.bag_ends.len() - 1)
        } else {
            NONE
        };
        places.bags.insert(bag, place);
        place
    }
}

/// Where words, bags and steps were put.
#[derive(Default)]
struct Places {
    words: FxHashMap<u32, u32>,
    bags: FxHashMap<Bag, u32>,
    steps: FxHashMap<u32, u32>,
}

impl Batch {
    pub(super) fn test_count(&self) -> usize {
        self.test_ends.len()
    }

    /// The places of each bag's words.
    pub(super) fn bags(&self) -> impl Iterator<Item = &[u32]> {
        ranges(&self.bag_ends).map(|range| &self.bag_words[range])
    }

    /// The paths of each test.
    pub(super) fn tests(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        ranges(&self.test_ends)
    }
}

impl PrefixTree {
    /// The tree of some paths, and the node at which each of them ends.
    fn of_paths(paths: &[&[u32]]) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..number(paths.len())).collect();
        order.sort_by_key(|path| paths[*path as usize]);
        // In sorted order, what two neighbours share at their beginning is shared as far as
        // possible. Nodes are numbered within their level first.
        let mut levels: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut ends = vec![NONE; paths.len()];
        let mut before: &[u32] = &[];
        for at in order {
            let path = paths[at as usize];
            let shared = before.iter().zip(path).take_while(|(a, b)| a == b).count();
            for (level, step) in path.iter().enumerate().skip(shared) {
                if levels.len() == level {
                    levels.push(Vec::new());
                }
                let parent = if level == 0 { NONE } else { number(levels[level - 1].len() - 1) };
                levels[level].push((*step, parent));
            }
            // Where the path is part of the one before, its end is the last node of that level too.
            ends[at as usize] = number(levels[path.len() - 1].len() - 1);
            before = path;
        }
        let mut tree = Self::default();
        let mut starts = Vec::new();
        for level in levels {
            let above = starts.last().copied().unwrap_or(0);
            starts.push(number(tree.steps.len()));
            for (step, parent) in level {
                tree.steps.push(step);
                tree.parents.push(if parent == NONE { NONE } else { above + parent });
            }
            tree.level_ends.push(number(tree.steps.len()));
        }
        for (end, path) in ends.iter_mut().zip(paths) {
            *end += starts[path.len() - 1];
        }
        (tree, ends)
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The nodes of each level, the beginnings of one step first.
    pub(super) fn levels(
        &self,
    ) -> impl ExactSizeIterator<Item = std::ops::Range<usize>> + DoubleEndedIterator + '_ {
        (0..self.level_ends.len()).map(|level| {
            let start = if level == 0 { 0 } else { self.level_ends[level - 1] };
            start as usize..self.level_ends[level] as usize
        })
    }
}

fn ranges(ends: &[u32]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut start = 0;
    ends.iter().map(move |end| {
        let range = start..*end as usize;
        start = range.end;
        range
    })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;
    use proptest::prelude::*;

    use super::super::corpus::PathStep;
    use super::*;

    fn path_of(tree: &PrefixTree, end: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = end;
        while at != NONE {
            path.push(tree.steps[at as usize]);
            at = tree.parents[at as usize];
        }
        path.reverse();
        path
    }

    proptest! {
        #[test]
        fn every_path_is_in_the_tree_and_no_beginning_twice(
            paths in proptest::collection::vec(proptest::collection::vec(0u32..3, 1..6), 0..30),
        ) {
            let slices: Vec<&[u32]> = paths.iter().map(Vec::as_slice).collect();
            let (tree, ends) = PrefixTree::of_paths(&slices);
            for (path, end) in paths.iter().zip(&ends) {
                prop_assert_eq!(&path_of(&tree, *end), path);
            }
            let mut beginnings: Vec<&[u32]> =
                paths.iter().flat_map(|path| (1..=path.len()).map(|end| &path[..end])).collect();
            beginnings.sort_unstable();
            beginnings.dedup();
            prop_assert_eq!(tree.len(), beginnings.len());
            for (level, nodes) in tree.levels().enumerate() {
                for node in nodes {
                    let depth = path_of(&tree, number(node)).len();
                    prop_assert_eq!(depth, level + 1);
                }
            }
        }
    }

    fn corpus() -> PathCorpus {
        let mut corpus = PathCorpus::default();
        let [a, b, empty] = [corpus.bag(["x", "y"]), corpus.bag(["y", "y"]), corpus.bag([])];
        let step = PathStep { node: a, operation: Some(b), body: Some(empty) };
        let paths: Vec<Vec<PathStep>> =
            (0..9).map(|length| [vec![step; length], vec![PathStep::last(b)]].concat()).collect();
        corpus.push_test(paths);
        corpus.push_test([[step, PathStep::last(b)]]);
        corpus
    }

    #[test]
    fn what_occurs_twice_is_there_once() {
        let corpus = corpus();
        let reading =
            Reading { corpus: &corpus, vocabulary: Some, most_paths: 99, word_dropout: 0.0 };
        let batch = reading.read(&[0, 1], &mut Chance::new(Seed(1)));
        assert_eq!((batch.words.len(), batch.bag_ends.len(), batch.steps.len()), (2, 2, 2));
        assert_eq!(batch.tests().collect::<Vec<_>>(), [0..9, 9..10]);
        assert_eq!(batch.path_ends[9], batch.path_ends[1], "the same path in two tests");
        assert!(batch.steps.iter().any(|step| step[2] == NONE), "a bag without words is no bag");
    }

    #[test]
    fn no_more_paths_are_read_than_asked_for_and_each_once() {
        let corpus = corpus();
        let reading =
            Reading { corpus: &corpus, vocabulary: |_| None, most_paths: 4, word_dropout: 0.0 };
        let batch = reading.read(&[0], &mut Chance::new(Seed(1)));
        let mut ends = batch.path_ends.clone();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len(), 4);
        assert!(batch.bag_ends.is_empty(), "unknown words are skipped");
    }
}
