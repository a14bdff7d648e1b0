//! The cut of extra trees (Geurts et al., 2006): drawn evenly between the least and the greatest
//! number in the node; the best of the features looked at is taken.
//!
//! Missing numbers take no part in the draw. They go to the side where they part the classes better,
//! and where all other numbers are equal, they may be parted from them.

use super::gain::{Counts, Gain};
use super::grow::{Column, Cut, Splitter, better, counted};
use super::stream::Stream;

/// Cuts at random.
pub(super) struct RandomCut;

impl Splitter for RandomCut {
    type Cell = f32;

    fn search(&mut self, column: &Column<'_, f32>, stream: &mut Stream) -> Option<Cut<f32>> {
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
    gain.allows(left).then(|| Cut { gain: gain.of(left), at, left, missing_left })
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
    counted(rows.filter(|(value, _)| value.is_nan()).map(|(_, tag)| *tag))
}

#[cfg(test)]
mod tests {
    use super::*;

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
