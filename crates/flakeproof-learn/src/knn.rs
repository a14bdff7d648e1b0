//! Nearest neighbours among sparse vectors: exact, by cosine, over an inverted index.
//!
//! Own code because the nearest-neighbour crates are dense, and the sparse ones have no top-k.
//!
//! A query adds up the posting lists of its columns into one array with a place for each row, and
//! then looks through the array once for the best. That is less work than it seems: words that
//! occur in many tests say little and are not indexed, and both loops are short and without a
//! branch. Walking fewer lists (by Cauchy and Schwarz a row cannot gain more than the length of the
//! query's rest) was tried and took longer: its bookkeeping costs more than the sums it saves.
//!
//! Several queries can be asked at once, in lanes beside each other: tests of a file have most of
//! their words in common, and each list is then walked once for all of them. They have most of their
//! neighbours in common, too: those of one query say what the next one must reach at least.
//!
//! A sum runs over the columns in ascending order, so it does not depend on how it was found, and
//! equal rows are equally similar.

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

/// A row of the training data, and how similar it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The row in the training data.
    pub row: u32,
    /// The cosine of the angle between the two, 1 for the same direction.
    pub similarity: f32,
}

/// How many neighbours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighbourLimit {
    /// How many in all.
    pub count: usize,
    /// How many of one group at most. Rows of a group resemble each other and know the same thing,
    /// so that without a limit one group can outvote all others.
    pub of_a_group: usize,
}

/// A neighbour with a positive similarity as one number: the nearer first, and of two equally near
/// ones the earlier row. Sorting numbers is quick, and the bits of positive reals sort as they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate(u64);

impl Candidate {
    fn new(row: u32, similarity: f32) -> Self {
        debug_assert!(similarity > 0.0);
        Self(u64::from(!similarity.to_bits()) << 32 | u64::from(row))
    }

    fn neighbour(self) -> Neighbour {
        #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
        let (similarity, row) = (!((self.0 >> 32) as u32), self.0 as u32);
        Neighbour { row, similarity: f32::from_bits(similarity) }
    }
}

/// The best of some candidates, taken in their order while their groups have room; one without a
/// group is passed over.
fn best_candidates(
    candidates: &mut [Candidate],
    wanted: NeighbourLimit,
    group_of: impl Fn(u32) -> Option<u32>,
) -> Vec<Neighbour> {
    candidates.sort_unstable();
    let mut taken = Vec::with_capacity(wanted.count);
    // The groups of those taken, apart so that counting one is quick.
    let mut groups = Vec::with_capacity(wanted.count);
    for neighbour in candidates.iter().map(|candidate| candidate.neighbour()) {
        if taken.len() == wanted.count {
            break;
        }
        let Some(group) = group_of(neighbour.row) else { continue };
        if groups.iter().filter(|of| **of == group).count() < wanted.of_a_group {
            taken.push(neighbour);
            groups.push(group);
        }
    }
    taken
}

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
pub struct Scratch<const LANES: usize> {
    sums: Vec<[f32; LANES]>,
    /// The highest sums of each block.
    highest: Vec<[f32; LANES]>,
    /// The highest sum of each block that matters to a lane, and the number of the block.
    blocks: Vec<(f32, usize)>,
    /// What the last query wanted, and the rows it found.
    wanted: Option<NeighbourLimit>,
    found: Vec<u32>,
    /// The rows that are near enough to a lane.
    candidates: Vec<Candidate>,
}

/// Rows looked through together; most such blocks hold no row that is near enough.
const BLOCK: usize = 64;

/// So many candidates are cut down before more are looked for.
const MANY: usize = 256;

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
    pub fn scratch<const LANES: usize>(&self) -> Scratch<LANES> {
        Scratch {
            sums: vec![[0.0; LANES]; self.rows.len()],
            highest: Vec::new(),
            blocks: Vec::new(),
            wanted: None,
            found: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// The bytes the index takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = self.rows.len() + self.starts.len();
        self.rows.entries() * 16 + words * size_of::<usize>()
    }

    /// The wanted rows nearest to each query, the nearest first. Rows for which a query has no group
    /// are not admitted, and rows that are not at all similar are no neighbours, so there may be
    /// fewer than wanted.
    ///
    /// A row is of the same group in every query that admits it. A query has length one, and its
    /// columns are ascending; those outside the index are
    /// passed over.
    pub fn nearest<const LANES: usize>(
        &self,
        queries: [SparseRow<'_>; LANES],
        wanted: NeighbourLimit,
        group_of: impl Fn(usize, u32) -> Option<u32>,
        scratch: &mut Scratch<LANES>,
    ) -> [Vec<Neighbour>; LANES] {
        if scratch.wanted.replace(wanted) != Some(wanted) {
            scratch.found.clear();
        }
        in_columns(queries, |column, weights| self.add_list(column, weights, &mut scratch.sums));
        scratch.highest.clear();
        scratch.highest.extend(scratch.sums.chunks(BLOCK).map(highest));
        let found = std::array::from_fn(|lane| {
            best_in_lane(lane, wanted, &|row| group_of(lane, row), scratch)
        });
        scratch.sums.fill([0.0; LANES]);
        found
    }

    fn add_list<const LANES: usize>(
        &self,
        column: u32,
        weights: [f32; LANES],
        sums: &mut [[f32; LANES]],
    ) {
        let Some([start, end]) = self.starts.get(column as usize..column as usize + 2) else {
            return;
        };
        let rows = &self.posting_rows[*start..*end];
        for (row, row_weight) in rows.iter().zip(&self.posting_weights[*start..*end]) {
            let sums = &mut sums[*row as usize];
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight * row_weight;
            }
        }
    }
}

/// Hand each column of the queries to `take`, ascending, with its weight in each of them.
fn in_columns<const LANES: usize>(
    mut queries: [SparseRow<'_>; LANES],
    mut take: impl FnMut(u32, [f32; LANES]),
) {
    while let Some(next) = queries.iter().filter_map(|query| query.columns.first()).min().copied() {
        let weights = queries.each_mut().map(|query| match query {
            SparseRow { columns: [column, columns @ ..], weights: [weight, weights @ ..] }
                if *column == next =>
            {
                *query = SparseRow { columns, weights };
                *weight
            }
            _ => 0.0,
        });
        take(next, weights);
    }
}

/// The best rows of a lane by their sums. Blocks whose highest sum is too low are passed over.
fn best_in_lane<const LANES: usize>(
    lane: usize,
    wanted: NeighbourLimit,
    group_of: &impl Fn(u32) -> Option<u32>,
    scratch: &mut Scratch<LANES>,
) -> Vec<Neighbour> {
    let Scratch { sums, highest, blocks, found, candidates, .. } = scratch;
    let sum_of = |row: usize| sums[row][lane];
    let mut floor = reached_by_found(found, wanted, group_of, sum_of).max(NOT_SIMILAR);
    blocks.clear();
    let highest_of_blocks = highest.iter().map(|highest| highest[lane]).zip(0..);
    blocks.extend(highest_of_blocks.filter(|(highest, _)| *highest >= floor));
    if blocks.len() > wanted.count {
        floor = floor.max(reached_by_highest(blocks, wanted, group_of, sum_of));
    }
    candidates.clear();
    for (highest, block) in blocks.iter() {
        if *highest < floor {
            continue;
        }
        if candidates.len() >= MANY {
            // The best of all are among the best of these and the rest.
            let best = best_candidates(candidates, wanted, group_of);
            candidates.clear();
            candidates.extend(best.iter().map(|it| Candidate::new(it.row, it.similarity)));
            if let [.., last] = &best[..]
                && best.len() == wanted.count
            {
                floor = floor.max(last.similarity);
            }
        }
        let rows = block * BLOCK..sums.len().min((block + 1) * BLOCK);
        for (row, sums) in rows.clone().zip(&sums[rows]) {
            let row = u32::try_from(row).unwrap_or(u32::MAX);
            if sums[lane] >= floor && group_of(row).is_some() {
                candidates.push(Candidate::new(row, sums[lane]));
            }
        }
    }
    let best = best_candidates(candidates, wanted, group_of);
    found.clear();
    found.extend(best.iter().map(|neighbour| neighbour.row));
    best
}

/// A similarity that as many rows as wanted reach, judging by those that the last query found: they
/// keep to the limit of each group, and tests of a file have most of their neighbours in common.
fn reached_by_found(
    found: &[u32],
    wanted: NeighbourLimit,
    group_of: &impl Fn(u32) -> Option<u32>,
    sum_of: impl Fn(usize) -> f32,
) -> f32 {
    if found.len() < wanted.count || found.iter().any(|row| group_of(*row).is_none()) {
        return f32::NEG_INFINITY;
    }
    found.iter().map(|row| sum_of(*row as usize)).fold(f32::INFINITY, f32::min)
}

/// A similarity that as many rows as wanted reach, judging by the highest of each block alone: the
/// wanted rows are at least as near. Puts the highest blocks first.
fn reached_by_highest(
    blocks: &mut [(f32, usize)],
    wanted: NeighbourLimit,
    group_of: &impl Fn(u32) -> Option<u32>,
    sum_of: impl Fn(usize) -> f32,
) -> f32 {
    let by_height = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let first = blocks.len().min(2 * wanted.count);
    if first < blocks.len() {
        blocks.select_nth_unstable_by(first, by_height);
    }
    blocks[..first].sort_unstable_by(by_height);
    let mut groups = Vec::with_capacity(wanted.count);
    for (similarity, block) in &blocks[..first] {
        let mut rows = block * BLOCK..;
        let row = rows.find(|row| sum_of(*row) == *similarity).unwrap_or(block * BLOCK);
        let Some(group) = group_of(u32::try_from(row).unwrap_or(u32::MAX)) else { continue };
        if groups.iter().filter(|it| **it == group).count() < wanted.of_a_group {
            groups.push(group);
        }
        if groups.len() == wanted.count {
            return *similarity;
        }
    }
    f32::NEG_INFINITY
}

/// The highest sum of each lane. Spelled so that the compiler takes several at a time.
fn highest<const LANES: usize>(sums: &[[f32; LANES]]) -> [f32; LANES] {
    fn raise<const LANES: usize>(highest: &mut [f32; LANES], sums: &[f32; LANES]) {
        for (highest, sum) in highest.iter_mut().zip(sums) {
            *highest = if *sum > *highest { *sum } else { *highest };
        }
    }
    let (parts, rest) = sums.as_chunks::<8>();
    let mut apart = [[f32::NEG_INFINITY; LANES]; 8];
    for part in parts {
        apart.iter_mut().zip(part).for_each(|(highest, sums)| raise(highest, sums));
    }
    let mut together = [f32::NEG_INFINITY; LANES];
    apart.iter().chain(rest).for_each(|sums| raise(&mut together, sums));
    together
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn candidates_sort_as_neighbours_do(
            all in proptest::collection::vec((1e-5f32..1.1, 0u32..9), 0..40),
        ) {
            let mut candidates: Vec<Candidate> =
                all.iter().map(|(similarity, row)| Candidate::new(*row, *similarity)).collect();
            candidates.sort_unstable();
            let mut neighbours = all;
            neighbours.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let found: Vec<(f32, u32)> = candidates
                .iter()
                .map(|it| it.neighbour())
                .map(|it| (it.similarity, it.row))
                .collect();
            prop_assert_eq!(found, neighbours);
        }
    }

    #[test]
    fn a_full_group_and_rows_without_one_leave_their_place_to_others() {
        let mut candidates: Vec<Candidate> =
            (0u8..6).map(|row| Candidate::new(row.into(), 1.0 - f32::from(row) / 10.0)).collect();
        let group_of = |row: u32| (row != 1).then_some(row / 4);
        let wanted = NeighbourLimit { count: 3, of_a_group: 2 };
        let rows: Vec<u32> =
            best_candidates(&mut candidates, wanted, group_of).iter().map(|it| it.row).collect();
        assert_eq!(rows, [0, 2, 4]);
    }

    const COLUMNS: usize = 64;

    /// What the search must equal: every row scored and offered.
    fn by_brute_force(
        rows: &SparseRows,
        query: SparseRow<'_>,
        wanted: NeighbourLimit,
    ) -> Vec<Neighbour> {
        let mut dense = vec![0f32; COLUMNS];
        for (column, weight) in query.columns.iter().zip(query.weights) {
            dense[*column as usize] = *weight;
        }
        let mut candidates = Vec::new();
        for (row, entries) in (0u32..).zip(rows.iter()) {
            let products = entries.columns.iter().zip(entries.weights);
            let similarity =
                products.map(|(column, weight)| dense[*column as usize] * weight).sum();
            if similarity >= NOT_SIMILAR {
                candidates.push(Candidate::new(row, similarity));
            }
        }
        best_candidates(&mut candidates, wanted, |row| Some(row % 5))
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
            let wanted = NeighbourLimit { count, of_a_group };
            let index = SearchIndex::new(rows.clone(), COLUMNS);
            let (mut alone, mut beside) = (index.scratch(), index.scratch());
            // One after another, and one twice: a search must leave nothing behind for the next.
            for at in [of, of, of + 1, of] {
                let query = |lane: usize| rows.row((at + lane) % rows.len());
                let group_of = |_: usize, row: u32| Some(row % 5);
                let together =
                    index.nearest([query(0), query(1), query(0)], wanted, group_of, &mut beside);
                for (lane, found) in [0, 1, 0].into_iter().zip(together) {
                    let expected = by_brute_force(&rows, query(lane), wanted);
                    prop_assert_eq!(&found, &expected);
                    let [found] = index.nearest([query(lane)], wanted, group_of, &mut alone);
                    prop_assert_eq!(&found, &expected);
                }
            }
        }
    }

    const TWO: NeighbourLimit = NeighbourLimit { count: 2, of_a_group: 2 };

    #[test]
    fn rows_without_a_group_leave_their_place_to_others() {
        let mut rows = SparseRows::new();
        rows.push_unit(&[(0, 1.0), (1, 1.0)]);
        rows.push_unit(&[(0, 1.0), (1, 1.0)]);
        rows.push_unit(&[(1, 1.0), (2, 1.0)]);
        let index = SearchIndex::new(rows.clone(), 3);
        let group_of = |_, row| (row != 0).then_some(row);
        let [found] = index.nearest([rows.row(0)], TWO, group_of, &mut index.scratch());
        assert_eq!(found.iter().map(|n| n.row).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_query_without_known_columns_has_no_neighbours() {
        let mut rows = SparseRows::new();
        rows.push_unit(&[(0, 1.0)]);
        let index = SearchIndex::new(rows, 1);
        let query = SparseRow { columns: &[7], weights: &[1.0] };
        let [found] = index.nearest([query], TWO, |_, row| Some(row), &mut index.scratch());
        assert!(found.is_empty());
    }
}
