//! The member that knows a test by the company it keeps: what is known of its siblings and of the tests
//! that read like it, together with how it smells and what the other members say.

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::base_model::odds;
use super::params::HeldOutWords;
use super::readings::{Reading, Readings};
use super::siblings::{Sibling, Siblings, short};
use crate::evaluate::folds;
use crate::flast::{Corpus, Opinion};
use crate::forest::{FeaturesPerSplit, Forest, ForestKind, ForestParams, MOST_FEATURES, Table};
use crate::model_file::{Aligned, ModelFileError};

/// How many neighbours the nearest shares are told of.
const NEAREST: [usize; 4] = [1, 3, 7, 15];
/// Each cut looks at one column in so many.
const COLUMNS_FOR_EACH_LOOKED_AT: usize = 5;
const TREES: usize = 300;

/// The member, and the tests that it knows.
#[derive(Debug, Clone)]
pub(super) struct SiblingModel {
    forest: Forest,
    /// By their rows.
    known: Vec<Sibling>,
    siblings: Siblings,
}

/// What a file keeps of it besides the forest.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    known: Vec<Sibling>,
}

impl SiblingModel {
    /// Learn from what others said of tests they had not seen and what was known around them then; and
    /// what is said of each of these tests by company that did not learn from it.
    pub(super) fn fit(
        readings: &Readings,
        heard: &HeldOutWords,
        known: &[u32],
        parts: usize,
        seed: Seed,
    ) -> Option<(Self, Vec<f64>)> {
        let rows: Vec<Vec<f32>> = heard
            .around
            .iter()
            .enumerate()
            .map(|(at, around)| {
                let said: Vec<f64> = heard.said.iter().map(|scores| scores[at]).collect();
                row(&readings.smells.row(heard.rows[at] as usize), around, &said)
            })
            .collect();
        let table = Table::from_rows(&rows).ok()?;
        let flaky: Vec<bool> = heard.rows.iter().map(|row| readings.is_flaky(*row)).collect();
        let looked_at = table.width().div_ceil(COLUMNS_FOR_EACH_LOOKED_AT);
        let params = ForestParams {
            trees: TREES,
            features_per_split: FeaturesPerSplit::Count(looked_at),
            ..ForestParams::new(ForestKind::ExtraTrees, seed)
        };
        let mut scores = vec![0.0; rows.len()];
        for part in folds::stratified(&flaky, parts, seed.split("company")) {
            let labels: Vec<bool> = part.train.iter().map(|row| flaky[*row as usize]).collect();
            let forest = params.fit(&table.select(&part.train), &labels).ok()?;
            let said = forest.predict(&table.select(&part.test)).ok()?;
            part.test.iter().zip(said).for_each(|(row, it)| scores[*row as usize] = odds(it));
        }
        let forest = params.fit(&table, &flaky).ok()?;
        let known = known.iter().map(|row| readings.sibling(*row).clone()).collect();
        Some((Self::new(forest, known), scores))
    }

    fn new(forest: Forest, known: Vec<Sibling>) -> Self {
        Self { forest, siblings: Siblings::new(&known), known }
    }

    /// What it says of some of the tests, given what the others say of them.
    pub(super) fn ask_rows(
        &self,
        readings: &Readings,
        opinions: &[Opinion],
        said: &[Vec<f64>],
        test: &[u32],
    ) -> Vec<f64> {
        let rows: Vec<Vec<f32>> = (0..test.len())
            .into_par_iter()
            .map(|at| {
                let around = around(&self.siblings, readings, &opinions[at], test[at]);
                let said: Vec<f64> = said.iter().map(|scores| scores[at]).collect();
                row(&readings.smells.row(test[at] as usize), &around, &said)
            })
            .collect();
        self.ask_table(&rows).unwrap_or_else(|| vec![0.0; test.len()])
    }

    fn ask_table(&self, rows: &[Vec<f32>]) -> Option<Vec<f64>> {
        let said = self.forest.predict(&Table::from_rows(rows).ok()?).ok()?;
        Some(said.into_iter().map(odds).collect())
    }

    /// What it says of a test that nobody knows yet; nothing where it cannot be told where it stands.
    pub(super) fn ask(
        &self,
        corpus: &Corpus<'_>,
        opinion: &Opinion,
        reading: &Reading,
        said: &[f64],
    ) -> Option<f64> {
        let standing = reading.standing.as_ref()?;
        let near = near(opinion, |row| {
            let sibling = &self.known[row as usize];
            (corpus.is_flaky(row), sibling.standing.class == standing.class)
        });
        let around = [self.siblings.around(standing), near].concat();
        Some(*self.ask_table(&[row(&reading.smells, &around, said)])?.first()?)
    }

    /// The bytes of a file.
    pub(super) fn to_file(&self) -> Result<Vec<u8>, ModelFileError> {
        self.forest.to_file(&Kept { known: self.known.clone() })
    }

    /// What is in the bytes of a file.
    pub(super) fn of_file(bytes: &[u8]) -> Result<Self, ModelFileError> {
        let (forest, Kept { known }) = Forest::of_file(Aligned::copy_of(bytes).bytes())?;
        Ok(Self::new(forest, known))
    }
}

/// What is known around one of the tests.
pub(super) fn around(
    siblings: &Siblings,
    readings: &Readings,
    opinion: &Opinion,
    test: u32,
) -> Vec<f32> {
    let standing = &readings.sibling(test).standing;
    let near = near(opinion, |row| {
        let other = readings.sibling(row);
        let is_own =
            other.standing.project == standing.project && other.standing.class == standing.class;
        (other.flaky, is_own)
    });
    [siblings.around(standing), near].concat()
}

/// What the nearest tests say: how near a flaky and another test are, anywhere and in the own class; the
/// flaky share of the nearest. `about` tells of a row whether it is flaky and of the own class.
fn near(opinion: &Opinion, about: impl Fn(u32) -> (bool, bool)) -> Vec<f32> {
    let near: Vec<(f32, bool, bool)> = opinion
        .neighbours
        .iter()
        .map(|it| {
            let (flaky, is_own) = about(it.row);
            (it.similarity, flaky, is_own)
        })
        .collect();
    let nearest = |wanted: bool, anywhere: bool| {
        let found = near.iter().filter(|(_, flaky, own)| *flaky == wanted && (anywhere || *own));
        found.map(|(similarity, ..)| *similarity).fold(f32::NAN, f32::max)
    };
    let share = |count: usize| {
        let some = &near[..count.min(near.len())];
        let all: f32 = some.iter().map(|(similarity, ..)| similarity).sum();
        let flaky = some.iter().filter(|(_, flaky, _)| *flaky);
        flaky.map(|(similarity, ..)| similarity).sum::<f32>() / all.max(f32::MIN_POSITIVE)
    };
    let nearest = [(true, true), (false, true), (true, false), (false, false)]
        .map(|(wanted, anywhere)| nearest(wanted, anywhere));
    nearest.into_iter().chain(NEAREST.map(share)).collect()
}

/// A row of the forest's table. It has no room for all smells; those closest to the test come first.
fn row(smells: &[f32], around: &[f32], said: &[f64]) -> Vec<f32> {
    let room = MOST_FEATURES.saturating_sub(around.len() + said.len()).min(smells.len());
    let said = said.iter().map(|score| short(*score));
    smells[..room].iter().copied().chain(around.iter().copied()).chain(said).collect()
}
