//! What boosted trees are to be like, and how they learn.

use flakeproof_core::Seed;
use serde::{Deserialize, Serialize};

use super::bins::Bins;
use super::grow::Grower;
use super::model::Boosted;
use crate::Chance;
use crate::forest::{FitError, Table};

/// What boosted trees are to be like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoostParams {
    /// How many trees.
    pub trees: usize,
    /// How much of what is wrong each tree mends.
    pub learning_rate: f64,
    /// The most leaves of a tree.
    pub leaves: usize,
    /// The fewest rows of a leaf.
    pub fewest_rows: usize,
    /// The share of rows each tree sees.
    pub row_share: f64,
    /// The share of columns each tree sees.
    pub column_share: f64,
    /// How strongly leaves are drawn to zero.
    pub penalty: f64,
    /// The seed of all chance.
    pub seed: Seed,
}

impl BoostParams {
    /// Small trees that see parts of the table: what does well on a few hundred flaky tests.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            trees: 200,
            learning_rate: 0.05,
            leaves: 15,
            fewest_rows: 20,
            row_share: 0.8,
            column_share: 0.3,
            penalty: 5.0,
            seed,
        }
    }

    /// Learn from these rows of a table; `positive` and `weights` have one value for each of them.
    ///
    /// # Errors
    /// When there is nothing to learn from or all rows have the same label.
    pub fn fit(
        &self,
        table: &Table,
        rows: &[u32],
        positive: &[bool],
        weights: &[f64],
    ) -> Result<Boosted, FitError> {
        check(table, rows, positive, weights)?;
        let bins = Bins::of(table, rows);
        let total: f64 = weights.iter().sum();
        let hits: f64 =
            weights.iter().zip(positive).filter(|(_, hit)| **hit).map(|(weight, _)| weight).sum();
        let base = (hits / (total - hits)).ln();
        let mut margins = vec![base; rows.len()];
        let mut trees = Vec::with_capacity(self.trees);
        for tree in 0..self.trees {
            let mut chance = Chance::new(self.seed.split(&format!("tree {tree}")));
            let gradients: Vec<(f64, f64)> = margins
                .iter()
                .zip(positive)
                .zip(weights)
                .map(|((margin, hit), weight)| {
                    let probability = 1.0 / (1.0 + (-margin).exp());
                    let truth = f64::from(u8::from(*hit));
                    (weight * (probability - truth), weight * probability * (1.0 - probability))
                })
                .collect();
            let columns = self.some(table.width(), self.column_share, &mut chance);
            let seen = self.some(rows.len(), self.row_share, &mut chance);
            let grown = Grower::new(self, &bins, &gradients, &columns).grow(seen);
            for (row, margin) in margins.iter_mut().enumerate() {
                *margin += grown.value(|column| bins.columns[column][row]);
            }
            trees.push(grown.unbinned(&bins.edges));
        }
        Ok(Boosted::new(base, trees, table.width()))
    }

    /// A share of the numbers below a count, ascending.
    fn some(&self, count: usize, share: f64, chance: &mut Chance) -> Vec<u32> {
        let mut all: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        chance.shuffle(&mut all);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let kept = (crate::real(count) * share).ceil() as usize;
        all.truncate(kept.max(1));
        all.sort_unstable();
        all
    }
}

fn check(table: &Table, rows: &[u32], positive: &[bool], weights: &[f64]) -> Result<(), FitError> {
    if rows.is_empty() {
        return Err(FitError::NoRows);
    }
    if table.width() == 0 {
        return Err(FitError::NoColumns);
    }
    if positive.len() != rows.len() || weights.len() != rows.len() {
        return Err(FitError::Lengths { rows: rows.len(), labels: positive.len() });
    }
    match positive.iter().filter(|hit| **hit).count() {
        0 => Err(FitError::OneClass { rows: rows.len(), label: "negative" }),
        all if all == rows.len() => Err(FitError::OneClass { rows: all, label: "positive" }),
        _ => Ok(()),
    }
}
