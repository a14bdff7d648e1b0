//! What is known about each test so far.

use flakeproof_core::{
    FlakyKind, HuntedTest, Notice, OrderKind, Outcome, Suite, Tally, TrialRecord,
};

use super::trial::Trial;
use super::trial_scheduler::failed;

/// So many orders in which a test failed are remembered; they can be checked again.
const MOST_FAILING_ORDERS: usize = 64;

/// What is known about each test so far, by its position in the suite.
pub(crate) struct Ledger {
    pub(crate) tests: Vec<HuntedTest>,
    pub(crate) notices: Vec<Notice>,
    failing_orders: Vec<Vec<OtherOrder>>,
    /// Whether a test passed again in the suite's own order after it had failed.
    came_back: Vec<bool>,
    /// Other orders that ran, the first ones, as long as no environment was lost in them.
    whole_orders: Vec<OtherOrder>,
    /// How many other orders ran in all.
    orders: u32,
    /// Whether no environment was lost in the suite's own order.
    pub(crate) is_baseline_whole: bool,
}

/// Another order than the suite's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherOrder {
    pub(crate) kind: OrderKind,
    pub(crate) number: u32,
}

/// Where a test was run, for its tallies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Baseline,
    Shuffled(OtherOrder),
    Alone,
}

impl Ledger {
    pub(crate) fn new(suite: &Suite) -> Self {
        let tests = suite.tests.iter();
        let tests: Vec<HuntedTest> =
            tests.map(|test| HuntedTest::new(test.id.clone(), test.location.clone())).collect();
        let failing_orders = vec![Vec::new(); tests.len()];
        Self {
            came_back: vec![false; tests.len()],
            tests,
            notices: Vec::new(),
            failing_orders,
            whole_orders: Vec::new(),
            orders: 0,
            is_baseline_whole: true,
        }
    }

    /// Count every outcome of a trial.
    pub(crate) fn enter(&mut self, trial: &Trial, record: &TrialRecord, setting: Setting) {
        self.enter_order(record, setting);
        for (branch, outcomes) in trial.branches().zip(&record.outcomes) {
            for (test, outcome) in branch.iter().zip(outcomes) {
                self.count(*test, *outcome, setting);
            }
        }
    }

    /// What ran after an environment was lost did not run after all that came before it.
    fn enter_order(&mut self, record: &TrialRecord, setting: Setting) {
        let mut outcomes = record.outcomes.iter().flatten();
        let is_whole = outcomes.all(|it| it.is_some_and(|outcome| !outcome.ends_environment()));
        match setting {
            Setting::Baseline => self.is_baseline_whole &= is_whole,
            Setting::Shuffled(order) => {
                self.orders += 1;
                if is_whole && self.orders as usize <= MOST_FAILING_ORDERS {
                    self.whole_orders.push(order);
                }
            }
            Setting::Alone => {}
        }
    }

    fn count(&mut self, test: u32, outcome: Option<Outcome>, setting: Setting) {
        let Some(has_failed) = failed(outcome) else { return };
        let known = &mut self.tests[test as usize];
        match setting {
            Setting::Baseline => {
                self.came_back[test as usize] |= !has_failed && known.baseline.failures > 0;
                known.baseline.count(has_failed);
            }
            Setting::Alone => known.alone.count(has_failed),
            Setting::Shuffled(order) => {
                known.shuffled.count(has_failed);
                let orders = &mut self.failing_orders[test as usize];
                if has_failed && orders.len() < MOST_FAILING_ORDERS {
                    orders.push(order);
                }
            }
        }
    }

    /// Whether a test passed in the suite's own order at first and did nothing but fail then.
    pub(crate) fn has_turned(&self, test: u32) -> bool {
        self.test(test).baseline.is_inconsistent() && !self.came_back[test as usize]
    }

    /// The orders in which a test failed, the first ones.
    pub(crate) fn failing_orders(&self, test: u32) -> &[OtherOrder] {
        &self.failing_orders[test as usize]
    }

    /// The first orders in which all tests up to this one ran in one environment; none if the test did
    /// not always run.
    pub(crate) fn whole_orders(&self, test: u32) -> Vec<OtherOrder> {
        let ran_always = self.test(test).shuffled.runs == self.orders;
        if ran_always { self.whole_orders.clone() } else { Vec::new() }
    }

    pub(crate) fn test(&self, test: u32) -> &HuntedTest {
        &self.tests[test as usize]
    }

    pub(crate) fn test_mut(&mut self, test: u32) -> &mut HuntedTest {
        &mut self.tests[test as usize]
    }

    /// The positions of tests for which something holds.
    pub(crate) fn all(&self, holds: impl Fn(&HuntedTest) -> bool) -> Vec<u32> {
        let tests = (0..).zip(&self.tests);
        tests.filter(|(_, test)| holds(test)).map(|(position, _)| position).collect()
    }

    /// The positions for which something holds.
    pub(crate) fn all_at(&self, holds: impl Fn(usize) -> bool) -> Vec<u32> {
        let places = (0..).zip(0..self.tests.len());
        places.filter(|(_, at)| holds(*at)).map(|(position, _)| position).collect()
    }

    /// The tests of a kind.
    pub(crate) fn of_kind(&self, kind: FlakyKind) -> Vec<u32> {
        self.all(|test| test.kind == Some(kind))
    }

    /// Add a remark.
    pub(crate) fn remark(&mut self, what: String, next: &str) {
        self.notices.push(Notice { what, next: next.to_owned() });
    }
}

/// Whether a tally has runs and none of them failed.
pub(crate) fn always_passed(tally: Tally) -> bool {
    tally.runs > 0 && tally.failures == 0
}

/// Whether a tally has runs and all of them failed.
pub(crate) fn always_failed(tally: Tally) -> bool {
    tally.runs > 0 && tally.always_fails()
}
