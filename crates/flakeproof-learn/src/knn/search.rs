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
    /// The common part of the query before, and its sums.
    common: Vec<(u32, f32)>,
    common_sums: Vec<f32>,
    /// The highest sum of each block that matters, and the number of the block.
    blocks: Vec<(f32, usize)>,
    needed: NeededOfGroup,
}

/// A query: its entries, and which of its columns it may share with the query before it.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a, C> {
    /// The entries, of length one together, with ascending columns.
    pub entries: SparseRow<'a>,
    /// Whether a column belongs to the part that queries which come together often have in common:
    /// it is added up once for all of them.
    pub is_common: C,
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
        let sums = vec![0.0; self.rows.len()];
        Scratch {
            common: Vec::new(),
            common_sums: sums.clone(),
            sums,
            blocks: Vec::new(),
            needed: NeededOfGroup::default(),
        }
    }

    /// The bytes the index takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = self.rows.len() + self.starts.len();
        self.rows.entries() * 16 + words * size_of::<usize>()
    }

    /// The wanted rows nearest to the query, the nearest first. Rows without a group are not
    /// admitted, and rows that are not at all similar are no neighbours, so there may be fewer than
    /// wanted. Columns outside the index are passed over.
    pub fn nearest(
        &self,
        query: &Query<'_, impl Fn(u32) -> bool>,
        wanted: Wanted,
        group_of: impl Fn(u32) -> Option<u32>,
        scratch: &mut Scratch,
    ) -> Vec<Neighbour> {
        self.add_up(query, scratch);
        best(wanted, &group_of, scratch)
    }

    /// The similarity of every row: first the common part, then the rest, each by ascending column.
    fn add_up(&self, query: &Query<'_, impl Fn(u32) -> bool>, scratch: &mut Scratch) {
        let entries =
            || query.entries.columns.iter().copied().zip(query.entries.weights.iter().copied());
        let common = || entries().filter(|(column, _)| (query.is_common)(*column));
        if !common().eq(scratch.common.iter().copied()) {
            scratch.common_sums.fill(0.0);
            for (column, weight) in common() {
                self.add_list(column, weight, &mut scratch.common_sums);
            }
            scratch.common.clear();
            scratch.common.extend(common());
        }
        scratch.sums.copy_from_slice(&scratch.common_sums);
        for (column, weight) in entries().filter(|(column, _)| !(query.is_common)(*column)) {
            self.add_list(column, weight, &mut scratch.sums);
        }
    }

    fn add_list(&self, column: u32, weight: f32, sums: &mut [f32]) {
        let Some([start, end]) = self.starts.get(column as usize..column as usize + 2) else {
            return;
        };
        let list = *start..*end;
        let rows = &self.posting_rows[list.clone()];
        for (row, row_weight) in rows.iter().zip(&self.posting_weights[list]) {
            sums[*row as usize] += weight * row_weight;
        }
    }
}

/// The best rows by their sums. Blocks whose highest sum is too low are passed over.
fn best(
    wanted: Wanted,
    group_of: &impl Fn(u32) -> Option<u32>,
    scratch: &mut Scratch,
) -> Vec<Neighbour> {
    let Scratch { sums, blocks, needed, .. } = scratch;
    blocks.clear();
    let highest_of_blocks = sums.chunks(BLOCK).map(highest).zip(0..);
    blocks.extend(highest_of_blocks.filter(|(highest, _)| *highest >= NOT_SIMILAR));
    let mut floor = reached_by_highest(blocks, wanted, group_of, sums).max(NOT_SIMILAR);
    let mut best = Best::new(wanted);
    needed.clear();
    for (highest, block) in blocks.iter() {
        if *highest < floor {
            continue;
        }
        let rows = block * BLOCK..sums.len().min((block + 1) * BLOCK);
        for (row, similarity) in rows.clone().zip(&sums[rows]) {
            if *similarity < floor {
                continue;
            }
            let row = u32::try_from(row).unwrap_or(u32::MAX);
            if let Some(group) = group_of(row)
                && *similarity >= needed.of(group)
            {
                let further = best.offer(Neighbour { row, similarity: *similarity }, group);
                needed.keep(group, further);
                floor = floor.max(best.floor());
            }
        }
    }
    best.into_sorted()
}

/// A similarity that as many rows as wanted reach, judging by the highest of each block alone: the
/// wanted rows are at least as near. Puts the highest blocks first.
fn reached_by_highest(
    blocks: &mut [(f32, usize)],
    wanted: Wanted,
    group_of: &impl Fn(u32) -> Option<u32>,
    sums: &[f32],
) -> f32 {
    let by_height = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let first = blocks.len().min(2 * wanted.count);
    if first < blocks.len() {
        blocks.select_nth_unstable_by(first, by_height);
    }
    blocks[..first].sort_unstable_by(by_height);
    let mut best = Best::new(wanted);
    for block in &blocks[..first] {
        let row = row_of_highest(*block, sums);
        if let Some(group) = group_of(row) {
            best.offer(Neighbour { row, similarity: block.0 }, group);
        }
        if best.floor() > f32::NEG_INFINITY {
            break;
        }
    }
    best.floor()
}

/// A row that has the highest sum of a block.
fn row_of_highest((highest, block): (f32, usize), sums: &[f32]) -> u32 {
    let start = block * BLOCK;
    let within = sums[start..].iter().take(BLOCK).position(|sum| *sum == highest).unwrap_or(0);
    u32::try_from(start + within).unwrap_or(u32::MAX)
}

/// What a further row of a group must reach, for some groups: it saves the offer. Groups that share
/// a place forget each other, which costs an offer and nothing else.
#[derive(Debug, Clone)]
struct NeededOfGroup([(u32, f32); 256]);

impl Default for NeededOfGroup {
    fn default() -> Self {
        Self([(u32::MAX, f32::NEG_INFINITY); 256])
    }
}

impl NeededOfGroup {
    fn clear(&mut self) {
        self.0.fill((u32::MAX, f32::NEG_INFINITY));
    }

    fn of(&self, group: u32) -> f32 {
        let (of, needed) = self.0[group as usize % 256];
        if of == group { needed } else { f32::NEG_INFINITY }
    }

    fn keep(&mut self, group: u32, needed: f32) {
        self.0[group as usize % 256] = (group, needed);
    }
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
            let of_part = |common: bool| {
                let part = entries.columns.iter().zip(entries.weights);
                part.filter(move |(column, _)| is_common(**column) == common)
            };
            let similarity = of_part(true)
                .chain(of_part(false))
                .map(|(column, weight)| dense[*column as usize] * weight)
                .sum();
            if similarity >= NOT_SIMILAR {
                best.offer(Neighbour { row, similarity }, row % 5);
            }
        }
        best.into_sorted()
    }

    fn is_common(column: u32) -> bool {
        column.is_multiple_of(3)
    }

    fn whole(entries: SparseRow<'_>) -> Query<'_, impl Fn(u32) -> bool> {
        Query { entries, is_common: |_| false }
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
            // One after another, and one twice: a search must leave nothing behind for the next.
            for at in [of, of, of + 1, of] {
                let entries = rows.row(at % rows.len());
                let expected = by_brute_force(&rows, entries, wanted);
                let query = Query { entries, is_common };
                let found = index.nearest(&query, wanted, |row| Some(row % 5), &mut scratch);
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
        let found = index.nearest(&whole(rows.row(0)), TWO, group_of, &mut index.scratch());
        assert_eq!(found.iter().map(|n| n.row).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_query_without_known_columns_has_no_neighbours() {
        let mut rows = SparseRows::new();
        rows.push_unit(&[(0, 1.0)]);
        let index = SearchIndex::new(rows, 1);
        let query = SparseRow { columns: &[7], weights: &[1.0] };
        assert!(index.nearest(&whole(query), TWO, Some, &mut index.scratch()).is_empty());
    }
}
