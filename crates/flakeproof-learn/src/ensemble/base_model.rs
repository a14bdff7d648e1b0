//! The members of an ensemble, each trained.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::params::EnsembleParams;
use super::readings::{Reading, Readings};
use super::sibling_model::SiblingModel;
use crate::boost::Boosted;
use crate::flast::Opinion;
use crate::linear::Linear;
use crate::network::Network;

/// Who sits in an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseModel {
    /// Known tests with similar words.
    Neighbours,
    /// The words of the test and of the code around it.
    Words,
    /// What smells of flakiness around it.
    Smells,
    /// How data flows into its assertions (PEELER).
    Paths,
    /// What is known of its siblings, where some are known.
    Siblings,
}

impl BaseModel {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Neighbours, Self::Words, Self::Smells, Self::Paths, Self::Siblings];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Neighbours => "neighbours",
            Self::Words => "words",
            Self::Smells => "smells",
            Self::Paths => "paths",
            Self::Siblings => "siblings",
        }
    }
}

/// The members that learn weights; neighbours are asked where they live.
#[derive(Debug, Clone)]
pub struct BaseModels {
    pub(super) words: Linear,
    pub(super) smells: Boosted,
    /// Missing while an ensemble learns, and where it was left out.
    pub(super) paths: Option<Network>,
    /// Missing where no sibling of a test is known when it is asked about.
    pub(super) company: Option<SiblingModel>,
}

impl BaseModels {
    /// Let all but the network learn from some of the tests.
    pub(super) fn fit(params: &EnsembleParams, readings: &Readings, rows: &[u32]) -> Option<Self> {
        let flaky: Vec<bool> = rows.iter().map(|row| readings.tests[*row as usize].flaky).collect();
        let importance = importance(readings, rows);
        let (words, smells) = rayon::join(
            || params.linear.fit(&readings.words, rows, &flaky, &importance),
            || params.boost.fit(&readings.smells, rows, &flaky, &importance),
        );
        Some(Self { words, smells: smells.ok()?, paths: None, company: None })
    }

    /// Who sits there.
    pub(super) fn names(&self) -> Vec<BaseModel> {
        let paths = self.paths.is_some().then_some(BaseModel::Paths);
        let company = self.company.is_some().then_some(BaseModel::Siblings);
        let always = [BaseModel::Neighbours, BaseModel::Words, BaseModel::Smells];
        always.into_iter().chain(paths).chain(company).collect()
    }

    /// What they say of a test: the scores of [`BaseModel::Words`] and [`BaseModel::Smells`].
    pub(super) fn ask(&self, reading: &Reading) -> [f64; 2] {
        [self.words.margin(&reading.words), self.smells.margin(&reading.smells)]
    }
}

impl BaseModels {
    /// What they say of some tests whose neighbours among the known tests say this; a list for each
    /// member.
    #[must_use]
    pub fn ask_rows(
        &self,
        readings: &Readings,
        opinions: &[Opinion],
        test: &[u32],
    ) -> Vec<Vec<f64>> {
        let near = opinions.iter().map(|opinion| odds(opinion.flaky_share)).collect();
        let words = test.par_iter().map(|row| self.words.margin(&readings.words[*row as usize]));
        let smells =
            test.par_iter().map(|row| self.smells.margin(&readings.smells.row(*row as usize)));
        let mut said: Vec<Vec<f64>> = vec![near, words.collect(), smells.collect()];
        if let Some(network) = &self.paths {
            let read = network.ask_all(&readings.paths, test);
            said.push(read.iter().map(|opinion| odds(opinion.score)).collect());
        }
        if let Some(company) = &self.company {
            said.push(company.ask_rows(readings, opinions, &said, test));
        }
        said
    }
}

/// A share as logarithmic odds, kept from the ends.
pub(super) fn odds(share: f64) -> f64 {
    let share = share.clamp(0.002, 0.998);
    (share / (1.0 - share)).ln()
}

/// What each test counts. The flaky tests of one project are often flaky for one reason, so they
/// count the less the more there are: together as much as the square root of their number; and so do
/// the others.
pub(super) fn importance(readings: &Readings, rows: &[u32]) -> Vec<f64> {
    let mut counts: BTreeMap<(&str, bool), f64> = BTreeMap::new();
    let key = |row: &u32| {
        let test = &readings.tests[*row as usize];
        (test.project.as_str(), test.flaky)
    };
    rows.iter().for_each(|row| *counts.entry(key(row)).or_default() += 1.0);
    let weights: Vec<f64> = rows.iter().map(|row| counts[&key(row)].powf(-0.5)).collect();
    let mean = weights.iter().sum::<f64>() / crate::real(weights.len().max(1));
    weights.into_iter().map(|weight| weight / mean).collect()
}
