//! Balance, then learn: one of the paper's pipelines (section 4.2.2).

use flakeproof_core::Seed;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use crate::balance::{Balance, BalanceError};
use crate::forest::{AskError, FitError, Forest, ForestParams, Kind, Table, TableError};

/// A balancing technique and a forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The kind of forest.
    pub kind: Kind,
    /// How many trees it has.
    pub trees: usize,
    /// How the classes are balanced before it learns.
    pub balance: Balance,
}

/// Why a pipeline cannot learn or answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LearnError {
    /// The classes cannot be balanced.
    #[error(transparent)]
    Balance(#[from] BalanceError),
    /// No forest grows.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The features are no numbers to learn from.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The features are not those that it learned from.
    #[error(transparent)]
    Ask(#[from] AskError),
}

impl Pipeline {
    /// The paper's best for a problem (Table 5).
    #[must_use]
    pub fn best_for(problem: Problem) -> Self {
        let (kind, trees) = match problem {
            Problem::Nod => (Kind::ExtraTrees, 100),
            Problem::NodVsVictim => (Kind::RandomForest, 75),
            Problem::Victim => (Kind::ExtraTrees, 75),
            Problem::Polluter => (Kind::RandomForest, 100),
        };
        Self { kind, trees, balance: Balance::Smote }
    }

    /// Balance and learn.
    ///
    /// # Errors
    /// When the classes cannot be balanced or told apart.
    pub fn fit(self, table: &Table, positive: &[bool], seed: Seed) -> Result<Forest, LearnError> {
        let (table, positive) = self.balance.apply(table, positive, seed.split("balance"))?;
        let params = ForestParams { trees: self.trees, ..ForestParams::new(self.kind, seed) };
        Ok(params.fit(&table, &positive)?)
    }
}
