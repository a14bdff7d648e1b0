//! What is known about tests, and what forests say about them: what CANNIER's cost model needs.

use std::path::Path;

use flakeproof_lab::given_tables::{
    GivenAnswersError, GivenProbability, KnownPair, given_answers, given_suites, read_pairs,
    read_probabilities, tell_polluters,
};
use flakeproof_learn::cannier::{
    Answers, AnswersError, ForestValidationParams, KnownTest, MeasuredTest, Pipeline,
    Problem as Question, Suites, read_outcomes,
};

use super::super::train::cannot_learn;
use super::forest;
use crate::cli::{CannierData, EvaluateCannier, ForestData};
use crate::models::forest_data::{join, read_tables, tables};
use crate::problem::Problem;
use crate::view;

/// More runs than this the paper did not average over either.
const MOST_RUNS: usize = 15;

/// What is known about the tests.
pub(super) struct Material {
    pub(super) suites: Suites,
    pub(super) pairs: Vec<KnownPair>,
    source: Source,
}

/// Where probabilities come from.
enum Source {
    /// From forests that learn here.
    Features(Vec<MeasuredTest>, Vec<KnownTest>),
    /// From a table.
    Given(Vec<GivenProbability>),
}

impl Material {
    /// The tables and the history that were named.
    pub(super) fn read(typed: &CannierData, folder: &Path) -> Result<Self, Problem> {
        let pairs = tables(&typed.pairs, read_pairs)?;
        if typed.probabilities.is_empty() {
            if typed.features.is_empty() && !typed.history {
                return Err(nothing_to_learn_from());
            }
            let data = ForestData {
                features: typed.features.clone(),
                outcomes: typed.outcomes.clone(),
                history: typed.history,
                store: typed.store.clone(),
            };
            let (measured, mut known) = read_tables(&data, folder)?;
            add_polluters(&mut known, &pairs);
            let suites = Suites::of_features(&measured, &known);
            return Ok(Self { suites, pairs, source: Source::Features(measured, known) });
        }
        let given = tables(&typed.probabilities, read_probabilities)?;
        let mut known = tables(&typed.outcomes, read_outcomes)?;
        add_polluters(&mut known, &pairs);
        let suites = given_suites(&given, &known);
        Ok(Self { suites, pairs, source: Source::Given(given) })
    }

    /// Whether the probabilities were given, so that nobody knows what they were learned from.
    pub(super) fn is_given(&self) -> bool {
        matches!(self.source, Source::Given(_))
    }

    /// The answers about a problem, on tests that were not learned from.
    pub(super) fn answers(
        &self,
        question: Question,
        typed: &EvaluateCannier,
    ) -> Result<Answers, Problem> {
        match &self.source {
            Source::Given(given) => {
                given_answers(question, given, &self.suites).map_err(|it| no_answers(&it))
            }
            Source::Features(measured, known) => self.learned(question, (measured, known), typed),
        }
    }

    /// Learn and ask, for each number of runs that features can be averaged over.
    fn learned(
        &self,
        question: Question,
        (measured, known): (&[MeasuredTest], &[KnownTest]),
        typed: &EvaluateCannier,
    ) -> Result<Answers, Problem> {
        let data = join(question, measured, known)?;
        let most = typed.most_runs.unwrap_or(MOST_RUNS).min(data.most_runs());
        let best = Pipeline::best_for(question);
        let params = ForestValidationParams {
            pipeline: Pipeline {
                trees: typed.trees.unwrap_or(best.trees),
                balance: typed.balance.into(),
                ..best
            },
            protocol: typed.protocol.into(),
            folds: typed.folds,
            repeats: typed.repeats.max(1),
            runs: None,
            seed: typed.seed,
        };
        forest::check(&data, &params)?;
        let mut progress = view::Steps::start(most * params.steps(&data), question.word());
        let mut validations = Vec::new();
        for (number, runs) in (1u32..).zip(1..=most) {
            let params = ForestValidationParams { runs: Some(runs), ..params };
            let validation = params.run(&data, &mut || progress.step());
            validations.push((number, validation.map_err(|error| cannot_learn(&error))?));
        }
        progress.end();
        Answers::of_validations(&data, &self.suites, &validations)
            .map_err(|error| no_answers(&error.into()))
    }
}

/// Pairs tell who pollutes, but no pairs do not tell that nobody does.
fn add_polluters(known: &mut [KnownTest], pairs: &[KnownPair]) {
    if !pairs.is_empty() {
        tell_polluters(known, pairs);
    }
}

fn nothing_to_learn_from() -> Problem {
    Problem::usage(
        "there is nothing to learn from",
        "give `--features CSV --outcomes CSV`, `--probabilities CSV --outcomes CSV` or `--history`",
    )
}

fn no_answers(error: &GivenAnswersError) -> Problem {
    let next = match error {
        GivenAnswersError::Answers(AnswersError::None { .. }) => {
            "project and test must be spelled alike in both tables, and `problem` be one that the \
             outcomes tell"
        }
        GivenAnswersError::Answers(AnswersError::OneClass { .. }) => {
            "add tests of the kind that is missing"
        }
        GivenAnswersError::Uneven { .. } => "give every test a probability in every repeat",
    };
    Problem::usage(error.to_string(), next)
}
