//! Cutting a node: what a cut is, how good it is, and the random cut of extra trees.
//!
//! The criterion is gini's, in the form that needs no division by the whole: the impurity that a cut
//! leaves is smallest where `(p² + n²) / (p + n)`, summed over both sides, is largest (p and n: the
//! weights of positive and other rows on a side). That sum is a convex function of what lies on the left
//! side, which `best_cut` uses to pass over most places for a cut.
//!
//! Extra trees (Geurts et al., 2006) draw the cut evenly between the least and the greatest number in
//! the node; the best of the features looked at is taken. Missing numbers take no part in the draw. They
//! go to the side where they part the classes better, and where all other numbers are equal, they may be
//! parted from them.

use std::ops::{Add, AddAssign, Sub};

use crate::chance::SplitMix;

/// How one kind of forest cuts: the only place where the kinds differ.
pub(super) trait Splitter {
    /// What the table is made of: numbers, or their ranks.
    type Cell: Copy + PartialOrd + Default;

    /// The cut that this kind of forest takes; `None` where the feature is constant.
    fn search(
        &mut self,
        column: &Column<'_, Self::Cell>,
        stream: &mut SplitMix,
    ) -> Option<Cut<Self::Cell>>;

    /// The threshold that stands in the tree for a cut that was chosen.
    fn threshold(&self, column: &Column<'_, Self::Cell>, cut: &Cut<Self::Cell>) -> f32;

    /// Whether a number is missing.
    fn is_missing(cell: Self::Cell) -> bool;
}

/// One feature of the rows in a node.
pub(super) struct Column<'a, T> {
    pub(super) feature: usize,
    /// The numbers.
    pub(super) cells: &'a [T],
    /// How often each row was drawn, doubled, plus 1 in positive rows.
    pub(super) tags: &'a [u32],
    /// Whether some number of this feature is missing in the whole table.
    pub(super) may_miss: bool,
    pub(super) gain: Gain,
}

/// A place to cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut<T> {
    pub(super) gain: f64,
    /// The largest cell that goes to the left.
    pub(super) at: T,
    pub(super) left: Counts,
    pub(super) missing_left: bool,
}

impl<T> Cut<T> {
    /// The same cut in a node that misses no number: should one miss later, it goes where most rows go.
    pub(super) fn without_missing(self, gain: &Gain) -> Self {
        let missing_left = self.left.all() > gain.total().all() / 2;
        Self { missing_left, ..self }
    }
}

/// The best of two cuts; the earlier one where they are equal.
pub(super) fn better<T>(first: Option<Cut<T>>, second: Option<Cut<T>>) -> Option<Cut<T>> {
    match (first, second) {
        (Some(first), Some(second)) if second.gain <= first.gain => Some(first),
        (first, second) => second.or(first),
    }
}

/// How many rows, drawn twice counted twice, are positive, and how many are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) positive: u32,
    pub(super) other: u32,
}

impl Counts {
    /// What some rows count, by their tags.
    pub(super) fn of_tags(tags: impl Iterator<Item = u32>) -> Self {
        let mut counts = Self::default();
        for tag in tags {
            if tag & 1 == 1 {
                counts.positive += tag >> 1;
            } else {
                counts.other += tag >> 1;
            }
        }
        counts
    }

    pub(super) fn all(self) -> u32 {
        self.positive + self.other
    }

    pub(super) fn is_pure(self) -> bool {
        self.positive == 0 || self.other == 0
    }

    /// Counts that were summed up as one number: positive ones in the upper half.
    pub(super) fn unpacked(packed: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let other = packed as u32;
        Self { positive: u32::try_from(packed >> 32).unwrap_or(u32::MAX), other }
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self { positive: self.positive + more.positive, other: self.other + more.other }
    }
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        Self { positive: self.positive - less.positive, other: self.other - less.other }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

/// What a row of each class counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClassWeights {
    pub(super) positive: f64,
    pub(super) other: f64,
}

impl ClassWeights {
    /// The weight of counted rows.
    pub(super) fn cover(self, counts: Counts) -> f64 {
        f64::from(counts.positive) * self.positive + f64::from(counts.other) * self.other
    }

    /// The positive share of counted rows.
    pub(super) fn share(self, counts: Counts) -> f64 {
        f64::from(counts.positive) * self.positive / self.cover(counts)
    }
}

/// The criterion of one node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gain {
    weights: ClassWeights,
    total: Counts,
    least: u32,
}

/// So small that an empty side counts nothing, without asking whether it is empty.
const NOTHING: f64 = 1e-300;

impl Gain {
    /// The criterion of a node with these rows, where a side needs at least `least` rows.
    pub(super) fn new(weights: ClassWeights, total: Counts, least: u32) -> Self {
        Self { weights, total, least: least.max(1) }
    }

    /// What all rows of the node count.
    pub(super) fn total(&self) -> Counts {
        self.total
    }

    /// The value of the cut with this left side, whether or not it is allowed.
    #[inline]
    pub(super) fn value(&self, left: Counts) -> f64 {
        let right = self.total - left;
        self.side(left) + self.side(right)
    }

    /// Whether both sides of the cut have enough rows.
    #[inline]
    pub(super) fn allows(&self, left: Counts) -> bool {
        let on_left = left.all();
        on_left >= self.least && self.total.all() - on_left >= self.least
    }

    #[inline]
    fn side(&self, counts: Counts) -> f64 {
        let positive = f64::from(counts.positive) * self.weights.positive;
        let other = f64::from(counts.other) * self.weights.other;
        (positive * positive + other * other) / (positive + other).max(NOTHING)
    }
}

/// The cut of extra trees: at random.
pub(super) struct RandomCut;

impl Splitter for RandomCut {
    type Cell = f32;

    fn search(&mut self, column: &Column<'_, f32>, stream: &mut SplitMix) -> Option<Cut<f32>> {
        let (low, high) = range(column.cells);
        let missing = if column.may_miss { missing(column) } else { Counts::default() };
        let has_missing = missing.all() > 0;
        if low < high {
            let at = between(low, high, stream.unit());
            let left = counted_below(column, at);
            let right_cut = allowed(&column.gain, at, left, false);
            if !has_missing {
                return right_cut.map(|cut| cut.without_missing(&column.gain));
            }
            return better(right_cut, allowed(&column.gain, at, left + missing, true));
        }
        let present = column.gain.total() - missing;
        (has_missing && present.all() > 0)
            .then(|| allowed(&column.gain, f32::MAX, present, false))
            .flatten()
    }

    fn threshold(&self, _: &Column<'_, f32>, cut: &Cut<f32>) -> f32 {
        cut.at
    }

    fn is_missing(cell: f32) -> bool {
        cell.is_nan()
    }
}

/// A place from the least number up to, but not including, the greatest.
fn between(low: f32, high: f32, unit: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounded into the range below")]
    let at = (f64::from(low) + unit * (f64::from(high) - f64::from(low))) as f32;
    if at >= high { low } else { at.max(low) }
}

fn allowed(gain: &Gain, at: f32, left: Counts, missing_left: bool) -> Option<Cut<f32>> {
    gain.allows(left).then(|| Cut { gain: gain.value(left), at, left, missing_left })
}

/// The least and the greatest number, passing over missing ones. Eight lanes, so that the processor
/// compares several at once.
fn range(values: &[f32]) -> (f32, f32) {
    let least = |a: f32, b: f32| if b < a { b } else { a };
    let greatest = |a: f32, b: f32| if b > a { b } else { a };
    let (mut low, mut high) = ([f32::INFINITY; 8], [f32::NEG_INFINITY; 8]);
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            low[lane] = least(low[lane], chunk[lane]);
            high[lane] = greatest(high[lane], chunk[lane]);
        }
    }
    let low = low.into_iter().chain(rest.iter().copied()).fold(f32::INFINITY, least);
    let high = high.into_iter().chain(rest.iter().copied()).fold(f32::NEG_INFINITY, greatest);
    (low, high)
}

/// What lies on the left of a cut. Every row counts once: extra trees draw no rows.
fn counted_below(column: &Column<'_, f32>, at: f32) -> Counts {
    let (mut all, mut positive) = (0u32, 0u32);
    for (value, tag) in column.cells.iter().zip(column.tags) {
        let inside = u32::from(*value <= at);
        all += inside;
        positive += inside & tag;
    }
    Counts { positive, other: all - positive }
}

fn missing(column: &Column<'_, f32>) -> Counts {
    let rows = column.cells.iter().zip(column.tags);
    Counts::of_tags(rows.filter(|(value, _)| value.is_nan()).map(|(_, tag)| *tag))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EQUAL: ClassWeights = ClassWeights { positive: 1.0, other: 1.0 };

    #[test]
    fn a_cut_that_parts_the_classes_is_worth_most() {
        let gain = Gain::new(EQUAL, Counts { positive: 3, other: 5 }, 1);
        assert!((gain.value(Counts { positive: 3, other: 0 }) - 8.0).abs() < 1e-12);
        // (1 + 4)/3 + (4 + 9)/5
        assert!((gain.value(Counts { positive: 1, other: 2 }) - (5.0 / 3.0 + 2.6)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn between_two_cuts_no_cut_is_worth_more_than_the_corners(
            from in (0u32..50, 0u32..50), size in (0u32..50, 0u32..50),
            at in (0u32..50, 0u32..50), beyond in (0u32..50, 0u32..50), weight in 0.1f64..10.0,
        ) {
            let at = (at.0.min(size.0), at.1.min(size.1));
            let counts = |positive, other| Counts { positive, other };
            let total = counts(from.0 + size.0 + beyond.0, from.1 + size.1 + beyond.1);
            let gain = Gain::new(ClassWeights { positive: weight, other: 1.0 }, total, 1);
            let corner = |p: u32, o: u32| gain.value(counts(from.0 + p * size.0, from.1 + o * size.1));
            let highest =
                [corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1)].into_iter().fold(0.0, f64::max);
            prop_assert!(gain.value(counts(from.0 + at.0, from.1 + at.1)) <= highest + 1e-9);
        }
    }

    #[test]
    fn the_range_passes_over_missing_numbers() {
        let mut values = vec![f32::NAN; 20];
        values[3] = -2.0;
        values[17] = 5.0;
        assert_eq!(range(&values), (-2.0, 5.0));
    }

    #[test]
    fn a_cut_leaves_something_on_both_sides() {
        assert!(between(1.0, 1.0f32.next_up(), 0.999_999) < 1.0f32.next_up());
        assert!(between(-3.0, 4.0, 0.0) == -3.0);
    }
}
