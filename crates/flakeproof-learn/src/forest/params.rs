//! What a forest is to be like, and how it is grown.
//!
//! The defaults are those of scikit-learn: gini, trees without a limit, the square root of the number
//! of features at each cut. Where it differs: numbers are told apart exactly (scikit-learn takes
//! numbers closer than 1e-7 for equal), and rows in a leaf are counted as often as they were drawn.
//! A missing number that a cut never saw in training goes where most rows went.

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::best_cut::{BestCut, MISSING};
use super::cut::{ClassWeights, Counts, RandomCut, Splitter};
use super::table::Table;
use super::tree::{Grower, Limits, MOST_FEATURES, Tree};
use super::trees::Forest;
use crate::chance::SplitMix;

/// The two kinds of forests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForestKind {
    /// Rows drawn with putting back, the best cut of some features (Breiman, 2001).
    RandomForest,
    /// All rows, the best of random cuts of some features (Geurts et al., 2006).
    ExtraTrees,
}

/// How many features are looked at for each cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeaturesPerSplit {
    /// The square root of their number.
    Sqrt,
    /// All of them.
    All,
    /// So many, or all when there are fewer.
    Count(usize),
}

/// What rows of the two classes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// Each row counts the same.
    None,
    /// Both classes count the same, each row the less the more of its class there are.
    Balanced,
}

/// What a forest is to be like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForestParams {
    /// Which kind.
    pub kind: ForestKind,
    /// How many trees.
    pub trees: usize,
    /// How many features are looked at for each cut.
    pub features_per_split: FeaturesPerSplit,
    /// What rows of the two classes count.
    pub class_weight: ClassWeight,
    /// How many cuts lie one below the other at most; `None` sets no limit.
    pub max_depth: Option<u32>,
    /// How many rows a leaf has at least.
    pub min_samples_leaf: u32,
    /// The seed of all chance.
    pub seed: Seed,
}

/// Why no forest grows from a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForestFitError {
    /// There is no row.
    #[error("there are no rows to learn from")]
    NoRows,
    /// There is no column.
    #[error("there are no columns to learn from")]
    NoColumns,
    /// There are more or fewer labels than rows.
    #[error("there are {labels} labels for {rows} rows")]
    Lengths {
        /// How many rows.
        rows: usize,
        /// How many labels.
        labels: usize,
    },
    /// All rows have the same label.
    #[error("all {rows} rows are {label}, and a forest needs both classes")]
    OneClass {
        /// How many rows.
        rows: usize,
        /// What all of them are.
        label: &'static str,
    },
    /// No tree was asked for.
    #[error("a forest needs at least one tree")]
    NoTrees,
    /// There are too many rows or columns for the layout of the trees.
    #[error("{rows} rows and {columns} columns are more than a tree can hold")]
    TooLarge {
        /// How many rows.
        rows: usize,
        /// How many columns.
        columns: usize,
    },
}

impl ForestParams {
    /// A forest of 100 trees with scikit-learn's defaults.
    #[must_use]
    pub fn new(kind: ForestKind, seed: Seed) -> Self {
        Self {
            kind,
            trees: 100,
            features_per_split: FeaturesPerSplit::Sqrt,
            class_weight: ClassWeight::None,
            max_depth: None,
            min_samples_leaf: 1,
            seed,
        }
    }

    /// Grow a forest. The same seed gives the same forest on any number of threads.
    ///
    /// # Errors
    /// When there is nothing to learn from, or only one class.
    pub fn fit(&self, table: &Table, positive: &[bool]) -> Result<Forest, ForestFitError> {
        let counts = self.check(table, positive)?;
        let limits = self.limits(table, counts);
        let trees = match self.kind {
            ForestKind::RandomForest => {
                let (ranks, values) = ranked(table);
                self.grow(positive, &|| Grower::new(&ranks, &limits, BestCut::new(&values)))
            }
            ForestKind::ExtraTrees => {
                let cells = table.row_major();
                self.grow(positive, &|| Grower::new(&cells, &limits, RandomCut))
            }
        };
        let too_large = ForestFitError::TooLarge { rows: table.rows(), columns: table.width() };
        Ok(Forest::of_trees(trees.ok_or(too_large)?, table.width()))
    }

    fn grow<'a, S: Splitter + Send>(
        &self,
        positive: &[bool],
        grower: &(impl Fn() -> Grower<'a, S> + Sync),
    ) -> Option<Vec<Tree>>
    where
        S::Cell: Send + Sync + 'a,
    {
        (0..self.trees)
            .into_par_iter()
            .map_init(grower, |grower, number| {
                let mut stream = SplitMix::new(self.seed.split(&format!("tree {number}")));
                let rows = match self.kind {
                    ForestKind::RandomForest => drawn(positive, &mut stream),
                    ForestKind::ExtraTrees => all(positive),
                };
                grower.grow(&rows, stream)
            })
            .collect()
    }

    fn check(&self, table: &Table, positive: &[bool]) -> Result<Counts, ForestFitError> {
        let (rows, columns) = (table.rows(), table.width());
        if columns == 0 {
            return Err(ForestFitError::NoColumns);
        }
        if rows == 0 {
            return Err(ForestFitError::NoRows);
        }
        if positive.len() != rows {
            return Err(ForestFitError::Lengths { rows, labels: positive.len() });
        }
        if self.trees == 0 {
            return Err(ForestFitError::NoTrees);
        }
        let count = |label: bool| positive.iter().filter(|positive| **positive == label).count();
        let number = |count: usize| u32::try_from(count).ok().filter(|count| *count < 1 << 30);
        let (Some(positive), Some(other)) = (number(count(true)), number(count(false))) else {
            return Err(ForestFitError::TooLarge { rows, columns });
        };
        if columns > MOST_FEATURES {
            return Err(ForestFitError::TooLarge { rows, columns });
        }
        if positive == 0 || other == 0 {
            let label = if positive == 0 { "negative" } else { "positive" };
            return Err(ForestFitError::OneClass { rows, label });
        }
        Ok(Counts { positive, other })
    }

    fn limits(&self, table: &Table, counts: Counts) -> Limits {
        let width = table.width();
        let half = f64::from(counts.all()) / 2.0;
        Limits {
            weights: match self.class_weight {
                ClassWeight::None => ClassWeights { positive: 1.0, other: 1.0 },
                ClassWeight::Balanced => ClassWeights {
                    positive: half / f64::from(counts.positive),
                    other: half / f64::from(counts.other),
                },
            },
            max_depth: self.max_depth.unwrap_or(u32::MAX),
            min_samples_leaf: self.min_samples_leaf,
            features_per_split: match self.features_per_split {
                FeaturesPerSplit::Sqrt => width.isqrt(),
                FeaturesPerSplit::All => width,
                FeaturesPerSplit::Count(count) => count.clamp(1, width),
            },
            may_miss: table.missing_in(),
        }
    }
}

/// As many draws as there are rows, with putting back: each drawn row with its tag.
fn drawn(positive: &[bool], stream: &mut SplitMix) -> Vec<(u32, u32)> {
    let rows = u32::try_from(positive.len()).unwrap_or(u32::MAX);
    let mut times = vec![0u32; positive.len()];
    for _ in 0..rows {
        times[stream.below(rows) as usize] += 1;
    }
    let tagged = (0..rows).zip(times.iter().zip(positive));
    tagged
        .filter(|(_, (times, _))| **times > 0)
        .map(|(row, (times, positive))| (row, times << 1 | u32::from(*positive)))
        .collect()
}

/// Each row once.
fn all(positive: &[bool]) -> Vec<(u32, u32)> {
    (0..).zip(positive).map(|(row, positive)| (row, 2 | u32::from(*positive))).collect()
}

/// The rank of each number in its column, row by row, and the numbers of each column by rank.
fn ranked(table: &Table) -> (Vec<u32>, Vec<Vec<f32>>) {
    let columns: Vec<(Vec<u32>, Vec<f32>)> =
        table.columns().par_iter().map(|column| ranked_column(column)).collect();
    let width = columns.len();
    let mut ranks = vec![0; table.rows() * width];
    for (at, (column, _)) in columns.iter().enumerate() {
        let places = ranks.iter_mut().skip(at).step_by(width);
        places.zip(column).for_each(|(place, rank)| *place = *rank);
    }
    (ranks, columns.into_iter().map(|(_, values)| values).collect())
}

fn ranked_column(column: &[f32]) -> (Vec<u32>, Vec<f32>) {
    // Bits of a float that sort like the float, so that whole numbers are compared.
    let sortable = |value: f32| {
        let bits = (value + 0.0).to_bits();
        if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
    };
    let mut keys: Vec<u64> = (0u32..)
        .zip(column)
        .filter(|(_, value)| !value.is_nan())
        .map(|(row, value)| u64::from(sortable(*value)) << 32 | u64::from(row))
        .collect();
    keys.sort_unstable();
    let mut ranks = vec![MISSING; column.len()];
    let mut values: Vec<f32> = Vec::new();
    let mut last = None;
    for key in keys {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the row")]
        let row = key as u32 as usize;
        if last != Some(key >> 32) {
            values.push(column[row]);
            last = Some(key >> 32);
        }
        ranks[row] = u32::try_from(values.len() - 1).unwrap_or(MISSING - 1);
    }
    (ranks, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_equal_ranks_and_missing_ones_the_last() {
        let (ranks, values) = ranked_column(&[2.0, -1.0, f32::NAN, 2.0, 0.0, -0.0]);
        assert_eq!(ranks, [2, 0, MISSING, 2, 1, 1]);
        assert_eq!(values, [-1.0, 0.0, 2.0]);
    }

    #[test]
    fn as_many_rows_are_drawn_as_there_are() {
        let positive: Vec<bool> = (0..1000).map(|row| row % 3 == 0).collect();
        let rows = drawn(&positive, &mut SplitMix::new(Seed(5)));
        assert_eq!(rows.iter().map(|(_, tag)| tag >> 1).sum::<u32>(), 1000);
        assert!((600..670).contains(&rows.len()), "about 63 % of the rows, not {}", rows.len());
    }
}
