//! What one trial runs.

use flakeproof_core::{Isolation, Seed};

/// Tests to run in one environment, and continuations that each get a copy of it.
///
/// A test is named by its position in the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trial {
    /// What it is for, with a number that tells repetitions apart.
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) isolation: Isolation,
    pub(crate) until: Until,
}

/// A step of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Run these tests; what they leave stays for all that follows.
    Run(Vec<u32>),
    /// Run these tests in a copy; their outcomes are what the trial is about.
    Branch(Vec<u32>),
    /// The same; where the environment cannot be copied, because a thread runs in it, the tests run in it
    /// themselves. That is less clean and far cheaper than all steps once more: for what is confirmed.
    Try(Vec<u32>),
}

/// When a trial ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// After its last step.
    Done,
    /// After the first branch whose last test failed.
    Failure,
}

impl Trial {
    /// Run tests one after the other in a fresh environment.
    pub(crate) fn order(name: String, order: Vec<u32>, isolation: Isolation) -> Self {
        Self { name, steps: vec![Step::Branch(order)], isolation, until: Until::Done }
    }

    /// The continuations, in order.
    pub(crate) fn branches(&self) -> impl Iterator<Item = &[u32]> {
        self.steps.iter().filter_map(|step| match step {
            Step::Branch(tests) | Step::Try(tests) => Some(tests.as_slice()),
            Step::Run(_) => None,
        })
    }

    /// What the trial is found again by: the same name with other tests is another trial.
    pub(crate) fn key(&self) -> String {
        use std::fmt::Write as _;

        let mut text = self.isolation.word().to_owned();
        for step in &self.steps {
            let (word, tests) = match step {
                Step::Run(tests) => ("run", tests),
                Step::Branch(tests) => ("branch", tests),
                Step::Try(tests) => ("try", tests),
            };
            let _ = write!(text, " {word}");
            tests.iter().for_each(|test| {
                let _ = write!(text, " {test}");
            });
        }
        format!("{} {:016x}", self.name, Seed(0).split(&text).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_tests_make_another_trial() {
        let trial = |order: &[u32]| Trial::order("alone/1".into(), order.to_vec(), Isolation::Fork);
        assert_eq!(trial(&[1, 2]).key(), trial(&[1, 2]).key());
        assert_ne!(trial(&[1, 2]).key(), trial(&[12]).key());
        let spawned = Trial { isolation: Isolation::Spawn, ..trial(&[1, 2]) };
        assert_ne!(trial(&[1, 2]).key(), spawned.key());
    }
}
