//! Balancing two classes before learning: made-up rows of the smaller one, and cleaning afterwards.
//!
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
//!
//! The nearest rows, by Euclidean distance, are found exactly: by a k-d tree (Friedman et al., 1977)
//! whose nodes part their points at the middle of the dimension in which they are spread widest. A
//! leaf keeps its points dimension by dimension, so that several distances are computed at once.

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

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

/// So many points stay together.
const LEAF: usize = 32;

/// Points, ready to be asked for the nearest ones.
struct Nearest {
    width: usize,
    nodes: Vec<Branch>,
    /// The numbers of the points, leaf by leaf.
    order: Vec<u32>,
    /// Their coordinates, leaf by leaf, in each leaf dimension by dimension.
    cells: Vec<f32>,
}

enum Branch {
    Leaf { start: usize, end: usize },
    Fork { axis: usize, at: f32, right: usize },
}

/// What a search needs, and what it has found: distances squared, with the points, nearest first.
struct Search {
    found: Vec<(f32, u32)>,
    wanted: usize,
    offsets: Vec<f32>,
    myself: u32,
}

impl Search {
    /// A search for so many points.
    fn new(wanted: usize, width: usize) -> Self {
        let found = Vec::with_capacity(wanted + 1);
        Self { found, wanted, offsets: vec![0.0; width], myself: 0 }
    }

    fn farthest(&self) -> f32 {
        if self.found.len() < self.wanted {
            f32::INFINITY
        } else {
            self.found.last().map_or(f32::INFINITY, |(distance, _)| *distance)
        }
    }

    /// Keep a point if it is among the nearest; of equally near ones, the one with the lower number.
    fn offer(&mut self, distance: f32, point: u32) {
        let is_before = |known: &(f32, u32)| (known.0, known.1) <= (distance, point);
        let place = self.found.partition_point(is_before);
        if point != self.myself && place < self.wanted {
            self.found.insert(place, (distance, point));
            self.found.truncate(self.wanted);
        }
    }
}

impl Nearest {
    /// A tree over points that lie one after the other.
    fn new(points: &[f32], width: usize) -> Self {
        let count = points.len() / width.max(1);
        let mut order: Vec<u32> = (0..).take(count).collect();
        let mut tree = Self { width, nodes: Vec::new(), order: Vec::new(), cells: Vec::new() };
        tree.build(points, &mut order, 0);
        tree.order = order;
        tree
    }

    fn build(&mut self, points: &[f32], order: &mut [u32], start: usize) {
        if order.len() <= LEAF {
            let end = start + order.len();
            self.nodes.push(Branch::Leaf { start, end });
            for axis in 0..self.width {
                let cells = order.iter().map(|point| points[*point as usize * self.width + axis]);
                self.cells.extend(cells);
            }
            return;
        }
        let axis = self.widest(points, order);
        let value = |point: u32| points[point as usize * self.width + axis];
        let middle = order.len() / 2;
        let by_value = |a: &u32, b: &u32| value(*a).total_cmp(&value(*b)).then(a.cmp(b));
        let (_, at, _) = order.select_nth_unstable_by(middle, by_value);
        let at = value(*at);
        let place = self.nodes.len();
        self.nodes.push(Branch::Fork { axis, at, right: 0 });
        let (left, right) = order.split_at_mut(middle);
        self.build(points, left, start);
        let next = self.nodes.len();
        self.nodes[place] = Branch::Fork { axis, at, right: next };
        self.build(points, right, start + middle);
    }

    /// The dimension in which points are spread widest.
    fn widest(&self, points: &[f32], order: &[u32]) -> usize {
        let mut low = vec![f32::INFINITY; self.width];
        let mut high = vec![f32::NEG_INFINITY; self.width];
        for point in order {
            let row = &points[*point as usize * self.width..][..self.width];
            for (axis, value) in row.iter().enumerate() {
                low[axis] = low[axis].min(*value);
                high[axis] = high[axis].max(*value);
            }
        }
        let spread = |axis: &usize| high[*axis] - low[*axis];
        (0..self.width).max_by(|a, b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
    }

    /// Find the points nearest to a point, other than itself.
    fn search(&self, point: &[f32], myself: u32, search: &mut Search) {
        search.found.clear();
        search.offsets.fill(0.0);
        search.myself = myself;
        self.visit(0, point, 0.0, search);
    }

    /// Look into a node that is at least so far away, squared.
    fn visit(&self, node: usize, point: &[f32], least: f32, search: &mut Search) {
        match self.nodes[node] {
            Branch::Leaf { start, end } => self.look(start, end, point, search),
            Branch::Fork { axis, at, right } => {
                let apart = point[axis] - at;
                let (near, far) = if apart < 0.0 { (node + 1, right) } else { (right, node + 1) };
                self.visit(near, point, least, search);
                let before = search.offsets[axis];
                let least = least - before * before + apart * apart;
                // A little less than the bound, because it was summed up in another order.
                if least * 0.999_99 <= search.farthest() {
                    search.offsets[axis] = apart;
                    self.visit(far, point, least, search);
                    search.offsets[axis] = before;
                }
            }
        }
    }

    fn look(&self, start: usize, end: usize, point: &[f32], search: &mut Search) {
        let count = end - start;
        if count == 0 {
            return;
        }
        let cells = &self.cells[start * self.width..end * self.width];
        let mut distances = [0f32; LEAF];
        for (axis, coordinates) in cells.chunks_exact(count).enumerate() {
            let at = point[axis];
            for (distance, coordinate) in distances.iter_mut().zip(coordinates) {
                *distance += (coordinate - at) * (coordinate - at);
            }
        }
        for (distance, point) in distances.iter().zip(&self.order[start..end]) {
            if *distance <= search.farthest() {
                search.offer(*distance, *point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn the_tree_finds_what_looking_at_every_point_finds(
            points in proptest::collection::vec(-9i8..9, 3..900), wanted in 1usize..6,
        ) {
            let width = 3;
            let points: Vec<f32> = points.into_iter().map(f32::from).collect();
            let count = points.len() / width;
            let points = &points[..count * width];
            let tree = Nearest::new(points, width);
            let mut search = Search::new(wanted, width);
            let row = |at: usize| &points[at * width..(at + 1) * width];
            for at in 0..count {
                tree.search(row(at), u32::try_from(at).expect("few points"), &mut search);
                let distance = |other: usize| -> f32 {
                    row(at).iter().zip(row(other)).map(|(a, b)| (a - b) * (a - b)).sum()
                };
                let mut all: Vec<(f32, u32)> = (0u32..)
                    .zip(0..count)
                    .filter(|(_, other)| *other != at)
                    .map(|(number, other)| (distance(other), number))
                    .collect();
                all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                all.truncate(wanted);
                prop_assert_eq!(&search.found, &all);
            }
        }
    }
}
