//! What happened in one trial of a hunt, small enough to keep thousands of them.
//!
//! A trial runs some tests, and after them each of several continuations in its own copy of the
//! environment. A hunt that is taken up again reads its trials from here instead of running them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Failure, Outcome};

/// What happened in one trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialRecord {
    /// For each continuation, the outcomes of its tests; `None` where a test could not be run, because
    /// what comes before it took the environment with it.
    pub outcomes: Vec<Vec<Option<Outcome>>>,
    /// Failures worth keeping: the first one of each test.
    pub failures: Vec<TrialFailure>,
    /// Tests run, those before the continuations included.
    pub executions: u32,
    /// How long it took.
    pub duration: Duration,
}

/// A failure in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialFailure {
    /// The continuation.
    pub branch: u32,
    /// The place in it.
    pub position: u32,
    /// What went wrong.
    pub failure: Failure,
}

impl TrialRecord {
    /// The outcomes as text: a letter for each, a stroke between continuations.
    ///
    /// ```
    /// use flakeproof_core::{Outcome, TrialRecord};
    ///
    /// let outcomes = vec![vec![Some(Outcome::Passed), Some(Outcome::Failed)], vec![None]];
    /// let trial = TrialRecord { outcomes, ..TrialRecord::default() };
    /// assert_eq!(trial.letters(), "pf/-");
    /// assert_eq!(TrialRecord::outcomes_of("pf/-"), Some(trial.outcomes));
    /// ```
    #[must_use]
    pub fn letters(&self) -> String {
        let branch = |outcomes: &Vec<Option<Outcome>>| -> String {
            outcomes.iter().map(|outcome| outcome.map_or('-', letter)).collect()
        };
        self.outcomes.iter().map(branch).collect::<Vec<_>>().join("/")
    }

    /// The outcomes that [`letters`](Self::letters) wrote; `None` if it did not write this.
    #[must_use]
    pub fn outcomes_of(letters: &str) -> Option<Vec<Vec<Option<Outcome>>>> {
        let outcome = |found: char| match found {
            '-' => Some(None),
            _ => Outcome::ALL.into_iter().find(|it| letter(*it) == found).map(Some),
        };
        letters.split('/').map(|branch| branch.chars().map(outcome).collect()).collect()
    }
}

fn letter(outcome: Outcome) -> char {
    match outcome {
        Outcome::Passed => 'p',
        Outcome::Failed => 'f',
        Outcome::Errored => 'e',
        Outcome::Skipped => 's',
        Outcome::Crashed => 'c',
        Outcome::TimedOut => 't',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_own_letter() {
        let all = vec![Outcome::ALL.into_iter().map(Some).collect::<Vec<_>>()];
        let trial = TrialRecord { outcomes: all.clone(), ..TrialRecord::default() };
        assert_eq!(TrialRecord::outcomes_of(&trial.letters()), Some(all));
        assert_eq!(TrialRecord::outcomes_of("pxp"), None);
    }
}
