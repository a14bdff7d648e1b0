//! What a jury is to be like, and how it learns.

use flakeproof_core::Seed;
use rayon::prelude::*;

use super::blend::Blend;
use super::member::{Member, Members, importance};
use super::model::{About, Jury};
use super::readings::Readings;
use crate::boost::BoostParams;
use crate::evaluate::{Fold, HeldOut, Isotonic, folds};
use crate::flast::{Aim, Corpus, HoldOut, Level, Recipe, Thresholds};
use crate::labelled;
use crate::linear::LinearParams;

/// What a jury is to be like.
#[derive(Debug, Clone, PartialEq)]
pub struct JuryParams {
    /// What is held out to learn what each member's word is worth.
    pub hold_out: HoldOut,
    /// In how many parts.
    pub parts: usize,
    /// How neighbours are found.
    pub recipe: Recipe,
    /// How words are weighed.
    pub linear: LinearParams,
    /// How smells are weighed.
    pub boost: BoostParams,
    /// The precision of the careful threshold.
    pub careful_precision: f64,
    /// The seed of all chance.
    pub seed: Seed,
}

/// Why no jury can be trained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JuryError {
    /// There are too few tests, classes or projects, or too few flaky ones.
    #[error("{tests} tests, {flaky} of them flaky, are too few to learn from and to hold out")]
    TooFew {
        /// How many tests there are.
        tests: usize,
        /// How many of them are flaky.
        flaky: usize,
    },
}

/// What members said of tests that they had not seen.
pub(super) struct HeldOutWords {
    pub(super) said: Vec<Vec<f64>>,
    pub(super) rows: Vec<u32>,
}

impl JuryParams {
    /// The jury that does best on held-out parts of the labelled tests.
    #[must_use]
    pub fn new(hold_out: HoldOut, seed: Seed) -> Self {
        Self {
            hold_out,
            parts: 5,
            recipe: Recipe::rarity(),
            linear: LinearParams { cost: 0.3, fewest: 2, seed },
            boost: BoostParams::new(seed),
            careful_precision: 0.9,
            seed,
        }
    }

    /// Learn from labelled tests.
    ///
    /// # Errors
    /// When there are too few of them.
    pub fn fit(&self, readings: &Readings, name: &str) -> Result<Jury<'static>, JuryError> {
        let corpus = Corpus::of_tests(&readings.tests, self.recipe.cut);
        let all: Vec<u32> = (0..u32::try_from(readings.tests.len()).unwrap_or(u32::MAX)).collect();
        let (members, about) = self.learn(readings, &corpus, &all, name)?;
        Ok(Jury::new(about, members, corpus))
    }

    /// Learn from some of the tests.
    pub(super) fn learn(
        &self,
        readings: &Readings,
        corpus: &Corpus<'_>,
        rows: &[u32],
        name: &str,
    ) -> Result<(Members, About), JuryError> {
        let flaky = rows.iter().filter(|row| readings.tests[**row as usize].flaky).count();
        let too_few = JuryError::TooFew { tests: rows.len(), flaky };
        let held_out = self.hold_out(readings, corpus, rows).ok_or(too_few.clone())?;
        let labels: Vec<bool> =
            held_out.rows.iter().map(|row| readings.tests[*row as usize].flaky).collect();
        let weights = match self.hold_out {
            HoldOut::Project => importance(readings, &held_out.rows),
            HoldOut::Test | HoldOut::Class => vec![1.0; labels.len()],
        };
        let blend = Blend::fit(&held_out.said, &labels, &weights);
        let scored: Vec<(f64, bool)> = labels
            .iter()
            .enumerate()
            .map(|(at, flaky)| {
                let said: Vec<f64> = held_out.said.iter().map(|scores| scores[at]).collect();
                (blend.ask(&said).0, *flaky)
            })
            .collect();
        let others = labels.iter().filter(|flaky| !**flaky).count();
        let scored = HeldOut::new(scored, others);
        let members = Members::fit(self, readings, rows).ok_or(too_few)?;
        let tests: Vec<_> = rows.iter().map(|row| readings.tests[*row as usize].clone()).collect();
        let mut projects: Vec<String> = tests.iter().map(|test| test.project.clone()).collect();
        projects.sort();
        projects.dedup();
        let about = About {
            name: name.to_owned(),
            recipe: self.recipe.clone(),
            seed: self.seed,
            tests: rows.len(),
            flaky,
            projects,
            data: labelled::digest(&tests),
            hold_out: self.hold_out,
            members: Member::ALL.to_vec(),
            average_precision: scored.average_precision(),
            thresholds: self.thresholds(&scored),
            calibration: Isotonic::fit(&scored),
            blend,
        };
        Ok((members, about))
    }

    fn thresholds(&self, held_out: &HeldOut) -> Thresholds {
        let level = |aim: Aim| aim.threshold(held_out).map(|from| Level::at(from, held_out));
        Thresholds {
            balanced: level(Aim::Balance),
            careful: level(Aim::Precision(self.careful_precision)),
            careful_precision: self.careful_precision,
        }
    }

    /// Ask each part of the tests about members that learned from the other parts.
    fn hold_out(
        &self,
        readings: &Readings,
        corpus: &Corpus<'_>,
        rows: &[u32],
    ) -> Option<HeldOutWords> {
        let parts = self.inner_folds(readings, rows);
        let heard: Vec<Option<(Vec<u32>, Vec<Vec<f64>>)>> = parts
            .par_iter()
            .map(|part| {
                let of = |places: &[u32]| -> Vec<u32> {
                    places.iter().map(|place| rows[*place as usize]).collect()
                };
                let (train, test) = (of(&part.train), of(&part.test));
                let members = Members::fit(self, readings, &train)?;
                let said = members.ask_rows(self, readings, corpus, &train, &test);
                Some((test, said))
            })
            .collect();
        let mut found =
            HeldOutWords { said: vec![Vec::new(); Member::ALL.len()], rows: Vec::new() };
        for part in heard {
            let (test, said) = part?;
            found.said.iter_mut().zip(said).for_each(|(all, new)| all.extend(new));
            found.rows.extend(test);
        }
        (!found.rows.is_empty()).then_some(found)
    }

    fn inner_folds(&self, readings: &Readings, rows: &[u32]) -> Vec<Fold> {
        let (projects, classes) = readings.groups();
        let pick =
            |groups: &[u32]| -> Vec<u32> { rows.iter().map(|row| groups[*row as usize]).collect() };
        let flaky: Vec<bool> = rows.iter().map(|row| readings.tests[*row as usize].flaky).collect();
        let seed = self.seed.split("parts");
        match self.hold_out {
            HoldOut::Test => folds::stratified(&flaky, self.parts, seed),
            HoldOut::Class => folds::grouped(&flaky, &pick(&classes), self.parts, seed),
            HoldOut::Project => folds::grouped(&flaky, &pick(&projects), self.parts, seed),
        }
    }
}
