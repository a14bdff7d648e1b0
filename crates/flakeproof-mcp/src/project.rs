//! What the server asks the program.

use std::time::Duration;

use flakeproof_core::{Overview, Predictions, TestId};

use crate::answer::{ListAnswer, ReproAnswer};
use crate::asked::{Experiment, ListInput, PredictInput};
use crate::experiment::{Ended, Stop};

/// The project under test, as the program knows it. It is asked on threads that may wait.
pub trait Project: Send + Sync + 'static {
    /// All that is known about its tests; without a history nothing is, and that is no trouble.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn overview(&self) -> Result<Overview, Trouble>;

    /// One page of the flaky tests that are known, from one on and at most so many.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn flaky(
        &self,
        asked: &ListInput,
        from: usize,
        most: usize,
    ) -> Result<Answered<ListAnswer>, Trouble>;

    /// What is known about a test, or what a word means.
    ///
    /// # Errors
    /// When there is no such test, or the history or the source cannot be read.
    fn explained(&self, test: &str) -> Result<Explained, Trouble>;

    /// What the history says of the tests that have this id or end so, and their ids.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn known(&self, test: &str) -> Result<(Vec<TestId>, String), Trouble>;

    /// How to see a test fail.
    ///
    /// # Errors
    /// When it is not known to be flaky.
    fn reproduction(&self, test: &str) -> Result<Answered<ReproAnswer>, Trouble>;

    /// Which tests look flaky, from their source alone.
    ///
    /// # Errors
    /// When there is no test, or no such revision.
    fn predicted(&self, asked: &PredictInput) -> Result<Predicted, Trouble>;

    /// Run an experiment to its end, and pass on what it says of its progress, line by line.
    ///
    /// # Errors
    /// When it does not start, or was stopped.
    fn run(
        &self,
        experiment: &Experiment,
        budget: Duration,
        stop: &Stop,
        heard: Box<dyn FnMut(&str) + Send>,
    ) -> Result<Ended, Trouble>;
}

/// What the user allows the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// Whether tests may be run.
    pub run: bool,
    /// Whether files of the project may be written.
    pub write: bool,
    /// Whether the program can propose patches.
    pub has_fix: bool,
    /// How long an experiment may take at most.
    pub budget: Duration,
}

/// An answer, and the same in words, as the terminal has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered<T> {
    /// In words, for people.
    pub text: String,
    /// For programs.
    pub content: T,
}

/// What is known about a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// As the terminal says it.
    pub text: String,
    /// What a word means, if it was one; then nothing else is there.
    pub meaning: Option<String>,
    /// The tests of the history that are meant.
    pub known: Vec<TestId>,
    /// What models say about its source, if that was found.
    pub predictions: Option<Predictions>,
}

/// What models say about tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// As the terminal says it.
    pub text: String,
    /// What they say.
    pub predictions: Predictions,
}

/// Why there is no answer, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Trouble {
    /// What happened and where.
    pub what: String,
    /// What others said about it: the end of an output, a traceback. Never ours.
    pub details: String,
    /// What to do next.
    pub next: String,
}

impl Trouble {
    /// Trouble about which nobody else said anything.
    #[must_use]
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), details: String::new(), next: next.into() }
    }
}
