//! The tests that a pull request is about: new ones, changed ones, and suspects beside them.

use std::collections::BTreeSet;

use flakeproof_core::{HuntedTest, Suite, SuiteTest, TestId};

use super::opinions::BySource;
use super::priors::Priors;
use crate::source::changed_tests::ChangedTests;
use crate::source::source_tests::SourceTest;

/// Nobody has seen a new test pass before: it is at least so likely flaky.
const NEW: f64 = 0.05;

/// Why a test is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// It was added or changed.
    Changed,
    /// It looks flaky, and its file was touched.
    Suspicious,
}

/// The tests that a pull request is about.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// For each test of the suite, in its order.
    reasons: Vec<Option<Reason>>,
    ids: BTreeSet<TestId>,
}

impl Targets {
    /// Of the tests of a suite, those that a change is about.
    pub(super) fn choose(suite: &Suite, by_source: &BySource, changed: &ChangedTests) -> Self {
        let told = by_source.written.iter().zip(&by_source.is_suspicious);
        let tests = suite.tests.iter().zip(told);
        let reason =
            |(test, (written, is_suspicious)): (&SuiteTest, (&Option<SourceTest>, &bool))| {
                match written {
                    Some(written) if changed.holds(written) => Some(Reason::Changed),
                    Some(written) if *is_suspicious && changed.holds_file(&written.file) => {
                        Some(Reason::Suspicious)
                    }
                    Some(_) => None,
                    // A test that is made at run time may come from any line of its file.
                    None => changed.holds_file(file_of(&test.id)).then_some(Reason::Changed),
                }
            };
        Self::with(suite, tests.map(reason).collect())
    }

    fn with(suite: &Suite, reasons: Vec<Option<Reason>>) -> Self {
        let tests = suite.tests.iter().zip(&reasons).filter(|(_, reason)| reason.is_some());
        let ids = tests.map(|(test, _)| test.id.clone()).collect();
        Self { reasons, ids }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// How many of them were added or changed.
    pub(super) fn changed(&self) -> usize {
        self.reasons.iter().filter(|reason| **reason == Some(Reason::Changed)).count()
    }

    /// Nobody asks about the other tests.
    pub(super) fn narrow(&self, priors: &mut Priors) {
        let likely = priors.flaky.iter_mut().zip(&mut priors.victim);
        for ((flaky, victim), reason) in likely.zip(&self.reasons) {
            match reason {
                Some(Reason::Changed) => *flaky = flaky.max(NEW),
                Some(Reason::Suspicious) => {}
                None => (*flaky, *victim) = (0.0, 0.0),
            }
        }
    }

    /// Whether a finding is the pull request's: about one of these tests, or made by one.
    pub(super) fn concern(&self, test: &HuntedTest) -> bool {
        let mut polluters = test.polluters.iter().flatten();
        self.ids.contains(&test.id) || polluters.any(|polluter| self.ids.contains(polluter))
    }
}

fn file_of(test: &TestId) -> &str {
    let id = test.as_str();
    id.split_once("::").map_or(id, |(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        let test = |id: &str| SuiteTest { id: id.into(), location: None };
        Suite { tests: ["new", "suspect", "old"].map(test).into(), problems: Vec::new() }
    }

    fn targets() -> Targets {
        Targets::with(&suite(), vec![Some(Reason::Changed), Some(Reason::Suspicious), None])
    }

    #[test]
    fn only_targets_are_asked_about_and_a_new_test_is_doubted() {
        let mut priors = Priors { flaky: vec![0.01, 0.3, 0.9], victim: vec![0.1, 0.1, 0.1] };
        targets().narrow(&mut priors);
        assert_eq!(priors.flaky, [0.05, 0.3, 0.0]);
        assert_eq!(priors.victim, [0.1, 0.1, 0.0]);
    }

    #[test]
    fn a_victim_of_a_new_test_concerns_the_pull_request() {
        let mut victim = HuntedTest::new("old".into(), None);
        assert!(!targets().concern(&victim));
        victim.polluters = vec![vec!["x".into(), "new".into()]];
        assert!(targets().concern(&victim));
        assert!(targets().concern(&HuntedTest::new("suspect".into(), None)));
    }
}
