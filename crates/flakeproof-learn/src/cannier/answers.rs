//! What models say about tests that they have not learned from: the input of the cost model.
//!
//! For each number of runs that features are averaged over there are several sets of answers, one
//! for each repetition of training and asking.

use std::collections::BTreeMap;

use super::dataset::Dataset;
use super::probabilities::GivenProbability;
use super::problem::{Label, Problem};
use super::suites::Suites;
use super::validation::Validation;

/// The probabilities of tests for one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// The problem.
    pub problem: Problem,
    /// The tests that were asked about, ascending by their place in the suites.
    pub(super) asked: Vec<Asked>,
    /// For each number of runs, the repetitions, each with a probability for each test.
    pub(super) by_runs: BTreeMap<u32, Vec<Vec<f64>>>,
}

/// A test that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// Where it stands in the suites.
    pub(super) at: usize,
    /// Whether it is what the problem asks for.
    pub(super) is_positive: bool,
}

/// Why there are no answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswersError {
    /// No test has a probability and a known answer.
    #[error("no test has both a probability for `{problem}` and outcomes that tell the truth")]
    None {
        /// The problem.
        problem: &'static str,
    },
    /// A test lacks some repetition.
    #[error("`{test}` has no probability for `{problem}` in repeat {repeat} of {runs} runs")]
    Uneven {
        /// The test.
        test: String,
        /// The problem.
        problem: &'static str,
        /// The repetition.
        repeat: u32,
        /// Over how many runs features were averaged.
        runs: u32,
    },
    /// All tests have the same label.
    #[error("{positive} of {tests} tests are {what}, and a trade needs both kinds")]
    OneClass {
        /// How many tests.
        tests: usize,
        /// How many of them are positive.
        positive: usize,
        /// What a positive one is called.
        what: &'static str,
    },
}

impl Answers {
    /// The answers of validations, each with the number of runs that it averaged features over.
    ///
    /// # Errors
    /// When no test of the data set stands in the suites.
    pub fn of_validations(
        data: &Dataset,
        suites: &Suites,
        validations: &[(u32, Validation)],
    ) -> Result<Self, AnswersError> {
        let numbers = data.project_numbers();
        let rows = data.ids().zip(data.labels()).zip(numbers).enumerate();
        let mut asked: Vec<(usize, Asked)> = rows
            .filter_map(|(row, ((test, is_positive), project))| {
                let at = suites.find(&data.projects[project as usize], test)?;
                Some((row, Asked { at, is_positive }))
            })
            .collect();
        asked.sort_by_key(|(_, it)| it.at);
        let picked = |all: &Vec<f64>| asked.iter().map(|(row, _)| all[*row]).collect();
        let by_runs = validations
            .iter()
            .map(|(runs, it)| (*runs, it.probabilities().iter().map(picked).collect()))
            .collect();
        let asked = asked.iter().map(|(_, it)| *it).collect();
        Self { problem: data.problem, asked, by_runs }.checked()
    }

    /// The answers in a table. Tests whose truth is not known are left out.
    ///
    /// # Errors
    /// When nothing is left, or a test lacks an answer that another one has.
    pub fn of_table(
        problem: Problem,
        given: &[GivenProbability],
        suites: &Suites,
    ) -> Result<Self, AnswersError> {
        let mut told: BTreeMap<(u32, u32), BTreeMap<usize, f64>> = BTreeMap::new();
        let mut asked: BTreeMap<usize, bool> = BTreeMap::new();
        for line in given.iter().filter(|line| line.problem == problem) {
            let Some(at) = suites.find(&line.project, &line.test) else { continue };
            let is_positive = match problem.label(&suites.tests[at].outcomes) {
                Label::Positive => true,
                Label::Negative => false,
                Label::Outside | Label::Unknown => continue,
            };
            asked.insert(at, is_positive);
            told.entry((line.runs, line.repeat)).or_default().insert(at, line.probability);
        }
        let mut by_runs: BTreeMap<u32, Vec<Vec<f64>>> = BTreeMap::new();
        for ((runs, repeat), of_test) in told {
            let probabilities = asked.keys().map(|at| {
                of_test.get(at).copied().ok_or_else(|| AnswersError::Uneven {
                    test: suites.tests[*at].test.clone(),
                    problem: problem.word(),
                    repeat,
                    runs,
                })
            });
            by_runs.entry(runs).or_default().push(probabilities.collect::<Result<_, _>>()?);
        }
        let asked = asked.into_iter().map(|(at, is_positive)| Asked { at, is_positive }).collect();
        Self { problem, asked, by_runs }.checked()
    }

    fn checked(self) -> Result<Self, AnswersError> {
        let (tests, positive) = (self.tests(), self.positive());
        if tests == 0 || self.by_runs.is_empty() {
            return Err(AnswersError::None { problem: self.problem.word() });
        }
        if positive == 0 || positive == tests {
            let what = self.problem.positive();
            return Err(AnswersError::OneClass { tests, positive, what });
        }
        Ok(self)
    }

    /// How many tests were asked about.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.asked.len()
    }

    /// How many of them are positive.
    #[must_use]
    pub fn positive(&self) -> usize {
        self.asked.iter().filter(|it| it.is_positive).count()
    }

    /// How many sets of answers there are for each number of runs, at the most.
    #[must_use]
    pub fn repeats(&self) -> usize {
        self.by_runs.values().map(Vec::len).max().unwrap_or_default()
    }
}
