//! Rerunning in the suite's order, in new processes.
//!
//! A test that fails in the suite and passes alone is flaky, or the order makes it fail. The two
//! are told apart by running the order once more, from the start of new processes up to the last
//! test in question, once for all of them together. What still fails there is tried alone a few
//! more times, because chance is cheaper to see there, and then in order again while the budget
//! lasts. One such way through an order is a [`Walk`], which the base's order is walked by, too.

use std::collections::HashMap;
use std::time::Duration;

use flakeproof_core::{Attempt, Execution, Isolation, Outcome, Stage, TestId};
use flakeproof_runner::{
    Adapter, Cancel, Environment, Error, Granularity, Orders, Probe, Result, Then,
};

use super::case::{Case, Shown};
use super::{Event, TriageSettings};

/// Runs of the order that tell something; what fails in all of them fails for the order.
const MOST_RUNS: u32 = 3;

/// So often a test is tried alone that failed in every rerun in the suite.
const SURE_ENOUGH: u32 = 2;

/// Why the order was run once more and tells nothing.
const NOT_REACHED: &str = "it passes alone; the suite's order once more did not come to it as before: in \
                           another process tests are missing, have other names or end the run";

/// What is the same for all runs of the order.
pub(super) struct OrderStage<'a> {
    pub(super) adapter: &'a dyn Adapter,
    pub(super) settings: &'a TriageSettings,
    pub(super) cancel: &'a Cancel,
    pub(super) clock: &'a (dyn Fn() -> Duration + Sync),
    /// The orders of the suite's own run, by worker.
    pub(super) shares: &'a [Vec<TestId>],
    /// How long the suite's own run took.
    pub(super) suite_took: Duration,
}

impl OrderStage<'_> {
    /// Rerun the order for all cases that pass alone.
    pub(super) fn rerun(&self, cases: &mut [Case], sink: &mut dyn FnMut(Event)) -> Result<()> {
        let budget = self.settings.evidence.order(self.suite_took);
        let begin = (self.clock)();
        let mut costs = self.suite_took;
        for run in 0..MOST_RUNS {
            let open = cases.iter().filter(|case| needs_the_order(case)).count();
            if open == 0 {
                return Ok(());
            }
            let spent = (self.clock)().saturating_sub(begin);
            // The first run is estimated by the whole suite, of which it is a part.
            if spent + costs.mul_f64(if run == 0 { 0.5 } else { 1.0 }) > budget {
                self.say_what_it_costs(cases, costs);
                return Ok(());
            }
            sink(Event::Stage(Stage::Order, open));
            let wanted = cases.iter_mut().filter(|case| needs_the_order(case));
            self.rerun_once(wanted.collect(), sink)?;
            costs = (self.clock)().saturating_sub(begin + spent);
            if run == 0 {
                self.rerun_alone(cases, begin + budget, sink)?;
            }
            if !cases.iter().any(|case| needs_the_order(case) && may_be_chance(case)) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn say_what_it_costs(&self, cases: &mut [Case], costs: Duration) {
        for case in cases.iter_mut().filter(|case| case.is_open()) {
            if case.shows() == Shown::PassesAlone {
                case.undecided.get_or_insert(format!(
                    "it passes alone; the suite's order once more would tell whether it is flaky, \
                     and takes about {:.0} s (`--evidence-budget`)",
                    costs.as_secs_f64().max(1.0)
                ));
            }
        }
    }

    /// Run the suite's order once more for these cases: each worker's, up to the last of them.
    pub(super) fn rerun_once(
        &self,
        mut cases: Vec<&mut Case>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        for (worker, share) in self.shares.iter().enumerate() {
            let wanted = cases.iter_mut().filter(|case| case.place.0 == worker);
            let mut wanted: HashMap<TestId, &mut Case> =
                wanted.map(|case| (case.test.clone(), &mut **case)).collect();
            let Some(last) = share.iter().rposition(|test| wanted.contains_key(test)) else {
                continue;
            };
            self.rerun_share(share, last, &mut wanted, sink)?;
        }
        Ok(())
    }

    fn rerun_share(
        &self,
        order: &[TestId],
        last: usize,
        wanted: &mut HashMap<TestId, &mut Case>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let numbers: HashMap<TestId, u32> =
            wanted.iter().map(|(test, case)| (test.clone(), case.next_number())).collect();
        let number = |test: &TestId| numbers.get(test).copied().unwrap_or(1);
        // What all tests of the process touch counts against this one. It is asked for only where a process
        // can be looked into: elsewhere each look is dear, and so are the runs on the base that answer it.
        let dependencies = match (self.settings.dependencies, self.adapter.can().state) {
            (Granularity::Off, _) | (_, false) => Granularity::Off,
            (Granularity::File | Granularity::Function, true) => Granularity::File,
        };
        let probe = |test: &TestId| Probe { dependencies, ..Probe::attempt(number(test)) };
        let walked = Walk::AsTheSuite.through(
            self.adapter,
            order,
            last,
            self.cancel,
            &probe,
            &mut |place, execution| {
                let Some(case) = wanted.get_mut(&order[place]) else { return };
                let number = number(&case.test);
                let (stage, isolation) = (Stage::Order, Isolation::Spawn);
                let position = u32::try_from(place).ok();
                let attempt = Attempt { stage, isolation, number, position, execution };
                sink(Event::Attempt(Box::new(attempt.clone())));
                case.add(attempt, &self.settings.rerun);
            },
        );
        match walked {
            Err(Error::Cancelled) if self.cancel.is_cancelled() => Err(Error::Cancelled),
            Err(error) => {
                let why = format!("the suite's order cannot be run once more: {error}");
                wanted.values_mut().for_each(|case| case.undecided = Some(why.clone()));
                Ok(())
            }
            Ok(()) => {
                let did_not_run = |case: &&mut &mut Case| case.next_number() == number(&case.test);
                for case in wanted.values_mut().filter(did_not_run) {
                    case.undecided = Some(NOT_REACHED.to_owned());
                }
                Ok(())
            }
        }
    }

    /// Try what fails in order alone, until it fails there too or there is no more time.
    fn rerun_alone(
        &self,
        cases: &mut [Case],
        deadline: Duration,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        for case in cases.iter_mut().filter(|case| needs_the_order(case)) {
            let most = self.settings.confirmations;
            for _ in 0..if may_be_chance(case) { most } else { most.min(SURE_ENOUGH) } {
                if self.cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                if (self.clock)() >= deadline {
                    return Ok(());
                }
                let number = case.next_number();
                let probe = Probe::attempt(number);
                let ran =
                    super::fresh::run_alone(self.adapter, &case.test, Isolation::Spawn, probe);
                let Ok((isolation, execution)) = ran else { break };
                let (stage, position) = (Stage::Fresh, None);
                let attempt = Attempt { stage, isolation, number, position, execution };
                sink(Event::Attempt(Box::new(attempt.clone())));
                case.add(attempt, &self.settings.rerun);
                if !needs_the_order(case) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Whether reruns in the suite's own environment do not speak against chance: one passed, or none was
/// made.
fn may_be_chance(case: &Case) -> bool {
    let mut again = case.reruns_in_same_environment().map(|it| it.execution.outcome);
    let has_none = case.reruns_in_same_environment().next().is_none() && case.like.is_none();
    has_none || again.any(|outcome| !outcome.is_failure())
}

/// Whether only the suite's order can tell more about a case.
pub(super) fn needs_the_order(case: &Case) -> bool {
    // Alone it was only skipped, so that nothing speaks against a pass in order.
    let was_skipped = || {
        let mut alone = case.alone().map(|it| it.outcome).peekable();
        alone.peek().is_some() && alone.all(|outcome| outcome == Outcome::Skipped)
    };
    case.is_open()
        && match case.shows() {
            Shown::PassesAlone | Shown::OrderDependent => true,
            Shown::Nothing => was_skipped(),
            Shown::Flaky(_) | Shown::Broken => false,
        }
}

/// How the processes of a walk are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    /// As the suite itself starts.
    AsTheSuite,
    /// So that what tests touch can be measured, where the runner takes an order.
    Measured,
}

impl Walk {
    /// Run an order up to its `last` test. A test that ends its process takes nothing else with it: as in
    /// the suite, the rest runs in another one. What is not there, or not any more, is passed over; what
    /// passes after that is not told, because what is missing may be what makes it fail. The test
    /// after the last is named, though not run: what the last one shares with it stays, and everything else
    /// is torn down, whose failures are the last one's.
    ///
    /// `probe` says how closely to look at a test, `each` hears its place in the order and what it came
    /// to.
    ///
    /// # Errors
    /// When no process can be made, when the user interrupts, and when the runner breaks.
    pub(super) fn through(
        self,
        adapter: &dyn Adapter,
        order: &[TestId],
        last: usize,
        cancel: &Cancel,
        probe: &dyn Fn(&TestId) -> Probe,
        each: &mut dyn FnMut(usize, Execution),
    ) -> Result<()> {
        let mut environment: Option<Box<dyn Environment>> = None;
        let mut is_whole = true;
        let announced = &order[..order.len().min(last + 1)];
        let next = order.get(last + 1).cloned();
        let then = next.map_or(Then::End, Then::Next);
        for (at, test) in announced.iter().enumerate() {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let live = match &mut environment {
                Some(live) => live,
                None => environment.insert(self.open(adapter, &announced[at..], then.clone())?),
            };
            let execution = match live.run(test, probe(test)) {
                Ok(execution) => execution,
                // This one is not there in another process, which the others may not need.
                Err(Error::UnknownTest { .. }) => {
                    is_whole = false;
                    continue;
                }
                Err(Error::EnvironmentLost { .. } | Error::Stopped { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            if execution.outcome.ends_environment() {
                environment = None;
            }
            if is_whole || execution.outcome.is_failure() {
                each(at, execution);
            }
        }
        if let Some(environment) = environment {
            // Its teardown says nothing about the tests.
            let _ = environment.close();
        }
        Ok(())
    }

    /// Whether what tests touch is measured on the way.
    pub(super) fn is_measured(self, adapter: &dyn Adapter) -> bool {
        // Only where an environment runs tests as the suite's own command does.
        let is_the_suites_own = match adapter.can().orders {
            Orders::Any | Orders::Seeded | Orders::Own => true,
            Orders::AnyFresh | Orders::ByFile | Orders::Apart => false,
        };
        self == Self::Measured && is_the_suites_own
    }

    fn open(
        self,
        adapter: &dyn Adapter,
        order: &[TestId],
        then: Then,
    ) -> Result<Box<dyn Environment>> {
        // A runner that keeps its own order may run several tests at a time, which belongs to how they run.
        if !self.is_measured(adapter) || adapter.can().orders != Orders::Any {
            return adapter.reopen(order, then);
        }
        let mut opened = adapter.open(flakeproof_core::Isolation::Spawn)?;
        opened.expect(order, then)?;
        Ok(opened)
    }
}
