//! SMOTE (Chawla et al., 2002), alone and with a cleaning by edited nearest neighbours or by Tomek
//! links (Batista et al., 2004), as imbalanced-learn does by default.
//!
//! * SMOTE makes rows of the smaller class up until both are equally large: each lies at a random
//!   place between a row and one of its 5 nearest of the same class. Where there are fewer, they are
//!   used; a single row has nobody to lie between, which is an error.
//! * ENN then drops every row, of either class, whose 3 nearest rows are not all of its class.
//! * Tomek drops both rows of a pair of different classes that are each other's nearest.
//!
//! A missing number stands at the middle (the median) of its column when distances are taken, so that
//! a column that is missing everywhere changes nothing. A made-up row has what its first parent has:
//! where that misses a number, or the second parent does, nothing lies between.

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::nearest::{Nearest, Search};
use crate::chance::Chance;
use crate::forest::Table;

/// How classes are balanced before learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// Not at all.
    None,
    /// Made-up rows of the smaller class.
    Smote,
    /// The same, and rows among neighbours of another class are dropped.
    SmoteEnn,
    /// The same, and nearest pairs of different classes are dropped.
    SmoteTomek,
}

/// Why classes cannot be balanced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BalanceError {
    /// There are more or fewer labels than rows.
    #[error("there are {labels} labels for {rows} rows")]
    Lengths {
        /// How many rows.
        rows: usize,
        /// How many labels.
        labels: usize,
    },
    /// The smaller class has too few rows to lie between.
    #[error("the smaller class has {rows} rows, and at least 2 are needed to make up more")]
    TooFew {
        /// How many rows it has.
        rows: usize,
    },
}

const SMOTE_NEIGHBOURS: usize = 5;
const ENN_NEIGHBOURS: usize = 3;

impl Balance {
    /// The balanced table and its labels. The same seed gives the same rows on any number of threads.
    ///
    /// # Errors
    /// When there are too few rows to make up more, or labels are missing.
    pub fn apply(
        self,
        table: &Table,
        positive: &[bool],
        seed: Seed,
    ) -> Result<(Table, Vec<bool>), BalanceError> {
        if table.rows() != positive.len() {
            let (rows, labels) = (table.rows(), positive.len());
            return Err(BalanceError::Lengths { rows, labels });
        }
        if self == Self::None {
            return Ok((table.clone(), positive.to_vec()));
        }
        let (table, positive) = smote(table, positive, seed)?;
        let keep = match self {
            Self::None | Self::Smote => return Ok((table, positive)),
            Self::SmoteEnn => edited(&table, &positive),
            Self::SmoteTomek => without_tomek_links(&table, &positive),
        };
        let labels = keep.iter().map(|row| positive[*row as usize]).collect();
        Ok((table.select(&keep), labels))
    }
}

fn smote(table: &Table, positive: &[bool], seed: Seed) -> Result<(Table, Vec<bool>), BalanceError> {
    let rows_with = |label: bool| -> Vec<u32> {
        (0..).zip(positive).filter(|(_, is)| **is == label).map(|(row, _)| row).collect()
    };
    let (ones, others) = (rows_with(true), rows_with(false));
    let smaller_is = ones.len() <= others.len();
    let (smaller, larger) = if smaller_is { (ones, others) } else { (others, ones) };
    let missing = larger.len() - smaller.len();
    if smaller.len() < 2 {
        return Err(BalanceError::TooFew { rows: smaller.len() });
    }
    let neighbours = SMOTE_NEIGHBOURS.min(smaller.len() - 1);
    let near = nearest_rows(&table.select(&smaller), neighbours);
    let mut chance = Chance::new(seed.split("smote"));
    let parents: Vec<(u32, u32, f32)> = (0..missing)
        .map(|_| {
            let drawn = chance.below(smaller.len() * neighbours);
            #[expect(clippy::cast_possible_truncation, reason = "a place between two rows")]
            let between = chance.unit() as f32;
            let first = smaller[drawn / neighbours];
            (first, smaller[near[drawn] as usize], between)
        })
        .collect();
    let grown = table.columns().par_iter().map(|column| {
        let made_up = parents.iter().map(|(first, second, between)| {
            let (first, second) = (column[*first as usize], column[*second as usize]);
            let value = first + between * (second - first);
            if value.is_finite() { value } else { first }
        });
        column.iter().copied().chain(made_up).collect()
    });
    let table = Table::of_checked(grown.collect(), table.rows() + missing);
    let labels = positive.iter().copied().chain(std::iter::repeat_n(smaller_is, missing)).collect();
    Ok((table, labels))
}

/// The nearest rows of each row, nearest first, all in one list.
fn nearest_rows(table: &Table, wanted: usize) -> Vec<u32> {
    let width = table.width().max(1);
    let points = filled(table).row_major();
    let tree = Nearest::new(&points, width);
    let mut near = vec![0; table.rows() * wanted];
    near.par_chunks_mut(wanted)
        .zip(points.par_chunks(width))
        .enumerate()
        .with_min_len(64)
        .for_each_init(
            || Search::new(wanted, width),
            |search, (row, (near, point))| {
                tree.search(point, u32::try_from(row).unwrap_or(u32::MAX), search);
                near.iter_mut().zip(&search.found).for_each(|(to, (_, point))| *to = *point);
            },
        );
    near
}

/// The rows whose nearest rows are all of their class.
fn edited(table: &Table, positive: &[bool]) -> Vec<u32> {
    let wanted = ENN_NEIGHBOURS.min(table.rows().saturating_sub(1)).max(1);
    let near = nearest_rows(table, wanted);
    let agree = |(row, near): &(usize, &[u32])| {
        near.iter().all(|other| positive[*other as usize] == positive[*row])
    };
    let kept = near.chunks(wanted).enumerate().filter(agree);
    kept.map(|(row, _)| u32::try_from(row).unwrap_or(u32::MAX)).collect()
}

/// The rows that are not in a pair of different classes that are each other's nearest.
fn without_tomek_links(table: &Table, positive: &[bool]) -> Vec<u32> {
    let near = nearest_rows(table, 1);
    let linked = |row: u32| {
        let other = near[row as usize];
        near[other as usize] == row && positive[row as usize] != positive[other as usize]
    };
    (0..).take(table.rows()).filter(|row| !linked(*row)).collect()
}

/// The table with the median of its column in the place of each missing number.
fn filled(table: &Table) -> Table {
    let fill = |column: &Vec<f32>| {
        let mut known: Vec<f32> = column.iter().copied().filter(|value| !value.is_nan()).collect();
        if known.len() == column.len() {
            return column.clone();
        }
        let middle = known.len() / 2;
        let has_any = !known.is_empty();
        let median =
            if has_any { *known.select_nth_unstable_by(middle, f32::total_cmp).1 } else { 0.0 };
        column.iter().map(|value| if value.is_nan() { median } else { *value }).collect()
    };
    Table::of_checked(table.columns().iter().map(fill).collect(), table.rows())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f32]) -> Table {
        Table::from_columns(vec![values.to_vec()]).expect("one column")
    }

    #[test]
    fn made_up_rows_lie_between_rows_of_the_smaller_class() {
        let table = line(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 11.0]);
        let positive = [false, false, false, false, false, false, true, true];
        let (grown, labels) = Balance::Smote.apply(&table, &positive, Seed(1)).expect("two rows");
        assert_eq!(grown.rows(), 12);
        assert_eq!(labels.iter().filter(|positive| **positive).count(), 6);
        assert!(grown.columns()[0][8..].iter().all(|value| (10.0..=11.0).contains(value)));
        assert_eq!(grown.columns()[0][..8], table.columns()[0]);
    }

    #[test]
    fn a_single_row_has_nobody_to_lie_between() {
        let error = Balance::Smote.apply(&line(&[1.0, 2.0, 3.0]), &[true, false, false], Seed(1));
        assert_eq!(error, Err(BalanceError::TooFew { rows: 1 }));
        let none = Balance::Smote.apply(&line(&[1.0, 2.0]), &[false, false], Seed(1));
        assert_eq!(none, Err(BalanceError::TooFew { rows: 0 }));
    }

    #[test]
    fn a_column_that_is_missing_everywhere_changes_nothing() {
        let plain = line(&[0.0, 1.0, 2.0, 3.0, 9.0, 10.0, 11.0]);
        let positive = [false, false, false, false, true, true, true];
        let columns = vec![plain.columns()[0].clone(), vec![f32::NAN; 7]];
        let with_missing = Table::from_columns(columns).expect("two columns");
        for balance in [Balance::Smote, Balance::SmoteEnn, Balance::SmoteTomek] {
            let (one, labels) = balance.apply(&plain, &positive, Seed(4)).expect("balanced");
            let (two, same) = balance.apply(&with_missing, &positive, Seed(4)).expect("balanced");
            assert_eq!((&one.columns()[0], labels), (&two.columns()[0], same));
            assert!(two.columns()[1].iter().all(|value| value.is_nan()));
        }
    }

    #[test]
    fn edited_neighbours_drop_rows_among_the_other_class() {
        // The positive row at 2.5 stands among others; those near it have it as a neighbour.
        let table = line(&[0.0, 0.1, 0.2, 2.4, 2.5, 2.6, 2.7, 9.0, 9.1, 9.2, 9.3]);
        let positive: Vec<bool> =
            [0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1].into_iter().map(|label| label == 1).collect();
        assert_eq!(edited(&table, &positive), [0, 1, 2, 7, 8, 9, 10]);
    }

    #[test]
    fn tomek_links_are_mutual() {
        let table = line(&[0.0, 1.0, 1.1, 1.15, 5.0, 5.3, 9.0, 9.2]);
        let positive = [false, false, false, true, true, false, true, true];
        // 1.1 and 1.15 are a link, so are 5.0 and 5.3; 1.0 is near 1.1, which is nearer to 1.15.
        assert_eq!(without_tomek_links(&table, &positive), [0, 1, 6, 7]);
    }

    #[test]
    fn nothing_is_made_up_when_nothing_is_asked() {
        let table = line(&[1.0, 2.0]);
        let same = Balance::None.apply(&table, &[true, true], Seed(1));
        assert_eq!(same, Ok((table, vec![true, true])));
    }
}
