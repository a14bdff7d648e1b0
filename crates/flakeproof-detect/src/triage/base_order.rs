//! Running failing tests in the suite's order on the code from before the change: those that fail only there, or
//! there now and then.

use flakeproof_core::{Conditions, Execution, Isolation, TestId};
use flakeproof_runner::{Error, Granularity, Probe, Result};

use super::Event;
use super::base::BaseStage;
use super::base_trials::BaseTrials;
use super::case::{Case, Shown};
use super::in_order::Walk;
use super::rates::InTurns;

impl BaseStage<'_> {
    /// The base's own order, once for all: the change may have moved tests, or removed one that cleaned
    /// up. Where they pass there, the order here once more.
    pub(super) fn try_in_order(
        &self,
        mut cases: Vec<&mut Case>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        if cases.is_empty() || self.is_over() {
            return Ok(());
        }
        self.walk_the_base(&mut cases, &mut |_, _, _| {})?;
        if !self.is_over() {
            let passed_there = |case: &&mut &mut Case| {
                case.shows() == Shown::OrderDependent
                    && case.base.as_ref().is_some_and(|base| base.in_order.only_passed())
            };
            let passed_there = cases.iter_mut().filter(passed_there).map(|case| &mut **case);
            self.head.rerun_once(passed_there.collect(), sink)?;
        }
        self.try_orders_in_turns(cases, sink)
    }

    /// The base's own order up to the last of some cases; `also` counts besides.
    fn walk_the_base(
        &self,
        cases: &mut [&mut Case],
        also: &mut dyn FnMut(&Case, &mut BaseTrials, &Execution),
    ) -> Result<()> {
        let order = &self.base.order;
        let is_wanted = |test: &TestId| cases.iter().any(|case| case.test == *test);
        let Some(last) = order.iter().rposition(is_wanted) else { return Ok(()) };
        let walk = Walk::Measured;
        let is_measured = walk.is_measured(&*self.base.adapter);
        let dependencies = if is_measured { Granularity::File } else { Granularity::Off };
        let probe = Probe { dependencies, ..Probe::attempt(1) };
        let mut doubt = self.base.order_doubt.clone();
        let walked = walk.through(
            &*self.base.adapter,
            order,
            last,
            self.head.cancel,
            &|_| probe,
            &mut |place, there| {
                // Whoever came before may be what makes it fail, and must be the base's too.
                doubt = doubt.take().or_else(|| self.doubt(&there));
                let case = cases.iter_mut().find(|case| case.test == order[place]);
                let Some(case) = case else { return };
                if let Some(mut trials) = case.base.take() {
                    trials.doubt = trials.doubt.take().or_else(|| doubt.clone());
                    trials.in_order.count(case, &there);
                    also(case, &mut trials, &there);
                    case.base = Some(trials);
                }
            },
        );
        match walked {
            Err(Error::Cancelled) if self.head.cancel.is_cancelled() => Err(Error::Cancelled),
            Err(error) => {
                for trials in cases.iter_mut().filter_map(|case| case.base.as_mut()) {
                    trials.doubt.get_or_insert(format!("its order cannot be run there: {error}"));
                }
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Where a test fails in the order now and then: the order here and there, in turns, to see whether it
    /// failed so before the change, too, and whether it fails more often with it.
    fn try_orders_in_turns(
        &self,
        mut cases: Vec<&mut Case>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        self.see_whether_it_passes_there(&mut cases)?;
        let mut costs = self.head.suite_took * 2;
        for turn in 0..InTurns::most(Isolation::Spawn) {
            let begin = (self.head.clock)();
            let wanted = cases.iter_mut().filter(|case| is_worth_a_turn(case));
            let mut wanted: Vec<&mut Case> = wanted.map(|case| &mut **case).collect();
            if wanted.is_empty() || begin + costs > self.deadline {
                break;
            }
            for is_here in InTurns::order(turn) {
                match is_here {
                    true => self.run_the_order_here(&mut wanted, sink)?,
                    false => self.walk_the_base(&mut wanted, &mut |case, trials, there| {
                        trials.in_turns.before.count(case.fails_alike(there));
                    })?,
                }
            }
            costs = (self.head.clock)().saturating_sub(begin);
        }
        Ok(())
    }

    /// Where a test fails in the order each time here and failed in it once there: whether it passes there, too. In
    /// most suites the order decides, and there is nothing to compare.
    fn see_whether_it_passes_there(&self, cases: &mut [&mut Case]) -> Result<()> {
        let mut costs = self.head.suite_took;
        for _ in 1..SAME_ON_BOTH {
            let begin = (self.head.clock)();
            let wanted = cases.iter_mut().filter(|case| may_pass_there(case));
            let mut wanted: Vec<&mut Case> = wanted.map(|case| &mut **case).collect();
            if wanted.is_empty() || begin + costs > self.deadline {
                break;
            }
            self.walk_the_base(&mut wanted, &mut |_, _, _| {})?;
            costs = (self.head.clock)().saturating_sub(begin);
        }
        Ok(())
    }

    fn run_the_order_here(
        &self,
        cases: &mut [&mut Case],
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let numbers: Vec<u32> = cases.iter().map(|case| case.next_number()).collect();
        self.head.rerun_once(cases.iter_mut().map(|case| &mut **case).collect(), sink)?;
        for (case, number) in cases.iter_mut().zip(numbers) {
            let ran = case.attempts.last().filter(|_| case.next_number() > number);
            let Some(has_failed) = ran.map(|ran| case.fails_alike(&ran.execution)) else {
                continue;
            };
            if let Some(trials) = &mut case.base {
                trials.in_turns.now.count(has_failed);
            }
        }
        Ok(())
    }
}

/// So often an order fails there, and never passes, until it is the same on both sides.
const SAME_ON_BOTH: u32 = 3;

/// Whether more runs of the base's order may show that what fails in it each time here passes in it.
fn may_pass_there(case: &Case) -> bool {
    let is_open = |base: &BaseTrials| {
        let fails_so_far = base.in_order.failed > 0 && base.in_order.passed == 0;
        fails_so_far && base.doubt.is_none() && base.alone.failed == 0
    };
    case.shows() == Shown::OrderDependent && case.base.as_ref().is_some_and(is_open)
}

/// Whether the order in turns, here and on the base, tells more about a case.
fn is_worth_a_turn(case: &Case) -> bool {
    let Some(base) = &case.base else { return false };
    let is_told = base.in_turns.is_hopeless() || base.in_turns.is_plain();
    let is_open = match case.shows() {
        Shown::Flaky(Conditions::InOrder) => true,
        Shown::OrderDependent => base.in_order.does_both(),
        Shown::Flaky(Conditions::Alone) | Shown::Broken => false,
        Shown::PassesAlone | Shown::Nothing => false,
    };
    is_open && !is_told && base.doubt.is_none() && base.alone.failed == 0
}

/// Whether what is left to learn about a case that ran on the base is how it fares there in order.
pub(super) fn needs_its_order(case: &Case) -> bool {
    case.base.as_ref().is_some_and(|base| match case.shows() {
        Shown::OrderDependent => true,
        Shown::Flaky(Conditions::InOrder) => base.alone.failed == 0,
        Shown::Flaky(Conditions::Alone) | Shown::Broken => false,
        Shown::PassesAlone | Shown::Nothing => false,
    })
}
