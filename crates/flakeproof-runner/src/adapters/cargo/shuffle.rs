//! The order into which Rust's test harness shuffles some tests, and the seed that gives a wanted
//! one.
//!
//! The harness swaps each place with one that a generator picks among it and those after it. The
//! generator is a hash of its last value and of the names of the selected tests, so an order is a
//! pure function of the seed and of the names, and can be foretold: `library/test/src/helpers/
//! shuffle.rs` of the standard library. The hash is the standard library's own, ours here and the
//! user's there, and they could differ: whoever relies on what is foretold here compares it with
//! what a harness prints first (see `switch`).

use std::hash::{DefaultHasher, Hash, Hasher};

/// Seeds are looked for below this. Among so many, every order of a few tests has its seed, and an
/// order whose seed is forgotten is found again in milliseconds, however many tests it has.
pub(super) const SEEDS: u64 = 1 << 20;
/// So many tests can be brought into any order: 8! is far below the number of seeds.
pub(super) const FEW: usize = 8;

/// The harness's name of a test, hashed as it hashes it.
struct TestName<'a>(&'a str);

impl Hash for TestName<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A name is the third variant of an enumeration, with the padding that benchmarks have, of
        // which the first variant is none.
        2isize.hash(state);
        self.0.hash(state);
        0isize.hash(state);
    }
}

/// The orders of some selected tests, which are named by their places in the harness's own list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shuffle {
    names: u64,
    tests: usize,
}

impl Shuffle {
    /// The orders of these tests, which stand as the harness lists them.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<TestName<'_>> = names.map(TestName).collect();
        let tests = names.len();
        // The harness hashes references, which are hashed as what they refer to.
        Self { names: hash_of(&names), tests }
    }

    /// The order that a seed gives.
    pub(super) fn order(&self, seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tests).collect();
        for (place, picked) in self.picks(seed) {
            order.swap(place, picked);
        }
        order
    }

    /// The first seed whose order begins like this; `None` where there is none.
    pub(super) fn seed_of(&self, wanted: &[usize]) -> Option<u64> {
        let mut order: Vec<usize> = (0..self.tests).collect();
        let mut swapped = Vec::new();
        (0..SEEDS).find(|seed| {
            let begins = self.picks(*seed).zip(wanted).all(|((place, picked), wanted)| {
                order.swap(place, picked);
                swapped.push((place, picked));
                order[place] == *wanted
            });
            // Undoing the few swaps up to the first difference costs less than a new list.
            while let Some((place, picked)) = swapped.pop() {
                order.swap(place, picked);
            }
            begins
        })
    }

    /// The first seed from this one on whose order ends with a test.
    pub(super) fn seed_with_last(&self, last: usize, from: u64) -> Option<u64> {
        (0..SEEDS).map(|step| (from + step) % SEEDS).find(|seed| {
            let mut at = last;
            self.picks(*seed).all(|(place, picked)| {
                // Whoever is picked has its place; whoever stood there goes on.
                match (place == self.tests - 1, picked == at, place == at) {
                    (true, ..) => true,
                    (_, true, _) => false,
                    (_, _, true) => {
                        at = picked;
                        true
                    }
                    _ => true,
                }
            })
        })
    }

    /// For each place, the one it is swapped with.
    fn picks(&self, seed: u64) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Self { names, tests } = *self;
        let mut state = seed;
        (0..tests).map(move |place| {
            state = hash_of(&(state, names));
            let rest = u64::try_from(tests - place).unwrap_or(u64::MAX);
            (place, place + usize::try_from(state % rest).unwrap_or_default())
        })
    }
}

/// A hash as the harness computes it.
fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shuffle(tests: usize) -> Shuffle {
        let names: Vec<String> = (0..tests).map(|at| format!("tests::t{at}")).collect();
        Shuffle::of(names.iter().map(String::as_str))
    }

    #[test]
    fn a_harness_of_rust_1_95_shuffled_like_this() {
        let names = ["tests::alpha", "tests::beta", "tests::delta", "tests::eps", "tests::gamma"];
        let all = Shuffle::of(names.into_iter());
        assert_eq!(all.order(3), [4, 3, 1, 0, 2]);
        let three = Shuffle::of(names[..3].iter().copied());
        assert_eq!([1, 2, 3].map(|seed| three.order(seed)), [[0, 2, 1], [0, 1, 2], [2, 1, 0]]);
    }

    #[test]
    fn every_order_of_a_few_tests_has_a_seed() {
        let backwards: Vec<usize> = (0..FEW).rev().collect();
        let seed = shuffle(FEW).seed_of(&backwards).expect("there are enough seeds");
        assert_eq!(shuffle(FEW).order(seed), backwards);
    }

    proptest! {
        #[test]
        fn a_seed_gives_the_order_it_was_found_for(tests in 2usize..120, seed in 0u64..5000) {
            let shuffle = shuffle(tests);
            let order = shuffle.order(seed);
            let found = shuffle.seed_of(&order);
            prop_assert_eq!(found.map(|found| shuffle.order(found)), Some(order.clone()));
            let beginning = &order[..tests / 2];
            let found = shuffle.seed_of(beginning).map(|found| shuffle.order(found));
            prop_assert!(found.is_some_and(|found| found.starts_with(beginning)));
        }

        #[test]
        fn any_test_can_be_the_last(tests in 1usize..200, last: prop::sample::Index, from in 0u64..SEEDS) {
            let (shuffle, last) = (shuffle(tests), last.index(tests));
            let seed = shuffle.seed_with_last(last, from).expect("one of so many");
            prop_assert_eq!(shuffle.order(seed).pop(), Some(last));
        }
    }
}
