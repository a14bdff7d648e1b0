//! Known tests in their space: who is near a test, and what the near ones say.

use std::collections::BTreeMap;
use std::sync::Arc;

use flakeproof_core::Seed;
use rayon::prelude::*;

use super::bags::{CutTests, NewTerms};
use super::corpus::Corpus;
use super::recipe::{Recipe, TermField, TestText, Vote};
use super::weights::TermWeights;
use crate::chance::Chance;
use crate::evaluate::HeldOut;
use crate::knn::{Neighbour, NeighbourLimit, Scratch, SearchIndex, SparseRow, SparseRows};

/// How many tests that are not flaky are held out, at least and for each flaky one.
const FEWEST_SAMPLED: usize = 2000;
const SAMPLED_FOR_EACH_FLAKY: usize = 5;

/// How many tests are asked about at once.
const LANES: usize = 8;

/// How many neighbours say which category a test has.
const CATEGORY_VOICES: usize = 7;

/// What is kept out of the neighbourhood when a known test is asked about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldOut {
    /// The test alone: optimistic, its siblings know too much.
    Test,
    /// Its whole class.
    Class,
    /// Its whole project: what a project that was never seen gets.
    Project,
}

/// Rows of a corpus that can be asked for the nearest.
#[derive(Debug)]
pub struct Neighbourhood<'c, 'a> {
    corpus: &'c Corpus<'a>,
    recipe: Recipe,
    space: Arc<Space>,
}

/// Rows of a corpus in their space.
#[derive(Debug)]
pub(crate) struct Space {
    /// The row of the corpus behind each row of the index, and its class.
    rows: Vec<u32>,
    classes: Vec<u32>,
    weights: TermWeights,
    index: SearchIndex,
}

impl Space {
    fn of_rows(corpus: &Corpus<'_>, rows: Vec<u32>, recipe: &Recipe, seed: Seed) -> Self {
        let weights = TermWeights::learn(recipe, seed, &corpus.vocabulary, &corpus.bags, &rows);
        let vectors = weights.vectors(&corpus.bags, &rows, &NewTerms::default());
        let index = SearchIndex::new(vectors, weights.dimensions());
        let classes = rows.iter().map(|row| corpus.class_numbers()[*row as usize]).collect();
        Self { rows, classes, weights, index }
    }

    /// A whole corpus in its space.
    pub(crate) fn of_all(corpus: &Corpus<'_>, recipe: &Recipe, seed: Seed) -> Self {
        Self::of_rows(corpus, (0u32..).take(corpus.len()).collect(), recipe, seed)
    }
}

/// What the neighbours of a test say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Opinion {
    /// The flaky share of their votes.
    pub flaky_share: f64,
    /// The neighbours as rows of the corpus, the nearest first.
    pub neighbours: Vec<Neighbour>,
}

/// A term that two tests have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedTerm {
    /// The term.
    pub term: String,
    /// What it was taken from.
    pub field: TermField,
    /// How much it adds to their similarity.
    pub part: f32,
}

impl<'c, 'a> Neighbourhood<'c, 'a> {
    /// Place rows of a corpus in their space.
    #[must_use]
    pub fn of_rows(corpus: &'c Corpus<'a>, rows: Vec<u32>, recipe: &Recipe, seed: Seed) -> Self {
        Self::in_space(corpus, recipe, Arc::new(Space::of_rows(corpus, rows, recipe, seed)))
    }

    /// Place a whole corpus in its space.
    #[must_use]
    pub fn of_all(corpus: &'c Corpus<'a>, recipe: &Recipe, seed: Seed) -> Self {
        Self::in_space(corpus, recipe, Arc::new(Space::of_all(corpus, recipe, seed)))
    }

    /// Rows that are in their space already.
    pub(crate) fn in_space(corpus: &'c Corpus<'a>, recipe: &Recipe, space: Arc<Space>) -> Self {
        Self { corpus, recipe: recipe.clone(), space }
    }

    /// The corpus behind it.
    #[must_use]
    pub fn corpus(&self) -> &'c Corpus<'a> {
        self.corpus
    }

    /// The bytes the index takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.space.index.bytes()
    }

    /// What the neighbours say about rows of the corpus that are not among them.
    #[must_use]
    pub fn ask_rows(&self, rows: &[u32]) -> Vec<Opinion> {
        let vectors = self.space.weights.vectors(&self.corpus.bags, rows, &NewTerms::default());
        self.ask(vectors.len(), |asked| vectors.row(asked), |_, _| true)
    }

    /// What the neighbours say about tests that nobody knows yet.
    #[must_use]
    pub fn ask_tests(&self, tests: &[TestText<'_>]) -> Vec<Opinion> {
        let vectors = self.vectors_of(tests);
        self.ask(vectors.len(), |asked| vectors.row(asked), |_, _| true)
    }

    /// A way to ask for one test after another, without making room for each anew.
    #[must_use]
    pub fn asker(&self) -> Asker<'_, 'c, 'a> {
        Asker { neighbourhood: self, scratch: self.space.index.scratch() }
    }

    /// The flaky shares that known tests get when they are held out: all flaky ones, and of the
    /// others a sample that is large enough.
    #[must_use]
    pub fn held_out_shares(&self, hold_out: HoldOut, seed: Seed) -> HeldOut {
        let numbers = match hold_out {
            HoldOut::Test => &(0u32..).take(self.corpus.len()).collect::<Vec<u32>>(),
            HoldOut::Class => self.corpus.class_numbers(),
            HoldOut::Project => self.corpus.project_numbers(),
        };
        let groups: Vec<u32> = self.space.rows.iter().map(|row| numbers[*row as usize]).collect();
        let (sample, others) = self.sample(seed);
        let is_other_group =
            |asked: usize, at: u32| groups[sample[asked] as usize] != groups[at as usize];
        let opinions = self.ask(
            sample.len(),
            |asked| self.space.index.rows().row(sample[asked] as usize),
            is_other_group,
        );
        let truth = sample.iter().map(|at| self.corpus.is_flaky(self.space.rows[*at as usize]));
        let shares = opinions.iter().map(|opinion| opinion.flaky_share);
        HeldOut::new(shares.zip(truth).collect(), others)
    }

    /// The flaky rows of the index and a sample of the others, ascending, and how many others there
    /// are.
    fn sample(&self, seed: Seed) -> (Vec<u32>, usize) {
        let all = (0u32..).take(self.space.rows.len());
        let (mut sample, mut others): (Vec<u32>, Vec<u32>) =
            all.partition(|at| self.corpus.is_flaky(self.space.rows[*at as usize]));
        let count = others.len();
        Chance::new(seed.split("held out")).shuffle(&mut others);
        others.truncate(FEWEST_SAMPLED.max(SAMPLED_FOR_EACH_FLAKY * sample.len()));
        sample.append(&mut others);
        sample.sort_unstable();
        (sample, count)
    }

    /// Why a test with this opinion would be flaky: the category that its neighbours have most
    /// often, and its share of their voices. `None` where no neighbour's category is known.
    #[must_use]
    pub fn category(&self, opinion: &Opinion) -> Option<(&str, f64)> {
        let voices = opinion
            .neighbours
            .iter()
            .filter_map(|it| Some((self.corpus.category(it.row)?, it.similarity)))
            .take(CATEGORY_VOICES);
        let mut votes: BTreeMap<&str, f64> = BTreeMap::new();
        for (category, similarity) in voices {
            *votes.entry(category).or_default() += match self.recipe.vote {
                // The paper counts heads.
                Vote::InverseDistance => 1.0,
                Vote::Power(_) => f64::from(similarity).powi(2),
            };
        }
        let all: f64 = votes.values().sum();
        // Of equal ones the first by name.
        let most = votes.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (all > 0.0).then(|| (most.0, most.1 / all))
    }

    /// The categorised tests nearest to each of these tests, as an opinion: for tests that none of
    /// the nearest neighbours can tell the category of.
    #[must_use]
    pub fn ask_categorised(&self, tests: &[TestText<'_>]) -> Vec<Opinion> {
        let is_categorised =
            |_: usize, at: u32| self.corpus.category(self.space.rows[at as usize]).is_some();
        let vectors = self.vectors_of(tests);
        self.ask(vectors.len(), |asked| vectors.row(asked), is_categorised)
    }

    /// What a test and a known one share, the most telling first. Empty where terms cannot be told
    /// apart any more (a projection).
    #[must_use]
    pub fn shared_terms(&self, test: &TestText<'_>, row: u32) -> Vec<SharedTerm> {
        let Ok(at) = self.space.rows.binary_search(&row) else { return Vec::new() };
        if matches!(self.space.weights, TermWeights::Projected { .. }) {
            return Vec::new();
        }
        let vectors = self.vectors_of(std::slice::from_ref(test));
        let mut shared = products(vectors.row(0), self.space.index.rows().row(at));
        shared.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        shared
            .into_iter()
            .map(|(term, part)| {
                let (field, term) = self.recipe.cut.field(self.corpus.vocabulary.term(term));
                SharedTerm { term: term.to_owned(), field, part }
            })
            .collect()
    }

    fn vectors_of(&self, tests: &[TestText<'_>]) -> SparseRows {
        let CutTests { bags, new_terms } = self.corpus.vocabulary.cut(tests, self.recipe.cut);
        let rows: Vec<u32> = (0u32..).take(bags.len()).collect();
        self.space.weights.vectors(&bags, &rows, &new_terms)
    }

    /// Ask for `count` vectors; `admits` says whether one may have a row of the index as neighbour.
    fn ask<'v>(
        &self,
        count: usize,
        vector: impl Fn(usize) -> SparseRow<'v> + Sync,
        admits: impl Fn(usize, u32) -> bool + Sync,
    ) -> Vec<Opinion> {
        let groups = (0..count.div_ceil(LANES)).into_par_iter();
        groups
            .map_init(
                || self.space.index.scratch(),
                |scratch, group| {
                    // The last group may be smaller: its last query fills the rest.
                    let asked = |lane: usize| (group * LANES + lane).min(count - 1);
                    let vectors = std::array::from_fn::<_, LANES, _>(|lane| vector(asked(lane)));
                    let admits = |lane: usize, row: u32| admits(asked(lane), row);
                    let opinions = self.opinions(vectors, admits, scratch);
                    opinions.into_iter().take(count - group * LANES)
                },
            )
            .flatten_iter()
            .collect()
    }

    fn opinions<const LANES: usize>(
        &self,
        vectors: [SparseRow<'_>; LANES],
        admits: impl Fn(usize, u32) -> bool,
        scratch: &mut Scratch<LANES>,
    ) -> [Opinion; LANES] {
        let wanted =
            NeighbourLimit { count: self.recipe.neighbours, of_a_group: self.recipe.of_a_class };
        let space = &self.space;
        let class_of = |lane: usize, at: u32| admits(lane, at).then(|| space.classes[at as usize]);
        space.index.nearest(vectors, wanted, class_of, scratch).map(|mut neighbours| {
            for neighbour in &mut neighbours {
                neighbour.row = space.rows[neighbour.row as usize];
            }
            let voices = neighbours
                .iter()
                .map(|neighbour| (neighbour.similarity, self.corpus.is_flaky(neighbour.row)));
            Opinion { flaky_share: self.recipe.vote.flaky_share(voices), neighbours }
        })
    }
}

/// Asks for one test after another.
#[derive(Debug)]
pub struct Asker<'n, 'c, 'a> {
    neighbourhood: &'n Neighbourhood<'c, 'a>,
    scratch: Scratch<1>,
}

impl Asker<'_, '_, '_> {
    /// What the neighbours say about a test that nobody knows yet.
    pub fn ask(&mut self, test: &TestText<'_>) -> Opinion {
        let vectors = self.neighbourhood.vectors_of(std::slice::from_ref(test));
        let [opinion] =
            self.neighbourhood.opinions([vectors.row(0)], |_, _| true, &mut self.scratch);
        opinion
    }
}

/// The products of the entries that two rows have in common.
fn products(one: SparseRow<'_>, other: SparseRow<'_>) -> Vec<(u32, f32)> {
    one.columns
        .iter()
        .zip(one.weights)
        .filter_map(|(column, weight)| {
            let at = other.columns.binary_search(column).ok()?;
            Some((*column, weight * other.weights[at]))
        })
        .collect()
}
