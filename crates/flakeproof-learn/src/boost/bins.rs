//! Columns in a few bins, so that a cut is looked for among bins and not among rows.

use rayon::prelude::*;

use crate::forest::Table;

/// The most bins of a column.
const MOST_BINS: usize = 64;

/// The rows of a table, each number replaced by its bin.
#[derive(Debug)]
pub(super) struct Bins {
    /// The bin of each row, column by column.
    pub(super) columns: Vec<Vec<u8>>,
    /// The highest number of each bin but the last, ascending.
    pub(super) edges: Vec<Vec<f32>>,
}

impl Bins {
    /// Bins of about equally many rows. A missing number is in the lowest bin.
    pub(super) fn of(table: &Table, rows: &[u32]) -> Self {
        let (columns, edges) = (0..table.width())
            .into_par_iter()
            .map(|column| {
                let values: Vec<f32> =
                    rows.iter().map(|row| number(table.columns()[column][*row as usize])).collect();
                let edges = edges(&values);
                let bins = values.iter().map(|value| bin(&edges, *value)).collect::<Vec<u8>>();
                (bins, edges)
            })
            .unzip();
        Self { columns, edges }
    }
}

/// A missing number is below all others.
pub(super) fn number(value: f32) -> f32 {
    if value.is_nan() { f32::NEG_INFINITY } else { value }
}

fn bin(edges: &[f32], value: f32) -> u8 {
    u8::try_from(edges.partition_point(|edge| *edge < value)).unwrap_or(u8::MAX)
}

fn edges(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    if distinct.len() <= MOST_BINS {
        distinct.pop();
        return distinct;
    }
    let mut edges: Vec<f32> = (1..MOST_BINS)
        .filter_map(|at| sorted.get(at * sorted.len() / MOST_BINS).copied())
        .collect();
    edges.dedup();
    edges.pop_if(|last| distinct.last() == Some(last));
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_bin_each_and_many_share() {
        let few = Table::from_columns(vec![vec![2.0, f32::NAN, 1.0, 2.0]]).expect("a table");
        let bins = Bins::of(&few, &[0, 1, 2, 3]);
        assert_eq!(bins.columns, [[2, 0, 1, 2]]);
        #[expect(clippy::cast_precision_loss, reason = "a thousand")]
        let many: Vec<f32> = (0..1000).map(|at| at as f32).collect();
        let table = Table::from_columns(vec![many]).expect("a table");
        let bins = Bins::of(&table, &(0..1000).collect::<Vec<u32>>());
        assert!(bins.edges[0].len() < MOST_BINS && bins.columns[0].is_sorted());
    }
}
