//! The cut of random forests: the best one of all places between two numbers of a node.
//!
//! Sorting the numbers of every node is what makes random forests slow. Here numbers are replaced by
//! their ranks in the whole table, once. A large node counts its classes in some hundred buckets of
//! neighbouring ranks, which takes one pass, and values the cuts between buckets. What a cut inside a
//! bucket can be worth at most is known without looking: the criterion is convex, so it is largest at
//! a corner (all positive rows of the bucket on the left and all others on the right, or the other
//! way round). Only buckets that could still win are sorted. No cut is better than the one
//! found.

use super::cut::{Column, Counts, Cut, Gain, Splitter, better};
use crate::chance::SplitMix;

/// The rank of a missing number: beyond all others.
pub(super) const MISSING: u32 = u32::MAX;

/// Nodes of at most so many rows are sorted as a whole.
const SMALL: usize = 96;
const ROWS_PER_BUCKET: usize = 8;
const MOST_BUCKETS: usize = 1024;

/// Finds the best cut, reusing its memory.
pub(super) struct BestCut<'a> {
    /// The numbers of each column by rank.
    values: &'a [Vec<f32>],
    buckets: Vec<u64>,
    candidates: Vec<Candidate>,
    marked: Vec<bool>,
    keys: Vec<u64>,
    ranks: Vec<u32>,
    tags: Vec<u32>,
}

/// A bucket that may hold a better cut than those between buckets.
struct Candidate {
    bucket: usize,
    before: Counts,
    at_most: f64,
}

/// How ranks become buckets: evenly over the ranks of the node.
#[derive(Clone, Copy)]
struct Scale {
    low: u32,
    factor: u64,
    buckets: usize,
}

impl<'a> BestCut<'a> {
    /// A search over columns whose numbers are given by rank.
    pub(super) fn new(values: &'a [Vec<f32>]) -> Self {
        Self {
            values,
            buckets: Vec::new(),
            candidates: Vec::new(),
            marked: Vec::new(),
            keys: Vec::new(),
            ranks: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// The best cut when missing numbers go to the right, to the left, or alone to the right.
    fn with_missing(&mut self, column: &Column<'_, u32>) -> Option<Cut<u32>> {
        let mut ranks = std::mem::take(&mut self.ranks);
        let mut tags = std::mem::take(&mut self.tags);
        ranks.clear();
        tags.clear();
        let mut missing = Counts::default();
        for (rank, tag) in column.cells.iter().zip(column.tags) {
            if *rank == MISSING {
                missing += Counts::unpacked(packed(*tag));
            } else {
                ranks.push(*rank);
                tags.push(*tag);
            }
        }
        let mut best = self.best(&ranks, &tags, Counts::default(), &column.gain);
        if missing.all() > 0 {
            let left = self.best(&ranks, &tags, missing, &column.gain);
            best = better(best, left.map(|cut| Cut { missing_left: true, ..cut }));
            let present = column.gain.total() - missing;
            let alone = Cut {
                gain: column.gain.value(present),
                at: MISSING - 1,
                left: present,
                missing_left: false,
            };
            best = better(best, column.gain.allows(present).then_some(alone));
        } else {
            best = best.map(|cut| cut.without_missing(&column.gain));
        }
        (self.ranks, self.tags) = (ranks, tags);
        best
    }

    fn best(
        &mut self,
        ranks: &[u32],
        tags: &[u32],
        before: Counts,
        gain: &Gain,
    ) -> Option<Cut<u32>> {
        let (low, high) = range(ranks);
        if low >= high {
            return None;
        }
        if ranks.len() > SMALL {
            return self.best_by_buckets(
                ranks,
                tags,
                before,
                gain,
                Scale::new(low, high, ranks.len()),
            );
        }
        self.keys.clear();
        self.keys.extend(ranks.iter().zip(tags).map(|(rank, tag)| key(*rank, *tag)));
        self.keys.sort_unstable();
        best_of_sorted(&self.keys, before, gain)
    }

    fn best_by_buckets(
        &mut self,
        ranks: &[u32],
        tags: &[u32],
        before: Counts,
        gain: &Gain,
        scale: Scale,
    ) -> Option<Cut<u32>> {
        self.buckets.clear();
        self.buckets.resize(scale.buckets, 0);
        for (rank, tag) in ranks.iter().zip(tags) {
            self.buckets[scale.bucket(*rank)] += packed(*tag);
        }
        let mut best = self.best_between_buckets(before, gain, scale);
        let known = best.map_or(f64::NEG_INFINITY, |cut| cut.gain);
        self.candidates.retain(|candidate| candidate.at_most > known);
        if self.candidates.is_empty() {
            return best;
        }
        self.collect_candidates(ranks, tags, scale);
        let mut from = 0;
        for candidate in &self.candidates {
            let of_bucket = |key: &u64| scale.bucket(rank_of(*key)) == candidate.bucket;
            let length = self.keys[from..].iter().take_while(|key| of_bucket(key)).count();
            let inside = &self.keys[from..from + length];
            best = better(best, best_of_sorted(inside, candidate.before, gain));
            from += length;
        }
        best
    }

    /// The best cut between two buckets; buckets in which a better one may lie become candidates.
    fn best_between_buckets(
        &mut self,
        before: Counts,
        gain: &Gain,
        scale: Scale,
    ) -> Option<Cut<u32>> {
        self.candidates.clear();
        let mut best: Option<Cut<u32>> = None;
        let mut left = before;
        let mut filled = self.buckets.iter().enumerate().filter(|(_, packed)| **packed != 0);
        let mut next = filled.next();
        while let Some((bucket, packed)) = next {
            next = filled.next();
            let inside = Counts::unpacked(*packed);
            let after = left + inside;
            // The ends of a bucket of one class are as good as any cut inside it, where both may be cut.
            let ends_are_best = inside.is_pure() && gain.allows(left) && gain.allows(after);
            if !ends_are_best {
                let positive_first = Counts { other: left.other, ..after };
                let others_first = Counts { positive: left.positive, ..after };
                let at_most = gain.value(positive_first).max(gain.value(others_first));
                let known = best.map_or(f64::NEG_INFINITY, |cut| cut.gain);
                if at_most > known {
                    self.candidates.push(Candidate { bucket, before: left, at_most });
                }
            }
            if next.is_some() && gain.allows(after) {
                let value = gain.value(after);
                if best.is_none_or(|cut| value > cut.gain) {
                    let at = scale.last_of(bucket);
                    best = Some(Cut { gain: value, at, left: after, missing_left: false });
                }
            }
            left = after;
        }
        best
    }

    /// Sort what lies in the candidates.
    fn collect_candidates(&mut self, ranks: &[u32], tags: &[u32], scale: Scale) {
        self.marked.clear();
        self.marked.resize(scale.buckets, false);
        for candidate in &self.candidates {
            self.marked[candidate.bucket] = true;
        }
        self.keys.clear();
        for (rank, tag) in ranks.iter().zip(tags) {
            if self.marked[scale.bucket(*rank)] {
                self.keys.push(key(*rank, *tag));
            }
        }
        self.keys.sort_unstable();
    }
}

impl Splitter for BestCut<'_> {
    type Cell = u32;

    fn search(&mut self, column: &Column<'_, u32>, _: &mut SplitMix) -> Option<Cut<u32>> {
        if column.may_miss {
            return self.with_missing(column);
        }
        let best = self.best(column.cells, column.tags, Counts::default(), &column.gain);
        best.map(|cut| cut.without_missing(&column.gain))
    }

    /// Half way between the two numbers that are parted.
    fn threshold(&self, column: &Column<'_, u32>, cut: &Cut<u32>) -> f32 {
        let (mut below, mut above) = (0, MISSING);
        for rank in column.cells {
            if *rank <= cut.at {
                below = below.max(*rank);
            } else {
                above = above.min(*rank);
            }
        }
        let values = &self.values[column.feature];
        let Some(above) = values.get(above as usize) else { return f32::MAX };
        let below = values[below as usize];
        let middle = below / 2.0 + above / 2.0;
        if middle < below || middle >= *above { below } else { middle }
    }

    fn is_missing(cell: u32) -> bool {
        cell == MISSING
    }
}

impl Scale {
    fn new(low: u32, high: u32, rows: usize) -> Self {
        let span = u64::from(high - low) + 1;
        let buckets = (rows / ROWS_PER_BUCKET).clamp(2, MOST_BUCKETS);
        let buckets = buckets.min(usize::try_from(span).unwrap_or(usize::MAX));
        Self { low, factor: ((buckets as u64) << 32) / span, buckets }
    }

    #[inline]
    fn bucket(self, rank: u32) -> usize {
        ((u64::from(rank - self.low) * self.factor) >> 32) as usize
    }

    /// The last rank that falls into a bucket.
    fn last_of(self, bucket: usize) -> u32 {
        let last = (((bucket as u64 + 1) << 32) - 1) / self.factor;
        self.low.saturating_add(u32::try_from(last).unwrap_or(u32::MAX)).min(MISSING - 1)
    }
}

fn range(ranks: &[u32]) -> (u32, u32) {
    ranks.iter().fold((MISSING, 0), |(low, high), rank| (low.min(*rank), high.max(*rank)))
}

/// A rank and a tag as one number that sorts by rank.
fn key(rank: u32, tag: u32) -> u64 {
    u64::from(rank) << 32 | u64::from(tag)
}

fn rank_of(key: u64) -> u32 {
    u32::try_from(key >> 32).unwrap_or(MISSING)
}

/// What a row counts, with positive rows in the upper half.
fn packed(tag: u32) -> u64 {
    u64::from(tag >> 1) << (32 * (tag & 1))
}

/// The best cut between two different ranks of sorted keys.
fn best_of_sorted(keys: &[u64], before: Counts, gain: &Gain) -> Option<Cut<u32>> {
    let mut best: Option<Cut<u32>> = None;
    let mut left = before;
    for pair in keys.windows(2) {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the tag")]
        let tag = pair[0] as u32;
        left += Counts::unpacked(packed(tag));
        let rank = rank_of(pair[0]);
        if rank == rank_of(pair[1]) || !gain.allows(left) {
            continue;
        }
        let value = gain.value(left);
        if best.is_none_or(|cut| value > cut.gain) {
            best = Some(Cut { gain: value, at: rank, left, missing_left: false });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cut::ClassWeights;
    use super::*;

    proptest! {
        #[test]
        fn buckets_find_as_good_a_cut_as_sorting_everything(
            rows in proptest::collection::vec((0u32..5000, 1u32..4, any::<bool>()), 100..900),
            weight in 0.2f64..5.0, least in 1u32..20,
        ) {
            let ranks: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let tags: Vec<u32> = rows.iter().map(|row| row.1 << 1 | u32::from(row.2)).collect();
            let weights = ClassWeights { positive: weight, other: 1.0 };
            let gain = Gain::new(weights, Counts::of_tags(tags.iter().copied()), least);
            let mut search = BestCut::new(&[]);
            let found = search.best(&ranks, &tags, Counts::default(), &gain).expect("a cut");
            let mut keys: Vec<u64> =
                ranks.iter().zip(&tags).map(|(rank, tag)| key(*rank, *tag)).collect();
            keys.sort_unstable();
            let sorted = best_of_sorted(&keys, Counts::default(), &gain).expect("a cut");
            prop_assert!(found.gain == sorted.gain);
            let left = ranks.iter().zip(&tags).filter(|(rank, _)| **rank <= found.at);
            prop_assert_eq!(Counts::of_tags(left.map(|(_, tag)| *tag)), found.left);
        }
    }
}
