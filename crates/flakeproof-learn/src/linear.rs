//! A linear model of words: each word adds to, or takes from, the suspicion that a test is flaky.
//!
//! Words are weighted by how rare they are, as [`flast`](crate::flast) does, and a support vector
//! machine with squared loss is fitted by coordinate descent in its dual (Hsieh et al., 2008). Own
//! code, because the crates for it keep dense rows or solve the primal by sub-gradients.
//!
//! The descent is Algorithm 1 of "A Dual Coordinate Descent Method for Large-scale Linear SVM", without
//! shrinking: the rows are few enough.

use std::hash::Hasher;

use flakeproof_core::Seed;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

use crate::Chance;
use crate::model_file::{Arrays, ModelFile, ModelFileError};

/// What a linear model is to be like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearParams {
    /// What it costs to be wrong about a test; the less, the smoother the model.
    pub cost: f64,
    /// The fewest tests a word must stand in to be known.
    pub fewest: u32,
    /// The seed of all chance.
    pub seed: Seed,
}

/// A linear model that has learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// The numbers of the words it knows, ascending.
    keys: Vec<u32>,
    /// How rare each of them is.
    rarity: Vec<f32>,
    /// What each weighs; the last one stands for no word.
    weights: Vec<f32>,
}

impl LinearParams {
    /// Learn from some of the bags; `positive` and `weights` have one value for each of those rows.
    #[must_use]
    pub fn fit(
        &self,
        bags: &[WordBag],
        rows: &[u32],
        positive: &[bool],
        weights: &[f64],
    ) -> Linear {
        let mut found: FxHashMap<u32, u32> = FxHashMap::default();
        for row in rows {
            bags[*row as usize].keys().for_each(|key| *found.entry(key).or_default() += 1);
        }
        let mut known: Vec<(u32, u32)> =
            found.into_iter().filter(|(_, tests)| *tests >= self.fewest).collect();
        known.sort_unstable();
        let all = crate::real(rows.len());
        let rarity = |tests: u32| ((1.0 + all) / (1.0 + f64::from(tests))).ln() + 1.0;
        #[expect(clippy::cast_possible_truncation, reason = "a small logarithm")]
        let mut linear = Linear {
            keys: known.iter().map(|(key, _)| *key).collect(),
            rarity: known.iter().map(|(_, tests)| rarity(*tests) as f32).collect(),
            weights: Vec::new(),
        };
        let sparse: Vec<SparseRow> =
            rows.par_iter().map(|row| linear.weighted(&bags[*row as usize])).collect();
        let costs: Vec<f64> = weights.iter().map(|weight| weight * self.cost).collect();
        linear.weights = separate(&sparse, positive, &costs, linear.keys.len(), self.seed);
        linear
    }
}

impl Linear {
    /// How far on the flaky side of the border a test is; negative on the other side.
    #[must_use]
    pub fn margin(&self, bag: &WordBag) -> f64 {
        let constant = self.weights.last().copied().unwrap_or_default();
        let weigh = |(at, value): (u32, f32)| f64::from(self.weights[at as usize] * value);
        f64::from(constant) + self.weighted(bag).into_iter().map(weigh).sum::<f64>()
    }

    /// The known words of a test by their places, weighted by how rare they are, each space made
    /// equally long.
    fn weighted(&self, bag: &WordBag) -> SparseRow {
        let mut row = Vec::new();
        for words in bag.spaces() {
            let start = row.len();
            let known = words.iter().filter_map(|(key, count)| {
                let at = self.keys.binary_search(key).ok()?;
                Some((u32::try_from(at).ok()?, (1.0 + count.ln()) * self.rarity[at]))
            });
            row.extend(known);
            let new = row.get_mut(start..).unwrap_or_default();
            let length = new.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
            new.iter_mut().for_each(|(_, value)| *value /= length.max(f32::MIN_POSITIVE));
        }
        row
    }

    /// Put it into a model file.
    pub(crate) fn save(&self, arrays: &mut Arrays) {
        arrays.numbers("linear.keys", &self.keys);
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        arrays.numbers("linear.rarity", &bits(&self.rarity));
        arrays.numbers("linear.weights", &bits(&self.weights));
    }

    /// Take it out of a model file.
    pub(crate) fn load(file: &ModelFile<'_>) -> Result<Self, ModelFileError> {
        let numbers = |name: &str| -> Result<Vec<f32>, ModelFileError> {
            Ok(file.numbers(name)?.iter().map(|bits| f32::from_bits(*bits)).collect())
        };
        let linear = Self {
            keys: file.numbers("linear.keys")?.to_vec(),
            rarity: numbers("linear.rarity")?,
            weights: numbers("linear.weights")?,
        };
        let is_whole = linear.keys.len() == linear.rarity.len()
            && linear.weights.len() == linear.keys.len() + 1
            && linear.keys.is_sorted()
            && linear.rarity.iter().chain(&linear.weights).all(|value| value.is_finite());
        let wrong = || ModelFileError::Inconsistent("the words do not match their weights".into());
        is_whole.then_some(linear).ok_or_else(wrong)
    }
}

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
    fn spaces(&self) -> impl Iterator<Item = &[(u32, f32)]> {
        self.spaces.iter().map(|(_, words)| words.as_slice())
    }

    /// All words, each once.
    fn keys(&self) -> impl Iterator<Item = u32> {
        self.spaces().flatten().map(|(key, _)| *key)
    }
}

/// The number of a word in a space.
fn key(space: WordSpace, before: Option<&str>, word: &str) -> u32 {
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

/// When no multiplier could change by more than this, nothing more is to be gained.
const CLOSE_ENOUGH: f64 = 0.1;
const MOST_PASSES: usize = 30;

/// A row: which columns, with which values.
type SparseRow = Vec<(u32, f32)>;

/// The weights that separate rows with the widest margin, the last one for a constant.
///
/// `costs` says what it costs to be wrong about each row.
fn separate(
    rows: &[SparseRow],
    positive: &[bool],
    costs: &[f64],
    columns: usize,
    seed: Seed,
) -> Vec<f32> {
    let mut weights = vec![0.0_f64; columns + 1];
    let mut multipliers = vec![0.0_f64; rows.len()];
    let norms: Vec<f64> = rows
        .iter()
        .map(|row| row.iter().map(|(_, value)| f64::from(*value).powi(2)).sum::<f64>() + 1.0)
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut chance = Chance::new(seed);
    for _ in 0..MOST_PASSES {
        chance.shuffle(&mut order);
        let mut largest = 0.0_f64;
        for &at in &order {
            let side = if positive[at] { 1.0 } else { -1.0 };
            let softness = 0.5 / costs[at];
            let gradient = side * product(&weights, &rows[at]) - 1.0 + softness * multipliers[at];
            let projected = if multipliers[at] == 0.0 { gradient.min(0.0) } else { gradient };
            largest = largest.max(projected.abs());
            if projected.abs() > 1e-12 {
                let before = multipliers[at];
                multipliers[at] = (before - gradient / (norms[at] + softness)).max(0.0);
                add(&mut weights, &rows[at], side * (multipliers[at] - before));
            }
        }
        if largest < CLOSE_ENOUGH {
            break;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "f32 is precise enough to keep")]
    let weights = weights.into_iter().map(|weight| weight as f32).collect();
    weights
}

fn product(weights: &[f64], row: &SparseRow) -> f64 {
    let constant = weights.last().copied().unwrap_or_default();
    row.iter().fold(constant, |sum, (at, value)| sum + weights[*at as usize] * f64::from(*value))
}

fn add(weights: &mut [f64], row: &SparseRow, step: f64) {
    row.iter().for_each(|(at, value)| weights[*at as usize] += step * f64::from(*value));
    if let Some(constant) = weights.last_mut() {
        *constant += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bag(words: &str) -> WordBag {
        let mut bag = WordBag::default();
        bag.add(WordSpace::Test, words.split(' '));
        bag
    }

    fn learned() -> Linear {
        let flaky = ["sleep wait a", "Sleep wait b", "wait sleep c"];
        let others = ["add a", "add b", "sub a", "sub b c"];
        let bags: Vec<WordBag> = flaky.iter().chain(&others).map(|text| bag(text)).collect();
        let positive = [true, true, true, false, false, false, false];
        let params = LinearParams { cost: 10.0, fewest: 1, seed: Seed(1) };
        params.fit(&bags, &[0, 1, 2, 3, 4, 5, 6], &positive, &[1.0; 7])
    }

    #[test]
    fn words_of_flaky_tests_speak_for_flakiness() {
        let linear = learned();
        assert!(linear.margin(&bag("sleep b")) > linear.margin(&bag("add b")));
        assert!(linear.margin(&bag("SLEEP wait")) > 0.0, "capitals do not matter");
        assert!(linear.margin(&bag("add sub")) < 0.0);
    }

    #[test]
    fn a_file_gives_back_what_was_saved_and_a_torn_one_is_refused() {
        let linear = learned();
        let mut arrays = Arrays::default();
        linear.save(&mut arrays);
        let bytes = arrays.into_file("linear", serde_json::Value::Null).expect("a file");
        let file = ModelFile::open(&bytes, "linear").expect("a whole file");
        assert_eq!(Linear::load(&file).expect("a model"), linear);
        let torn = Linear { keys: linear.keys[1..].to_vec(), ..linear };
        let mut arrays = Arrays::default();
        torn.save(&mut arrays);
        let bytes = arrays.into_file("linear", serde_json::Value::Null).expect("a file");
        let file = ModelFile::open(&bytes, "linear").expect("a whole file");
        assert!(Linear::load(&file).is_err());
    }

    #[test]
    fn two_points_are_separated_half_way() {
        let rows = vec![vec![(0, 1.0)], vec![(0, -1.0)]];
        let weights = separate(&rows, &[true, false], &[1e6; 2], 1, Seed(1));
        assert!((weights[0] - 1.0).abs() < 0.02 && weights[1].abs() < 0.02, "{weights:?}");
    }
}
