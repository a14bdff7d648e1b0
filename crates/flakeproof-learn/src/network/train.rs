//! The training of one member: batches with a fixed share of flaky tests, steps of Adam, and
//! stopping in time.
//!
//! A batch is computed in parts of a fixed size, and their gradients are added in a fixed order, so
//! that the number of threads changes nothing.

use std::ops::ControlFlow;

use flakeproof_core::Seed;
use rayon::prelude::*;

use super::batch::Reading;
use super::matrix::{Buffer, add_scaled};
use super::member::{Gradient, Member};
use super::params::{EpochLog, MemberLog, NetworkFitError, NetworkParams, Progress, TrainingSet};
use super::weights::{Adam, Step, clip};
use crate::Chance;
use crate::evaluate::{Fold, average_precision};

/// How many tests are computed together.
const TOGETHER: usize = 4;

/// The longest that all gradients of a batch together may be.
const LONGEST: f64 = 5.0;

/// So many batches an epoch has at least: of a few hundred tests one turn each is too little to learn from.
const FEWEST_BATCHES: usize = 32;

/// The share of the learning rate that is left at the end.
const LAST_RATE: f64 = 0.05;

/// What one member learns from, and what it is tried on.
pub(super) struct Training<'a> {
    pub(super) params: &'a NetworkParams,
    pub(super) set: &'a TrainingSet<'a>,
    /// The number in the vocabulary of each word of the corpus.
    pub(super) translation: &'a [Option<u32>],
    pub(super) number: usize,
    pub(super) seed: Seed,
    pub(super) fold: &'a Fold,
}

/// A member that learns.
struct Learner {
    member: Member,
    adam: Adam,
    word_adam: Adam,
    /// The sum of the gradients of words' vectors; zero for words that were not met.
    word_sums: Vec<f32>,
    steps: u32,
}

/// The tests on which a member is tried after each epoch.
struct Trial {
    rows: Vec<u32>,
    /// How many tests each one that is not flaky stands for.
    stands_for: f64,
}

impl Training<'_> {
    /// Train until it no longer gets better, and return the member as it was at its best.
    pub(super) fn run(
        &self,
        first: Member,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Member, MemberLog), NetworkFitError> {
        let rows = |wanted: bool| -> Vec<u32> {
            let is = |row: &u32| self.set.flaky[*row as usize] == wanted;
            self.fold.train.iter().copied().filter(is).collect()
        };
        let (flaky, others) = (rows(true), rows(false));
        if flaky.is_empty() || others.is_empty() {
            return Err(NetworkFitError::OneClass { member: self.number });
        }
        let mut flaky = Rounds::new(flaky, self.seed.split("flaky"));
        let mut others = Rounds::new(others, self.seed.split("others"));
        let trial = self.trial();
        let mut learner = Learner::new(first);
        let mut best = learner.member.clone();
        let mut log = MemberLog { epochs: Vec::new(), best: 0 };
        for epoch in 0..self.params.epochs {
            let mut batches = epoch_of(&mut flaky, &mut others, self.params);
            while batches.len() < FEWEST_BATCHES {
                batches.extend(epoch_of(&mut flaky, &mut others, self.params));
            }
            let finished = self.epoch(&mut learner, &batches, epoch, &trial, watch)?;
            log.epochs.push(finished);
            if epoch == 0 || is_better(&finished, &log.epochs[log.best]) {
                log.best = epoch;
                best.clone_from(&learner.member);
            } else if epoch - log.best >= self.params.patience {
                break;
            }
        }
        best.answer_as_if_half_were_flaky(self.params.flaky_share);
        Ok((best, log))
    }

    /// The scores of the rows that were held out, from all their paths.
    pub(super) fn held_out(&self, member: &Member) -> Vec<f64> {
        self.scores(member, &self.fold.test, usize::MAX)
    }

    fn epoch(
        &self,
        learner: &mut Learner,
        batches: &[Vec<u32>],
        epoch: usize,
        trial: &Trial,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<EpochLog, NetworkFitError> {
        let mut report = |batch: usize, finished: Option<EpochLog>| {
            let (members, epochs) = (self.params.members, self.params.epochs);
            let batches = batches.len();
            let member = self.number;
            match watch(Progress { member, members, epoch, epochs, batch, batches, finished }) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(NetworkFitError::Stopped),
            }
        };
        let (mut loss, mut tests) = (0.0, 0);
        for (at, rows) in batches.iter().enumerate() {
            let done = crate::real(epoch) + crate::real(at + 1) / crate::real(batches.len());
            let seed = self.seed.split(&format!("epoch {epoch} batch {at}"));
            loss += self.learn(learner, rows, self.rate(done), seed) * crate::real(rows.len());
            tests += rows.len();
            report(at + 1, None)?;
        }
        let average_precision = self.average_precision(&learner.member, trial);
        let finished = EpochLog { loss: loss / crate::real(tests.max(1)), average_precision };
        report(batches.len(), Some(finished))?;
        Ok(finished)
    }

    /// The learning rate after so many epochs: up in the first one, then down along a cosine.
    fn rate(&self, epochs: f64) -> f64 {
        let last = crate::real(self.params.epochs);
        let share = if epochs < 1.0 {
            epochs
        } else {
            let way = (epochs - 1.0) / (last - 1.0).max(1.0);
            LAST_RATE + (1.0 - LAST_RATE) * (1.0 + (std::f64::consts::PI * way).cos()) / 2.0
        };
        self.params.learning_rate * share
    }

    /// Learn from a batch of rows, and return the loss before.
    fn learn(&self, learner: &mut Learner, rows: &[u32], rate: f64, seed: Seed) -> f64 {
        let weight = 1.0 / crate::real(rows.len());
        let member = &learner.member;
        let parts: Vec<(Vec<u32>, Gradient)> = rows
            .par_chunks(TOGETHER)
            .enumerate()
            .map(|(part, rows)| {
                let mut chance = Chance::new(seed.split(&part.to_string()));
                let reading = Reading {
                    word_dropout: self.params.word_dropout,
                    ..self.reading(self.params.most_paths_in_training)
                };
                let batch = reading.read(&self.tests(rows), &mut chance);
                let dropout = Some((self.params.dropout, &mut chance));
                let forward = member.forward(&batch, dropout);
                let truth: Vec<bool> =
                    rows.iter().map(|row| self.set.flaky[*row as usize]).collect();
                let gradient = member.backward(&batch, forward, &truth, weight);
                (batch.words, gradient)
            })
            .collect();
        learner.step(&parts, rate, self.params);
        parts.iter().map(|(_, gradient)| gradient.loss).sum()
    }

    fn reading(&self, most_paths: usize) -> Reading<'_, impl Fn(u32) -> Option<u32>> {
        Reading {
            corpus: self.set.corpus,
            vocabulary: |word: u32| self.translation[word as usize],
            most_paths,
            word_dropout: 0.0,
        }
    }

    fn tests(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|row| self.set.rows[*row as usize]).collect()
    }

    /// All flaky rows that are held out, and some of the others.
    fn trial(&self) -> Trial {
        let is_flaky = |row: &u32| self.set.flaky[*row as usize];
        let (mut rows, mut others): (Vec<u32>, Vec<u32>) =
            self.fold.test.iter().copied().partition(is_flaky);
        let all = others.len();
        Chance::new(self.seed.split("trial")).shuffle(&mut others);
        others.truncate(self.params.most_asked);
        let stands_for = crate::real(all) / crate::real(others.len().max(1));
        rows.append(&mut others);
        rows.sort_unstable();
        Trial { rows, stands_for }
    }

    fn average_precision(&self, member: &Member, trial: &Trial) -> Option<f64> {
        let scores = self.scores(member, &trial.rows, self.params.most_paths_in_training);
        let truth = trial.rows.iter().map(|row| self.set.flaky[*row as usize]);
        let scored: Vec<(f64, bool)> = scores.into_iter().zip(truth).collect();
        average_precision(&scored, trial.stands_for)
    }

    fn scores(&self, member: &Member, rows: &[u32], most_paths: usize) -> Vec<f64> {
        let seed = self.seed.split("scores");
        rows.par_chunks(TOGETHER)
            .flat_map_iter(|rows| {
                let batch =
                    self.reading(most_paths).read(&self.tests(rows), &mut Chance::new(seed));
                member.forward(&batch, None).flaky().to_vec()
            })
            .collect()
    }
}

fn is_better(new: &EpochLog, best: &EpochLog) -> bool {
    match (new.average_precision, best.average_precision) {
        (Some(new), Some(best)) => new > best,
        // Nothing tells them apart: the longer it learned, the better.
        (None, _) | (_, None) => true,
    }
}

impl Learner {
    fn new(member: Member) -> Self {
        let (weights, words) = (member.weights.len(), member.words.vectors.len());
        Self {
            member,
            adam: Adam::new(weights),
            word_adam: Adam::new(words),
            word_sums: vec![0.0; words],
            steps: 0,
        }
    }

    /// One step against the sum of the parts' gradients.
    fn step(&mut self, parts: &[(Vec<u32>, Gradient)], rate: f64, params: &NetworkParams) {
        let dimension = self.member.shape.dimension;
        let mut sum = Buffer::zeros(self.member.weights.len());
        let mut met: Vec<u32> = Vec::new();
        for (words, gradient) in parts {
            add_scaled(&mut sum, 1.0, &gradient.weights);
            for (word, row) in words.iter().zip(gradient.words.chunks_exact(dimension)) {
                let start = *word as usize * dimension;
                add_scaled(&mut self.word_sums[start..start + dimension], 1.0, row);
            }
            met.extend(words);
        }
        met.sort_unstable();
        met.dedup();
        met.retain(|word| self.member.words.known[*word as usize]);
        let of_words = |word: &u32| {
            let start = *word as usize * dimension;
            start..start + dimension
        };
        let square = |values: &[f32]| values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        let words: f64 = met.iter().map(|word| square(&self.word_sums[of_words(word)])).sum();
        self.steps += 1;
        let scale = clip(square(&sum) + words, LONGEST);
        let step = Step { number: self.steps, rate, scale, decay: 0.0 };
        self.step_weights(&sum, Step { decay: params.weight_decay, ..step }, step);
        let step = Step { rate: rate * params.embedding_rate, ..step };
        for word in &met {
            let range = of_words(word);
            let gradients = &mut self.word_sums[range.clone()];
            self.word_adam.step(&mut self.member.words.vectors, range, gradients, step);
            gradients.fill(0.0);
        }
    }

    /// Move the weights; matrices decay, other numbers do not.
    fn step_weights(&mut self, gradients: &[f32], decaying: Step, other: Step) {
        let mut done = 0;
        let weights = &mut self.member.weights;
        for matrix in self.member.shape.places().matrices() {
            let between = done..matrix.start;
            self.adam.step(weights, between.clone(), &gradients[between], other);
            done = matrix.end;
            self.adam.step(weights, matrix.clone(), &gradients[matrix], decaying);
        }
        let rest = done..gradients.len();
        self.adam.step(weights, rest.clone(), &gradients[rest], other);
    }
}

/// The rows of one class, one after another in random order, again and again.
struct Rounds {
    rows: Vec<u32>,
    next: usize,
    chance: Chance,
}

impl Rounds {
    fn new(rows: Vec<u32>, seed: Seed) -> Self {
        let next = rows.len();
        Self { rows, next, chance: Chance::new(seed) }
    }

    fn next(&mut self) -> Option<u32> {
        if self.next == self.rows.len() {
            self.chance.shuffle(&mut self.rows);
            self.next = 0;
        }
        self.next += 1;
        self.rows.get(self.next - 1).copied()
    }

    /// The next few rows.
    fn some(&mut self, count: usize) -> impl Iterator<Item = u32> + '_ {
        (0..count).filter_map(|_| self.next())
    }
}

/// The batches of one epoch. Each has its share of flaky rows, and there are as many as it takes
/// until all rows of either class had their turn: those of the smaller one have several (IV-C).
fn epoch_of(flaky: &mut Rounds, others: &mut Rounds, params: &NetworkParams) -> Vec<Vec<u32>> {
    let flaky_here = rounded(crate::real(params.batch) * params.flaky_share);
    let flaky_here = flaky_here.clamp(1, params.batch.saturating_sub(1).max(1));
    let others_here = (params.batch - flaky_here).max(1);
    let batches =
        flaky.rows.len().div_ceil(flaky_here).max(others.rows.len().div_ceil(others_here));
    (0..batches).map(|_| flaky.some(flaky_here).chain(others.some(others_here)).collect()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "it is a part of a batch's size")]
#[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
fn rounded(count: f64) -> usize {
    count.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> NetworkParams {
        NetworkParams { batch: 4, flaky_share: 0.25, ..NetworkParams::new(Seed(1)) }
    }

    #[test]
    fn an_epoch_has_each_row_of_the_larger_class_and_its_share_of_flaky_ones() {
        let mut flaky = Rounds::new((0..2).collect(), Seed(1));
        let mut others = Rounds::new((10..22).collect(), Seed(2));
        for _ in 0..3 {
            let batches = epoch_of(&mut flaky, &mut others, &params());
            let flaky_rows = |batch: &Vec<u32>| batch.iter().filter(|row| **row < 10).count();
            assert_eq!(batches.iter().map(flaky_rows).collect::<Vec<_>>(), [1, 1, 1, 1]);
            let mut rows: Vec<u32> = batches.concat();
            rows.retain(|row| *row >= 10);
            rows.sort_unstable();
            assert_eq!(rows, (10..22).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_other_row_has_its_turn() {
        let mut flaky = Rounds::new(vec![0], Seed(1));
        let mut others = Rounds::new((10..15).collect(), Seed(2));
        let mut met: Vec<u32> =
            (0..5).flat_map(|_| epoch_of(&mut flaky, &mut others, &params()).concat()).collect();
        met.sort_unstable();
        met.dedup();
        assert_eq!(met, [0, 10, 11, 12, 13, 14]);
    }
}
