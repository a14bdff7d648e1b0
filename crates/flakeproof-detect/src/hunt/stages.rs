//! The stages of a hunt that run the suite: iDFlakies's set-up and running, each test alone, RERUN.
//!
//! CANNIER, sections 2.1.1 and 2.1.2. Where we differ: tests that always fail in the suite's own order
//! are set aside only if they also fail alone, because an earlier test may be what makes them fail.

use std::ops::{ControlFlow, RangeInclusive};
use std::time::Duration;

use flakeproof_core::{FlakyKind, HuntedTest, Tally, TrialRecord};
use flakeproof_runner::Orders;

use super::ledger::{OtherOrder, Setting, always_passed};
use super::settings::{HuntEvent, HuntStage, Strategy};
use super::trial::{Step, Trial, Until};
use super::trial_scheduler::Stop;
use super::{Extent, Hunt};

/// So many tests alone are one trial.
const ALONE_TOGETHER: usize = 20;
/// So many tell how long one takes, where a budget has to be divided.
const TIMED_FIRST: usize = 5;
/// The shares of what is left of the budget after which a stage gives way to those after it.
const BUDGET_FOR_SET_UP: f64 = 0.15;
const BUDGET_FOR_SINGLE_TESTS: f64 = 0.25;
const BUDGET_FOR_ORDERS: f64 = 0.5;
const BUDGET_FOR_RERUNS: f64 = 0.6;
/// Whatever the budget, the suite's own order is run so often.
const FEWEST_RUNS: u32 = 1;

/// Whether environments may run side by side.
#[derive(Debug, Clone, Copy)]
enum SideBySide {
    Yes,
    No,
}

impl Hunt<'_, '_> {
    /// Runs in the suite's own order. Where environments shall run side by side, the first half of the
    /// runs is alone: tests that pass there and fail beside others disturb each other.
    pub(super) fn set_up(&mut self) -> Result<(), Stop> {
        let runs = self.settings.runs;
        self.set_up_ends = self.scheduler.after_part_of_the_rest(BUDGET_FOR_SET_UP);
        self.scheduler.begin(HuntStage::SetUp, runs as usize);
        let alone = if self.scheduler.jobs > 1 { runs.div_ceil(2) } else { runs };
        self.run_in_own_order("baseline", 1..=alone, SideBySide::No)?;
        let before: Vec<Tally> = self.ledger.tests.iter().map(|test| test.baseline).collect();
        self.run_in_own_order("baseline", alone + 1..=runs, SideBySide::Yes)?;
        if self.are_disturbed(&before) {
            let tests = self.ledger.tests.iter_mut();
            tests.zip(before).for_each(|(test, tally)| test.baseline = tally);
            self.scheduler.jobs = 1;
            self.run_in_own_order("quiet", alone + 1..=runs, SideBySide::No)?;
        }
        self.call_nod_unless_turned()
    }

    fn run_in_own_order(
        &mut self,
        name: &str,
        numbers: RangeInclusive<u32>,
        side_by_side: SideBySide,
    ) -> Result<(), Stop> {
        let original = self.orders.original();
        let isolation = self.scheduler.isolation_for(&original);
        let (clock, end) = (self.scheduler.workplace.clock, self.set_up_ends);
        let has_time =
            move |number: &u32| *number <= FEWEST_RUNS || end.is_none_or(|end| clock() < end);
        let trials = numbers
            .take_while(has_time)
            .map(|number| Trial::order(format!("{name}/{number}"), original.clone(), isolation));
        let (ledger, seconds) = (&mut self.ledger, &mut self.seconds_in_order);
        let mut take = |trial: &Trial, record: &TrialRecord| {
            ledger.enter(trial, record, Setting::Baseline);
            *seconds = record.duration.as_secs_f64();
            ControlFlow::Continue(())
        };
        match side_by_side {
            SideBySide::Yes => self.scheduler.each(trials, &mut take),
            SideBySide::No => self.scheduler.one_by_one(trials, &mut take),
        }
    }

    /// Whether a test failed beside other environments that had not failed before.
    fn are_disturbed(&mut self, before: &[Tally]) -> bool {
        let now = &self.ledger.tests;
        let disturbed =
            self.ledger.all_at(|at| always_passed(before[at]) && now[at].baseline.failures > 0);
        self.remark_on_some(
            &disturbed,
            "failed when environments ran side by side; the hunt goes on with one",
            "look for files, ports or databases that tests share",
        );
        !disturbed.is_empty()
    }

    /// Some tests once alone, each in a fresh environment, the first ones first.
    pub(super) fn alone_of(&mut self, tests: &[u32]) -> Result<Extent, Stop> {
        let end = self.scheduler.after_part_of_the_rest(BUDGET_FOR_SINGLE_TESTS);
        let left = tests.get(self.progress.alone..).unwrap_or_default();
        if left.is_empty() {
            return Ok(Extent::Whole);
        }
        self.scheduler.begin(HuntStage::Alone, left.len().div_ceil(ALONE_TOGETHER));
        let (first, rest) = left.split_at(self.tests_to_time().min(left.len()));
        for some in std::iter::once(first).chain(rest.chunks(ALONE_TOGETHER * self.jobs())) {
            if self.scheduler.is_past(end) || !self.is_worth_running_alone(end, tests.len()) {
                return Ok(Extent::Cut);
            }
            self.run_alone("alone", some)?;
            self.progress.alone += some.len();
            self.tell_what_is_left();
        }
        Ok(Extent::Whole)
    }

    /// So many tests run alone before it is known how long one takes.
    fn tests_to_time(&self) -> usize {
        match self.scheduler.budget {
            Some(_) if self.progress.alone == 0 => TIMED_FIRST,
            _ => ALONE_TOGETHER * self.jobs(),
        }
    }

    fn jobs(&self) -> usize {
        self.scheduler.width()
    }

    /// How many trials are run at the same time.
    fn machines(&self) -> usize {
        match self.scheduler.workplace.crew {
            Some(crew) => (crew.size)().max(1),
            None => self.jobs(),
        }
    }

    /// Whether the tests that did not run alone yet can do so until `end`. Where a process takes long to start, they
    /// cannot, and one order of the whole suite says more than a few tests alone: who fails in
    /// one is asked alone then.
    #[expect(clippy::cast_precision_loss, reason = "a suite has fewer tests than that")]
    fn is_worth_running_alone(&self, end: Option<Duration>, tests: usize) -> bool {
        let is_all = self.progress.is_rest_for_single_tests;
        let has_choice = self.progress.alone > 0 && self.can_reorder() && !is_all;
        let Some(end) = end.filter(|_| has_choice) else {
            return true;
        };
        let each = self.seconds_alone.iter().sum::<f64>() / self.progress.alone as f64;
        let left = tests.saturating_sub(self.progress.alone) as f64 / self.machines() as f64;
        let has = end.saturating_sub((self.scheduler.workplace.clock)()).as_secs_f64();
        each * left <= has
    }

    /// Tests that failed in an order and that there was no time to run alone.
    pub(super) fn unseen_alone(&self) -> Vec<u32> {
        if self.scheduler.budget.is_none() {
            return Vec::new();
        }
        self.ledger.all(|test| {
            let in_orders = test.baseline + test.shuffled;
            test.kind.is_none() && test.alone.runs == 0 && in_orders.failures > 0
        })
    }

    /// Run them alone.
    pub(super) fn suspects_alone(&mut self) -> Result<(), Stop> {
        let suspects = self.unseen_alone();
        if suspects.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Alone, suspects.len().div_ceil(ALONE_TOGETHER));
        self.run_alone("suspects alone", &suspects)
    }

    /// Whether that takes so much of the rest of the budget that little is left to explain any of them.
    #[expect(clippy::cast_precision_loss, reason = "a suite has fewer tests than that")]
    pub(super) fn takes_long_alone(&self) -> bool {
        let unseen = self.unseen_alone().len();
        if unseen == 0 || self.progress.alone == 0 {
            return false;
        }
        let each = self.seconds_alone.iter().sum::<f64>() / self.progress.alone as f64;
        let seconds = each * unseen as f64 / self.jobs() as f64;
        !self.scheduler.fits(seconds / BUDGET_FOR_SINGLE_TESTS)
    }

    /// Run those of some tests alone that did not yet, each by itself, so that it is known how long it takes.
    pub(super) fn run_alone_to_time(&mut self, tests: &[u32]) -> Result<(), Stop> {
        let unseen = self.unseen_alone();
        let unseen: Vec<u32> = tests.iter().copied().filter(|it| unseen.contains(it)).collect();
        if unseen.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Alone, unseen.len());
        unseen.iter().try_for_each(|test| self.run_alone("suspect alone", &[*test]))
    }

    fn run_alone(&mut self, name: &str, tests: &[u32]) -> Result<(), Stop> {
        let isolation = self.scheduler.isolation();
        // Named by its first test, so that it is the same trial for any number of environments side by side.
        let trials = tests.chunks(ALONE_TOGETHER).map(|tests| Trial {
            name: format!("{name}/{}", tests[0]),
            steps: tests.iter().map(|test| Step::Branch(vec![*test])).collect(),
            isolation,
            until: Until::Done,
            shuffle: None,
        });
        let (ledger, seconds) = (&mut self.ledger, &mut self.seconds_alone);
        self.scheduler.each(trials, &mut |trial, record| {
            ledger.enter(trial, record, Setting::Alone);
            let each = record.duration.as_secs_f64() / f64::from(record.executions.max(1));
            trial.branches().flatten().for_each(|test| seconds[*test as usize] = each);
            ControlFlow::Continue(())
        })
    }

    /// Runs in other orders.
    pub(super) fn running(&mut self) -> Result<Extent, Stop> {
        let end = self.scheduler.after_part_of_the_rest(BUDGET_FOR_ORDERS);
        let planned = self.planned_orders().split_off(self.progress.orders);
        if planned.is_empty() {
            return Ok(Extent::Whole);
        }
        self.scheduler.begin(HuntStage::Running, planned.len());
        let isolation = self.scheduler.isolation();
        for some in planned.chunks(self.jobs()) {
            if self.scheduler.is_past(end) || !self.scheduler.fits(self.seconds_of_an_order()) {
                return Ok(Extent::Cut);
            }
            let trial = |order: &OtherOrder| {
                let name = format!("{}/{}", order.kind.word(), order.number);
                Trial::order(name, self.other(*order), isolation)
            };
            let trials: Vec<Trial> = some.iter().map(trial).collect();
            let mut numbers = some.iter();
            let ledger = &mut self.ledger;
            self.scheduler.each(trials.into_iter(), &mut |trial, record| {
                if let Some(order) = numbers.next() {
                    ledger.enter(trial, record, Setting::Shuffled(*order));
                }
                ControlFlow::Continue(())
            })?;
            self.progress.orders += some.len();
            self.tell_what_is_left();
        }
        Ok(Extent::Whole)
    }

    /// Say how long what is planned takes, where no budget says it: other orders, and reruns of single
    /// tests. Who makes whom fail is not known before, and what that takes is not, either.
    #[expect(clippy::cast_precision_loss, reason = "a suite has fewer tests than that")]
    fn tell_what_is_left(&mut self) {
        let is_planned = matches!(self.settings.strategy, Strategy::Plan(_));
        if self.settings.budget.is_some() || is_planned || self.progress.alone == 0 {
            return;
        }
        let tests = self.ledger.tests.len();
        let once = self.seconds_alone.iter().sum::<f64>() / self.progress.alone as f64;
        let orders = self.planned_orders().len().saturating_sub(self.progress.orders);
        let rounds = self.settings.max_reruns.saturating_sub(1 + self.progress.rounds);
        let alone = tests.saturating_sub(self.progress.alone) + tests * rounds as usize;
        let seconds = orders as f64 * self.seconds_of_an_order() + alone as f64 * once;
        let left = Duration::from_secs_f64(seconds / self.machines() as f64);
        self.scheduler.tell(HuntEvent::Left(left));
    }

    /// What another order of the suite takes: where each test has a process of its own then, as long as
    /// all of them alone.
    pub(super) fn seconds_of_an_order(&self) -> f64 {
        match self.scheduler.adapter.can().orders {
            Orders::Any | Orders::AnyFresh | Orders::ByFile | Orders::Seeded | Orders::Own => {
                self.seconds_in_order
            }
            Orders::Apart => self.seconds_in_order.max(self.seconds_alone.iter().sum()),
        }
    }

    /// The kinds of orders take turns, as long as each has another order to give.
    pub(super) fn planned_orders(&self) -> Vec<OtherOrder> {
        if !self.can_reorder() {
            return Vec::new();
        }
        let kinds = &self.settings.kinds;
        let wanted = self.settings.orders as usize;
        let rounds = (0..).take(wanted);
        let in_turns = rounds
            .flat_map(|number| kinds.iter().map(move |kind| OtherOrder { kind: *kind, number }));
        let has_one = |order: &OtherOrder| (order.number as usize) < self.orders.most(order.kind);
        in_turns.filter(has_one).take(wanted).collect()
    }

    /// Whether there are other orders than the suite's own.
    pub(super) fn can_reorder(&self) -> bool {
        match self.scheduler.adapter.can().orders {
            Orders::Any | Orders::AnyFresh | Orders::ByFile | Orders::Seeded | Orders::Apart => {
                true
            }
            Orders::Own => false,
        }
    }

    /// Run alone, again and again, what always did the same; who shows both outcomes is done.
    pub(super) fn rerun(&mut self) -> Result<Extent, Stop> {
        let end = self.scheduler.after_part_of_the_rest(BUDGET_FOR_RERUNS);
        let rounds = self.settings.max_reruns;
        // The first round was that of each test alone.
        let first = self.progress.rounds + 2;
        if first > rounds {
            return Ok(Extent::Whole);
        }
        self.scheduler.begin(HuntStage::Rerun, (rounds + 1 - first) as usize);
        for round in first..=rounds {
            if self.scheduler.is_past(end) {
                return Ok(Extent::Cut);
            }
            let is_steady = |test: &HuntedTest| test.kind.is_none() && always_passed(test.alone);
            let mut steady = self.ledger.all(is_steady);
            if let Strategy::Cannier(candidates) = &self.settings.strategy {
                steady.retain(|test| candidates.is_rerun(*test));
            }
            self.run_alone(&format!("rerun/{round}"), &steady)?;
            for test in steady {
                if self.ledger.test(test).alone.is_inconsistent() && self.fails_undisturbed(test)? {
                    self.call_nod_unless_for_good(test)?;
                }
            }
            self.progress.rounds += 1;
            self.tell_what_is_left();
        }
        Ok(Extent::Whole)
    }

    /// Whether a test that failed alone does so without other environments beside it.
    fn fails_undisturbed(&mut self, test: u32) -> Result<bool, Stop> {
        if self.scheduler.jobs == 1 {
            return Ok(true);
        }
        let seen = self.scheduler.observe(&format!("undisturbed/{test}"), &[test])?;
        if seen.tally.failures == 0 {
            self.disturbed.insert(test);
        }
        Ok(seen.tally.failures > 0)
    }

    /// Give a test its kind.
    pub(super) fn call_one_flaky(&mut self, test: u32, kind: FlakyKind) {
        let known = self.ledger.test_mut(test);
        known.kind = Some(kind);
        let id = known.id.clone();
        self.scheduler.tell(HuntEvent::Flaky(id, kind));
    }

    /// The tests of the suite's own order up to and including one.
    pub(super) fn original_up_to(&self, test: u32) -> Vec<u32> {
        (0..=test).collect()
    }

    /// Another order of the suite, as environments run it.
    pub(super) fn other(&self, order: OtherOrder) -> Vec<u32> {
        self.scheduler.runnable(&self.orders.order(order.kind, order.number))
    }

    /// The tests of another order up to and including one.
    pub(super) fn other_up_to(&self, order: OtherOrder, test: u32) -> Vec<u32> {
        let mut tests = self.other(order);
        let end = tests.iter().position(|it| *it == test).map_or(tests.len(), |at| at + 1);
        tests.truncate(end);
        tests
    }
}
