//! From suspects to victims and brittle tests, by pairs.
//!
//! Whoever ran before a test when it passed cannot be what makes it fail, so after a few orders few
//! candidates are left, and two tests cost less than two whole orders. Where that finds nobody, a
//! cleaner may have been at work, and all are tried that ran before the test when it failed. What no
//! pair explains is left to the classification of iDFlakies.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use flakeproof_core::{Decision, FlakyKind, HuntedTest, Isolation};

use super::Hunt;
use super::influence::MOST_PAIRS;
use super::ledger::{always_failed, always_passed};
use super::settings::HuntStage;
use super::trial::Trial;
use super::trial_scheduler::{Stop, last_failed};
use crate::pollution::polluters::{self, PairOutcome};

/// So often in a row a test must fail alone to be called brittle.
const FAILURES_OF_A_BRITTLE_TEST: u32 = 20;
/// So often where a budget has to be divided and every failure takes a process of its own; what comes out is
/// confirmed in new processes.
const FAILURES_IN_A_HURRY: u32 = 8;
/// The orders in which a suspect did not do as it does alone that are asked who ran before it.
const MOST_ORDERS_ASKED: usize = 3;
/// So much of the rest of a budget may go into pairs, and as much into further ones of tests that are
/// explained already.
const BUDGET_FOR_PAIRS: f64 = 0.3;
/// So many runs say of one pair whether it holds, and show it in new processes.
const RUNS_OF_A_DECISION: f64 = 15.0;
/// So many polluters are tried before all other tests.
const MOST_KNOWN_POLLUTERS: usize = 5;

impl Hunt<'_, '_> {
    /// Try every suspect after those tests that may be what changes its outcome.
    pub(super) fn pair_suspects(&mut self) -> Result<(), Stop> {
        if self.takes_long_alone() {
            return self.explain_in_turn();
        }
        self.suspects_alone()?;
        let all = self.orders.original();
        let mut suspects: Vec<(u32, bool)> =
            all.iter().filter_map(|test| Some((*test, self.suspect_fails_alone(*test)?))).collect();
        if suspects.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Pollution, all.len());
        let guilty = suspects.iter().map(|(test, fails)| (*test, self.may_change(*test, *fails)));
        let guilty: BTreeMap<u32, Vec<bool>> = guilty.collect();
        let is_guilty = |first: u32, second: u32| guilty[&second][first as usize];
        if !self.can_afford(&all, &suspects, &is_guilty) {
            return self.explain_in_turn();
        }
        self.try_marked(&suspects, &guilty)?;
        // A cleaner in between makes the guilty look innocent; nobody who ran before is, then.
        suspects.retain(|(test, _)| !self.first_influence.contains_key(test));
        let before = suspects.iter().map(|(test, fails)| (*test, self.ran_before(*test, *fails)));
        let before: BTreeMap<u32, Vec<bool>> = before.collect();
        let ran_before = |first: u32, second: u32| before[&second][first as usize];
        if !self.can_afford(&all, &suspects, &ran_before) {
            return self.explain_in_turn();
        }
        self.try_marked(&suspects, &before)?;
        self.try_known_polluters()?;
        self.confirm_in_time()
    }

    /// Where copies only guess, what a budget ends before new processes were asked is worth nothing.
    fn confirm_in_time(&mut self) -> Result<(), Stop> {
        if self.scheduler.budget.is_none() || !self.is_guessing() {
            return Ok(());
        }
        let victims = self.ledger.of_kind(FlakyKind::Victim);
        let brittle = self.ledger.of_kind(FlakyKind::Brittle);
        self.confirm(&victims, &brittle)
    }

    /// Run suspects after the tests that are marked for each; too many pairs are left to the
    /// classification.
    fn try_marked(
        &mut self,
        suspects: &[(u32, bool)],
        marked: &BTreeMap<u32, Vec<bool>>,
    ) -> Result<(), Stop> {
        let pairs = marked.values().flatten().filter(|is_marked| **is_marked).count();
        if pairs > MOST_PAIRS {
            return Ok(());
        }
        let all = self.orders.original();
        let is_tried = |first: u32, second: u32| {
            marked.get(&second).is_some_and(|marks| marks[first as usize])
        };
        self.try_before(&all, suspects, &is_tried)
    }

    /// Run tests after candidates, and note every pair that changes an outcome again and again.
    pub(super) fn try_before(
        &mut self,
        candidates: &[u32],
        tests: &[(u32, bool)],
        is_tried: &dyn Fn(u32, u32) -> bool,
    ) -> Result<(), Stop> {
        if !self.can_afford(candidates, tests, is_tried) {
            return Ok(());
        }
        let pairs = polluters::surprising_pairs(&mut self.scheduler, candidates, tests, is_tried)?;
        let end = self.scheduler.after_part_of_the_rest(BUDGET_FOR_PAIRS);
        let mut found: Vec<PairOutcome> = Vec::new();
        for pair in each_test_in_turn(pairs) {
            // Why a test fails is worth more than who else makes it fail, too.
            let is_explained = found.iter().any(|it| it.second == pair.second);
            if is_explained && self.scheduler.is_past(end) {
                continue;
            }
            if polluters::fails_after(&mut self.scheduler, &[pair.first], pair.second)?
                == pair.has_failed
                && self.is_steady_alone(pair.second, !pair.has_failed)?
            {
                self.note_orders(pair.first, pair.second, pair.has_failed);
                self.note_pair(pair);
                found.push(pair);
            }
        }
        self.try_alike(&found, tests)
    }

    /// Whether pairs leave time to say of each suspect what it is. Where environments cannot be copied,
    /// every pair has its own, and one cause is found by far fewer.
    fn can_afford(
        &self,
        candidates: &[u32],
        tests: &[(u32, bool)],
        is_tried: &dyn Fn(u32, u32) -> bool,
    ) -> bool {
        if self.scheduler.can_copy() {
            return true;
        }
        let alone = |test: u32| self.seconds_alone.get(test as usize).copied().unwrap_or_default();
        let seconds = |first: &u32| {
            let tried = tests.iter().filter(|(test, _)| test != first && is_tried(*first, *test));
            tried.map(|(test, _)| alone(*test).max(alone(*first))).sum::<f64>()
        };
        let decisions: f64 = tests.iter().map(|(test, _)| RUNS_OF_A_DECISION * alone(*test)).sum();
        let pairs = candidates.iter().map(seconds).sum::<f64>();
        self.scheduler.fits((pairs + decisions) / BUDGET_FOR_PAIRS)
    }

    /// Whoever pollutes one test often pollutes others, which no order has shown yet.
    fn try_known_polluters(&mut self) -> Result<(), Stop> {
        let mut victims_of: BTreeMap<u32, usize> = BTreeMap::new();
        for victim in self.ledger.of_kind(FlakyKind::Victim) {
            for polluter in self.single_polluters(victim) {
                *victims_of.entry(polluter).or_default() += 1;
            }
        }
        let mut polluters: Vec<u32> = victims_of.keys().copied().collect();
        polluters.sort_by_key(|polluter| (Reverse(victims_of[polluter]), *polluter));
        polluters.truncate(MOST_KNOWN_POLLUTERS);
        // Those that failed and that nobody explains, too: what made them fail may not be what often does.
        let may_be_victim = |test: &HuntedTest| test.kind.is_none() && always_passed(test.alone);
        let mut tests = self.ledger.all(may_be_victim);
        tests.retain(|test| !self.is_answered(*test));
        let tests: Vec<(u32, bool)> = tests.into_iter().map(|test| (test, false)).collect();
        self.try_before(&polluters, &tests, &|_, _| true)
    }

    /// The tests that make a victim fail by themselves.
    pub(super) fn single_polluters(&self, victim: u32) -> Vec<u32> {
        let known = &self.ledger.test(victim).polluters;
        let single = known.iter().filter_map(|set| match set.as_slice() {
            [only] => self.scheduler.position(only),
            _ => None,
        });
        single.collect()
    }

    /// The tests whose outcome changed, and of which nobody knows why; those that did not run alone yet
    /// are among them.
    pub(super) fn suspicious(&self) -> Vec<u32> {
        let unseen = self.unseen_alone();
        let mut all = self.orders.original();
        all.retain(|test| unseen.contains(test) || self.suspect_fails_alone(*test).is_some());
        all.retain(|test| !self.is_answered(*test));
        all
    }

    /// Whether a test whose outcome changed fails alone; `None` for tests that are not suspicious.
    pub(super) fn suspect_fails_alone(&self, test: u32) -> Option<bool> {
        let known = self.ledger.test(test);
        let in_orders = known.baseline + known.shuffled;
        if known.kind.is_some() || self.is_answered(test) || self.differs_in_the_suite(test) {
            None
        } else if always_failed(known.alone) {
            (in_orders.failures < in_orders.runs).then_some(true)
        } else {
            (always_passed(known.alone) && in_orders.failures > 0).then_some(false)
        }
    }

    /// Whether a test does in the suite's own process what it does not do alone, which no pair in
    /// processes of their own explains.
    fn differs_in_the_suite(&self, test: u32) -> bool {
        let HuntedTest { baseline, alone, .. } = self.ledger.test(test);
        let differs = always_failed(*baseline) && always_passed(*alone)
            || always_passed(*baseline) && always_failed(*alone);
        differs && self.scheduler.isolation_for(&self.orders.original()) == Isolation::Same
    }

    /// Whether a test that changed its outcome was looked into, and nothing of its own was found.
    pub(super) fn is_answered(&self, test: u32) -> bool {
        self.disturbed.contains(&test) || self.taken_back.contains(&test)
    }

    /// Whether a test does alone what it did alone before, decided on repeated runs.
    ///
    /// One that only often fails alone passes after somebody by chance, and there are many to try: it must
    /// fail every time.
    pub(super) fn is_steady_alone(&mut self, test: u32, fails: bool) -> Result<bool, Stop> {
        if let Some(is_steady) = self.steady.get(&(test, fails)) {
            return Ok(*is_steady);
        }
        let is_steady = self.does_the_same_alone(test, fails)?;
        self.steady.insert((test, fails), is_steady);
        Ok(is_steady)
    }

    fn does_the_same_alone(&mut self, test: u32, fails: bool) -> Result<bool, Stop> {
        let wanted = if fails { Decision::High } else { Decision::Low };
        let seen = self.scheduler.observe(&format!("steady/{test}"), &[test])?;
        if seen.decision != wanted {
            return Ok(false);
        }
        let isolation = self.scheduler.isolation();
        let is_in_a_hurry = self.scheduler.budget.is_some() && !self.scheduler.can_copy();
        let runs = match (fails, is_in_a_hurry) {
            // What it did alone so far counts.
            (true, true) => FAILURES_IN_A_HURRY
                .saturating_sub(seen.tally.failures + self.ledger.test(test).alone.failures),
            (true, false) => FAILURES_OF_A_BRITTLE_TEST,
            (false, _) => 0,
        };
        let trials = (1..=runs).map(|number| {
            Trial::order(format!("always fails/{test}/{number}"), vec![test], isolation)
        });
        let mut has_passed = false;
        self.scheduler.one_by_one(trials, &mut |_, record| {
            has_passed = last_failed(record) == Some(false);
            if has_passed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(!has_passed)
    }

    /// The tests that may be what makes a suspect fail, or pass if it fails alone: all but those that
    /// ran before it in an order in which it did as it does alone.
    pub(super) fn may_change(&self, test: u32, fails_alone: bool) -> Vec<bool> {
        let mut may = vec![true; self.orders.tests()];
        may[test as usize] = false;
        let mut clear = |order: &[u32]| {
            for other in order.iter().take_while(|other| **other != test) {
                may[*other as usize] = false;
            }
        };
        let known = self.ledger.test(test);
        let as_alone =
            |tally| if fails_alone { always_failed(tally) } else { always_passed(tally) };
        if as_alone(known.baseline) && self.ledger.is_baseline_whole {
            clear(&self.orders.original());
        }
        for order in self.ledger.whole_orders(test) {
            let has_failed = self.ledger.failing_orders(test).contains(&order);
            if has_failed == fails_alone {
                clear(&self.other(order));
            }
        }
        may
    }

    /// The tests that ran before a suspect in the first orders in which it did not do as it does alone.
    pub(super) fn ran_before(&self, test: u32, fails_alone: bool) -> Vec<bool> {
        let known = self.ledger.test(test);
        let own =
            if fails_alone { !always_failed(known.baseline) } else { known.baseline.failures > 0 };
        let failing = self.ledger.failing_orders(test);
        let others = self.ledger.whole_orders(test).into_iter();
        let others = others.filter(|order| failing.contains(order) != fails_alone);
        let mut orders: Vec<Vec<u32>> =
            others.take(MOST_ORDERS_ASKED).map(|order| self.other_up_to(order, test)).collect();
        if own || orders.is_empty() {
            orders = vec![self.original_up_to(test)];
        }
        let mut marked = vec![false; self.orders.tests()];
        orders.iter().flatten().for_each(|before| marked[*before as usize] = true);
        marked[test as usize] = false;
        marked
    }

    /// How the pair shows what the test does.
    fn note_orders(&mut self, first: u32, second: u32, has_failed: bool) {
        let (pair, alone) = (vec![first, second], vec![second]);
        let (failing, passing) = if has_failed { (pair, alone) } else { (alone, pair) };
        self.failing_order.entry(second).or_insert(failing);
        self.passing_order.entry(second).or_insert(passing);
    }

    /// The tests that may heal a victim: those between its polluters and it in the shortest stretch
    /// of an order in which it passed although they had run. Nobody, if that never happened.
    pub(super) fn may_clean(&self, victim: u32, polluters: &[u32]) -> Vec<u32> {
        let known = self.ledger.test(victim);
        let failing = self.ledger.failing_orders(victim);
        let passing = self.ledger.whole_orders(victim).into_iter();
        let passing = passing.filter(|order| !failing.contains(order));
        let mut orders: Vec<Vec<u32>> = passing.map(|it| self.other_up_to(it, victim)).collect();
        if always_passed(known.baseline) && self.ledger.is_baseline_whole {
            orders.push(self.original_up_to(victim));
        }
        let stretch = |order: Vec<u32>| {
            let last = order.iter().rposition(|test| polluters.contains(test))?;
            let ran = polluters.iter().all(|polluter| order.contains(polluter));
            ran.then(|| order[last + 1..order.len() - 1].to_vec())
        };
        orders.into_iter().filter_map(stretch).min_by_key(Vec::len).unwrap_or_default()
    }
}

/// Pairs with the first one of each test in front, then the second ones, and so on.
fn each_test_in_turn(pairs: Vec<PairOutcome>) -> Vec<PairOutcome> {
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    let in_turn = pairs.into_iter().map(|pair| {
        let turn = seen.entry(pair.second).or_default();
        *turn += 1;
        (*turn, pair)
    });
    let mut in_turn: Vec<(u32, PairOutcome)> = in_turn.collect();
    in_turn.sort_by_key(|(turn, _)| *turn);
    in_turn.into_iter().map(|(_, pair)| pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_has_its_first_pair_before_any_has_its_second() {
        let pair = |first, second| PairOutcome { first, second, has_failed: true };
        let pairs = vec![pair(1, 9), pair(2, 9), pair(3, 9), pair(1, 8), pair(4, 8)];
        let sorted: Vec<(u32, u32)> =
            each_test_in_turn(pairs).into_iter().map(|it| (it.first, it.second)).collect();
        assert_eq!(sorted, [(1, 9), (1, 8), (2, 9), (4, 8), (3, 9)]);
    }
}
