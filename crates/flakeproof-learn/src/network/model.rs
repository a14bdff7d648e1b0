//! A trained ensemble of networks, and what it says about tests.

use flakeproof_core::Seed;
use rayon::prelude::*;

use super::batch::{Batch, Reading};
use super::corpus::PathCorpus;
use super::matrix::add_scaled;
use super::member::Member;
use super::vocabulary::Vocabulary;
use super::weights::small;
use crate::Chance;

/// A trained ensemble of networks.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    vocabulary: Vocabulary,
    members: Vec<Member>,
}

/// What an ensemble says about a test.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkOpinion {
    /// How likely it is flaky, from 0 to 1, among as many flaky tests as others.
    pub score: f64,
    /// How much each path of the test counted; together 1.
    pub attention: Vec<f32>,
}

/// How many tests are computed together when many are asked about.
const TOGETHER: usize = 8;

impl Network {
    pub(super) fn new(vocabulary: Vocabulary, members: Vec<Member>) -> Self {
        Self { vocabulary, members }
    }

    pub(super) fn add(&mut self, member: Member) {
        self.members.push(member);
    }

    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// How many networks answer together.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// How many words it knows.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.vocabulary.len()
    }

    /// What it says about one test of a corpus: the mean of its members' scores and attentions.
    /// Words it does not know are skipped.
    #[must_use]
    pub fn ask(&self, corpus: &PathCorpus, test: u32) -> NetworkOpinion {
        let vocabulary = |word: u32| self.vocabulary.number(corpus.word_text(word));
        let batch = reading(corpus, vocabulary).read(&[test], &mut Chance::new(Seed(0)));
        let opinion = self.opinions(&batch).pop();
        opinion.unwrap_or_else(|| NetworkOpinion { score: 0.5, attention: Vec::new() })
    }

    /// What it says about some tests of a corpus, in their order. For many tests this is faster.
    #[must_use]
    pub fn ask_all(&self, corpus: &PathCorpus, tests: &[u32]) -> Vec<NetworkOpinion> {
        let translation = self.vocabulary.translation(corpus);
        tests
            .par_chunks(TOGETHER)
            .flat_map_iter(|tests| {
                let reading = reading(corpus, |word: u32| translation[word as usize]);
                self.opinions(&reading.read(tests, &mut Chance::new(Seed(0))))
            })
            .collect()
    }

    fn opinions(&self, batch: &Batch) -> Vec<NetworkOpinion> {
        let share = 1.0 / crate::real(self.members.len());
        let mut opinions: Vec<NetworkOpinion> = batch
            .tests()
            .map(|paths| NetworkOpinion { score: 0.0, attention: vec![0.0; paths.len()] })
            .collect();
        for member in &self.members {
            let forward = member.forward(batch, None);
            let answers = forward.flaky().iter().zip(forward.attention());
            for (opinion, (score, attention)) in opinions.iter_mut().zip(answers) {
                opinion.score += share * score;
                add_scaled(&mut opinion.attention, small(share), attention);
            }
        }
        opinions
    }
}

/// All paths with all their words. Nothing is left to chance.
fn reading<V: Fn(u32) -> Option<u32>>(corpus: &PathCorpus, vocabulary: V) -> Reading<'_, V> {
    Reading { corpus, vocabulary, most_paths: usize::MAX, word_dropout: 0.0 }
}
