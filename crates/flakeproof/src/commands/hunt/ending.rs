//! How a hunt ends: what of its findings is shown, and with which exit code.

use std::collections::BTreeSet;

use flakeproof_core::{
    ExitCode, HuntCost, HuntEnd, HuntFindings, HuntedTest, Notice, RunFacts, Suite, TestId,
};
use flakeproof_detect::hunt::{HuntSettings, Hunted, Sought, Strategy};
use flakeproof_report::words;

use super::strategy::ChosenStrategy;
use crate::problem::last_line;
use crate::settings::FlakyResult;

/// What decides how a hunt ends.
#[derive(Debug)]
pub(super) struct Ending<'a> {
    pub(super) suite: &'a Suite,
    /// The only test that was looked at, if it was one.
    pub(super) victim: Option<&'a TestId>,
    pub(super) chosen: &'a ChosenStrategy,
    /// What was typed after `--diff`, for a pull request.
    pub(super) base: Option<&'a str>,
    /// What a flaky test is to a pull request.
    pub(super) flaky_result: FlakyResult,
    /// Which kinds were looked for.
    pub(super) sought: Sought,
    /// Tests that are known to rely on an order that the language leaves open.
    pub(super) implementation_dependent: BTreeSet<TestId>,
}

/// Why a hunt ended, and what with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outcome {
    end: HuntEnd,
    has_flaky: bool,
    /// Whether every module could be collected, and no test changed its outcome for a reason that is
    /// not known.
    is_whole: bool,
}

impl Ending<'_> {
    /// What is shown of what was found.
    pub(super) fn findings(&self, hunted: Hunted, run: RunFacts) -> HuntFindings {
        let mut tests = hunted.tests;
        if let Some(victim) = self.victim {
            // The others ran for its sake; about themselves that says nothing.
            tests.retain(|test| test.id == *victim);
        }
        if let Some(targets) = &self.chosen.targets {
            tests.retain(|test| targets.concern(test));
        }
        let mut findings = HuntFindings {
            run,
            tests,
            cost: hunted.cost,
            end: hunted.end,
            latent: Vec::new(),
            hidden: hunted.hidden,
            notices: hunted.notices,
            exit: ExitCode::Clean,
        };
        findings.notices.extend(self.chosen.notices.iter().cloned());
        findings.notices.extend(self.uncollected());
        let outcome = Outcome {
            end: findings.end,
            has_flaky: findings.flaky().next().is_some(),
            is_whole: self.suite.problems.is_empty() && words::rest(&findings).open.is_empty(),
        };
        findings.exit = match self.base {
            Some(_) => exit_of_pull_request(outcome, self.flaky_result),
            None => exit_of(outcome),
        };
        if self.base.is_some() && outcome.end == HuntEnd::BudgetSpent {
            findings.notices.push(out_of_time(&findings));
        }
        findings
    }

    /// What the history keeps: a test that a plan hardly looked at is not thereby sound, nor is one that
    /// was looked at for something else, and stays known as flaky if it was.
    pub(super) fn to_keep(&self, findings: &HuntFindings) -> HuntFindings {
        let mut kept = findings.clone();
        let is_known = |test: &HuntedTest| self.implementation_dependent.contains(&test.id);
        match self.sought {
            Sought::Usual => kept.tests.retain(|test| test.kind.is_some() || !is_known(test)),
            Sought::ImplementationDependent => kept.tests.retain(|test| test.kind.is_some()),
            Sought::All => {}
        }
        match self.chosen.strategy {
            Strategy::Plan(_) => kept.tests.retain(is_judged),
            Strategy::Off | Strategy::Cannier(_) => {}
        }
        kept
    }

    /// The findings if a pull request has no test to look at.
    pub(super) fn without_targets(&self, run: RunFacts) -> HuntFindings {
        let base = self.base.unwrap_or_default();
        let nothing = Notice {
            what: format!("no test was added or changed since `{base}`, so nothing was run"),
            next: "`flakeproof hunt` without `--diff` looks at the whole suite".into(),
        };
        let is_whole = self.suite.problems.is_empty();
        let outcome = Outcome { end: HuntEnd::Finished, has_flaky: false, is_whole };
        HuntFindings {
            run,
            tests: Vec::new(),
            cost: HuntCost::default(),
            end: HuntEnd::Finished,
            latent: Vec::new(),
            hidden: None,
            notices: std::iter::once(nothing).chain(self.uncollected()).collect(),
            exit: exit_of_pull_request(outcome, self.flaky_result),
        }
    }

    fn uncollected(&self) -> impl Iterator<Item = Notice> {
        self.suite.problems.iter().map(|problem| Notice {
            what: format!("{} could not be collected: {}", problem.place, last_line(&problem.text)),
            next: "its tests were not looked at; mend the import".into(),
        })
    }
}

/// Whether a test is flaky, or ran as often as in a hunt that treats all alike.
fn is_judged(test: &HuntedTest) -> bool {
    let usual = HuntSettings::default();
    test.kind.is_some() || test.all().runs >= usual.runs + usual.orders
}

/// A pull request does not fail because time ran out, but its author should know.
fn out_of_time(findings: &HuntFindings) -> Notice {
    let hidden = findings.hidden.map(words::hidden);
    let missed = hidden.unwrap_or_else(|| "what is still hidden is not known".to_owned());
    Notice {
        what: format!("the time was over before all was looked at: {missed}"),
        next: "give more time with `--budget`, or leave the rest to a hunt of the whole suite"
            .into(),
    }
}

fn exit_of(outcome: Outcome) -> ExitCode {
    match (outcome.end, outcome.has_flaky) {
        (HuntEnd::Interrupted, _) => ExitCode::Interrupted,
        (HuntEnd::Finished | HuntEnd::BudgetSpent, true) => ExitCode::Failures,
        (HuntEnd::BudgetSpent, false) => ExitCode::Inconclusive,
        (HuntEnd::Finished, false) if outcome.is_whole => ExitCode::Clean,
        (HuntEnd::Finished, false) => ExitCode::Inconclusive,
    }
}

fn exit_of_pull_request(outcome: Outcome, flaky_result: FlakyResult) -> ExitCode {
    match (outcome.end, outcome.has_flaky, flaky_result) {
        (HuntEnd::Interrupted, _, _) => ExitCode::Interrupted,
        (_, true, FlakyResult::Fail) => ExitCode::Failures,
        // The new test may be in the module that could not be collected.
        _ if !outcome.is_whole => ExitCode::Inconclusive,
        (HuntEnd::Finished | HuntEnd::BudgetSpent, _, _) => ExitCode::Clean,
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{FlakyKind, Tally};

    use super::*;

    fn outcome(end: HuntEnd, has_flaky: bool) -> Outcome {
        Outcome { end, has_flaky, is_whole: true }
    }

    #[test]
    fn a_hunt_ends_as_it_is_documented() {
        let exit = |end, has_flaky| exit_of(outcome(end, has_flaky)).number();
        assert_eq!(exit(HuntEnd::Finished, false), 0);
        assert_eq!(exit(HuntEnd::Finished, true), 1);
        assert_eq!(exit(HuntEnd::BudgetSpent, false), 5);
        assert_eq!(exit(HuntEnd::BudgetSpent, true), 1);
        assert_eq!(exit(HuntEnd::Interrupted, true), 130);
        let part = Outcome { is_whole: false, ..outcome(HuntEnd::Finished, false) };
        assert_eq!(exit_of(part).number(), 5);
    }

    #[test]
    fn a_test_that_hardly_ran_is_not_judged() {
        let mut test = HuntedTest::new("a".into(), None);
        test.baseline = Tally { runs: 5, failures: 0 };
        assert!(!is_judged(&test));
        test.alone = Tally { runs: 25, failures: 0 };
        assert!(is_judged(&test));
        let mut found = HuntedTest::new("b".into(), None);
        found.kind = Some(FlakyKind::Nod);
        assert!(is_judged(&found));
    }

    #[test]
    fn a_pull_request_fails_for_a_flaky_test_and_not_for_time() {
        let exit =
            |end, has_flaky, result| exit_of_pull_request(outcome(end, has_flaky), result).number();
        assert_eq!(exit(HuntEnd::Finished, true, FlakyResult::Fail), 1);
        assert_eq!(exit(HuntEnd::Finished, true, FlakyResult::Pass), 0);
        assert_eq!(exit(HuntEnd::BudgetSpent, true, FlakyResult::Fail), 1);
        assert_eq!(exit(HuntEnd::BudgetSpent, false, FlakyResult::Fail), 0);
        assert_eq!(exit(HuntEnd::Interrupted, false, FlakyResult::Pass), 130);
        let part = Outcome { is_whole: false, ..outcome(HuntEnd::BudgetSpent, false) };
        assert_eq!(exit_of_pull_request(part, FlakyResult::Fail).number(), 5);
    }
}
