//! What is read of the tests of a project, once for all who ask: numbers for models and findings of rules;
//! and what a model says by those numbers.
//!
//! As long as no file changes, the next process need not read it again, and as long as the model does not,
//! it need not be asked again either.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use flakeproof_learn::ensemble::{
    EnsembleScore, ReadWords, Reading, SiblingPosition, SourceReader,
};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::rules::{self, Finding, RuleSet};
use rayon::prelude::*;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::source::project_source::ProjectSource;
use crate::source::source_tests::SourceTest;

/// The names under which it is kept.
const READINGS: &str = "readings";
const FINDINGS: &str = "findings";
const SCORES: &str = "scores";

/// Reads some tests of a project, for one model.
pub(crate) struct TestReader<'p> {
    pub(crate) source: &'p ProjectSource,
    pub(crate) tests: &'p [SourceTest],
    /// The reader of all tests, and the places of these among them.
    whole: Option<(&'p Self, Vec<usize>)>,
    readings: OnceLock<Vec<Reading>>,
    findings: OnceLock<Vec<Vec<Finding>>>,
    scores: OnceLock<Vec<EnsembleScore>>,
}

impl<'p> TestReader<'p> {
    /// A reader of all tests that were found in this project.
    pub(crate) fn new(source: &'p ProjectSource, tests: &'p [SourceTest]) -> Self {
        let (readings, findings, scores) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { source, tests, whole: None, readings, findings, scores }
    }

    /// A reader of some of the tests.
    pub(crate) fn of_some(whole: &'p Self, tests: &'p [SourceTest]) -> Self {
        let place = |test: &'p SourceTest| (&test.id, test.file.as_str(), test.first_line);
        let places = whole.tests.iter().enumerate().map(|(at, test)| (place(test), at));
        let places: HashMap<_, usize> = places.collect();
        let places: Option<Vec<usize>> =
            tests.iter().map(|test| places.get(&place(test)).copied()).collect();
        let whole_with_places = places.map(|places| (whole, places));
        Self { whole: whole_with_places, ..Self::new(whole.source, tests) }
    }

    /// What is read of each test, in their order, its words left out.
    pub(crate) fn readings(&self) -> &[Reading] {
        self.readings.get_or_init(|| self.known_readings().unwrap_or_else(|| self.read()))
    }

    /// What all rules find in each test, in their order; nothing else is read for it.
    pub(crate) fn findings(&self) -> &[Vec<Finding>] {
        self.findings.get_or_init(|| self.known_findings().unwrap_or_else(|| self.check()))
    }

    /// What a model says of each test, in their order, which `ask` asks it by their readings.
    pub(crate) fn scores(
        &self,
        model: &str,
        ask: impl FnOnce(&[Reading]) -> Vec<EnsembleScore>,
    ) -> &[EnsembleScore] {
        self.scores.get_or_init(|| {
            let name = format!("{SCORES} {model}");
            let known = match &self.whole {
                Some((whole, places)) => whole.scores.get().map(|all| picked(all, places)),
                None => self.source.kept(&name).filter(|it: &Vec<_>| it.len() == self.tests.len()),
            };
            known.unwrap_or_else(|| {
                let scores = ask(self.readings());
                self.keep(&name, &scores);
                scores
            })
        })
    }

    /// The function behind a test.
    pub(crate) fn find(&self, test: &SourceTest) -> Option<Declared> {
        self.source.find(&test.id)
    }

    /// What was read before.
    fn known_readings(&self) -> Option<Vec<Reading>> {
        if let Some((whole, places)) = &self.whole {
            let kept = || whole.known_readings().map(|kept| picked(&kept, places));
            return whole.readings.get().map(|all| picked(all, places)).or_else(kept);
        }
        let kept: KeptReadings = self.source.kept(READINGS)?;
        kept.into_readings().filter(|it| it.len() == self.tests.len())
    }

    /// What was found before.
    fn known_findings(&self) -> Option<Vec<Vec<Finding>>> {
        if let Some((whole, places)) = &self.whole {
            let kept = || whole.known_findings().map(|kept| picked(&kept, places));
            return whole.findings.get().map(|all| picked(all, places)).or_else(kept);
        }
        self.source.kept(FINDINGS).filter(|it: &Vec<_>| it.len() == self.tests.len())
    }

    /// Read each test; what rules find in it comes along.
    fn read(&self) -> Vec<Reading> {
        let reader = SourceReader::new(self.source.index(), ReadWords::No);
        let read = |test: &SourceTest| {
            let comments = test.language.into();
            match self.find(test) {
                Some(declared) => {
                    reader.read_and_check(declared, &test.class, &test.source, comments)
                }
                None => (Reading::of_text(&test.source, &test.class, comments), Vec::new()),
            }
        };
        let (readings, findings): (Vec<_>, Vec<_>) = self.tests.par_iter().map(read).unzip();
        if let Some(readings) = KeptReadings::new(&readings) {
            self.keep(READINGS, &readings);
        }
        if self.findings.get().is_none() {
            self.keep(FINDINGS, &findings);
            let _ = self.findings.set(findings);
        }
        readings
    }

    fn check(&self) -> Vec<Vec<Finding>> {
        let (index, all) = (self.source.index(), RuleSet::all());
        let find = |test: &SourceTest| Some(rules::check(index, self.find(test)?, None, &all));
        let findings = self.tests.par_iter().map(|test| find(test).unwrap_or_default()).collect();
        self.keep(FINDINGS, &findings);
        findings
    }

    /// Whether these are all tests of the project.
    pub(crate) fn has_all(&self) -> bool {
        self.whole.is_none() && self.tests.len() == self.source.test_count()
    }

    /// Keep what was made of all tests.
    pub(crate) fn keep<T: Serialize>(&self, name: &str, made: &T) {
        if self.has_all() {
            self.source.keep(name, made);
        }
    }
}

fn picked<T: Clone>(all: &[T], places: &[usize]) -> Vec<T> {
    places.iter().filter_map(|at| all.get(*at).cloned()).collect()
}

/// What is kept of the readings of all tests.
#[derive(Serialize, Deserialize)]
struct KeptReadings {
    smells: KeptRows,
    text: KeptRows,
    standing: Vec<Option<SiblingPosition>>,
}

impl KeptReadings {
    fn new(readings: &[Reading]) -> Option<Self> {
        Some(Self {
            smells: KeptRows::new(readings.iter().map(|it| it.smells.as_slice()))?,
            text: KeptRows::new(readings.iter().map(|it| it.text.as_slice()))?,
            standing: readings.iter().map(|it| it.standing.clone()).collect(),
        })
    }

    fn into_readings(self) -> Option<Vec<Reading>> {
        let count = self.standing.len();
        let (smells, text) = (self.smells.rows(count)?, self.text.rows(count)?);
        let rows = smells.into_iter().zip(text).zip(self.standing);
        let reading =
            |((smells, text), standing)| Reading { smells, text, standing, ..Reading::default() };
        Some(rows.map(reading).collect())
    }
}

/// Rows of equally many numbers, one behind the other.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct KeptRows {
    width: usize,
    numbers: Numbers,
}

impl KeptRows {
    /// The rows, unless one has more numbers than another.
    fn new<'r>(rows: impl Iterator<Item = &'r [f32]>) -> Option<Self> {
        let mut rows = rows.peekable();
        let width = rows.peek().map_or(0, |row| row.len());
        let mut numbers = Vec::new();
        for row in rows {
            if row.len() != width {
                return None;
            }
            numbers.extend_from_slice(row);
        }
        Some(Self { width, numbers: Numbers(numbers) })
    }

    fn rows(&self, count: usize) -> Option<Vec<Vec<f32>>> {
        let Numbers(numbers) = &self.numbers;
        let is_whole = self.width.checked_mul(count) == Some(numbers.len());
        let row = |at: usize| numbers[at * self.width..(at + 1) * self.width].to_vec();
        is_whole.then(|| (0..count).map(row).collect())
    }
}

/// Numbers, written as the bytes they are: there are many, and this machine alone reads them.
#[derive(Debug, PartialEq)]
struct Numbers(Vec<f32>);

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytemuck::cast_slice(&self.0))
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Numbers;

            fn expecting(&self, told: &mut fmt::Formatter<'_>) -> fmt::Result {
                told.write_str("the bytes of numbers")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Numbers, E> {
                let (numbers, rest) = bytes.as_chunks::<4>();
                if !rest.is_empty() {
                    return Err(E::invalid_length(bytes.len(), &self));
                }
                Ok(Numbers(numbers.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rows: &[Vec<f32>]) -> Option<Vec<Vec<u32>>> {
        let kept = KeptRows::new(rows.iter().map(Vec::as_slice))?;
        let bytes = postcard::to_stdvec(&kept).expect("it can be written");
        let read: KeptRows = postcard::from_bytes(&bytes).expect("it can be read");
        let bits = |row: Vec<f32>| row.into_iter().map(f32::to_bits).collect();
        Some(read.rows(rows.len())?.into_iter().map(bits).collect())
    }

    #[test]
    fn kept_numbers_come_back_to_the_bit() {
        let rows = [vec![1.5, f32::NAN], vec![-0.0, f32::MIN_POSITIVE]];
        let bits = |row: &Vec<f32>| row.iter().map(|it| it.to_bits()).collect::<Vec<u32>>();
        assert_eq!(kept(&rows), Some(rows.iter().map(bits).collect()));
        assert_eq!(kept(&[vec![], vec![]]), Some(vec![vec![], vec![]]));
        assert_eq!(kept(&[vec![1.0], vec![]]), None, "rows of two widths are not kept");
    }
}
