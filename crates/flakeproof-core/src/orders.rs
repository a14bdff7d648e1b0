//! Orders in which a suite can run, and the seed that these, like all chance of a run, come from.
//!
//! A test that depends on others shows itself when the others come in another order. A shuffle tries
//! many pairs at random; the rows of a Tuscan square (Golomb and Taylor, 1985) put every test directly
//! after every other one exactly once, which no set of fewer orders can do.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Suite;

/// What a word counts that only one file has in its path.
const RAREST: u32 = 1_000_000;

/// A way to order a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OrderKind {
    /// Every test anywhere.
    Tests,
    /// Classes (files, where there are none) in another order, each as it is.
    Classes,
    /// Files in another order, each as it is.
    Files,
    /// Every class as it stands in the suite, its tests in another order.
    Within,
    /// From the last to the first.
    Reverse,
    /// The rows of a Tuscan square.
    Tuscan,
}

impl OrderKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Tests, Self::Classes, Self::Files, Self::Within, Self::Reverse, Self::Tuscan];

    /// The kind as its stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Classes => "classes",
            Self::Files => "files",
            Self::Within => "within",
            Self::Reverse => "reverse",
            Self::Tuscan => "tuscan",
        }
    }
}

/// The orders of one suite.
#[derive(Debug, Clone)]
pub struct SuiteOrders {
    /// For each test, the number of its file and of its class, counted as they first appear.
    files: Vec<u32>,
    classes: Vec<u32>,
    /// The words in the path of each file.
    words: Vec<BTreeSet<String>>,
    /// For each test, the blocks around it that stay together, from the outside.
    blocks: Vec<Vec<u32>>,
    kept_together: OrderBlocks,
    seed: Seed,
}

/// What stays together in every order, as runners that run blocks of tests have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderBlocks {
    /// Nothing.
    None,
    /// Groups of tests, by the levels of their ids, `file::outer > inner > test`; tests come before
    /// the groups beside them.
    Groups,
    /// Files, and groups in them.
    FilesAndGroups,
}

impl SuiteOrders {
    /// The orders of this suite from this seed.
    #[must_use]
    pub fn new(suite: &Suite, seed: Seed) -> Self {
        let ids: Vec<&str> = suite.tests.iter().map(|test| test.id.as_str()).collect();
        let files = numbered(ids.iter().map(|id| file_of(id)));
        let classes = numbered(ids.iter().map(|id| class_of(id)));
        let mut words: Vec<BTreeSet<String>> = Vec::new();
        for (id, file) in ids.iter().zip(&files) {
            if *file as usize == words.len() {
                words.push(words_of(file_of(id)));
            }
        }
        let blocks = vec![Vec::new(); files.len()];
        Self { files, classes, words, blocks, kept_together: OrderBlocks::None, seed }
    }

    /// The same orders with some tests together: a block comes where the last of its tests stands.
    #[must_use]
    pub fn in_blocks(self, suite: &Suite, kept_together: OrderBlocks) -> Self {
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        let mut number = |name: &str| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(name.to_owned()).or_insert(next)
        };
        let mut of = |id: &str| -> Vec<u32> {
            let ends: Vec<usize> = id.match_indices(" > ").map(|(at, _)| at).collect();
            let groups = ends.iter().map(|end| &id[..*end]);
            match kept_together {
                OrderBlocks::None => Vec::new(),
                OrderBlocks::Groups => groups.map(&mut number).collect(),
                OrderBlocks::FilesAndGroups => {
                    std::iter::once(file_of(id)).chain(groups).map(&mut number).collect()
                }
            }
        };
        let blocks = suite.tests.iter().map(|test| of(test.id.as_str())).collect();
        Self { blocks, kept_together, ..self }
    }

    /// How many tests there are.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.files.len()
    }

    /// How many different orders of a kind there are, as far as that is a limit.
    #[must_use]
    pub fn most(&self, kind: OrderKind) -> usize {
        match kind {
            OrderKind::Reverse => 1,
            OrderKind::Tuscan => self.tests().next_multiple_of(2),
            OrderKind::Tests | OrderKind::Classes | OrderKind::Files | OrderKind::Within => {
                usize::MAX
            }
        }
    }

    /// One order of a kind, as positions in the suite. The same number gives the same order.
    #[must_use]
    pub fn order(&self, kind: OrderKind, number: u32) -> Vec<u32> {
        let seed = self.seed.split(kind.word()).split(&number.to_string());
        let mut order = self.original();
        match kind {
            OrderKind::Tests => order.sort_by_cached_key(|test| drawn(seed, *test)),
            OrderKind::Classes => self.shuffle_groups(&mut order, &self.classes, seed),
            OrderKind::Files => self.shuffle_groups(&mut order, &self.files, seed),
            OrderKind::Within => {
                order.sort_by_cached_key(|test| (self.classes[*test as usize], drawn(seed, *test)));
            }
            OrderKind::Reverse => order.reverse(),
            OrderKind::Tuscan => order = self.tuscan(number),
        }
        self.together(order, 0)
    }

    /// An order with the tests of each block together.
    fn together(&self, order: Vec<u32>, depth: usize) -> Vec<u32> {
        let block_of = |test: u32| self.blocks[test as usize].get(depth).copied();
        if order.iter().all(|test| block_of(*test).is_none()) {
            return order;
        }
        let mut units: Vec<(Option<u32>, Vec<u32>)> = Vec::new();
        for test in order {
            let block = block_of(test);
            let found = units.iter().position(|(it, _)| block.is_some() && *it == block);
            // A block that has another test moves to where that one stands.
            let mut unit = found.map_or((block, Vec::new()), |at| units.remove(at));
            unit.1.push(test);
            units.push(unit);
        }
        if self.kept_together == OrderBlocks::Groups {
            units.sort_by_key(|(block, _)| block.is_some());
        }
        let inside = units.into_iter().flat_map(|(block, tests)| match block {
            Some(_) => self.together(tests, depth + 1),
            None => tests,
        });
        inside.collect()
    }

    /// The other tests, those that most likely have to do with a test first: of its class, of its file,
    /// of files whose paths have rare words in common with it, and then by distance.
    #[must_use]
    pub fn nearest(&self, test: u32) -> Vec<u32> {
        let of = |groups: &[u32], other: u32| groups[other as usize] != groups[test as usize];
        let closeness = self.closeness(self.files[test as usize]);
        let mut others = self.original();
        others.retain(|other| *other != test);
        others.sort_by_key(|other| {
            let kin = closeness[self.files[*other as usize] as usize];
            let is_far = (of(&self.classes, *other), of(&self.files, *other));
            (is_far, Reverse(kin), other.abs_diff(test), *other)
        });
        others
    }

    /// How much each file has in common with one: what their paths share in words, each of which counts
    /// the less the more files have it.
    fn closeness(&self, file: u32) -> Vec<u32> {
        let mut files_with: BTreeMap<&str, u32> = BTreeMap::new();
        for word in self.words.iter().flatten() {
            *files_with.entry(word).or_default() += 1;
        }
        let own = &self.words[file as usize];
        let shared = |words: &BTreeSet<String>| {
            words.intersection(own).map(|word| RAREST / files_with[word.as_str()]).sum()
        };
        self.words.iter().map(shared).collect()
    }

    /// How many other tests a test's class has; [`Self::nearest`] begins with them.
    #[must_use]
    pub fn siblings(&self, test: u32) -> usize {
        let class = self.classes[test as usize];
        self.classes.iter().filter(|other| **other == class).count() - 1
    }

    /// The suite's own order.
    #[must_use]
    pub fn original(&self) -> Vec<u32> {
        (0..).take(self.tests()).collect()
    }

    fn shuffle_groups(&self, order: &mut [u32], groups: &[u32], seed: Seed) {
        order.sort_by_cached_key(|test| (drawn(seed, groups[*test as usize]), *test));
    }

    /// A row of a Tuscan square: the zigzag 0, n−1, 1, n−2, … with the row's number added to each.
    ///
    /// That is a square for an even number of tests. An odd number takes the square of one more, and
    /// leaves that one out: one row more than the least that is possible, except for 3 and 5 tests,
    /// where no square exists. Tests and rows stand in a random order, so that the first rows are
    /// as good as any when there is no time for all of them.
    fn tuscan(&self, number: u32) -> Vec<u32> {
        let symbols = self.tests().next_multiple_of(2) as u64;
        if symbols == 0 {
            return Vec::new();
        }
        let mut names = self.original();
        names.sort_by_cached_key(|test| drawn(self.seed.split("tuscan names"), *test));
        let start = self.seed.split("tuscan rows").0 % symbols;
        let row = start + u64::from(number);
        let zigzag = (0..symbols).map(|at| if at % 2 == 0 { at / 2 } else { symbols - 1 - at / 2 });
        let places = zigzag.map(|place| usize::try_from((place + row) % symbols).unwrap_or(0));
        places.filter_map(|place| names.get(place).copied()).collect()
    }
}

/// The one number from which all chance of a run is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// A seed for one item of the work, so that items do not depend on who runs them or when.
    #[must_use]
    pub fn split(self, item: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0.to_le_bytes());
        hasher.update(item.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Self(u64::from_le_bytes(first))
    }

    /// A value for `PYTHONHASHSEED`, which takes 1 to 4294967295 (0 means "no randomness").
    #[must_use]
    pub fn hash_seed(self) -> u32 {
        u32::try_from(self.0 >> 32).unwrap_or(u32::MAX).max(1)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seed {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// A random number for an item.
fn drawn(seed: Seed, item: u32) -> u64 {
    seed.split(&item.to_string()).0
}

/// What stands before the first separator of a test's id.
fn file_of(id: &str) -> &str {
    let end = id.find("::").or_else(|| id.find('#')).or_else(|| end_of_package(id));
    end.map_or(id, |end| &id[..end])
}

/// What stands before the last separator; brackets of parameters may hold anything.
fn class_of(id: &str) -> &str {
    let plain = id.find('[').map_or(id, |end| &id[..end]);
    let end = plain.rfind("::").or_else(|| plain.rfind('#')).or_else(|| end_of_package(plain));
    end.map_or(plain, |end| &plain[..end])
}

/// Where the package ends in `example.com/shop/basket.TestAdds`.
fn end_of_package(id: &str) -> Option<usize> {
    let name = id.rfind('/').map_or(0, |slash| slash + 1);
    id[name..].rfind('.').filter(|dot| *dot > 0).map(|dot| name + dot)
}

/// The words of a path or of the name of a class, in small letters.
fn words_of(path: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut before = ' ';
    for letter in path.chars().chain(['/']) {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

/// The number of each name, counted as they first appear.
fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let mut known = std::collections::HashMap::new();
    names
        .map(|name| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(name).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::SuiteTest;

    fn suite(ids: &[&str]) -> Suite {
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        Suite { tests: ids.iter().map(test).collect(), problems: Vec::new() }
    }

    #[test]
    fn blocks_stay_together_and_the_last_test_stays_the_last() {
        let suite = suite(&["a::G > x", "a::y", "a::G > H > z", "b::v", "a::G > w"]);
        for blocks in [OrderBlocks::Groups, OrderBlocks::FilesAndGroups] {
            let orders = SuiteOrders::new(&suite, Seed(1)).in_blocks(&suite, blocks);
            for number in 0..20 {
                let order = orders.order(OrderKind::Tests, number);
                let places = |some: &[u32]| {
                    let at = order.iter().enumerate().filter(|(_, test)| some.contains(test));
                    at.map(|(at, _)| at).collect::<Vec<_>>()
                };
                let group = places(&[0, 2, 4]);
                assert_eq!(group[2] - group[0], 2, "{order:?}");
                if blocks == OrderBlocks::Groups {
                    assert!(places(&[1, 3]).into_iter().all(|at| at < group[0]), "{order:?}");
                } else {
                    let free = SuiteOrders::new(&suite, Seed(1)).order(OrderKind::Tests, number);
                    assert_eq!(order.last(), free.last());
                    let file = places(&[0, 1, 2, 4]);
                    assert_eq!(file[3] - file[0], 3, "{order:?}");
                }
            }
        }
    }

    fn of_size(size: usize) -> Suite {
        let ids: Vec<String> = (0..size).map(|n| format!("t{}.py::A::x{n}", n % 3)).collect();
        suite(&ids.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn classes_stay_together_and_keep_their_order() {
        let suite = suite(&["a::A::1", "a::A::2", "a::B::1[x::y]", "a::B::2", "b::1", "b::2"]);
        let orders = SuiteOrders::new(&suite, Seed(1));
        let seen: HashSet<Vec<u32>> =
            (0..40).map(|n| orders.order(OrderKind::Classes, n)).collect();
        assert_eq!(seen.len(), 6, "three classes have six orders");
        for order in seen {
            for pair in [[0, 1], [2, 3], [4, 5]] {
                assert!(order.windows(2).any(|two| two == pair), "{order:?}");
            }
        }
        let within: HashSet<Vec<u32>> =
            (0..40).map(|n| orders.order(OrderKind::Within, n)).collect();
        assert_eq!(within.len(), 8, "each of three classes has two orders");
    }

    #[test]
    fn files_about_the_same_are_nearer_than_those_next_to_a_test() {
        let suite = suite(&[
            "test/common/test_ocean_v2.py::test_a",
            "test/common/test_other.py::test_b",
            "test/compute/test_more.py::test_c",
            "test/dns/test_ocean.py::test_d",
            "test/common/test_last.py::test_e",
        ]);
        assert_eq!(SuiteOrders::new(&suite, Seed(1)).nearest(0), [3, 1, 4, 2]);
    }

    #[test]
    fn tests_of_a_package_belong_together() {
        let suite = suite(&["m.io/a.TestA", "m.io/a.TestB", "m.io/b.TestC", "m.io/b.TestD"]);
        let orders = SuiteOrders::new(&suite, Seed(1));
        assert_eq!(orders.nearest(2), [3, 1, 0]);
        assert_eq!(orders.siblings(0), 1);
    }

    #[test]
    fn the_nearest_are_of_the_same_class_and_then_of_the_same_file() {
        let suite = suite(&["a::A::1", "a::B::2", "a::A::3", "b::4", "a::A::5"]);
        assert_eq!(SuiteOrders::new(&suite, Seed(1)).nearest(2), [0, 4, 1, 3]);
    }

    #[test]
    fn an_even_tuscan_square_has_every_neighbour_exactly_once() {
        for size in [2, 4, 10, 36] {
            let orders = SuiteOrders::new(&of_size(size), Seed(5));
            let rows = orders.most(OrderKind::Tuscan);
            assert_eq!(rows, size);
            let pairs: Vec<[u32; 2]> = neighbours(&orders, rows);
            assert_eq!(pairs.len(), size * (size - 1));
            assert_eq!(pairs.iter().collect::<HashSet<_>>().len(), pairs.len());
        }
    }

    fn neighbours(orders: &SuiteOrders, rows: usize) -> Vec<[u32; 2]> {
        let rows = (0..).take(rows).map(|row| orders.order(OrderKind::Tuscan, row));
        rows.flat_map(|row| row.windows(2).map(|two| [two[0], two[1]]).collect::<Vec<_>>())
            .collect()
    }

    proptest! {
        #[test]
        fn every_order_has_every_test_once(size in 0usize..40, seed: u64, number in 0u32..50) {
            let orders = SuiteOrders::new(&of_size(size), Seed(seed));
            for kind in OrderKind::ALL {
                let mut order = orders.order(kind, number);
                prop_assert_eq!(&order, &orders.order(kind, number));
                order.sort_unstable();
                prop_assert_eq!(order, orders.original());
            }
        }

        #[test]
        fn an_odd_number_of_tests_needs_one_row_more(half in 0usize..12, seed: u64) {
            let size = 2 * half + 1;
            let orders = SuiteOrders::new(&of_size(size), Seed(seed));
            let pairs = neighbours(&orders, orders.most(OrderKind::Tuscan));
            let different: HashSet<_> = pairs.into_iter().collect();
            prop_assert_eq!(different.len(), size * (size - 1));
        }
    }

    #[test]
    fn a_split_seed_depends_on_the_item_and_on_nothing_else() {
        let seed = Seed(7);
        assert_eq!(seed.split("a"), seed.split("a"));
        assert_ne!(seed.split("a"), seed.split("b"));
        assert_ne!(seed.split("a"), Seed(8).split("a"));
    }
}
