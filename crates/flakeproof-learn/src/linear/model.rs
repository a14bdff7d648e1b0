//! The model: which words it knows, how rare they are, and what they weigh.

use flakeproof_core::Seed;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::WordBag;
use super::descent::{SparseRow, separate};
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

#[cfg(test)]
mod tests {
    use super::super::WordSpace;
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
}
