//! A trained ensemble of networks: what it says about tests, and how it lies in a model file.
//!
//! The vector of a word is kept as 8-bit numbers and their scale, weights as 16-bit numbers (IEEE 754
//! binary16): three members that know 20,000 words take 4 MB. A trained network is rounded to just these
//! numbers before it is measured, so that what is read is what was written, to the last bit.

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::batch::{Batch, Reading};
use super::corpus::PathCorpus;
use super::matrix::add_scaled;
use super::member::Member;
use super::vocabulary::{Vocabulary, WordTable};
use super::weights::{Shape, small};
use crate::Chance;
use crate::model_file::{Arrays, ModelFile, ModelFileError};

/// A trained ensemble of networks.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    vocabulary: Vocabulary,
    members: Vec<Member>,
}

/// What an ensemble says about a test.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkOpinion {
    /// How likely it is flaky, from 0 to 1, among as many flaky tests as others.
    pub score: f64,
    /// How much each path of the test counted; together 1.
    pub attention: Vec<f32>,
}

/// How many tests are computed together when many are asked about.
const TOGETHER: usize = 8;

impl Network {
    pub(super) fn new(vocabulary: Vocabulary, members: Vec<Member>) -> Self {
        Self { vocabulary, members }
    }

    pub(super) fn add(&mut self, member: Member) {
        self.members.push(member);
    }

    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// How many networks answer together.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// How many words it knows.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.vocabulary.len()
    }

    /// What it says about one test of a corpus: the mean of its members' log odds and attentions.
    /// Words it does not know are skipped.
    #[must_use]
    pub fn ask(&self, corpus: &PathCorpus, test: u32) -> NetworkOpinion {
        let vocabulary = |word: u32| self.vocabulary.number(corpus.word_text(word));
        let batch = reading(corpus, vocabulary).read(&[test], &mut Chance::new(Seed(0)));
        let opinion = self.opinions(&batch).pop();
        opinion.unwrap_or_else(|| NetworkOpinion { score: 0.5, attention: Vec::new() })
    }

    /// What it says about some tests of a corpus, in their order. For many tests this is faster.
    #[must_use]
    pub fn ask_all(&self, corpus: &PathCorpus, tests: &[u32]) -> Vec<NetworkOpinion> {
        let translation = self.vocabulary.translation(corpus);
        tests
            .par_chunks(TOGETHER)
            .flat_map_iter(|tests| {
                let reading = reading(corpus, |word: u32| translation[word as usize]);
                self.opinions(&reading.read(tests, &mut Chance::new(Seed(0))))
            })
            .collect()
    }

    fn opinions(&self, batch: &Batch) -> Vec<NetworkOpinion> {
        let share = 1.0 / crate::real(self.members.len());
        let mut opinions: Vec<NetworkOpinion> = batch
            .tests()
            .map(|paths| NetworkOpinion { score: 0.0, attention: vec![0.0; paths.len()] })
            .collect();
        for member in &self.members {
            let forward = member.forward(batch, None);
            let answers = forward.flaky().iter().zip(forward.attention());
            for (opinion, (score, attention)) in opinions.iter_mut().zip(answers) {
                opinion.score += share * log_odds(*score);
                add_scaled(&mut opinion.attention, small(share), attention);
            }
        }
        for opinion in &mut opinions {
            opinion.score = 1.0 / (1.0 + (-opinion.score).exp());
        }
        opinions
    }
}

/// The log odds of a probability. The mean of several members' log odds has the spread of one
/// member's, so that a threshold chosen on the scores of one holds for all; the mean of their
/// probabilities is drawn to the middle.
fn log_odds(probability: f64) -> f64 {
    let probability = probability.clamp(1e-12, 1.0 - 1e-12);
    (probability / (1.0 - probability)).ln()
}

/// All paths with all their words. Nothing is left to chance.
fn reading<V: Fn(u32) -> Option<u32>>(corpus: &PathCorpus, vocabulary: V) -> Reading<'_, V> {
    Reading { corpus, vocabulary, most_paths: usize::MAX, word_dropout: 0.0 }
}

/// The kind of these model files.
pub const KIND: &str = "peeler";

/// The largest 8-bit number of a vector.
const LARGEST: f32 = 127.0;

/// The smallest scale of a known word, 2^-14. Unknown words have the scale 0.
const LEAST_SCALE: f32 = 6.103_515_6e-5;

#[derive(Debug, Serialize, Deserialize)]
struct Sizes {
    dimension: usize,
    hidden: usize,
    members: usize,
    /// Networks that did not say so would answer otherwise.
    rectified: bool,
}

impl Network {
    /// The bytes of a model file with this network, and with what is to be known about it.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn to_file(&self, about: &impl Serialize) -> Result<Vec<u8>, ModelFileError> {
        let about = serde_json::to_value(about).map_err(|error| inconsistent(error.to_string()))?;
        let Some(Shape { dimension, hidden }) = self.members().first().map(|one| one.shape) else {
            return Err(inconsistent("it has no member"));
        };
        let sizes = Sizes { dimension, hidden, members: self.member_count(), rectified: true };
        let mut arrays = Arrays::default();
        let words = self.vocabulary().words();
        let ends: Vec<u32> = words
            .iter()
            .scan(0, |end, word| {
                *end += u32::try_from(word.len()).unwrap_or(u32::MAX);
                Some(*end)
            })
            .collect();
        arrays.bytes("words", words.concat().as_bytes());
        arrays.numbers("word_ends", &ends);
        let (mut vectors, mut scales) = (Vec::new(), Vec::new());
        for member in self.members() {
            pack(&member.words, &mut vectors, &mut scales);
        }
        arrays.bytes("vectors", &vectors);
        arrays.bytes("scales", &scales);
        let weights = self.members().iter().flat_map(|member| &member.weights);
        let weights: Vec<u8> = weights.flat_map(|w| to_half(*w).to_le_bytes()).collect();
        arrays.bytes("weights", &weights);
        arrays.into_file(KIND, json!({"sizes": sizes, "about": about}))
    }

    /// The network in the bytes of a model file, and what it says about itself.
    ///
    /// # Errors
    /// When the file is not a whole, unchanged network, or its content makes no sense.
    pub fn of_file<A: DeserializeOwned>(bytes: &[u8]) -> Result<(Self, A), ModelFileError> {
        let file = ModelFile::open(bytes, KIND)?;
        let header = |name: &str| file.header.model.get(name).cloned().unwrap_or(Value::Null);
        let wrong = |error: serde_json::Error| inconsistent(error.to_string());
        let about = serde_json::from_value(header("about")).map_err(wrong)?;
        let sizes: Sizes = serde_json::from_value(header("sizes")).map_err(wrong)?;
        Ok((Self::of_arrays(&file, &sizes)?, about))
    }

    fn of_arrays(file: &ModelFile<'_>, sizes: &Sizes) -> Result<Self, ModelFileError> {
        let Sizes { dimension, hidden, members, rectified } = *sizes;
        let sane = |size: usize| (1..=4096).contains(&size);
        if !sane(dimension) || !sane(hidden) || !sane(members) || !rectified {
            return Err(inconsistent("its sizes make no sense"));
        }
        let words = words(file.bytes("words")?, file.numbers("word_ends")?)?;
        let count = words.len();
        let vocabulary =
            Vocabulary::of_words(words).ok_or_else(|| inconsistent("a word comes twice"))?;
        let shape = Shape { dimension, hidden };
        let (vectors, scales) = (file.bytes("vectors")?, file.bytes("scales")?);
        let weights = file.bytes("weights")?;
        let weight_bytes = 2 * shape.places().count;
        let agree = vectors.len() == members * count * dimension
            && scales.len() == members * count * 2
            && weights.len() == members * weight_bytes;
        if !agree {
            return Err(inconsistent("its arrays do not fit together"));
        }
        let members = (0..members)
            .map(|member| {
                let part = |size: usize| member * size..(member + 1) * size;
                let vectors = &vectors[part(count * dimension)];
                let words = unpack(vectors, &halves(&scales[part(2 * count)])?, dimension)?;
                Ok(Member { shape, words, weights: halves(&weights[part(weight_bytes)])? })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self::new(vocabulary, members))
    }
}

impl Member {
    /// The same network with the numbers that a model file keeps.
    pub(super) fn rounded(mut self) -> Self {
        let table = &mut self.words;
        let vectors = table.vectors.chunks_exact_mut(table.dimension);
        for (vector, known) in vectors.zip(&table.known) {
            let scale = from_half(scale_of(vector, *known));
            vector.iter_mut().for_each(|value| *value = scale * f32::from(byte(*value, scale)));
        }
        self.weights.iter_mut().for_each(|weight| *weight = from_half(to_half(*weight)));
        self
    }
}

/// Append the vectors of words as bytes, and their scales.
fn pack(table: &WordTable, bytes: &mut Vec<u8>, scales: &mut Vec<u8>) {
    for (vector, known) in table.vectors.chunks_exact(table.dimension).zip(&table.known) {
        let scale = scale_of(vector, *known);
        scales.extend(scale.to_le_bytes());
        bytes.extend(vector.iter().map(|v| byte(*v, from_half(scale)).cast_unsigned()));
    }
}

fn unpack(bytes: &[u8], scales: &[f32], dimension: usize) -> Result<WordTable, ModelFileError> {
    if scales.iter().any(|scale| *scale < 0.0) {
        return Err(inconsistent("a scale is negative"));
    }
    let mut vectors = vec![0.0; bytes.len()];
    let rows = vectors.chunks_exact_mut(dimension).zip(bytes.chunks_exact(dimension));
    for ((vector, bytes), scale) in rows.zip(scales) {
        for (value, byte) in vector.iter_mut().zip(bytes) {
            *value = scale * f32::from(byte.cast_signed());
        }
    }
    Ok(WordTable { dimension, vectors, known: scales.iter().map(|scale| *scale > 0.0).collect() })
}

/// The scale of a vector, with which its largest number becomes 127; 0 for an unknown word.
fn scale_of(vector: &[f32], known: bool) -> u16 {
    let largest = vector.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
    if known { to_half((largest / LARGEST).max(LEAST_SCALE)) } else { 0 }
}

/// The nearest 8-bit number.
fn byte(value: f32, scale: f32) -> i8 {
    let scaled = if scale > 0.0 { value / scale } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, reason = "it is between -127 and 127")]
    let byte = scaled.round().clamp(-LARGEST, LARGEST) as i8;
    byte
}

/// Finite numbers of 16 bits each.
fn halves(bytes: &[u8]) -> Result<Vec<f32>, ModelFileError> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let values: Vec<f32> = pairs.iter().map(|pair| from_half(u16::from_le_bytes(*pair))).collect();
    if values.iter().all(|value| value.is_finite()) {
        Ok(values)
    } else {
        Err(inconsistent("a number is not finite"))
    }
}

/// Words that lie one after another, each up to its end.
fn words(bytes: &[u8], ends: &[u32]) -> Result<Vec<String>, ModelFileError> {
    if !ends.is_sorted() || ends.last().map_or(0, |end| *end as usize) != bytes.len() {
        return Err(inconsistent("words do not end where they should"));
    }
    let mut start = 0;
    ends.iter()
        .map(|end| {
            let word = &bytes[start..*end as usize];
            start = *end as usize;
            String::from_utf8(word.to_vec()).map_err(|_| inconsistent("a word is not UTF-8"))
        })
        .collect()
}

fn inconsistent(what: impl Into<String>) -> ModelFileError {
    ModelFileError::Inconsistent(what.into())
}

/// The nearest number of 16 bits; of two equally near ones the even one. What is too large for 16
/// bits becomes the largest number there is.
fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = u16::try_from(bits >> 16 & 0x8000).unwrap_or(0);
    if value.is_nan() {
        return sign | 0x7E00;
    }
    let value = value.abs().min(65_504.0);
    // Numbers below 2^-14 lie at equal distances of 2^-24; larger ones keep ten bits of fraction.
    let magnitude = if value < 6.103_515_6e-5 {
        // Adding 0.5 moves them to the last bits, rounded to just that distance.
        (value + 0.5).to_bits() - 0.5f32.to_bits()
    } else {
        let bits = value.to_bits() - (112 << 23);
        (bits + 0xFFF + (bits >> 13 & 1)) >> 13
    };
    sign | u16::try_from(magnitude).unwrap_or(0x7BFF).min(0x7BFF)
}

/// The number that these 16 bits mean.
fn from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7FFF);
    let value = match magnitude >> 10 {
        0 => f32::from(half & 0x3FF) / 16_777_216.0,
        31 => f32::from_bits(0x7F80_0000 | (magnitude & 0x3FF) << 13),
        _ => f32::from_bits((magnitude << 13) + (112 << 23)),
    };
    f32::from_bits(value.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_finite_half_comes_back() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_finite() {
                assert_eq!(to_half(value), half, "{value}");
            } else {
                assert!(half & 0x7C00 == 0x7C00);
            }
        }
    }

    #[test]
    fn known_numbers_have_their_bits() {
        let known = [(1.0, 0x3C00), (-2.0, 0xC000), (65504.0, 0x7BFF), (5.960_464_5e-8, 1)];
        for (value, half) in known {
            assert_eq!((to_half(value), from_half(half)), (half, value));
        }
        assert_eq!(to_half(1e9), 0x7BFF);
        assert!(from_half(to_half(f32::NAN)).is_nan());
    }

    proptest! {
        #[test]
        fn no_half_is_nearer(value in -70_000.0f32..70_000.0, shrink in 0u8..40) {
            let value = value / f32::from(shrink).exp2();
            let half = to_half(value);
            let off = |half: u16| (from_half(half) - value.clamp(-65_504.0, 65_504.0)).abs();
            for other in [half.wrapping_sub(1), half.wrapping_add(1)] {
                if from_half(other).is_finite() && (other ^ half) & 0x8000 == 0 {
                    prop_assert!(off(half) <= off(other));
                }
            }
        }
    }
}
