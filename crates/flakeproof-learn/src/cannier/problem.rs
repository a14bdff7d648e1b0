//! The four problems, and what is true (CANNIER, Table 2).
//!
//! The paper runs a suite as often in its own order as shuffled, and compares the two counts of
//! failures. Here the two numbers of runs may differ: a test is a victim when it behaves always the
//! same in the suite's own order and otherwise at least once when shuffled. With equal numbers that
//! is the paper's definition.

use flakeproof_core::Tally;
use serde::{Deserialize, Serialize};

/// How a test fared, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestOutcomes {
    /// In the suite's own order, on the same code (`N_B` and `B_t`).
    pub baseline: Tally,
    /// In shuffled orders, on the same code (`N_S` and `S_t`).
    pub shuffled: Option<Tally>,
    /// Whether some test behaves otherwise right after this one than alone.
    pub pollutes: Option<bool>,
}

/// A question about tests that has two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// Is it flaky in the suite's own order, or not?
    Nod,
    /// It failed in some order: is it flaky in the suite's own, or a victim?
    NodVsVictim,
    /// Does its outcome depend on the order, or not?
    Victim,
    /// Does it change the outcome of others, or not?
    Polluter,
}

/// What is true about a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// It is what the problem asks for.
    Positive,
    /// It is not.
    Negative,
    /// The problem does not ask about it.
    Outside,
    /// What must be known to tell was not observed.
    Unknown,
}

impl Problem {
    /// Every problem, in the order of the paper.
    pub const ALL: [Self; 4] = [Self::Nod, Self::NodVsVictim, Self::Victim, Self::Polluter];

    /// The problem as it is typed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nod => "nod",
            Self::NodVsVictim => "nod-vs-victim",
            Self::Victim => "victim",
            Self::Polluter => "polluter",
        }
    }

    /// What a test is called that the problem asks for.
    #[must_use]
    pub fn positive(self) -> &'static str {
        match self {
            Self::Nod | Self::NodVsVictim => "NOD flaky",
            Self::Victim => "victim",
            Self::Polluter => "polluter",
        }
    }

    /// What is true about a test (Equation 3).
    #[must_use]
    pub fn label(self, outcomes: &TestOutcomes) -> Label {
        let baseline = outcomes.baseline;
        let shuffled = outcomes.shuffled.filter(|tally| tally.runs > 0);
        match self {
            Self::Polluter => outcomes.pollutes.map_or(Label::Unknown, Label::from_truth),
            _ if baseline.runs == 0 => Label::Unknown,
            Self::Nod => Label::from_truth(baseline.is_inconsistent()),
            Self::NodVsVictim => shuffled.map_or(Label::Unknown, |shuffled| {
                let asks = !baseline.always_fails() && shuffled.failures > 0;
                if asks { Label::from_truth(baseline.is_inconsistent()) } else { Label::Outside }
            }),
            Self::Victim => shuffled.map_or(Label::Unknown, |shuffled| {
                let turned = baseline.failures == 0 && shuffled.failures > 0
                    || baseline.always_fails() && !shuffled.always_fails();
                Label::from_truth(turned)
            }),
        }
    }
}

impl Label {
    fn from_truth(is_positive: bool) -> Self {
        if is_positive { Self::Positive } else { Self::Negative }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(baseline: u32, shuffled: u32) -> TestOutcomes {
        TestOutcomes {
            baseline: Tally { runs: 10, failures: baseline },
            shuffled: Some(Tally { runs: 10, failures: shuffled }),
            pollutes: None,
        }
    }

    /// The labels of the first three problems for a test with these failures in ten and ten runs.
    fn labels(baseline: u32, shuffled: u32) -> [Label; 3] {
        [Problem::Nod, Problem::NodVsVictim, Problem::Victim]
            .map(|problem| problem.label(&seen(baseline, shuffled)))
    }

    #[test]
    fn labels_are_those_of_table_2() {
        use Label::{Negative, Outside, Positive};
        // Always passes, in every order.
        assert_eq!(labels(0, 0), [Negative, Outside, Negative]);
        // Passes in its own order, fails in some others: a victim.
        assert_eq!(labels(0, 3), [Negative, Negative, Positive]);
        assert_eq!(labels(0, 10), [Negative, Negative, Positive]);
        // Fails now and then in its own order: NOD, whatever shuffling shows.
        assert_eq!(labels(4, 0), [Positive, Outside, Negative]);
        assert_eq!(labels(4, 4), [Positive, Positive, Negative]);
        assert_eq!(labels(4, 9), [Positive, Positive, Negative]);
        // Always fails in its own order: iDFlakies sets it aside, but shuffling may heal it.
        assert_eq!(labels(10, 10), [Negative, Outside, Negative]);
        assert_eq!(labels(10, 7), [Negative, Outside, Positive]);
    }

    #[test]
    fn numbers_of_runs_may_differ() {
        let mut outcomes = seen(10, 0);
        outcomes.shuffled = Some(Tally { runs: 3, failures: 3 });
        assert_eq!(Problem::Victim.label(&outcomes), Label::Negative);
    }

    #[test]
    fn what_was_not_observed_is_unknown() {
        let nothing = TestOutcomes::default();
        assert!(Problem::ALL.iter().all(|it| it.label(&nothing) == Label::Unknown));
        let in_order = TestOutcomes { shuffled: None, ..seen(3, 0) };
        assert_eq!(Problem::Nod.label(&in_order), Label::Positive);
        assert_eq!(Problem::Victim.label(&in_order), Label::Unknown);
        let polluter = TestOutcomes { pollutes: Some(true), ..nothing };
        assert_eq!(Problem::Polluter.label(&polluter), Label::Positive);
    }
}
