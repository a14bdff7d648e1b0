//! A suite shared among machines: which tests are each one's, so that all of them end at about the same
//! time.
//!
//! Longest processing time first (Graham, *Bounds on Multiprocessing Timing Anomalies*, SIAM J. Appl.
//! Math. 17(2), 1969, section 3): the pieces of the suite, the longest first, each to the shard that is
//! shortest so far. The longest shard is then at most 4/3 − 1/(3n) times as long as in the best of all
//! divisions, and the shards differ by no more than the longest piece.
//!
//! Nobody tells the machines of each other, so each works out the same division from the same suite and
//! the same times: ties are broken by the number of tests and then by name, never by who came first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{Suite, SuiteTest, TestId};

/// More machines than that are a slip of the keyboard.
const MOST: u32 = 10_000;

/// One of several machines that share a suite: `2/4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shard {
    number: u32,
    of: u32,
}

/// Why there is no such shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoSuchShard {
    /// It is not a number, a slash and a number.
    Unreadable(String),
    /// There are none, or too many.
    Count(u64),
    /// Shards are counted from 1 to their number.
    Number(u64, u32),
}

impl fmt::Display for NoSuchShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(text) => {
                write!(f, "`{text}` is no shard: write it as `2/4`, the second of four")
            }
            Self::Count(0) => f.write_str("a suite cannot be shared among no shards"),
            Self::Count(count) => write!(f, "{count} shards are too many: there can be {MOST}"),
            Self::Number(number, of) => {
                write!(f, "there is no shard {number} of {of}: they count from 1 to {of}")
            }
        }
    }
}

impl std::error::Error for NoSuchShard {}

impl Shard {
    /// The shard with this number, counted from 1, of so many.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(number: u64, of: u64) -> Result<Self, NoSuchShard> {
        let count = u32::try_from(of).ok().filter(|of| (1..=MOST).contains(of));
        let of = count.ok_or(NoSuchShard::Count(of))?;
        let known = u32::try_from(number).ok().filter(|number| (1..=of).contains(number));
        let number = known.ok_or(NoSuchShard::Number(number, of))?;
        Ok(Self { number, of })
    }

    /// Its number, counted from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many there are.
    #[must_use]
    pub fn of(self) -> u32 {
        self.of
    }

    /// The id of a run of this shard alone.
    #[must_use]
    pub fn of_run(self, run: &str) -> String {
        format!("{run}-{}of{}", self.number, self.of)
    }

    /// The shard that a run with this id ran, if it did not run the whole suite.
    #[must_use]
    pub fn in_run_id(id: &str) -> Option<Self> {
        let (_, shard) = id.rsplit_once('-')?;
        let (number, of) = shard.split_once("of")?;
        Self::new(number.parse().ok()?, of.parse().ok()?).ok()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = NoSuchShard;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some((number.trim().parse::<u64>().ok()?, of.trim().parse::<u64>().ok()?))
        });
        let (number, of) = numbers.ok_or_else(|| NoSuchShard::Unreadable(text.to_owned()))?;
        Self::new(number, of)
    }
}

/// What of a suite stays together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// A test is a piece of its own.
    Test,
    /// The tests of a file are one piece.
    File,
}

/// A suite, divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shards {
    /// What each machine runs, the first one's first.
    pub parts: Vec<Part>,
    /// Tests whose time is known. If there are none, the tests are only counted.
    pub known: usize,
}

/// What one machine runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Its tests, as they stand in the suite.
    pub tests: Vec<SuiteTest>,
    /// How long they take together, by the times that are known; nothing where none is.
    pub time: Duration,
}

impl Part {
    /// The files of its tests, each once, in order.
    #[must_use]
    pub fn files(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let files =
            self.tests.iter().filter_map(|test| Some(test.location.as_ref()?.file.as_str()));
        files.filter(|file| seen.insert(*file)).collect()
    }
}

impl Shards {
    /// Divide a suite among so many machines.
    ///
    /// A test whose time is not known counts as the median of its file, or else of the suite. One that
    /// the suite has twice stays together.
    #[must_use]
    pub fn divide(
        suite: &Suite,
        times: &BTreeMap<TestId, Duration>,
        piece: Piece,
        count: u32,
    ) -> Self {
        let weights = Weights::new(suite, times);
        let mut pieces: BTreeMap<&str, Weighed> = BTreeMap::new();
        for (place, test) in suite.tests.iter().enumerate() {
            let name = match piece {
                Piece::Test => test.id.as_str(),
                Piece::File => file_of(test).unwrap_or(test.id.as_str()),
            };
            let weighed = pieces.entry(name).or_default();
            weighed.weight += weights.of(test);
            weighed.places.push(place);
        }
        let mut pieces: Vec<(&str, Weighed)> = pieces.into_iter().collect();
        pieces.sort_by_key(|(name, weighed)| (Reverse(weighed.weight), *name));
        let mut parts = vec![Weighed::default(); count.max(1) as usize];
        for (_, weighed) in pieces {
            // The first of those that are equally short.
            let shortest = parts.iter_mut().min_by_key(|part| (part.weight, part.places.len()));
            if let Some(part) = shortest {
                part.weight += weighed.weight;
                part.places.extend(weighed.places);
            }
        }
        let part = |mut part: Weighed| {
            part.places.sort_unstable();
            Part {
                tests: part.places.iter().map(|place| suite.tests[*place].clone()).collect(),
                time: weights.time(part.weight),
            }
        };
        Self { parts: parts.into_iter().map(part).collect(), known: weights.known }
    }
}

/// Tests with what they weigh together.
#[derive(Debug, Clone, Default)]
struct Weighed {
    weight: u128,
    places: Vec<usize>,
}

/// What tests weigh: nanoseconds, or one each where no time is known.
struct Weights<'a> {
    times: &'a BTreeMap<TestId, Duration>,
    of_files: HashMap<&'a str, u128>,
    of_suite: u128,
    known: usize,
}

impl<'a> Weights<'a> {
    fn new(suite: &'a Suite, times: &'a BTreeMap<TestId, Duration>) -> Self {
        let mut by_file: HashMap<&str, Vec<u128>> = HashMap::new();
        let mut all = Vec::new();
        let mut seen = BTreeSet::new();
        for test in suite.tests.iter().filter(|test| seen.insert(&test.id)) {
            let Some(time) = times.get(&test.id) else { continue };
            all.push(time.as_nanos());
            if let Some(file) = file_of(test) {
                by_file.entry(file).or_default().push(time.as_nanos());
            }
        }
        let known = all.len();
        let of_files = by_file.into_iter().map(|(file, times)| (file, median(times))).collect();
        Self { times, of_files, of_suite: if known == 0 { 1 } else { median(all) }, known }
    }

    fn of(&self, test: &SuiteTest) -> u128 {
        let known = self.times.get(&test.id).map(Duration::as_nanos);
        let of_file = || file_of(test).and_then(|file| self.of_files.get(file).copied());
        known.or_else(of_file).unwrap_or(self.of_suite)
    }

    fn time(&self, weight: u128) -> Duration {
        match self.known {
            0 => Duration::ZERO,
            _ => Duration::from_nanos(u64::try_from(weight).unwrap_or(u64::MAX)),
        }
    }
}

/// The middle one; of two, the shorter.
fn median(mut values: Vec<u128>) -> u128 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

fn file_of(test: &SuiteTest) -> Option<&str> {
    test.location.as_ref().map(|place| place.file.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Location;

    /// Tests with their file and, where it is known, their time in milliseconds.
    fn suite(tests: &[(u8, Option<u16>)]) -> (Suite, BTreeMap<TestId, Duration>) {
        let mut times = BTreeMap::new();
        let named = tests.iter().enumerate().map(|(at, (file, time))| {
            let id = TestId::from(format!("{file}.py::t{at}"));
            if let Some(time) = time {
                times.insert(id.clone(), Duration::from_millis(u64::from(*time)));
            }
            SuiteTest { id, location: Some(Location { file: format!("{file}.py"), line: None }) }
        });
        let suite = Suite { tests: named.collect(), problems: Vec::new() };
        (suite, times)
    }

    fn ids(part: &Part) -> Vec<TestId> {
        part.tests.iter().map(|test| test.id.clone()).collect()
    }

    /// How long the longest shard is in the best of all divisions.
    fn optimum(times: &[u64], shards: &mut [u64]) -> u64 {
        let Some((first, rest)) = times.split_first() else {
            return shards.iter().copied().max().unwrap_or_default();
        };
        let mut best = u64::MAX;
        for at in 0..shards.len() {
            shards[at] += first;
            best = best.min(optimum(rest, shards));
            shards[at] -= first;
        }
        best
    }

    fn any_suite() -> impl Strategy<Value = Vec<(u8, Option<u16>)>> {
        prop::collection::vec((0_u8..5, prop::option::weighted(0.8, 0_u16..2000)), 0..60)
    }

    fn any_piece() -> impl Strategy<Value = Piece> {
        prop_oneof![Just(Piece::Test), Just(Piece::File)]
    }

    proptest! {
        #[test]
        fn every_test_is_in_exactly_one_shard_in_the_suites_own_order(
            tests in any_suite(), piece in any_piece(), count in 1_u32..9
        ) {
            let (suite, times) = suite(&tests);
            let shards = Shards::divide(&suite, &times, piece, count);
            prop_assert_eq!(shards.parts.len(), count as usize);
            let positions = suite.positions();
            let mut all = Vec::new();
            for part in &shards.parts {
                let ids = ids(part);
                prop_assert!(ids.is_sorted_by_key(|id| positions[id]));
                all.extend(ids);
            }
            all.sort_by_key(|id| positions[id]);
            prop_assert_eq!(all, suite.ids());
        }

        #[test]
        fn the_order_in_which_tests_are_found_decides_nothing(
            tests in any_suite(), piece in any_piece(), count in 1_u32..9, turn in 0_usize..60
        ) {
            let (suite, times) = suite(&tests);
            let mut other = suite.clone();
            other.tests.reverse();
            let turn = turn.min(other.tests.len());
            other.tests.rotate_left(turn);
            let sorted = |suite: &Suite| -> Vec<BTreeSet<TestId>> {
                let shards = Shards::divide(suite, &times, piece, count);
                shards.parts.iter().map(|part| ids(part).into_iter().collect()).collect()
            };
            prop_assert_eq!(sorted(&suite), sorted(&other));
        }

        #[test]
        fn files_stay_whole_where_they_must(tests in any_suite(), count in 1_u32..9) {
            let (suite, times) = suite(&tests);
            let shards = Shards::divide(&suite, &times, Piece::File, count);
            for file in 0..5 {
                let name = format!("{file}.py");
                let holders = shards.parts.iter().filter(|part| part.files().contains(&name.as_str()));
                prop_assert!(holders.count() <= 1);
            }
        }

        #[test]
        fn shards_differ_by_no_more_than_the_longest_test(tests in any_suite(), count in 1_u32..9) {
            let (suite, times) = suite(&tests);
            let shards = Shards::divide(&suite, &times, Piece::Test, count);
            let lengths = || shards.parts.iter().map(|part| part.time);
            let longest = times.values().copied().max().unwrap_or_default();
            let spread = lengths().max().unwrap_or_default() - lengths().min().unwrap_or_default();
            prop_assert!(spread <= longest, "{spread:?} > {longest:?}");
        }

        #[test]
        fn the_longest_shard_is_at_most_four_thirds_of_the_best_possible(
            times in prop::collection::vec(1_u16..2000, 1..9), count in 1_u32..4
        ) {
            let tests: Vec<_> = times.iter().map(|time| (0, Some(*time))).collect();
            let (suite, known) = suite(&tests);
            let shards = Shards::divide(&suite, &known, Piece::Test, count);
            let longest = shards.parts.iter().map(|part| part.time.as_millis()).max().unwrap_or(0);
            let times: Vec<u64> = times.iter().map(|time| u64::from(*time)).collect();
            let best = u128::from(optimum(&times, &mut vec![0; count as usize]));
            let count = u128::from(count);
            // 4/3 − 1/(3n), in whole numbers.
            prop_assert!(longest * 3 * count <= best * (4 * count - 1), "{longest} > {best}");
        }

        #[test]
        fn tests_without_times_are_shared_by_number(
            files in prop::collection::vec(0_u8..5, 0..60), count in 1_u32..9
        ) {
            let tests: Vec<_> = files.into_iter().map(|file| (file, None)).collect();
            let (suite, times) = suite(&tests);
            let shards = Shards::divide(&suite, &times, Piece::Test, count);
            let sizes = || shards.parts.iter().map(|part| part.tests.len());
            prop_assert!(sizes().max().unwrap_or(0) - sizes().min().unwrap_or(0) <= 1);
            prop_assert_eq!(shards.known, 0);
        }

        #[test]
        fn whatever_is_typed_is_a_shard_or_told_why_it_is_none(text in ".{0,12}") {
            if let Ok(shard) = text.parse::<Shard>() {
                prop_assert!(shard.number() >= 1 && shard.number() <= shard.of());
                prop_assert_eq!(shard.to_string().parse::<Shard>(), Ok(shard));
                prop_assert_eq!(Shard::in_run_id(&shard.of_run("20261118-0-ab")), Some(shard));
            }
        }
    }

    #[test]
    fn grahams_worst_case_is_as_bad_as_he_says() {
        // Section 3: 5 5 4 4 3 3 3 on three machines, 11 where 9 is possible.
        let times = [5, 5, 4, 4, 3, 3, 3];
        let tests: Vec<_> = times.iter().map(|time| (0, Some(*time))).collect();
        let (suite, known) = suite(&tests);
        let shards = Shards::divide(&suite, &known, Piece::Test, 3);
        let longest = shards.parts.iter().map(|part| part.time.as_millis()).max();
        assert_eq!(longest, Some(11));
        assert_eq!(optimum(&times.map(u64::from), &mut [0; 3]), 9);
    }

    #[test]
    fn a_new_test_counts_as_the_median_of_its_file_or_else_of_the_suite() {
        let known = [(0, Some(100)), (0, Some(300)), (0, Some(900)), (1, Some(7)), (1, Some(9))];
        let time_of_a_new_test_in = |file: u8| {
            let (suite, times) = suite(&[known.as_slice(), &[(file, None)]].concat());
            let shards = Shards::divide(&suite, &times, Piece::Test, 1);
            shards.parts[0].time.as_millis() - 1316
        };
        assert_eq!(time_of_a_new_test_in(0), 300);
        assert_eq!(time_of_a_new_test_in(1), 7);
        assert_eq!(time_of_a_new_test_in(2), 100);
    }

    #[test]
    fn a_test_that_the_suite_has_twice_is_not_torn() {
        let (mut suite, times) = suite(&[(0, None), (0, None)]);
        suite.tests.push(suite.tests[0].clone());
        let shards = Shards::divide(&suite, &times, Piece::Test, 3);
        let sizes: Vec<usize> = shards.parts.iter().map(|part| part.tests.len()).collect();
        assert_eq!(sizes, [2, 1, 0]);
    }

    #[test]
    fn what_is_no_shard_says_what_one_is() {
        let said = |text: &str| text.parse::<Shard>().unwrap_err().to_string();
        assert!(said("a/b").contains("`2/4`"));
        assert!(said("3").contains("`2/4`"));
        assert!(said("1/0").contains("no shards"));
        assert!(said("0/4").contains("from 1 to 4"));
        assert!(said("5/4").contains("from 1 to 4"));
        assert!(said("1/4294967297").contains("too many"));
    }

    #[test]
    fn a_run_of_the_whole_suite_is_none_of_a_shard() {
        assert_eq!(Shard::in_run_id("20261118-193030-ab12cd"), None);
        assert_eq!(Shard::in_run_id("reports-5of4"), None);
        assert_eq!(Shard::in_run_id("20261118-193030-ab12cd-2of4"), Shard::new(2, 4).ok());
    }
}
