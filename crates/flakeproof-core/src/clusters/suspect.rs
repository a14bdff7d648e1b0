//! The tests of a history that failed often enough to share failures, and the runs in which they did.

use std::collections::BTreeSet;

use crate::judged_marks::JudgedMarks;
use crate::{Scores, Tally, TestId, TestScore, Timeline};

/// Two failures in the same run are a coincidence: a pair must share as many.
pub(super) const FEWEST_SHARED: u32 = 2;

/// A test that failed often enough to share failures with another.
pub(super) struct Suspect<'a> {
    pub(super) test: &'a TestId,
    /// The runs in which it failed, in their order.
    pub(super) failures: Vec<u32>,
    /// The same as a set.
    pub(super) failed: RunSet,
    /// The runs in which it could fail.
    pub(super) ran: RunSet,
    /// How often it fails.
    pub(super) rate: f64,
}

impl<'a> Suspect<'a> {
    /// All of a history.
    pub(super) fn all(timeline: &'a Timeline, scores: &Scores) -> Vec<Self> {
        let in_outage: BTreeSet<u32> = scores.outages.iter().map(|outage| outage.run).collect();
        let is_suspect = |score: &&TestScore| score.proven.failures >= FEWEST_SHARED;
        let known = timeline.tests.iter().filter_map(|test| {
            let score = scores.find(&test.test).filter(is_suspect)?;
            let tally = Tally {
                runs: score.all.runs + score.outages,
                failures: score.all.failures + score.outages,
            };
            let judged = JudgedMarks::new(test, tally, &timeline.runs, &in_outage);
            let mut suspect = Self {
                test: &test.test,
                failures: Vec::new(),
                failed: RunSet::new(timeline.runs.len()),
                ran: RunSet::new(timeline.runs.len()),
                rate: 0.0,
            };
            let mut runs = 0;
            for (run, has_failed) in judged.proven() {
                suspect.ran.add(run);
                runs += 1;
                if has_failed {
                    suspect.failed.add(run);
                    suspect.failures.push(run);
                }
            }
            suspect.rate = suspect.failures.len() as f64 / f64::from(runs.max(1));
            (suspect.failures.len() >= FEWEST_SHARED as usize).then_some(suspect)
        });
        known.collect()
    }

    /// The runs from the first to the last failure of either.
    pub(super) fn window(&self, other: &Self) -> (u32, u32) {
        let ends = |it: &Self| (it.failures[0], it.failures[it.failures.len() - 1]);
        let ((first, last), (other_first, other_last)) = (ends(self), ends(other));
        (first.min(other_first), last.max(other_last))
    }
}

/// A set of runs.
pub(super) struct RunSet(Vec<u64>);

impl RunSet {
    fn new(runs: usize) -> Self {
        Self(vec![0; runs.div_ceil(64)])
    }

    fn add(&mut self, run: u32) {
        if let Some(word) = self.0.get_mut(run as usize / 64) {
            *word |= 1 << (run % 64);
        }
    }

    pub(super) fn has(&self, run: u32) -> bool {
        self.0.get(run as usize / 64).is_some_and(|word| word >> (run % 64) & 1 == 1)
    }

    /// The words of the runs from one to another, without those outside.
    pub(super) fn words(&self, (first, last): (u32, u32)) -> impl Iterator<Item = u64> {
        let (from, to) = (first as usize / 64, last as usize / 64);
        let words = self.0.get(from..=to).unwrap_or_default().iter().copied();
        words.enumerate().map(move |(at, word)| {
            let from_first = if at == 0 { u64::MAX << (first % 64) } else { u64::MAX };
            let to_last = if from + at == to { u64::MAX >> (63 - last % 64) } else { u64::MAX };
            word & from_first & to_last
        })
    }
}
