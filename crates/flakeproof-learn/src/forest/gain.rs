//! How good a cut of a node is: the gini criterion, in the form that needs no division by the whole.
//!
//! The impurity that a cut leaves is smallest where `(p² + n²) / (p + n)`, summed over both sides, is
//! largest (p and n: the weights of positive and other rows on a side). That sum is a convex function
//! of what lies on the left side, which `best_cut` uses to pass over most places for a cut.

use std::ops::{Add, AddAssign, Sub};

/// How many rows, drawn twice counted twice, are positive, and how many are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) positive: u32,
    pub(super) other: u32,
}

impl Counts {
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
    pub(super) fn of(&self, left: Counts) -> f64 {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EQUAL: ClassWeights = ClassWeights { positive: 1.0, other: 1.0 };

    #[test]
    fn a_cut_that_parts_the_classes_is_worth_most() {
        let gain = Gain::new(EQUAL, Counts { positive: 3, other: 5 }, 1);
        assert!((gain.of(Counts { positive: 3, other: 0 }) - 8.0).abs() < 1e-12);
        // (1 + 4)/3 + (4 + 9)/5
        assert!((gain.of(Counts { positive: 1, other: 2 }) - (5.0 / 3.0 + 2.6)).abs() < 1e-12);
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
            let corner = |p: u32, o: u32| gain.of(counts(from.0 + p * size.0, from.1 + o * size.1));
            let highest =
                [corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1)].into_iter().fold(0.0, f64::max);
            prop_assert!(gain.of(counts(from.0 + at.0, from.1 + at.1)) <= highest + 1e-9);
        }
    }
}
