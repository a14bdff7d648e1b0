//! What a network is to be like, and how an ensemble of them is trained.
//!
//! The tests are parted, whole groups together. Each member learns from all parts but one, and
//! stops when it no longer gets better on that one. So every test has a score from a member that
//! did not learn from it, although the ensemble as a whole learned from all.

use std::ops::ControlFlow;

use flakeproof_core::Seed;
use serde::{Deserialize, Serialize};

use super::corpus::PathCorpus;
use super::member::Member;
use super::model::Network;
use super::train::Training;
use super::vocabulary::{Embeddings, Vocabulary, WordTable, first_vectors, test_counts};
use super::weights::Shape;
use crate::evaluate::Fold;
use crate::evaluate::folds::grouped;

/// What a network is to be like, and how it is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkParams {
    /// The dimension of the vectors of words, where none are given.
    pub dimension: usize,
    /// The width of all layers.
    pub hidden: usize,
    /// The most paths of a test that are read each time it is learned from, drawn at random.
    pub most_paths_in_training: usize,
    /// How many tests are learned from at a time.
    pub batch: usize,
    /// The share of them that is flaky.
    pub flaky_share: f64,
    /// How far numbers move in one step, at most.
    pub learning_rate: f64,
    /// How far the vectors of words move, compared with other numbers.
    pub embedding_rate: f64,
    /// The share by which weights become smaller, for a learning rate of 1.
    pub weight_decay: f64,
    /// How often all tests are learned from at most; flaky ones come more often.
    pub epochs: usize,
    /// After how many epochs without getting better a member stops.
    pub patience: usize,
    /// The share of each path's state that is left out at random.
    pub dropout: f64,
    /// The share of words that are left out at random.
    pub word_dropout: f64,
    /// On the paths of how many tests a word must be to become known.
    pub fewest_tests_per_word: u32,
    /// The most tests that are not flaky, out of those held out, that are asked after each epoch.
    pub most_asked: usize,
    /// How many networks answer together.
    pub members: usize,
    /// The seed of all chance.
    pub seed: Seed,
}

/// The tests to learn from.
#[derive(Debug, Clone, Copy)]
pub struct TrainingSet<'a> {
    /// Where their paths are.
    pub corpus: &'a PathCorpus,
    /// Their numbers in the corpus.
    pub rows: &'a [u32],
    /// Which of the rows are flaky.
    pub flaky: &'a [bool],
    /// The group of each row, which is never parted: its class, or its project.
    pub groups: &'a [u32],
}

/// What training gave.
#[derive(Debug)]
pub struct Fitted {
    /// The ensemble.
    pub network: Network,
    /// For each row, the score by the member that did not learn from it.
    pub held_out: Vec<f64>,
    /// What happened to each member.
    pub log: Vec<MemberLog>,
}

/// How one member learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberLog {
    /// What each epoch gave.
    pub epochs: Vec<EpochLog>,
    /// The epoch, from 0 on, after which it was as it is now.
    pub best: usize,
}

/// What one epoch gave.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochLog {
    /// The mean cross-entropy of what was learned from.
    pub loss: f64,
    /// The average precision on what was held out; `None` without a flaky test there.
    pub average_precision: Option<f64>,
}

/// How far training is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Which member learns, from 0 on, and how many there are.
    pub member: usize,
    /// How many members there are.
    pub members: usize,
    /// Which epoch it is in, from 0 on.
    pub epoch: usize,
    /// How many epochs there are at most.
    pub epochs: usize,
    /// How many batches of the epoch are done.
    pub batch: usize,
    /// How many batches the epoch has.
    pub batches: usize,
    /// What the epoch gave, when it is over.
    pub finished: Option<EpochLog>,
}

/// Why a network cannot be trained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkFitError {
    /// The lists do not belong together.
    #[error("there are {rows} rows, {flaky} labels and {groups} groups")]
    Lengths {
        /// How many rows.
        rows: usize,
        /// How many labels.
        flaky: usize,
        /// How many groups.
        groups: usize,
    },
    /// A row is no test of the corpus.
    #[error("there is no test {0} in the corpus")]
    UnknownTest(u32),
    /// A parameter makes no sense.
    #[error("{0}")]
    Params(&'static str),
    /// A member would learn from tests that are all alike.
    #[error(
        "member {member} would learn from tests of one class only; there must be flaky tests and \
         others in at least two groups"
    )]
    OneClass {
        /// Which member, from 0 on.
        member: usize,
    },
    /// Whoever watches said to stop.
    #[error("training was stopped")]
    Stopped,
}

impl NetworkParams {
    /// What was found to work, with this seed.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            dimension: 64,
            hidden: 32,
            most_paths_in_training: 8,
            batch: 128,
            flaky_share: 0.25,
            learning_rate: 0.005,
            embedding_rate: 1.0,
            weight_decay: 0.01,
            epochs: 5,
            patience: 6,
            dropout: 0.2,
            word_dropout: 0.1,
            fewest_tests_per_word: 2,
            most_asked: 2000,
            members: 5,
            seed,
        }
    }

    /// Train an ensemble. After each batch, `watch` is told how far it is, and may stop it.
    ///
    /// # Errors
    /// When the set or the parameters make no sense, or it was stopped.
    pub fn fit(
        &self,
        set: &TrainingSet<'_>,
        embeddings: Option<&Embeddings>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Fitted, NetworkFitError> {
        self.check()?;
        set.check()?;
        let folds = grouped(set.flaky, set.groups, self.members, self.seed.split("parts"));
        if folds.len() < self.members {
            return Err(NetworkFitError::Params("there are fewer groups than members"));
        }
        let vocabulary = Vocabulary::of_tests(set.corpus, set.rows, self.fewest_tests_per_word);
        let translation = vocabulary.translation(set.corpus);
        let mut fitted = Fitted {
            network: Network::new(vocabulary, Vec::new()),
            held_out: vec![0.0; set.rows.len()],
            log: Vec::new(),
        };
        for (number, fold) in folds.iter().enumerate() {
            let seed = self.seed.split(&format!("member {number}"));
            let first = self.first_member(set, fold, &fitted.network, &translation, embeddings);
            let training =
                Training { params: self, set, translation: &translation, number, seed, fold };
            let (member, log) = training.run(first, watch)?;
            let member = member.rounded();
            for (row, score) in fold.test.iter().zip(training.held_out(&member)) {
                fitted.held_out[*row as usize] = score;
            }
            fitted.network.add(member);
            fitted.log.push(log);
        }
        Ok(fitted)
    }

    /// A member before training. It knows the words of the tests it will learn from, and those that
    /// came with a vector.
    fn first_member(
        &self,
        set: &TrainingSet<'_>,
        fold: &Fold,
        network: &Network,
        translation: &[Option<u32>],
        embeddings: Option<&Embeddings>,
    ) -> Member {
        let dimension = embeddings.map_or(self.dimension, Embeddings::dimension);
        let seed = self.seed.split(&format!("first {}", network.member_count()));
        let vocabulary = network.vocabulary();
        let (vectors, mut known) =
            first_vectors(vocabulary, dimension, embeddings, seed.split("words"));
        let learned: Vec<u32> = fold.train.iter().map(|row| set.rows[*row as usize]).collect();
        for (count, word) in test_counts(set.corpus, &learned).iter().zip(translation) {
            if let Some(word) = word.filter(|_| *count > 0) {
                known[word as usize] = true;
            }
        }
        let shape = Shape { dimension, hidden: self.hidden };
        let weights = shape.first_weights(seed.split("weights"));
        Member { shape, words: WordTable { dimension, vectors, known }, weights }
    }

    fn check(&self) -> Result<(), NetworkFitError> {
        let share = |value: f64| (0.0..1.0).contains(&value);
        let size = |value: usize| (1..=4096).contains(&value);
        let rate = |value: f64| value.is_finite() && value >= 0.0;
        let claims = [
            (size(self.dimension) && size(self.hidden), "sizes must be from 1 to 4096"),
            (self.most_paths_in_training > 0, "at least one path of a test must be read"),
            (self.batch > 1, "a batch must have at least two tests"),
            (
                share(self.flaky_share) && self.flaky_share > 0.0,
                "the share of flaky tests must be between 0 and 1",
            ),
            (self.epochs > 0, "there must be at least one epoch"),
            (self.members > 1, "there must be at least two members, to hold tests out"),
            (share(self.dropout) && share(self.word_dropout), "dropout must be from 0 up to 1"),
            (
                [self.learning_rate, self.embedding_rate, self.weight_decay].map(rate) == [true; 3],
                "rates and decay must be finite and not negative",
            ),
        ];
        claims
            .iter()
            .find(|(holds, _)| !holds)
            .map_or(Ok(()), |(_, why)| Err(NetworkFitError::Params(why)))
    }
}

impl TrainingSet<'_> {
    fn check(&self) -> Result<(), NetworkFitError> {
        let [rows, flaky, groups] = [self.rows.len(), self.flaky.len(), self.groups.len()];
        if rows != flaky || rows != groups {
            return Err(NetworkFitError::Lengths { rows, flaky, groups });
        }
        let unknown = self.rows.iter().find(|row| **row as usize >= self.corpus.len());
        unknown.map_or(Ok(()), |row| Err(NetworkFitError::UnknownTest(*row)))
    }
}
