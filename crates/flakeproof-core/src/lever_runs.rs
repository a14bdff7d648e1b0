//! Runs with and without a lever, and which failures count as the same.
//!
//! A lever that makes a test fail in another way than it is known to fail in says nothing about why it is
//! flaky: such a failure earns no credit. Two failures are alike if their signatures are, or if the same
//! kind of failure was raised at the same place: what a set holds is printed in another order each time.

use serde::{Deserialize, Serialize};

use crate::{
    Execution, Failure, LeverName, Location, Outcome, Signature, Tally, TestId, TwoSamples,
};

/// What is left of a failure when it is compared with others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureTrace {
    outcome: Outcome,
    /// The exception, or whatever stands first in the message.
    kind: String,
    location: Option<Location>,
    signature: Option<Signature>,
}

impl FailureTrace {
    /// The trace of an execution; `None` if it did not fail.
    #[must_use]
    pub fn of(execution: &Execution) -> Option<Self> {
        let outcome = execution.outcome;
        outcome.is_failure().then(|| Self::new(outcome, execution.failure.as_ref()))
    }

    /// The trace of a failure that is remembered.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        Self::new(Outcome::Failed, Some(failure))
    }

    fn new(outcome: Outcome, failure: Option<&Failure>) -> Self {
        let message = failure.map(|it| it.message.as_str()).unwrap_or_default();
        let kind = message.split([':', ' ', '\n']).next().unwrap_or_default();
        Self {
            outcome,
            kind: kind.to_owned(),
            location: failure.and_then(|it| it.location.clone()),
            signature: failure.map(|it| it.signature.clone()),
        }
    }

    /// Whether two failures are the same failure.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let is_same = self.signature.is_some() && self.signature == other.signature;
        is_same
            || (self.outcome.ends_environment() == other.outcome.ends_environment()
                && self.kind == other.kind
                && self.location == other.location)
    }

    /// Whether it was raised in the project itself, and not in a runner or a library.
    #[must_use]
    pub fn is_in_project(&self) -> bool {
        let outside = ["/", "<", "..", "node_modules/", "site-packages/"];
        let location = self.location.as_ref();
        location.is_some_and(|it| {
            !outside.iter().any(|start| it.file.starts_with(start))
                && !it.file.contains("/site-packages/")
        })
    }

    /// How it ended.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }
}

/// Two runs of a test, one without a lever and one with it; `None` is a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPair {
    /// Without.
    pub plain: Option<FailureTrace>,
    /// With.
    pub with: Option<FailureTrace>,
}

/// All pairs with one setting of a lever.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunPairs {
    /// In the order in which they ran.
    pub pairs: Vec<RunPair>,
}

impl RunPairs {
    /// What the pairs come to, given how the test is known to fail. Without that knowledge, the first
    /// failure under the lever is it. A pair with another failure counts for nothing.
    #[must_use]
    pub fn samples(&self, known: &[FailureTrace]) -> TwoSamples {
        let mut samples = TwoSamples::default();
        for pair in self.counted(known) {
            samples.observe(pair.plain.is_some(), pair.with.is_some());
        }
        samples
    }

    /// How often it failed in another way with the lever.
    #[must_use]
    pub fn other_failures(&self, known: &[FailureTrace]) -> usize {
        self.pairs.len() - self.counted(known).count()
    }

    fn counted<'a>(&'a self, known: &'a [FailureTrace]) -> impl Iterator<Item = &'a RunPair> {
        let first = self.pairs.iter().find_map(|pair| pair.with.as_ref());
        let is_known = move |trace: &FailureTrace| match known.is_empty() {
            true => first.is_some_and(|first| first.is_like(trace)),
            false => known.iter().any(|it| it.is_like(trace)),
        };
        self.pairs.iter().filter(move |pair| pair.with.as_ref().is_none_or(&is_known))
    }
}

/// An experiment so far, from which it can be taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CauseProgress {
    /// Runs in which nothing was changed.
    pub plain: Tally,
    /// How the test is known to fail.
    pub known: Vec<FailureTrace>,
    /// The pairs with each setting of each lever.
    pub tried: Vec<(LeverName, String, RunPairs)>,
}

/// What is kept of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct CauseRecord {
    /// Its id.
    pub id: String,
    /// When it started, as an RFC 3339 time stamp.
    pub started: String,
    /// The user's own command.
    pub command: Vec<String>,
    /// The seed of all chance, an unsigned number.
    pub seed: String,
    /// The test.
    pub test: TestId,
    /// What was found; `None` if it is not finished.
    pub found: Option<crate::Cause>,
    /// Where to take it up again, if it was interrupted.
    pub progress: CauseProgress,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(message: &str, line: u32) -> FailureTrace {
        let location = Some(Location { file: "test_a.py".into(), line: Some(line) });
        FailureTrace::of_failure(&Failure {
            phase: crate::Phase::Call,
            message: message.into(),
            text: message.into(),
            signature: Signature::compute(message, location.as_ref()),
            location,
        })
    }

    fn pair(plain: Option<FailureTrace>, with: Option<FailureTrace>) -> RunPair {
        RunPair { plain, with }
    }

    #[test]
    fn the_same_assertion_with_another_order_of_a_set_is_the_same_failure() {
        let one = trace("AssertionError: assert ['b', 'a'] == ['a', 'b']", 7);
        assert!(one.is_like(&trace("AssertionError: assert ['c', 'a'] == ['a', 'c']", 7)));
        assert!(!one.is_like(&trace("KeyError: 'a'", 7)));
        assert!(!one.is_like(&trace("AssertionError: assert ['b', 'a'] == ['a', 'b']", 9)));
    }

    #[test]
    fn another_failure_than_the_known_one_earns_no_credit() {
        let (known, other) = (trace("AssertionError: 1", 7), trace("OSError: no network", 3));
        let pairs = RunPairs { pairs: vec![pair(None, Some(other)); 5] };
        assert_eq!(pairs.samples(std::slice::from_ref(&known)).with().runs, 0);
        assert_eq!(pairs.other_failures(&[known]), 5);
        assert_eq!(pairs.samples(&[]).with().failures, 5, "nobody knows how it fails otherwise");
    }

    #[test]
    fn a_failure_in_a_library_is_not_in_the_project() {
        let mut there = trace("OSError: too many open files", 1);
        assert!(there.is_in_project());
        for file in ["/usr/lib/python3/tempfile.py", "venv/lib/site-packages/_pytest/a.py"] {
            there.location = Some(Location { file: file.into(), line: Some(1) });
            assert!(!there.is_in_project(), "{file}");
        }
    }
}
