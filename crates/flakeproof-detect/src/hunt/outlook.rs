//! What a hunt with a strategy expects of its next step.
//!
//! Two ways to look compete: another order of the whole suite, which shows tests that depend on it and
//! gives every test one more run, and single tests alone. Whichever promises more flaky tests per
//! second comes next.

use flakeproof_core::{Hidden, Tally};

use super::strategy::Forecast;
use crate::plan::{Candidate, FailureRates, GroupPrior, Pick, Planner};

/// What is believed by now, and what a step costs.
pub(super) struct Outlook {
    /// Tests that fail by themselves; each run counts.
    nod: Planner,
    /// Tests that depend on the order; each other order counts.
    victims: Planner,
    /// Seconds of one run of the suite.
    suite_cost: f64,
    /// Expected hidden at first, and of that so much may stay.
    first: f64,
    may_stay_hidden: f64,
}

/// What to do next.
pub(super) enum Next {
    /// Run the suite in another order.
    Order,
    /// Run these tests alone.
    Tests(Vec<Pick>),
    /// Enough is known.
    Nothing,
}

/// What steps cost, in seconds.
pub(super) struct StepCosts {
    pub(super) alone: Vec<f64>,
    pub(super) suite: f64,
}

/// So many tests are picked at a time.
const PICKS: usize = 20;

impl Outlook {
    pub(super) fn new(forecast: &Forecast, costs: &StepCosts) -> Self {
        let mut prior = GroupPrior::default();
        let groups: Vec<u32> = forecast.kin.iter().map(|names| prior.group_of(names)).collect();
        let planner = |probabilities: &[f64], costs: &[f64], rates: FailureRates| {
            let tests = probabilities.iter().zip(costs).zip(&groups);
            let candidates = tests.map(|((probability, cost), group)| Candidate {
                probability: *probability,
                cost: *cost,
                group: *group,
                rates: 0,
            });
            Planner::new(candidates.collect(), vec![rates], prior.clone())
        };
        let nod = planner(&forecast.flaky, &costs.alone, forecast.rates.clone());
        let equal = vec![1.0; costs.alone.len()];
        let victims = planner(&forecast.victim, &equal, FailureRates::of_orders());
        let (suite_cost, may_stay_hidden) = (costs.suite, forecast.may_stay_hidden);
        let mut outlook = Self { nod, victims, suite_cost, first: 0.0, may_stay_hidden };
        outlook.first = outlook.hidden().expected;
        outlook
    }

    /// How a test fared in other orders than the suite's own: one that failed is a suspect, and others
    /// will ask why.
    pub(super) fn saw_in_orders(&mut self, test: u32, outcomes: Tally) {
        self.victims.learn(test, outcomes);
        if outcomes.failures > 0 {
            self.set_aside(test);
        } else {
            self.nod.learn(test, outcomes);
        }
    }

    /// How a test fared alone, or in the suite's own order.
    pub(super) fn saw(&mut self, test: u32, outcomes: Tally) {
        self.nod.learn(test, outcomes);
    }

    /// Something else is known about a test.
    pub(super) fn set_aside(&mut self, test: u32) {
        self.nod.set_aside(test);
        self.victims.set_aside(test);
    }

    /// How many flaky tests that fail often are still hidden.
    pub(super) fn hidden(&self) -> Hidden {
        let (nod, victims) =
            (self.nod.hidden(Forecast::OFTEN), self.victims.hidden(Forecast::OFTEN));
        Hidden::of(nod.expected + victims.expected, Forecast::OFTEN)
    }

    /// What to do next.
    pub(super) fn next(&mut self, has_orders: bool) -> Next {
        if self.hidden().expected <= self.may_stay_hidden * self.first {
            return Next::Nothing;
        }
        let order = (self.victims.gain() + self.nod.gain()) / self.suite_cost;
        match self.nod.best() {
            Some(test) if test > order || !has_orders => {
                Next::Tests((0..PICKS).map_while(|_| self.nod.pick()).collect())
            }
            _ if has_orders => Next::Order,
            _ => Next::Nothing,
        }
    }
}
