//! What forests learn from and are asked about: rows of numbers, kept column by column.

use std::ops::Range;

/// Rows of numbers, kept column by column. A number may be missing (NaN), but never infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Vec<f32>>,
    rows: usize,
}

/// Why numbers are no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A number is infinite.
    #[error("the number in row {row}, column {column} is infinite or too large (counted from 0)")]
    Infinite {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
    },
    /// A row or a column has another length than the first.
    #[error("{what} {at} has {found} numbers, and the first one has {expected}")]
    Ragged {
        /// `row` or `column`.
        what: &'static str,
        /// Which one, counted from 0.
        at: usize,
        /// How many numbers it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
}

impl Table {
    /// The table of these columns.
    ///
    /// # Errors
    /// When a number is infinite, or a column has another length than the first.
    pub fn from_columns(columns: Vec<Vec<f32>>) -> Result<Self, TableError> {
        let rows = columns.first().map_or(0, Vec::len);
        for (column, values) in columns.iter().enumerate() {
            if values.len() != rows {
                let (at, found) = (column, values.len());
                return Err(TableError::Ragged { what: "column", at, found, expected: rows });
            }
            if let Some(row) = values.iter().position(|value| value.is_infinite()) {
                return Err(TableError::Infinite { row, column });
            }
        }
        Ok(Self { columns, rows })
    }

    /// The table of these rows.
    ///
    /// # Errors
    /// When a number is infinite, or a row has another length than the first.
    pub fn from_rows<R: AsRef<[f32]>>(rows: &[R]) -> Result<Self, TableError> {
        let width = rows.first().map_or(0, |row| row.as_ref().len());
        let mut columns: Vec<Vec<f32>> = vec![Vec::with_capacity(rows.len()); width];
        for (at, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != width {
                let found = row.len();
                return Err(TableError::Ragged { what: "row", at, found, expected: width });
            }
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
        }
        Self::from_columns(columns)
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns there are.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Vec<f32>] {
        &self.columns
    }

    /// The numbers of one row.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<f32> {
        self.columns.iter().map(|column| column[row]).collect()
    }

    /// The table of some of the rows, in the given order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Self {
        let pick = |column: &Vec<f32>| rows.iter().map(|row| column[*row as usize]).collect();
        Self { columns: self.columns.iter().map(pick).collect(), rows: rows.len() }
    }

    /// The table of some of the columns, in the given order.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn select_columns(&self, columns: &[usize]) -> Self {
        let columns = columns.iter().map(|column| self.columns[*column].clone()).collect();
        Self { columns, rows: self.rows }
    }

    /// A table of columns of equal length without an infinite number.
    pub(crate) fn of_checked(columns: Vec<Vec<f32>>, rows: usize) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == rows));
        Self { columns, rows }
    }

    /// Which columns have a missing number.
    #[must_use]
    pub fn missing_in(&self) -> Vec<bool> {
        self.columns.iter().map(|column| column.iter().any(|value| value.is_nan())).collect()
    }

    /// The numbers from row to row, for readers that go through whole rows.
    #[must_use]
    pub fn row_major(&self) -> Vec<f32> {
        self.rows_of(0..self.rows)
    }

    /// The same for some of the rows.
    pub(crate) fn rows_of(&self, rows: Range<usize>) -> Vec<f32> {
        let width = self.width();
        let mut cells = vec![0.0; rows.len() * width];
        for (row, to) in rows.zip(cells.chunks_exact_mut(width.max(1))) {
            to.iter_mut().zip(&self.columns).for_each(|(cell, column)| *cell = column[row]);
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_make_the_same_table() {
        let by_rows = Table::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).expect("three rows");
        let columns = vec![vec![1.0, 3.0, 5.0], vec![2.0, 4.0, 6.0]];
        assert_eq!(Table::from_columns(columns), Ok(by_rows.clone()));
        assert_eq!(by_rows.row_major(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(by_rows.select(&[2, 0]).columns()[1], [6.0, 2.0]);
        assert_eq!(by_rows.select_columns(&[1]).row(1), [4.0]);
    }

    #[test]
    fn an_infinite_number_is_refused_with_its_place() {
        let error = Table::from_rows(&[[1.0, 2.0], [3.0, f32::NEG_INFINITY]]);
        assert_eq!(error, Err(TableError::Infinite { row: 1, column: 1 }));
    }

    #[test]
    fn a_missing_number_is_allowed() {
        let table = Table::from_rows(&[[1.0, f32::NAN]]).expect("a missing number");
        assert_eq!(table.missing_in(), [false, true]);
    }

    #[test]
    fn a_short_row_is_named() {
        let error = Table::from_rows(&[vec![1.0, 2.0], vec![3.0]]).expect_err("a short row");
        assert_eq!(error.to_string(), "row 1 has 1 numbers, and the first one has 2");
    }
}
