//! Products of matrices, with the widest vectors that the processor at hand has. A matrix is its rows
//! one after another.
//!
//! Own code instead of a crate: the numbers come out the same on every processor, it is as fast for our
//! shapes, and none of the crates has a safe interface.
//!
//! A release build must run on every processor, so by itself the compiler uses the narrowest vectors. A
//! [`Loop`] is compiled three times, and the widest version is chosen when it runs: a product takes a
//! fifth of the time with AVX-512. Each number is computed by the same operations in the same order in
//! every version, so the result is the same to the last bit (except on x86 processors older than 2013,
//! which cannot multiply and add in one rounding).
//!
//! A batch needs dozens of vectors of up to megabytes. Asking the system for them each time takes
//! as long as computing with them, because it hands out and takes back memory page by page. So each
//! thread keeps the room of vectors that are no longer needed in [`Buffer`]s. What is computed does
//! not depend on it.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// How many rows of the right matrix are worked on at a time: they fit into the nearest cache.
/// The results depend on it in the last bit, so it is the same everywhere.
const DEPTH: usize = 64;

/// How many rows of the left matrix are worked on at a time: they fit into the second cache.
const HEIGHT: usize = 240;

/// The most columns that any processor works on at a time.
const WIDEST: usize = 32;

/// Add `left` · `right` to `sum`: `left` has `inner` columns, `right` and `sum` have `columns`.
pub(super) fn add_product(
    left: &[f32],
    right: &[f32],
    inner: usize,
    columns: usize,
    sum: &mut [f32],
) {
    assert_eq!(right.len(), inner * columns, "the right matrix has another shape");
    assert_eq!(left.len() * columns, sum.len() * inner, "the left matrix has another shape");
    if sum.is_empty() || inner == 0 {
        return;
    }
    for (left, sum) in left.chunks(HEIGHT * inner).zip(sum.chunks_mut(HEIGHT * columns)) {
        run_wide(Product { left, right, inner, columns, sum });
    }
}

/// Add the transpose of `left` · `right` to `sum`: both have `rows` rows.
pub(super) fn add_transposed_product(left: &[f32], right: &[f32], rows: usize, sum: &mut [f32]) {
    if rows == 0 {
        return;
    }
    let (height, columns) = (left.len() / rows, right.len() / rows);
    let mut turned = Buffer::unset(height * DEPTH);
    for (left, right) in left.chunks(height * DEPTH).zip(right.chunks(columns * DEPTH)) {
        let deep = left.len() / height;
        let turned = &mut turned[..left.len()];
        for (at, row) in left.chunks_exact(height).enumerate() {
            let places = turned.iter_mut().skip(at).step_by(deep);
            places.zip(row).for_each(|(place, value)| *place = *value);
        }
        add_product(turned, right, deep, columns, sum);
    }
}

/// The transpose of a matrix with so many columns.
pub(super) fn transposed(matrix: &[f32], columns: usize) -> Buffer {
    let rows = matrix.len() / columns;
    let mut turned = Buffer::unset(matrix.len());
    for (at, row) in matrix.chunks_exact(columns).enumerate() {
        let places = turned.iter_mut().skip(at).step_by(rows);
        places.zip(row).for_each(|(place, value)| *place = *value);
    }
    turned
}

/// Add the sum of each column to `sums`.
pub(super) fn add_column_sums(matrix: &[f32], sums: &mut [f32]) {
    for row in matrix.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// The inner product of two vectors.
pub(super) fn dot(left: &[f32], right: &[f32]) -> f32 {
    // Eight sums side by side, because one sum after the other cannot be vectorised.
    let mut sums = [0.0; 8];
    let (left_eights, left_rest) = left.as_chunks::<8>();
    let (right_eights, right_rest) = right.as_chunks::<8>();
    for (left, right) in left_eights.iter().zip(right_eights) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

/// Add `factor` times a vector to another.
pub(super) fn add_scaled(to: &mut [f32], factor: f32, values: &[f32]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}

struct Product<'a> {
    left: &'a [f32],
    right: &'a [f32],
    inner: usize,
    columns: usize,
    sum: &'a mut [f32],
}

impl Loop for Product<'_> {
    #[inline(always)]
    fn run<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        let mut strip = [[0.0; WIDEST]; DEPTH];
        for from in (0..self.inner).step_by(DEPTH) {
            let mut column = 0;
            while column + COLUMNS <= self.columns {
                self.strip::<ROWS, COLUMNS, FUSED>(from, column, &mut strip);
                column += COLUMNS;
            }
            while column + NARROW <= self.columns {
                self.strip::<ROWS, NARROW, FUSED>(from, column, &mut strip);
                column += NARROW;
            }
            while column < self.columns {
                self.strip::<ROWS, 1, FUSED>(from, column, &mut strip);
                column += 1;
            }
        }
    }
}

/// How many columns and rows are worked on at a time where fewer are left than the processor can.
const NARROW: usize = 8;
const FEW: usize = 4;

impl Product<'_> {
    /// Add what some rows of the right matrix contribute to some columns of the sum.
    #[inline(always)]
    fn strip<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(
        &mut self,
        from: usize,
        column: usize,
        strip: &mut [[f32; WIDEST]; DEPTH],
    ) {
        // The strip of the right matrix is copied to one place: rows far apart share cache lines.
        let mut rows = self.right[from * self.columns..].chunks(self.columns);
        for place in strip.iter_mut() {
            let place = &mut place[..COLUMNS];
            match rows.next() {
                Some(row) => place.copy_from_slice(&row[column..column + COLUMNS]),
                None => place.fill(0.0),
            }
        }
        let rows = self.sum.len() / self.columns;
        let mut row = 0;
        while row + ROWS <= rows {
            self.tile::<ROWS, COLUMNS, FUSED>(from, row, column, strip);
            row += ROWS;
        }
        while row + FEW <= rows {
            self.tile::<FEW, COLUMNS, FUSED>(from, row, column, strip);
            row += FEW;
        }
        while row < rows {
            self.tile::<1, COLUMNS, FUSED>(from, row, column, strip);
            row += 1;
        }
    }

    /// The same for a few rows of the sum.
    #[inline(always)]
    fn tile<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(
        &mut self,
        from: usize,
        row: usize,
        column: usize,
        strip: &[[f32; WIDEST]; DEPTH],
    ) {
        let part = |at: usize| &self.left[(row + at) * self.inner..][from..self.inner];
        let sums = if self.inner - from >= DEPTH {
            let left = std::array::from_fn(|at| part(at).first_chunk().unwrap_or(&[0.0; DEPTH]));
            sums::<ROWS, COLUMNS, FUSED>(left, strip)
        } else {
            let mut padded = [[0.0; DEPTH]; ROWS];
            for (at, padded) in padded.iter_mut().enumerate() {
                let part = part(at);
                padded[..part.len()].copy_from_slice(part);
            }
            sums::<ROWS, COLUMNS, FUSED>(padded.each_ref(), strip)
        };
        for (at, sums) in sums.iter().enumerate() {
            let places = &mut self.sum[(row + at) * self.columns + column..][..COLUMNS];
            places.iter_mut().zip(sums).for_each(|(place, sum)| *place += sum);
        }
    }
}

/// The products of some rows with a strip. All sizes are known when it is compiled, so that nothing
/// is checked in the loop and the sums stay in registers; without that it takes four times as long.
#[inline(always)]
fn sums<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(
    left: [&[f32; DEPTH]; ROWS],
    strip: &[[f32; WIDEST]; DEPTH],
) -> [[f32; COLUMNS]; ROWS] {
    let mut sums = [[0.0f32; COLUMNS]; ROWS];
    for deep in 0..DEPTH {
        for row in 0..ROWS {
            let factor = left[row][deep];
            for column in 0..COLUMNS {
                let right = strip[deep][column];
                let sum = &mut sums[row][column];
                *sum = if FUSED { factor.mul_add(right, *sum) } else { factor * right + *sum };
            }
        }
    }
    sums
}

/// A loop to be compiled for several processors. Everything in it must be `#[inline(always)]`.
pub(super) trait Loop {
    /// Run it. `ROWS` by `COLUMNS` numbers fit into the processor's registers; `FUSED` says whether
    /// it multiplies and adds in one rounding.
    fn run<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(self);
}

/// Run a loop with the widest vectors there are.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "it was asked whether the processor can")]
pub(super) fn run_wide(work: impl Loop) {
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor can.
        unsafe { with_avx512(work) }
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor can.
        unsafe { with_avx2(work) }
    } else {
        work.run::<4, 8, false>();
    }
}

/// Run a loop with the widest vectors there are.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn run_wide(work: impl Loop) {
    work.run::<6, 16, true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn with_avx512(work: impl Loop) {
    work.run::<12, 32, true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2(work: impl Loop) {
    work.run::<6, 16, true>();
}

/// The most numbers for which a thread keeps room: 256 megabytes.
const MOST_KEPT: usize = 1 << 26;

/// The most vectors whose room a thread keeps.
const MOST_VECTORS: usize = 64;

thread_local! {
    static KEPT: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

/// A vector of numbers whose room is kept when it is dropped.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Buffer(Vec<f32>);

impl Buffer {
    /// So many zeros.
    pub(super) fn zeros(length: usize) -> Self {
        let mut room = room_for(length);
        room.clear();
        room.resize(length, 0.0);
        Self(room)
    }

    /// So many numbers that mean nothing, each of which is to be overwritten.
    pub(super) fn unset(length: usize) -> Self {
        let mut room = room_for(length);
        room.resize(length, 0.0);
        Self(room)
    }

    /// A row so many times.
    pub(super) fn repeated(row: &[f32], times: usize) -> Self {
        let mut buffer = Self::unset(row.len() * times);
        for place in buffer.chunks_exact_mut(row.len().max(1)) {
            place.copy_from_slice(row);
        }
        buffer
    }

    /// The rows with these numbers, in this order.
    pub(super) fn gathered(rows: &[f32], numbers: &[u32], width: usize) -> Self {
        let mut buffer = Self::unset(numbers.len() * width);
        for (place, number) in buffer.chunks_exact_mut(width).zip(numbers) {
            place.copy_from_slice(&rows[*number as usize * width..][..width]);
        }
        buffer
    }
}

/// The smallest kept room that is large enough, or new room.
fn room_for(length: usize) -> Vec<f32> {
    KEPT.with_borrow_mut(|kept| {
        let enough = (0..kept.len()).filter(|at| kept[*at].capacity() >= length);
        let best = enough.min_by_key(|at| kept[*at].capacity());
        best.map_or_else(|| Vec::with_capacity(length), |at| kept.swap_remove(at))
    })
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let room = std::mem::take(&mut self.0);
        // At the end of a thread there is nothing left to keep it in.
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let numbers: usize = kept.iter().map(Vec::capacity).sum();
            if kept.len() < MOST_VECTORS && numbers + room.capacity() <= MOST_KEPT {
                kept.push(room);
            }
        });
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl From<Vec<f32>> for Buffer {
    fn from(values: Vec<f32>) -> Self {
        Self(values)
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;
    use proptest::prelude::*;

    use super::*;
    use crate::Chance;

    fn random(count: usize, seed: u64) -> Vec<f32> {
        let mut chance = Chance::new(Seed(seed));
        #[expect(clippy::cast_possible_truncation, reason = "a small number")]
        let number = |chance: &mut Chance| (chance.unit() * 2.0 - 1.0) as f32;
        (0..count).map(|_| number(&mut chance)).collect()
    }

    fn plain(left: &[f32], right: &[f32], inner: usize, columns: usize) -> Vec<f64> {
        let rows = left.len() / inner;
        let cell = |row: usize, column: usize| -> f64 {
            let terms = (0..inner).map(|at| (left[row * inner + at], right[at * columns + column]));
            terms.map(|(a, b)| f64::from(a) * f64::from(b)).sum()
        };
        (0..rows * columns).map(|at| cell(at / columns, at % columns)).collect()
    }

    proptest! {
        #[test]
        fn a_product_is_the_sum_over_the_inner_side(
            rows in 1usize..20, inner in 1usize..300, columns in 1usize..70, seed: u64,
        ) {
            let (left, right) = (random(rows * inner, seed), random(inner * columns, !seed));
            let expected = plain(&left, &right, inner, columns);
            let mut sum = vec![0.5; rows * columns];
            add_product(&left, &right, inner, columns, &mut sum);
            for (sum, expected) in sum.iter().zip(&expected) {
                prop_assert!((f64::from(*sum) - 0.5 - expected).abs() < 1e-4);
            }
            let mut turned = vec![0.0; rows * columns];
            add_transposed_product(&transposed(&left, inner), &right, inner, &mut turned);
            for (sum, expected) in turned.iter().zip(&expected) {
                prop_assert!((f64::from(*sum) - expected).abs() < 1e-4);
            }
        }

        #[test]
        fn every_width_of_vectors_gives_the_same_bits(
            rows in 1usize..20, inner in 1usize..300, columns in 1usize..70, seed: u64,
        ) {
            let (left, right) = (random(rows * inner, seed), random(inner * columns, !seed));
            let by = |run: fn(Product<'_>)| {
                let mut sum = vec![0.0; rows * columns];
                run(Product { left: &left, right: &right, inner, columns, sum: &mut sum });
                sum
            };
            let narrow = by(|product| product.run::<1, 1, true>());
            prop_assert_eq!(&by(|product| product.run::<6, 16, true>()), &narrow);
            prop_assert_eq!(&by(|product| product.run::<12, 32, true>()), &narrow);
        }
    }

    #[test]
    fn a_transpose_swaps_rows_and_columns() {
        assert_eq!(*transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn zeros_are_zero_in_used_room_too() {
        for length in [5, 9, 3] {
            let mut buffer = Buffer::zeros(length);
            assert_eq!(*buffer, vec![0.0; length]);
            buffer.fill(7.0);
        }
        assert_eq!(Buffer::unset(4).len(), 4);
    }

    #[test]
    fn rows_are_gathered_and_repeated() {
        assert_eq!(
            *Buffer::gathered(&[1.0, 2.0, 3.0, 4.0], &[1, 0, 1], 2),
            [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]
        );
        assert_eq!(*Buffer::repeated(&[1.0, 2.0], 2), [1.0, 2.0, 1.0, 2.0]);
        assert!(Buffer::repeated(&[], 2).is_empty());
    }
}
