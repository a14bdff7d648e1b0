//! What models say about tests that they have not learned from: the input of the cost model.
//!
//! For each number of runs that features are averaged over there are several sets of answers, one
//! for each repetition of training and asking.

use std::collections::BTreeMap;

use super::dataset::Dataset;
use super::pipeline::ForestValidation;
use super::problem::Problem;
use super::suites::Suites;

/// The probabilities of tests for one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// The problem.
    pub problem: Problem,
    /// The tests that were asked about, ascending by their place in the suites.
    asked: Vec<AskedTest>,
    /// For each number of runs, the repetitions, each with a probability for each test.
    by_runs: BTreeMap<u32, Vec<Vec<f64>>>,
}

/// A test that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedTest {
    /// Where it stands in the suites.
    pub at: usize,
    /// Whether it is what the problem asks for.
    pub is_positive: bool,
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
        validations: &[(u32, ForestValidation)],
    ) -> Result<Self, AnswersError> {
        let numbers = data.project_numbers();
        let rows = data.ids().zip(data.labels()).zip(numbers).enumerate();
        let mut asked: Vec<(usize, AskedTest)> = rows
            .filter_map(|(row, ((test, is_positive), project))| {
                let at = suites.find(&data.projects[project as usize], test)?;
                Some((row, AskedTest { at, is_positive }))
            })
            .collect();
        asked.sort_by_key(|(_, it)| it.at);
        let picked = |all: &Vec<f64>| asked.iter().map(|(row, _)| all[*row]).collect();
        let by_runs = validations
            .iter()
            .map(|(runs, it)| (*runs, it.probabilities().iter().map(picked).collect()))
            .collect();
        let asked = asked.iter().map(|(_, it)| *it).collect();
        Self::new(data.problem, asked, by_runs)
    }

    /// Answers about tests that ascend by their place in the suites: for each number of runs, the
    /// repetitions, each with a probability for each test.
    ///
    /// # Errors
    /// When there is none, or all tests have the same label.
    pub fn new(
        problem: Problem,
        asked: Vec<AskedTest>,
        by_runs: BTreeMap<u32, Vec<Vec<f64>>>,
    ) -> Result<Self, AnswersError> {
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

    /// The tests, ascending by their place in the suites.
    #[must_use]
    pub fn asked(&self) -> &[AskedTest] {
        &self.asked
    }

    /// The numbers of runs that features were averaged over, ascending.
    pub fn runs(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_runs.keys().copied()
    }

    /// The repetitions for a number of runs, each with a probability for each test.
    #[must_use]
    pub fn repeats_of(&self, runs: u32) -> &[Vec<f64>] {
        self.by_runs.get(&runs).map_or(&[], Vec::as_slice)
    }

    /// How many sets of answers there are for each number of runs, at the most.
    #[must_use]
    pub fn repeats(&self) -> usize {
        self.by_runs.values().map(Vec::len).max().unwrap_or_default()
    }
}
