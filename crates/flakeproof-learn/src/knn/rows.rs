//! Many sparse vectors in three flat arrays.

/// Sparse rows, one after another: the columns and weights of row `i` lie between `starts[i]` and
/// `starts[i + 1]`. Columns are ascending within a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseRows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f32>,
}

/// One row: its columns, ascending, and their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseRow<'a> {
    /// The columns that are not zero, ascending.
    pub columns: &'a [u32],
    /// Their weights.
    pub weights: &'a [f32],
}

impl SparseRows {
    /// No row yet.
    #[must_use]
    pub fn new() -> Self {
        Self { starts: vec![0], columns: Vec::new(), weights: Vec::new() }
    }

    /// Append a row of (column, weight) pairs with ascending columns, scaled to length one. A row
    /// without a direction (no entry, or only zeros) stays empty and is similar to nothing.
    pub fn push_unit(&mut self, entries: &[(u32, f32)]) {
        debug_assert!(entries.is_sorted_by(|a, b| a.0 < b.0));
        let length = entries.iter().map(|(_, w)| f64::from(*w).powi(2)).sum::<f64>().sqrt();
        if length > 0.0 && length.is_finite() {
            for (column, weight) in entries {
                self.columns.push(*column);
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "weights are single precision"
                )]
                self.weights.push((f64::from(*weight) / length) as f32);
            }
        }
        self.starts.push(self.columns.len());
    }

    /// The rows of several, one after another.
    #[must_use]
    pub fn joined(parts: &[Self]) -> Self {
        let rows = 1 + parts.iter().map(Self::len).sum::<usize>();
        let entries = parts.iter().map(Self::entries).sum();
        let mut joined = Self {
            starts: Vec::with_capacity(rows),
            columns: Vec::with_capacity(entries),
            weights: Vec::with_capacity(entries),
        };
        joined.starts.push(0);
        for part in parts {
            let before = joined.columns.len();
            joined.starts.extend(part.starts.iter().skip(1).map(|start| before + start));
            joined.columns.extend_from_slice(&part.columns);
            joined.weights.extend_from_slice(&part.weights);
        }
        joined
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many entries all rows have together.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The row with this number.
    #[must_use]
    pub fn row(&self, row: usize) -> SparseRow<'_> {
        let range = self.starts[row]..self.starts[row + 1];
        SparseRow { columns: &self.columns[range.clone()], weights: &self.weights[range] }
    }

    /// All rows in their order.
    pub fn iter(&self) -> impl Iterator<Item = SparseRow<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_length_one_and_empty_ones_stay_empty() {
        let mut rows = SparseRows::new();
        rows.push_unit(&[(2, 3.0), (5, 4.0)]);
        rows.push_unit(&[]);
        rows.push_unit(&[(1, 0.0)]);
        assert_eq!(rows.row(0), SparseRow { columns: &[2, 5], weights: &[0.6, 0.8] });
        assert!(rows.row(1).columns.is_empty());
        assert!(rows.row(2).columns.is_empty());
        assert_eq!(rows.len(), 3);
        let joined = SparseRows::joined(&[rows.clone(), SparseRows::new(), rows.clone()]);
        assert_eq!((joined.len(), joined.row(3)), (6, rows.row(0)));
    }
}
