//! The members of an ensemble, each trained, and what each one's word is worth: a logistic
//! regression over what members said of tests that they had not seen.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::model::EnsembleParams;
use super::readings::Readings;
use super::siblings::SiblingModel;
use super::text_model::TextModel;
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
    /// The text of the test alone.
    Text,
    /// How data flows into its assertions (PEELER).
    Paths,
    /// What is known of its siblings, where some are known.
    Siblings,
}

impl BaseModel {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Neighbours, Self::Words, Self::Smells, Self::Text, Self::Paths, Self::Siblings];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Neighbours => "neighbours",
            Self::Words => "words",
            Self::Smells => "smells",
            Self::Text => "text",
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
    /// Missing where the projects of all tests that it will be asked about are known.
    pub(super) text: Option<TextModel>,
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
        Some(Self { words, smells: smells.ok()?, text: None, paths: None, company: None })
    }

    /// Who sits there.
    pub(super) fn names(&self) -> Vec<BaseModel> {
        let text = self.text.is_some().then_some(BaseModel::Text);
        let paths = self.paths.is_some().then_some(BaseModel::Paths);
        let company = self.company.is_some().then_some(BaseModel::Siblings);
        let always = [BaseModel::Neighbours, BaseModel::Words, BaseModel::Smells];
        always.into_iter().chain(text).chain(paths).chain(company).collect()
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
        let rows = test.iter().map(|row| readings.smells.row(*row as usize));
        let smells = self.smells.margins(&rows.collect::<Vec<_>>());
        let mut said: Vec<Vec<f64>> = vec![near, words.collect(), smells];
        if let Some(text) = &self.text {
            said.push(text.ask_rows(readings, test));
        }
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

impl BaseModels {
    /// The score of a test of which only the text is known, if somebody reads those.
    #[must_use]
    pub fn score_text(&self, readings: &Readings, row: u32) -> Option<f64> {
        let text = self.text.as_ref().filter(|_| !readings.sees_a_project(row))?;
        text.ask_rows(readings, &[row]).first().copied().map(super::text_model::score)
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

/// How strongly weights are drawn to zero.
const RIDGE: f64 = 1.0;
const MOST_STEPS: usize = 50;

/// The weights of the members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blend {
    /// What each member's scores are on average, and how far they lie apart.
    scale: Vec<(f64, f64)>,
    /// What each member weighs, the last one for nobody.
    weights: Vec<f64>,
}

impl Blend {
    /// The weights under which the truth is most likely. `said` has a row for each member.
    ///
    /// No weight is negative: a member that is wrong more often than chance is not listened to,
    /// because it would be right for the wrong reason.
    #[must_use]
    pub fn fit(said: &[Vec<f64>], flaky: &[bool], importance: &[f64]) -> Self {
        Self::fit_some(said, &(0..said.len()).collect::<Vec<_>>(), flaky, importance)
    }

    /// The same with weights for some of the members only.
    #[must_use]
    pub fn fit_some(
        said: &[Vec<f64>],
        sitting: &[usize],
        flaky: &[bool],
        importance: &[f64],
    ) -> Self {
        let scale: Vec<(f64, f64)> = said.iter().map(|scores| spread(scores)).collect();
        let mut active = sitting.to_vec();
        let mut blend = Self { scale, weights: Vec::new() };
        loop {
            let rows: Vec<Vec<f64>> = (0..flaky.len())
                .map(|row| active.iter().map(|at| blend.scaled(*at, said[*at][row])).collect())
                .collect();
            let found = newton(&rows, flaky, importance, active.len());
            let worst = (0..active.len()).min_by(|a, b| found[*a].total_cmp(&found[*b]));
            match worst.filter(|at| found[*at] < 0.0 && active.len() > 1) {
                Some(at) => {
                    active.remove(at);
                }
                None => {
                    let mut weights = vec![0.0; said.len() + 1];
                    active.iter().zip(&found).for_each(|(at, weight)| weights[*at] = *weight);
                    weights[said.len()] = found[active.len()];
                    blend.weights = weights;
                    return blend;
                }
            }
        }
    }

    /// What each member weighs when all scores are brought to the same spread.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.get(..self.scale.len()).unwrap_or_default()
    }

    /// The probability for what the members say, and what each adds to its logarithmic odds. A
    /// member that says nothing adds nothing.
    #[must_use]
    pub fn ask(&self, said: &[Option<f64>]) -> (f64, Vec<f64>) {
        let share = |(at, score): (usize, &Option<f64>)| {
            score.map_or(0.0, |score| self.weights[at] * self.scaled(at, score))
        };
        let shares: Vec<f64> = said.iter().enumerate().map(share).collect();
        let constant = self.weights.last().copied().unwrap_or_default();
        let odds = constant + shares.iter().sum::<f64>();
        (1.0 / (1.0 + (-odds).exp()), shares)
    }

    fn scaled(&self, at: usize, score: f64) -> f64 {
        let (mean, deviation) = self.scale[at];
        ((score - mean) / deviation).clamp(-8.0, 8.0)
    }
}

fn spread(scores: &[f64]) -> (f64, f64) {
    let count = crate::real(scores.len().max(1));
    let mean = scores.iter().sum::<f64>() / count;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt().max(1e-9))
}

/// Newton's method; the last weight is that of the constant, which is not drawn to zero.
fn newton(rows: &[Vec<f64>], flaky: &[bool], importance: &[f64], width: usize) -> Vec<f64> {
    let mut weights = vec![0.0; width + 1];
    for _ in 0..MOST_STEPS {
        let mut gradient = vec![0.0; width + 1];
        let mut slopes = vec![vec![0.0; width + 1]; width + 1];
        for ((row, flaky), importance) in rows.iter().zip(flaky).zip(importance) {
            let value = |at: usize| row.get(at).copied().unwrap_or(1.0);
            let odds: f64 = weights.iter().enumerate().map(|(at, w)| w * value(at)).sum();
            let probability = 1.0 / (1.0 + (-odds).exp());
            let miss = importance * (probability - f64::from(u8::from(*flaky)));
            let slope = importance * probability * (1.0 - probability);
            for (a, slopes) in slopes.iter_mut().enumerate() {
                gradient[a] += miss * value(a);
                for (b, sum) in slopes.iter_mut().enumerate().take(a + 1) {
                    *sum += slope * value(a) * value(b);
                }
            }
        }
        for at in 0..width {
            gradient[at] += RIDGE * weights[at];
            slopes[at][at] += RIDGE;
        }
        slopes[width][width] += 1e-9;
        let step = solve(slopes, gradient);
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= step.clamp(-2.0, 2.0));
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    weights
}

/// The solution of a symmetric system whose lower half is given (Cholesky).
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for a in 0..size {
        for b in 0..=a {
            let sum: f64 = (0..b).map(|k| matrix[a][k] * matrix[b][k]).sum();
            matrix[a][b] = if a == b {
                (matrix[a][a] - sum).max(1e-12).sqrt()
            } else {
                (matrix[a][b] - sum) / matrix[b][b]
            };
        }
    }
    for a in 0..size {
        let sum: f64 = (0..a).map(|k| matrix[a][k] * right[k]).sum();
        right[a] = (right[a] - sum) / matrix[a][a];
    }
    for a in (0..size).rev() {
        let sum: f64 = (a + 1..size).map(|k| matrix[k][a] * right[k]).sum();
        right[a] = (right[a] - sum) / matrix[a][a];
    }
    right
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;

    use super::*;
    use crate::Chance;

    #[test]
    fn a_member_that_knows_weighs_and_one_that_guesses_does_not() {
        let mut chance = Chance::new(Seed(3));
        let flaky: Vec<bool> = (0..2000).map(|_| chance.unit() < 0.1).collect();
        let knows: Vec<f64> =
            flaky.iter().map(|it| f64::from(u8::from(*it)) + chance.unit()).collect();
        let guesses: Vec<f64> = flaky.iter().map(|_| chance.unit()).collect();
        let lies: Vec<f64> = knows.iter().map(|score| -score + chance.unit()).collect();
        let blend = Blend::fit(&[knows, guesses, lies], &flaky, &vec![1.0; 2000]);
        let weights = blend.weights();
        assert!(weights[0] > 1.0 && weights[1].abs() < 0.3 && weights[2] == 0.0, "{weights:?}");
        assert!(blend.ask(&[Some(1.9), Some(0.5), None]).0 > 0.5);
        assert!(blend.ask(&[Some(0.1), Some(0.5), None]).0 < 0.05);
    }
}
