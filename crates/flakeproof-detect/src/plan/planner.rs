//! Which test to run next: where the chance to show a flaky test per second is highest.
//!
//! This is the rule of optimal search: each look at a place lowers what it is worth, so the next look
//! always goes to the place that is worth most for its price. A place is a test; how likely it is flaky
//! comes from a model, how often it would then fail from [`FailureRates`], and both change with every
//! outcome of the test and of its kin. CANNIER (section 3.2) instead runs all tests of an ambiguous
//! region equally often.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use flakeproof_core::{Hidden, Tally};

use super::group_prior::GroupPrior;
use super::rates::{FailureRates, RememberedRates};

/// A test that may be flaky.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// How likely it is flaky, before it ran.
    pub probability: f64,
    /// What one run costs, in seconds or any other unit.
    pub cost: f64,
    /// Its group in the [`GroupPrior`].
    pub group: u32,
    /// Which of the planner's distributions of failure rates it is drawn from.
    pub rates: usize,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// The test, by its place among the candidates.
    pub test: u32,
    /// How often to run it: until its outcome changes, and so often at most.
    pub runs: u32,
}

/// What is believed about all tests, and which is worth most.
#[derive(Debug, Clone)]
pub struct Planner {
    candidates: Vec<Candidate>,
    beliefs: Vec<Belief>,
    rates: Vec<RememberedRates>,
    prior: GroupPrior,
    /// The tests of each outermost group.
    members: Vec<Vec<u32>>,
    queue: BinaryHeap<Entry>,
    /// The worth with which each test stands in the queue.
    queued: Vec<f64>,
    /// Tests that are not asked about.
    is_aside: Vec<bool>,
}

/// What a test has shown so far, and what a flaky one would have.
#[derive(Debug, Clone, Copy)]
struct Belief {
    seen: Tally,
    /// The chance of that for a flaky test.
    now: f64,
    /// The chance that it goes on like that for one more run.
    next: f64,
}

/// A look at a test that always did the same is this share of its runs so far, at least one.
const RUNS_PER_LOOK: u32 = 8;
/// The share of tests that always fail, for one that has only failed so far.
const BROKEN: f64 = 0.005;
/// Models are never quite sure; odds need that.
const SUREST: f64 = 0.999;
const LEAST_SURE: f64 = 1e-6;
/// A worth that fell by less than this share is still taken for the highest.
const NEARLY: f64 = 0.999;

impl Planner {
    /// Plan for these tests, which come from these distributions.
    ///
    /// # Panics
    /// When a candidate names a distribution or a group that is not there.
    #[must_use]
    pub fn new(candidates: Vec<Candidate>, rates: Vec<FailureRates>, prior: GroupPrior) -> Self {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); prior.len()];
        for (test, candidate) in (0..).zip(&candidates) {
            members[prior.outermost(candidate.group) as usize].push(test);
        }
        let mut rates: Vec<RememberedRates> = rates.into_iter().map(RememberedRates::new).collect();
        let nothing = Tally::default();
        let beliefs = candidates.iter().map(|it| Belief::new(&mut rates[it.rates], nothing));
        let (beliefs, queue) = (beliefs.collect(), BinaryHeap::new());
        let queued = vec![f64::NAN; candidates.len()];
        let is_aside = candidates.iter().map(|it| it.probability <= 0.0).collect();
        let mut planner =
            Self { candidates, beliefs, rates, prior, members, queue, queued, is_aside };
        (0..).take(planner.queued.len()).for_each(|test| planner.enqueue(test));
        planner
    }

    /// The test that is worth most now; `None` when all have shown themselves.
    ///
    /// The test stays out of the queue until [`learn`](Self::learn) says how it fared.
    pub fn pick(&mut self) -> Option<Pick> {
        self.best()?;
        let test = self.queue.pop()?.test;
        self.queued[test as usize] = f64::NAN;
        let runs = (self.beliefs[test as usize].seen.runs / RUNS_PER_LOOK).max(1);
        Some(Pick { test, runs })
    }

    /// What the next pick is worth.
    pub fn best(&mut self) -> Option<f64> {
        while let Some(top) = self.queue.peek().copied() {
            // Whoever was queued anew stands there twice.
            let is_old = self.queued[top.test as usize].to_bits() != top.worth.to_bits();
            // Runs of its kin may have lowered it since.
            let has_fallen = !is_old && self.worth(top.test) < top.worth * NEARLY;
            if !is_old && !has_fallen {
                return Some(top.worth);
            }
            self.queue.pop();
            if has_fallen {
                self.enqueue(top.test);
            }
        }
        None
    }

    /// Do not pick or count a test any more: something else is known about it.
    pub fn set_aside(&mut self, test: u32) {
        self.is_aside[test as usize] = true;
        self.queued[test as usize] = f64::NAN;
    }

    /// Take in how a test fared.
    pub fn learn(&mut self, test: u32, outcomes: Tally) {
        let at = test as usize;
        let candidate = self.candidates[at];
        let rates = &mut self.rates[candidate.rates];
        let before = self.beliefs[at].seen;
        let seen = before + outcomes;
        self.beliefs[at] = Belief::new(rates, seen);
        let expected = if seen.is_inconsistent() { 1.0 } else { rates.shown_within(seen.runs) };
        let more = (expected - rates.shown_within(before.runs)) * candidate.probability;
        if before.is_inconsistent() {
            return;
        }
        self.prior.expect(candidate.group, more);
        if seen.is_inconsistent() {
            self.queued[at] = f64::NAN;
            self.prior.show(candidate.group);
            self.lift_kin(candidate.group);
        } else {
            self.enqueue(test);
        }
    }

    /// All kin of a group may be worth more than stands in the queue.
    fn lift_kin(&mut self, group: u32) {
        let outermost = self.prior.outermost(group) as usize;
        for kin in self.members[outermost].clone() {
            let is_queued = !self.queued[kin as usize].is_nan();
            if is_queued {
                self.enqueue(kin);
            }
        }
    }

    fn enqueue(&mut self, test: u32) {
        if self.is_aside[test as usize] {
            return;
        }
        let worth = self.worth(test);
        self.queued[test as usize] = worth;
        self.queue.push(Entry { worth, test });
    }

    /// The chance that the next run shows the test to be flaky, for its cost.
    #[must_use]
    pub fn worth(&self, test: u32) -> f64 {
        let belief = &self.beliefs[test as usize];
        let candidate = &self.candidates[test as usize];
        let odds = self.odds(test);
        let chance = if belief.seen.runs == 0 {
            // One run shows nothing yet: half of what two show.
            odds * self.rates[candidate.rates].shown_by_two() / (odds + 1.0) / 2.0
        } else {
            odds * (belief.now - belief.next) / (odds * belief.now + belief.otherwise())
        };
        chance / candidate.cost
    }

    /// Whether a test has passed and failed.
    #[must_use]
    pub fn has_shown(&self, test: u32) -> bool {
        self.beliefs[test as usize].seen.is_inconsistent()
    }

    /// Whether a test is asked about, and has not shown itself.
    fn is_open(&self, test: u32) -> bool {
        !self.is_aside[test as usize] && !self.has_shown(test)
    }

    /// How many tests one more run of every test is expected to show.
    #[must_use]
    pub fn gain(&self) -> f64 {
        let tests = (0..).zip(&self.candidates);
        let unknown = tests.filter(|(test, _)| self.is_open(*test));
        unknown.map(|(test, candidate)| self.worth(test) * candidate.cost).sum()
    }

    /// How likely a test is flaky, by all that was seen so far.
    #[must_use]
    pub fn probability(&self, test: u32) -> f64 {
        let belief = &self.beliefs[test as usize];
        if belief.seen.is_inconsistent() {
            return 1.0;
        }
        let odds = self.odds(test) * belief.now;
        odds / (odds + belief.otherwise())
    }

    /// The prior odds of a test, as its kin have changed them.
    fn odds(&self, test: u32) -> f64 {
        let candidate = &self.candidates[test as usize];
        candidate.odds() * self.prior.factor(candidate.group)
    }

    /// How many flaky tests that fail at least this often have not shown themselves.
    ///
    /// Kin are left out of it: kin that stay silent may all fail seldom, and whoever took their
    /// silence for health would promise too much.
    #[must_use]
    pub fn hidden(&self, at_least: f64) -> Hidden {
        let tests = (0..).zip(self.beliefs.iter().zip(&self.candidates));
        let unknown = tests.filter(|(test, _)| self.is_open(*test));
        let expected: f64 = unknown
            .map(|(_, (belief, candidate))| {
                let rates = self.rates[candidate.rates].rates();
                let odds = candidate.odds();
                let often = odds * rates.chance_of_failing(at_least, belief.seen);
                often / (odds * belief.now + belief.otherwise())
            })
            .sum();
        Hidden::estimate(expected, at_least)
    }
}

impl Candidate {
    /// Its odds to be flaky, before it ran.
    fn odds(&self) -> f64 {
        let probability = self.probability.clamp(LEAST_SURE, SUREST);
        probability / (1.0 - probability)
    }
}

impl Belief {
    fn new(rates: &mut RememberedRates, seen: Tally) -> Self {
        let fails = u32::from(seen.failures > 0);
        let more = seen + Tally { runs: 1, failures: fails };
        Self { seen, now: rates.chance_of(seen), next: rates.chance_of(more) }
    }

    /// The chance of what was seen for a test that is not flaky.
    fn otherwise(&self) -> f64 {
        if self.seen.failures > 0 { BROKEN } else { 1.0 }
    }
}

/// A test in the queue: the highest worth first, then the earlier test.
#[derive(Debug, Clone, Copy)]
struct Entry {
    worth: f64,
    test: u32,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then_with(|| other.test.cmp(&self.test))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;

    const PASS: Tally = Tally { runs: 1, failures: 0 };
    const FAILURE: Tally = Tally { runs: 1, failures: 1 };

    /// Tests of one class each, or all of one class.
    fn planner(probabilities: &[f64], are_kin: bool) -> Planner {
        let mut prior = GroupPrior::default();
        let candidates = probabilities
            .iter()
            .enumerate()
            .map(|(number, probability)| {
                let class = if are_kin { "class".to_owned() } else { number.to_string() };
                let group = prior.group_of(&["suite".to_owned(), class]);
                Candidate { probability: *probability, cost: 1.0, group, rates: 0 }
            })
            .collect();
        Planner::new(candidates, vec![FailureRates::known()], prior)
    }

    #[test]
    fn the_likeliest_test_comes_first_and_falls_with_every_clean_run() {
        let mut plan = planner(&[0.1, 0.6, 0.3], false);
        assert_eq!(plan.pick(), Some(Pick { test: 1, runs: 1 }));
        let mut last = plan.worth(1);
        plan.learn(1, PASS);
        for _ in 0..50 {
            plan.learn(1, PASS);
            assert!(plan.worth(1) < last || plan.beliefs[1].seen.runs == 2);
            last = plan.worth(1);
        }
        assert_ne!(plan.pick().map(|pick| pick.test), Some(1));
        assert!(plan.probability(1) < 0.6);
    }

    #[test]
    fn what_costs_more_must_promise_more() {
        let mut plan = planner(&[0.3, 0.3], false);
        plan.candidates[0].cost = 10.0;
        plan.enqueue(0);
        assert_eq!(plan.pick().map(|pick| pick.test), Some(1));
    }

    #[test]
    fn a_flaky_test_makes_its_class_suspicious() {
        let mut plan = planner(&[0.05, 0.05], true);
        let before = plan.probability(1);
        plan.learn(0, PASS);
        plan.learn(0, FAILURE);
        assert!(plan.probability(1) > 2.0 * before);
        assert_eq!(plan.pick().map(|pick| pick.test), Some(1));
    }

    #[test]
    fn who_has_shown_both_outcomes_is_not_picked_again() {
        let mut plan = planner(&[0.9], false);
        plan.learn(0, PASS);
        plan.learn(0, FAILURE);
        assert_eq!(plan.pick(), None);
        assert!(plan.hidden(0.0).expected.abs() < f64::EPSILON);
    }

    #[test]
    fn who_is_set_aside_is_neither_picked_nor_counted() {
        let mut plan = planner(&[0.9, 0.1, 0.0], false);
        plan.set_aside(0);
        assert!((plan.hidden(0.0).expected - 0.1).abs() < 1e-9, "nor is who cannot be flaky");
        assert!(plan.best().is_some_and(|worth| worth > 0.0));
        assert_eq!(plan.pick().map(|pick| pick.test), Some(1));
        plan.learn(0, PASS);
        assert_eq!(plan.pick(), None);
    }

    #[test]
    fn clean_runs_leave_less_hidden_and_frequent_failures_least() {
        let mut plan = planner(&[0.2; 10], false);
        let before = plan.hidden(0.0);
        assert!((before.expected - 2.0).abs() < 0.01, "{before:?}");
        assert_eq!(before.at_most, 5);
        (0..10).for_each(|test| plan.learn(test, Tally { runs: 100, failures: 0 }));
        assert!(plan.hidden(0.0).expected < 1.2);
        assert!(plan.hidden(0.05).expected < 0.02);
    }

    #[test]
    fn a_test_that_always_fails_is_left_after_a_while() {
        let mut plan = planner(&[0.05, 0.05], false);
        plan.learn(0, Tally { runs: 1, failures: 1 });
        assert_eq!(plan.pick().map(|pick| pick.test), Some(0), "a failure is a strong sign");
        plan.learn(0, Tally { runs: 40, failures: 40 });
        assert_eq!(plan.pick().map(|pick| pick.test), Some(1));
    }
}
