//! Exact nearest neighbours by cosine, over an inverted index.
//!
//! Own code because the nearest-neighbour crates are dense, and the sparse ones have no top-k.
//!
//! A query adds up the posting lists of its columns into one array with a place for each row, and
//! then looks through the array once for the best. That is less work than it seems: words that
//! occur in many tests say little and are not indexed, and both loops are short and without a
//! branch. Walking fewer lists (by Cauchy and Schwarz a row cannot gain more than the length of the
//! query's rest) was tried and took longer: its bookkeeping costs more than the sums it saves.
//!
//! A sum runs over the columns in ascending order, so it does not depend on how it was found, and
//! equal rows are equally similar.

use super::best::{Best, Neighbour, Wanted};
use super::rows::{SparseRow, SparseRows};

/// Rows of length one that can be searched by cosine.
#[derive(Debug, Clone)]
pub struct SearchIndex {
    rows: SparseRows,
    starts: Vec<usize>,
    posting_rows: Vec<u32>,
    posting_weights: Vec<f32>,
}

/// Memory for one search after another, so that a search allocates nothing of the index's size.
#[derive(Debug, Clone)]
pub struct Scratch {
    sums: Vec<f32>,
    /// What the search before found: searches often come in the order of a file, where one test
    /// resembles the next.
    found_before: Vec<u32>,
}

/// Rows looked through together; most such blocks hold no row that is near enough.
const BLOCK: usize = 64;

/// A similarity below this is rounding.
const NOT_SIMILAR: f32 = 1e-5;

impl SearchIndex {
    /// Build the index over rows whose columns are below `columns`.
    #[must_use]
    pub fn new(rows: SparseRows, columns: usize) -> Self {
        let mut starts = vec![0usize; columns + 1];
        for row in rows.iter() {
            for column in row.columns {
                starts[*column as usize + 1] += 1;
            }
        }
        for column in 0..columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut posting_rows = vec![0u32; rows.entries()];
        let mut posting_weights = vec![0f32; rows.entries()];
        for (number, row) in (0u32..).zip(rows.iter()) {
            for (column, weight) in row.columns.iter().zip(row.weights) {
                let place = &mut next[*column as usize];
                posting_rows[*place] = number;
                posting_weights[*place] = *weight;
                *place += 1;
            }
        }
        Self { rows, starts, posting_rows, posting_weights }
    }

    /// The rows as they were given.
    #[must_use]
    pub fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// Memory for searches in this index.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch { sums: vec![0.0; self.rows.len()], found_before: Vec::new() }
    }

    /// The bytes the index takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = self.rows.len() + self.starts.len();
        self.rows.entries() * 16 + words * size_of::<usize>()
    }

    /// The wanted rows nearest to the query, the nearest first. Rows without a group are not
    /// admitted, and rows that are not at all similar are no neighbours, so there may be fewer than
    /// wanted.
    ///
    /// The query has length one, and its columns are ascending; those outside the index are passed
    /// over.
    pub fn nearest(
        &self,
        query: SparseRow<'_>,
        wanted: Wanted,
        group_of: impl Fn(u32) -> Option<u32>,
        scratch: &mut Scratch,
    ) -> Vec<Neighbour> {
        for (column, weight) in query.columns.iter().zip(query.weights) {
            if (*column as usize) + 1 < self.starts.len() {
                self.add_list(*column, *weight, &mut scratch.sums);
            }
        }
        let found = best(wanted, &group_of, scratch);
        scratch.sums.fill(0.0);
        scratch.found_before.clear();
        scratch.found_before.extend(found.iter().map(|neighbour| neighbour.row));
        found
    }

    fn add_list(&self, column: u32, weight: f32, sums: &mut [f32]) {
        let list = self.starts[column as usize]..self.starts[column as usize + 1];
        let rows = &self.posting_rows[list.clone()];
        for (row, row_weight) in rows.iter().zip(&self.posting_weights[list]) {
            sums[*row as usize] += weight * row_weight;
        }
    }
}

/// The best rows by their sums. Blocks with the highest sums come first, so that the rest is soon
/// seen to be too far.
fn best(
    wanted: Wanted,
    group_of: &impl Fn(u32) -> Option<u32>,
    scratch: &Scratch,
) -> Vec<Neighbour> {
    let mut floor = reached_before(wanted, group_of, scratch).max(NOT_SIMILAR);
    let mut blocks: Vec<(f32, usize)> = scratch
        .sums
        .chunks(BLOCK)
        .map(highest)
        .zip(0..)
        .filter(|(highest, _)| *highest >= floor)
        .collect();
    blocks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut best = Best::new(wanted);
    // Rows of a group mostly stand together: what the last one left for the next saves an offer.
    let mut of_group = (u32::MAX, f32::NEG_INFINITY);
    for (highest, block) in blocks {
        if highest < floor {
            break;
        }
        let rows = block * BLOCK..scratch.sums.len().min((block + 1) * BLOCK);
        for (row, similarity) in rows.clone().zip(&scratch.sums[rows]) {
            if *similarity < floor {
                continue;
            }
            let row = u32::try_from(row).unwrap_or(u32::MAX);
            if let Some(group) = group_of(row)
                && (group != of_group.0 || *similarity >= of_group.1)
            {
                let needed = best.offer(Neighbour { row, similarity: *similarity }, group);
                of_group = (group, needed);
                floor = floor.max(best.floor());
            }
        }
    }
    best.into_sorted()
}

/// A similarity that as many rows as wanted reach: those that were found before, if they are
/// admitted again.
fn reached_before(
    wanted: Wanted,
    group_of: &impl Fn(u32) -> Option<u32>,
    scratch: &Scratch,
) -> f32 {
    let mut best = Best::new(wanted);
    for row in &scratch.found_before {
        if let Some(group) = group_of(*row) {
            let similarity = scratch.sums[*row as usize];
            best.offer(Neighbour { row: *row, similarity }, group);
        }
    }
    best.floor()
}

/// The highest of some sums. Spelled so that the compiler takes several at a time.
fn highest(sums: &[f32]) -> f32 {
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let (parts, rest) = sums.as_chunks::<16>();
    let mut lanes = [f32::NEG_INFINITY; 16];
    for part in parts {
        for (lane, sum) in lanes.iter_mut().zip(part) {
            *lane = higher(*lane, *sum);
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, higher)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COLUMNS: usize = 64;

    /// What the search must equal: every row scored and offered.
    fn by_brute_force(rows: &SparseRows, query: SparseRow<'_>, wanted: Wanted) -> Vec<Neighbour> {
        let mut dense = vec![0f32; COLUMNS];
        for (column, weight) in query.columns.iter().zip(query.weights) {
            dense[*column as usize] = *weight;
        }
        let mut best = Best::new(wanted);
        for (row, entries) in (0u32..).zip(rows.iter()) {
            let products = entries.columns.iter().zip(entries.weights);
            let similarity =
                products.map(|(column, weight)| dense[*column as usize] * weight).sum();
            if similarity >= NOT_SIMILAR {
                best.offer(Neighbour { row, similarity }, row % 5);
            }
        }
        best.into_sorted()
    }

    fn some_rows() -> impl Strategy<Value = SparseRows> {
        let weight = prop_oneof![-3f32..3.0, Just(1.0), Just(2.0)];
        // Squaring makes some columns common and others rare, as words are.
        let column = (0u32..8, 0u32..8).prop_map(|(a, b)| a * b);
        let row = proptest::collection::btree_map(column, weight, 0..12);
        proptest::collection::vec(row, 1..200).prop_map(|all| {
            let mut rows = SparseRows::new();
            for row in all {
                rows.push_unit(&row.into_iter().collect::<Vec<_>>());
            }
            rows
        })
    }

    proptest! {
        #[test]
        fn the_search_finds_what_scoring_every_row_finds(
            rows in some_rows(), count in 1usize..9, of_a_group in 1usize..4, of in 0usize..1000,
        ) {
            let wanted = Wanted { count, of_a_group };
            let index = SearchIndex::new(rows.clone(), COLUMNS);
            let mut scratch = index.scratch();
            let query = rows.row(of % rows.len());
            let expected = by_brute_force(&rows, query, wanted);
            // Twice: the first search must leave the memory clean for the second.
            for _ in 0..2 {
                let found = index.nearest(query, wanted, |row| Some(row % 5), &mut scratch);
                prop_assert_eq!(&found, &expected);
            }
        }
    }

    const TWO: Wanted = Wanted { count: 2, of_a_group: 2 };

    #[test]
    fn rows_without_a_group_leave_their_place_to_others() {
        let mut rows = SparseRows::new();
        rows.push_unit(&[(0, 1.0), (1, 1.0)]);
        rows.push_unit(&[(0, 1.0), (1, 1.0)]);
        rows.push_unit(&[(1, 1.0), (2, 1.0)]);
        let index = SearchIndex::new(rows.clone(), 3);
        let group_of = |row| (row != 0).then_some(row);
        let found = index.nearest(rows.row(0), TWO, group_of, &mut index.scratch());
        assert_eq!(found.iter().map(|n| n.row).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_query_without_known_columns_has_no_neighbours() {
        let mut rows = SparseRows::new();
        rows.push_unit(&[(0, 1.0)]);
        let index = SearchIndex::new(rows, 1);
        let query = SparseRow { columns: &[7], weights: &[1.0] };
        assert!(index.nearest(query, TWO, Some, &mut index.scratch()).is_empty());
    }
}
