//! Sums over all candidates from a threshold on, for every threshold at once.

use super::grid::LAST;

/// How many tests reach each step, and what a run of each costs together.
pub(super) struct Candidates {
    pub(super) tests: [f64; LAST + 1],
    pub(super) seconds: [f64; LAST + 1],
}

impl Default for Candidates {
    fn default() -> Self {
        Self { tests: [0.0; LAST + 1], seconds: [0.0; LAST + 1] }
    }
}

impl Candidates {
    pub(super) fn count(&mut self, step: usize, seconds: f64) {
        self.tests[step] += 1.0;
        self.seconds[step] += seconds;
    }

    pub(super) fn sum_from_above(&mut self) {
        for step in (0..LAST).rev() {
            self.tests[step] += self.tests[step + 1];
            self.seconds[step] += self.seconds[step + 1];
        }
    }
}

/// A number for each pair of steps, of victims and of polluters.
pub(super) struct Square(Vec<f64>);

impl Default for Square {
    fn default() -> Self {
        Self(vec![0.0; (LAST + 1) * (LAST + 1)])
    }
}

impl Square {
    pub(super) fn at(&self, victim: usize, polluter: usize) -> f64 {
        self.0[victim * (LAST + 1) + polluter]
    }

    pub(super) fn cell(&mut self, victim: usize, polluter: usize) -> &mut f64 {
        &mut self.0[victim * (LAST + 1) + polluter]
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    }

    pub(super) fn sum_from_above(&mut self) {
        for victim in (0..=LAST).rev() {
            for polluter in (0..LAST).rev() {
                *self.cell(victim, polluter) += self.at(victim, polluter + 1);
            }
        }
        for victim in (0..LAST).rev() {
            for polluter in 0..=LAST {
                *self.cell(victim, polluter) += self.at(victim + 1, polluter);
            }
        }
    }
}
